// Flame graphs: sampled stacks of a phase, the outermost frame on top.

const FLAME_ROW = 18;
const USER = PALETTE[0];
const fileOf = node => node[4], timeOf = node => node[2], isUser = node => Boolean(node[6]);

/** The package of a file, as dlprof/analysis/stacks.py has it. */
function packageOf(file) {
  const first = file.split('/')[0];
  return first.startsWith('<frozen') ? '<python>' : first;
}

/** Frames of one library that call each other as one; nodes are [depth, begin, ns, name, file, line, is user, frames]. */
function folded(nodes) {
  const root = {inner: new Map(), ns: 0}, path = [];
  for (const node of nodes) {
    path.length = node[0];
    const above = path.length ? path[path.length - 1] : root;
    const key = isUser(node) ? `${node[3]}\u0000${node[4]}\u0000${node[5]}` : packageOf(fileOf(node));
    let place = above;
    if (isUser(node) || above.library !== key) {
      place = above.inner.get(key);
      if (!place) {
        place = {node, library: isUser(node) ? null : key, ns: 0, frames: 0, inner: new Map()};
        above.inner.set(key, place);
      }
      place.ns += timeOf(node);
    }
    place.frames++;
    path.push(place);
  }
  const told = [];
  const walk = (place, depth, begin) => {
    let at = begin;
    for (const one of [...place.inner.values()].sort((a, b) => b.ns - a.ns)) {
      told.push(one.library === null ? [depth, at, one.ns, one.node[3], one.node[4], one.node[5], 1, 1]
        : [depth, at, one.ns, one.library, one.library, null, 0, one.frames]);
      walk(one, depth + 1, at);
      at += one.ns;
    }
  };
  walk(root, 0, 0);
  return told;
}

const placeOf = node => (node[5] === null ? `${node[7].toLocaleString('en')} frames of this library, folded` : `${node[4]}:${node[5]}`);
const flameText = (node, flame) => [node[3], placeOf(node), `${duration(timeOf(node))}, ${percent(timeOf(node), flame.ns)} of what was sampled in ${flame.phase}`];

class Flames {
  constructor(data) {
    this.data = data;
    this.zoomed = null;
    this.select = $('flame-phase');
    this.search = $('flame-search');
    this.fold = $('flame-fold');
    data.flames.forEach((flame, index) => this.select.append(new Option(
      `${flame.phase} (${flame.thread} thread${flame.thread === 'main' ? '' : 's'}, ${this.timeText(flame)})`, index)));
    this.take();
    this.made = chartIn($('flame-chart'), chart => { this.draw(chart); this.listen(chart); });
    this.select.onchange = this.fold.onchange = $('flame-reset').onclick = () => { this.zoomed = null; this.take(); this.draw(this.made.chart); };
    this.search.oninput = () => this.draw(this.made.chart);
  }

  /** How wide the chosen phase is (ns). */
  get whole() { return this.flame.ns; }

  colourOf(node) { return isUser(node) ? USER : this.data.packages[packageOf(fileOf(node))]; }

  inkOn(node) { return isUser(node) ? '#fff' : '#111'; }

  textOf(node) { return flameText(node, this.flame); }

  get flame() { return this.data.flames[Number(this.select.value) || 0]; }

  /** What is drawn of the chosen phase, and the colours that stand in it. */
  take() {
    this.nodes = this.fold.checked ? folded(this.flame.nodes) : this.flame.nodes;
    const seen = new Set(this.nodes.filter(node => !isUser(node)).map(node => packageOf(fileOf(node))));
    const shown = [...(this.nodes.some(isUser) ? [["the script's own code", USER]] : []), ...Object.entries(this.data.packages).filter(([name]) => seen.has(name))];
    this.legend(shown);
  }

  legend(shown) {
    $('flame-legend').replaceChildren(...shown.map(([name, colour]) => {
      const item = document.createElement('li'), swatch = document.createElement('span');
      swatch.className = 'swatch';
      swatch.style.background = colour;
      item.append(swatch, name);
      return item;
    }));
  }

  timeText(flame) { return duration(flame.ns); }

  draw(chart) {
    const flame = {...this.flame, ns: this.whole};
    const [from, width] = this.zoomed ? [this.zoomed[1], timeOf(this.zoomed)] : [0, flame.ns];
    const nodes = this.nodes.filter(node => node[1] < from + width && node[1] + node[2] > from);
    const depth = nodes.reduce((most, node) => Math.max(most, node[0] + 1), 1);
    const wanted = this.search.value.trim().toLowerCase();
    const matches = node => !wanted || `${node[3]} (${placeOf(node)})`.toLowerCase().includes(wanted);
    $('flame-matches').textContent = wanted ? matchText(nodes.filter(matches), flame) : '';
    $('flame-chart').style.height = `${depth * FLAME_ROW + 40}px`;
    chart.resize(paper ? {width: paper} : {});
    this.shown = nodes;
    chart.setOption({
      ...baseOption(),
      grid: {left: 4, right: 4, top: 4, bottom: 26},
      xAxis: {type: 'value', min: from, max: from + width, ...axisStyle(), splitLine: {show: false}, axisLabel: {color: css('--weak'), formatter: v => moment(v - from, width)}},
      yAxis: {type: 'value', min: 0, max: depth, inverse: true, show: false},
      series: [{
        type: 'custom', clip: true, data: nodes.map((_, index) => [index]), encode: {x: -1, y: -1},
        renderItem: (_, api) => this.frame(nodes[api.value(0)], api, from, from + width, matches),
      }],
    }, true);
  }

  frame(node, api, from, to, matches) {
    const [x0, y] = api.coord([Math.max(from, node[1]), node[0]]);
    const [x1] = api.coord([Math.min(to, node[1] + timeOf(node)), node[0]]);
    const width = x1 - x0;
    return {
      type: 'rect', shape: {x: x0, y, width: Math.max(0.5, width - 0.5), height: FLAME_ROW - 1},
      style: {fill: this.colourOf(node), opacity: matches(node) ? 1 : 0.2},
      textContent: {style: {text: width > 30 ? node[3] : '', fill: this.inkOn(node), fontSize: 11, width: width - 6, overflow: 'truncate'}},
      textConfig: {position: 'insideLeft'},
    };
  }

  listen(chart) {
    chart.on('click', event => {
      this.zoomed = this.shown[event.data[0]];
      $('flame-chosen').textContent = this.textOf(this.zoomed).join(' — ');
      this.draw(chart);
    });
    chart.on('mousemove', event => showTip(this.textOf(this.shown[event.data[0]]), event.event.event));
    chart.on('mouseout', () => showTip(null));
    chart.on('globalout', () => showTip(null));
  }
}

/** Time under frames that match, each moment once: frames within a matching frame do not count again. */
function matchText(nodes, flame) {
  let end = -1, total = 0;
  for (const node of [...nodes].sort((a, b) => a[1] - b[1] || b[2] - a[2])) {
    const begin = Math.max(end, node[1]);
    total += Math.max(0, node[1] + node[2] - begin);
    end = Math.max(end, node[1] + node[2]);
  }
  return `${nodes.length} frames, ${duration(total)}, ${percent(total, flame.ns)} of the phase`;
}
