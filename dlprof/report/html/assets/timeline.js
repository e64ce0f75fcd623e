// The timeline: tracks of events, cores and series on one axis. Only what can be seen is drawn: events that are
// narrower than a pixel are drawn with their neighbours, so that a million of them cost no more than a few thousand.

const ROW = 17, SERIES = 62, SIDE = 230, RIGHT = 16, GAP = 10, DEEPEST = 24;
const FEW_ROWS = 60, MOST_ROWS = 600;  // rows that are shown at first, and that a canvas can hold
const MANY = 100000;  // events of a track, after which the browser gets to breathe
const MOST_KINDS = 14;  // of the legend, of each family
const NARROWEST = 1000;  // ns that the axis shows at least

/** Events that do not overlap, in order of time. */
class Row {
  constructor(count) {
    this.start = new Float64Array(count);
    this.end = new Float64Array(count);
    this.name = new Uint32Array(count);
    this.merged = null;
    this.number = null;
    this.launch = null;
    this.length = 0;
  }

  /** Index of the first event that ends after a moment. */
  after(time, from = 0) {
    let low = from, high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.end[middle] > time) high = middle; else low = middle + 1;
    }
    return low;
  }
}

/** A track: its events in order of their begin, and rows of them; an event inside another one stands one row below it. */
async function readTrack(track, tick, column) {
  const columns = [];
  for (const number of [track.start, track.dur, track.name, track.merged, track.number, track.launch]) {
    const values = number === null ? null : column(number);
    columns.push(values);
    if (values && values.length > MANY) await breath();
  }
  const [start, dur, name, merged, number, since] = columns;
  const depth = new Uint8Array(start.length), counts = [], ends = [];
  for (let i = 0; i < start.length; i++) {
    while (ends.length && ends[ends.length - 1] <= start[i]) ends.pop();
    depth[i] = Math.min(ends.length, DEEPEST);
    ends.push(start[i] + dur[i]);
    counts[depth[i]] = (counts[depth[i]] || 0) + 1;
  }
  if (start.length > MANY) await breath();
  const rows = counts.slice(0, DEEPEST).map(count => new Row(count));
  if (merged) rows.forEach(row => { row.merged = new Uint32Array(row.start.length); });
  if (number) rows.forEach(row => { row.number = new Uint32Array(row.start.length); });
  if (since) rows.forEach(row => { row.launch = new Float64Array(row.start.length).fill(NaN); });
  let hidden = 0;
  for (let i = 0; i < start.length; i++) {
    const row = rows[depth[i]];
    if (!row) { hidden++; continue; }
    const at = row.length++;
    row.start[at] = start[i] * tick;
    row.end[at] = (start[i] + dur[i]) * tick;
    row.name[at] = name[i];
    if (merged) row.merged[at] = merged[i];
    if (number) row.number[at] = number[i];
    if (since && since[i]) row.launch[at] = (start[i] - since[i] + 1) * tick;
  }
  return {label: track.label, lane: track.lane, place: track.place, group: track.group, rows, hidden, tick, start, dur, name, merged};
}

class Timeline {
  /** Make a timeline; a large one is made in pieces, between which the page can be used. */
  static async make(root, content, column) {
    const tracks = [];
    for (const track of content.tracks) tracks.push(await readTrack(track, content.tick_ns, column));
    return new Timeline(root, content, column, tracks);
  }

  constructor(root, content, column, tracks) {
    this.root = root;
    this.element = root.querySelector('.chart');
    this.content = content;
    this.tracks = tracks;
    this.all = false;
    this.folded = new Set();  // places whose rows are not shown
    this.links = [];
    this.chosen = null;
    this.area = null;
    this.cores = content.cores.map(core => ({...core, busy: column(core.busy_pct)}));
    this.series = content.series.map(one => ({
      ...one, time: column(one.time).map(time => time * content.tick_ns), value: column(one.value),
    }));
    this.coreHeight = this.cores.length <= 16 ? 12 : this.cores.length <= 64 ? 6 : 3;
    this.wanted = null;
    this.from = 0;
    this.to = content.span_ns;
    this.listeners = [];
    this.made = chartIn(this.element, chart => this.draw(chart), () => this.layOut());
    this.made.resize = () => (this.left === this.side() ? this.chart.resize() : this.made.make());
    this.showLegend();
    this.bind();
  }

  get chart() { return this.made.chart; }

  layOut() {
    this.left = this.side();
    const entries = this.entries();
    const shown = entries.slice(0, this.all ? MOST_ROWS : FEW_ROWS);
    this.shown = shown;
    this.rows = shown.map(one => one.row);
    this.labels = shown.map(one => (one.head ? one.head : one.depth ? '' : one.track.label));
    this.tell(entries.length);
    const groups = [...new Set(this.series.map(one => one.axis))];
    let top = 8;
    this.grids = [];
    const add = (kind, height, more = {}) => {
      this.grids.push({kind, top, height, ...more});
      top += height + GAP;
    };
    if (this.rows.length) add('events', this.rows.length * ROW);
    if (this.cores.length) add('cores', Math.max(16, this.cores.length * this.coreHeight));
    for (const group of groups) add('series', SERIES, {group, series: this.series.filter(one => one.axis === group)});
    this.height = top + 62;
    this.element.style.height = `${this.height}px`;
    this.showLabels();
  }

  side() { return sideWidth(this.element, SIDE); }

  /** Rows from top to bottom: a heading for each place, where there are several, and the rows below it. */
  entries() {
    const places = [...new Set(this.tracks.map(track => track.place))];
    return places.flatMap(place => {
      const rows = this.tracks.filter(track => track.place === place).flatMap(track => track.rows.map((row, depth) => ({row, track, depth})));
      const head = {row: new Row(0), head: place, count: rows.length};
      return [...(places.length > 1 ? [head] : []), ...(this.folded.has(place) ? [] : rows)];
    });
  }

  /** Names of the rows beside the chart; those of places fold their rows. */
  showLabels() {
    const box = this.root.querySelector('.labels'), width = this.left - 8, top = this.grids[0] && this.grids[0].kind === 'events' ? this.grids[0].top : 0;
    box.replaceChildren(...this.shown.flatMap((one, at) => {
      if (!one.head && one.depth) return [];
      const element = document.createElement(one.head ? 'button' : 'span');
      element.style.top = `${top + at * ROW}px`;
      element.style.width = `${width}px`;
      if (one.head) {
        const isFolded = this.folded.has(one.head);
        element.type = 'button';
        element.textContent = `${isFolded ? '▸' : '▾'} ${middled(one.head, width - 16, 'bold 11px system-ui, sans-serif')}`;
        element.title = `${one.head}: ${isFolded ? 'show' : 'fold'} ${one.count} row${one.count === 1 ? '' : 's'}`;
        element.setAttribute('aria-expanded', String(!isFolded));
        element.onclick = () => this.fold(one.head);
      } else {
        element.textContent = middled(one.track.lane, width);
        element.title = one.track.label;
      }
      return [element];
    }));
  }

  fold(place) {
    if (!this.folded.delete(place)) this.folded.add(place);
    this.area = null;
    this.made.make();
    const again = [...this.root.querySelectorAll('.labels button')].find(one => one.title.startsWith(`${place}:`));
    if (again) again.focus();
  }

  /** Say what is not drawn, and offer the rows that are left out at first. */
  tell(rows) {
    const {drawn, events} = this.content, told = [];
    const hidden = this.tracks.reduce((sum, track) => sum + track.hidden, 0);
    if (drawn < events) told.push(`${events.toLocaleString('en')} events as ${drawn.toLocaleString('en')} shapes: the shortest neighbours are drawn as one.`);
    if (hidden) told.push(`${hidden.toLocaleString('en')} events lie deeper than ${DEEPEST} levels and are not drawn.`);
    if (rows > this.rows.length) told.push(`${this.rows.length} of ${rows} rows.`);
    const place = this.root.querySelector('.more');
    place.replaceChildren(told.join(' '));
    place.hidden = !told.length;
    if (rows > this.rows.length && !this.all) {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = 'Show them';
      button.onclick = () => { this.all = true; this.made.make(); };
      place.append(' ', button);
    }
  }

  draw(chart) {
    this.pale = css('--line');
    if (!this.registered) registerRects();
    this.registered = true;
    const last = this.grids.length - 1;
    chart.setOption({
      ...baseOption(),
      aria: {enabled: false},
      grid: this.grids.map(grid => ({left: this.left, right: RIGHT, top: grid.top, height: grid.height, outerBoundsMode: 'none'})),
      xAxis: this.grids.map((grid, index) => ({
        gridIndex: index, type: 'value', min: 0, max: this.content.span_ns, ...axisStyle(),
        axisLabel: {show: index === last, color: css('--weak'), hideOverlap: true, showMaxLabel: false, formatter: v => this.moment(v, this.extent())},
        axisTick: {show: index === last}, axisPointer: {show: false},
      })),
      yAxis: this.grids.map((grid, index) => this.yAxis(grid, index)),
      dataZoom: [
        {id: 'inside', type: 'inside', xAxisIndex: 'all', filterMode: 'none', zoomOnMouseWheel: false, moveOnMouseWheel: false,
          preventDefaultMouseMove: false, minValueSpan: NARROWEST, startValue: this.from, endValue: this.to},
        {id: 'slider', type: 'slider', xAxisIndex: 'all', filterMode: 'none', height: 18, bottom: 8, showDetail: false, showDataShadow: false,
          left: this.left, right: RIGHT, minValueSpan: NARROWEST, startValue: this.from, endValue: this.to},
      ],
      series: this.grids.flatMap((grid, index) => this.seriesOf(grid, index)),
    }, true);
    chart.on('datazoom', () => this.zoomed());
    const zr = chart.getZr();
    zr.on('mousemove', event => this.hover(event));
    zr.on('globalout', () => showTip(null));
    zr.on('click', event => this.choose(this.eventAt(event.offsetX, event.offsetY)));
    zr.on('dblclick', event => {
      const found = this.eventAt(event.offsetX, event.offsetY);
      if (found) this.show(found.row.start[found.index], found.row.end[found.index], 0.2);
    });
  }

  yAxis(grid, index) {
    if (grid.kind === 'events') {
      return {
        gridIndex: index, type: 'category', inverse: true, data: this.rows.map((_, row) => String(row)),
        ...axisStyle(), axisTick: {show: false}, splitLine: {show: false}, axisLabel: {show: false},
      };
    }
    if (grid.kind === 'cores') {
      const few = this.cores.length <= 16;
      return {
        gridIndex: index, type: 'category', inverse: true, data: this.cores.map(core => `core ${core.core}`), ...axisStyle(),
        axisTick: {show: false}, splitLine: {show: false},
        axisLabel: {color: css('--text'), fontSize: few ? 10 : 9, interval: few ? 0 : Math.ceil(this.cores.length / 16)},
      };
    }
    const names = grid.series.map((one, at) => middled(`${['—', '– –', '····'][at % 3]} ${one.label}`, this.left - 40));
    return {
      gridIndex: index, type: 'value', min: 0, splitNumber: 2, ...axisStyle(),
      axisLabel: {color: css('--weak'), fontSize: 10, formatter: v => v.toLocaleString('en')},
      name: `${names.join('\n')}\n${grid.series[0].unit}`, nameLocation: 'middle', nameRotate: 0, nameGap: (this.left + 20) / 2,
      nameTextStyle: {color: css('--text'), fontSize: 11, lineHeight: 14, align: 'center'},
    };
  }

  seriesOf(grid, index) {
    const place = {xAxisIndex: index, yAxisIndex: index, animation: false, silent: true};
    if (grid.kind === 'events') {
      return [{...place, id: 'events', type: 'custom', clip: true, encode: {x: -1, y: -1}, data: this.rows.map((_, row) => [row]),
        renderItem: (params, api) => this.renderRow(params, api)},
      {...place, id: 'links', type: 'custom', clip: true, encode: {x: -1, y: -1}, data: this.linkData(), z: 5,
        renderItem: (params, api) => this.renderLink(params, api)}];
    }
    if (grid.kind === 'cores') {
      return [{...place, id: 'cores', type: 'custom', clip: true, encode: {x: -1, y: -1}, data: this.cores.map((_, core) => [core]),
        renderItem: (params, api) => this.renderCore(params, api)}];
    }
    return grid.series.map((one, at) => ({
      ...place, type: 'line', step: 'end', connectNulls: false, showSymbol: false, data: Array.from(one.time, (time, n) => [time, Number.isNaN(one.value[n]) ? null : one.value[n]]),
      lineStyle: {width: 1.3, color: PALETTE[at], type: ['solid', 'dashed', 'dotted'][at % 3]}, itemStyle: {color: PALETTE[at]},
    }));
  }

  /** A moment of the axis, from what it calls 0: the begin of the run. */
  moment(ns, span = this.to - this.from) {
    return moment(ns - this.content.zero_ns, span);
  }

  /** What the axis spans just now: while it is zoomed its labels are made before anybody is told. */
  extent() {
    const component = this.made && this.chart && this.chart.getModel().getComponent('xAxis', 0);
    const [from, to] = component && component.axis ? component.axis.scale.getExtent() : [this.from, this.to];
    return to - from;
  }

  /** Pixels of a moment: what ECharts says of two of them. */
  scale(params, api, y) {
    const x0 = api.coord([0, y])[0], x1 = api.coord([this.content.span_ns, y])[0];
    const perNs = (x1 - x0) / this.content.span_ns;
    const area = params.coordSys;
    return {x0, perNs, from: (area.x - x0) / perNs, to: (area.x + area.width - x0) / perNs, area};
  }

  renderRow(params, api) {
    const number = api.value(0), row = this.rows[number];
    const {x0, perNs, from, to, area} = this.scale(params, api, number);
    const y = api.coord([0, number])[1] - ROW / 2 + 1, height = ROW - 2;
    const rects = new Map(), texts = [];
    const add = (colour, x, width) => {
      if (!rects.has(colour)) rects.set(colour, []);
      rects.get(colour).push(x, y, width, height);
    };
    let index = row.after(from);
    while (index < row.length && row.start[index] < to) {
      const x = Math.max(area.x, x0 + row.start[index] * perNs);
      const width = Math.min(area.x + area.width, x0 + row.end[index] * perNs) - x;
      const colour = this.colour(row.name[index]);
      if (width >= 1.5) {
        add(colour, x, Math.max(1, width - (width > 3 ? 0.7 : 0)));
        if (width > 34) texts.push(this.label(row, index, x, y, width, height, colour));
        index++;
      } else {
        add(colour, x, 1.2);
        index = Math.max(index + 1, row.after(((x + 1.5) - x0) / perNs, index));
      }
    }
    // Anew each time: where children are merged, a row without any would keep those of before.
    return {type: 'group', silent: true, $mergeChildren: false, children: [
      ...Array.from(rects, ([fill, list]) => ({type: 'dlprofRects', shape: {rects: list}, style: {fill}, silent: true})), ...texts]};
  }

  label(row, index, x, y, width, height, colour) {
    const count = row.merged ? row.merged[index] : 1;
    const name = this.nameOf(row, index);
    return {type: 'text', silent: true, style: {
      text: count > 1 ? `${count} events` : name, x: x + 3, y: y + height / 2, verticalAlign: 'middle', fontSize: 10,
      fill: isDark(colour) ? '#fff' : '#111', width: width - 6, overflow: 'truncate', ellipsis: '…',
    }};
  }

  colour(name) {
    return this.wanted && !this.wanted.has(name) ? this.pale : this.content.names.colour[name];
  }

  /** What an event is called; steps with their number. */
  nameOf(row, index) {
    const text = this.content.names.text[row.name[index]];
    return row.number && row.number[index] ? `${text} ${row.number[index].toLocaleString('en')}` : text;
  }

  renderCore(params, api) {
    const number = api.value(0), busy = this.cores[number].busy;
    const {x0, perNs, from, to} = this.scale(params, api, number);
    const height = this.coreHeight, shift = this.content.shift_ns;
    const y = api.coord([0, number])[1] - height / 2 + 0.5, cell = this.content.cores_end_ns / busy.length;
    const rects = new Map();
    const first = Math.max(0, Math.floor((from - shift) / cell)), last = Math.min(busy.length, Math.ceil((to - shift) / cell));
    for (let at = first; at < last; at++) {
      if (Number.isNaN(busy[at])) continue;
      const fill = heatColour(busy[at]);
      if (!rects.has(fill)) rects.set(fill, []);
      rects.get(fill).push(x0 + (shift + at * cell) * perNs, y, cell * perNs + 0.4, Math.max(2, height - 1));
    }
    return {type: 'group', $mergeChildren: false, children: Array.from(rects, ([fill, list]) => ({type: 'dlprofRects', shape: {rects: list}, style: {fill}}))};
  }

  // -- looking -------------------------------------------------------------------------------------

  zoomed() {
    const edge = x => this.chart.convertFromPixel({xAxisIndex: 0}, x);
    this.from = Math.max(0, edge(this.left));
    this.to = Math.min(this.content.span_ns, edge(this.chart.getWidth() - RIGHT));
    this.placeBand();
    for (const listener of this.listeners) listener(this.from, this.to);
  }

  /** Show a stretch of time, with a margin as a share of it on each side. */
  show(from, to, margin = 0, told = true) {
    const pad = margin * (to - from), least = Math.max(0, (NARROWEST - (to - from) - 2 * pad) / 2);
    const low = Math.max(0, from - pad - least), high = Math.min(this.content.span_ns, to + pad + least);
    const listeners = this.listeners;
    if (!told) this.listeners = [];
    this.chart.dispatchAction({type: 'dataZoom', dataZoomId: 'inside', startValue: low, endValue: high});
    this.listeners = listeners;
  }

  /** Zoom around a moment, which keeps its place. */
  zoom(factor, at = (this.from + this.to) / 2) {
    this.show(at - (at - this.from) * factor, at + (this.to - at) * factor);
  }

  pan(share) {
    const width = this.to - this.from;
    const from = Math.min(Math.max(0, this.from + share * width), this.content.span_ns - width);
    this.show(from, from + width);
  }

  /** The event at a pixel; narrow ones are found two pixels beside them. */
  eventAt(x, y) {
    const grid = this.grids[0];
    if (!grid || grid.kind !== 'events' || y < grid.top || y > grid.top + grid.height || x < this.left) return null;
    const row = this.rows[Math.floor((y - grid.top) / ROW)];
    if (!row) return null;
    const time = this.chart.convertFromPixel({xAxisIndex: 0}, x);
    const slack = 2 * (this.to - this.from) / (this.chart.getWidth() - this.left - RIGHT);
    const index = row.after(time - slack);
    return index < row.length && row.start[index] <= time + slack ? {row, index} : null;
  }

  describe({row, index}) {
    const name = row.name[index], count = row.merged ? row.merged[index] : 1;
    const span = this.to - this.from;
    return [
      count > 1 ? `${count} short events, the first: ${this.nameOf(row, index)}` : this.nameOf(row, index),
      this.content.names.more[name],
      `${duration(row.end[index] - row.start[index])}, from ${this.moment(row.start[index], Math.min(span, 1e7))}`,
    ];
  }

  hover(event) {
    const found = this.eventAt(event.offsetX, event.offsetY);
    if (found) return showTip(this.describe(found), event.event);
    const grid = this.grids.find(one => event.offsetY >= one.top && event.offsetY <= one.top + one.height);
    if (!grid || event.offsetX < this.left || grid.kind === 'events') return showTip(null);
    const time = this.chart.convertFromPixel({xAxisIndex: 0}, event.offsetX);
    if (grid.kind === 'cores') {
      const core = this.cores[Math.min(this.cores.length - 1, Math.floor((event.offsetY - grid.top) / grid.height * this.cores.length))];
      const busy = core.busy[Math.floor((time - this.content.shift_ns) / this.content.cores_end_ns * core.busy.length)];
      return showTip([`core ${core.core}`, busy === undefined || Number.isNaN(busy) ? 'not measured' : `${busy.toFixed(0)} % busy`], event.event);
    }
    return showTip(grid.series.map(one => `${one.label}: ${valueAt(one, time)}`), event.event);
  }

  choose(found) {
    this.chosen = found;
    this.links = found ? linksOf(this, found) : [];
    this.root.querySelector('.chosen').textContent = found
      ? [...this.describe(found), ...saidOfLinks(this, found)].filter(Boolean).join(' — ') : '';
    this.chart.setOption({series: [{id: 'links', data: this.linkData()}]});
  }

  linkData() { return this.chosen ? [[-1], ...this.links.map((_, at) => [at])] : []; }

  /** A frame around the chosen event, and lines from launches to what they launched. */
  renderLink(params, api) {
    const at = api.value(0), colour = css('--text');
    const place = ({row, index}) => {
      const y = this.rows.indexOf(row);
      return y < 0 ? null : {y, start: row.start[index], end: row.end[index]};
    };
    if (at < 0) {
      const box = place(this.chosen);
      if (!box) return null;
      const [x0, middle] = api.coord([box.start, box.y]), [x1] = api.coord([box.end, box.y]);
      return {type: 'rect', silent: true, shape: {x: x0 - 1, y: middle - ROW / 2, width: Math.max(2, x1 - x0) + 2, height: ROW},
        style: {fill: 'none', stroke: colour, lineWidth: 2}};
    }
    const from = place(this.links[at].from), to = place(this.links[at].to);
    if (!from || !to) return null;
    const [x0, y0] = api.coord([from.start, from.y]), [x1, y1] = api.coord([to.start, to.y]);
    const tip = y1 > y0 ? -1 : 1, end = y1 + tip * ROW / 2;
    return {type: 'group', silent: true, $mergeChildren: false, children: [
      {type: 'line', shape: {x1: x0, y1: y0, x2: x1, y2: end}, style: {stroke: colour, lineWidth: 1.3, fill: 'none'}},
      {type: 'polygon', shape: {points: [[x1, end], [x1 - 4, end + 7 * tip], [x1 + 4, end + 7 * tip]]}, style: {fill: colour}},
    ]};
  }

  // -- search ----------------------------------------------------------------------------------------

  /** Mark the events whose name or description has a text. */
  search(text) {
    const {names} = this.content, wanted = text.trim().toLowerCase();
    this.root.querySelectorAll('.legend button').forEach(one => one.setAttribute('aria-pressed', 'false'));
    this.look(wanted ? new Set(names.text.flatMap((name, index) => (`${name} ${names.more[index]}`.toLowerCase().includes(wanted) ? [index] : []))) : null);
  }

  /** Leave only the events of some names in colour, and count them; null: all. */
  look(wanted) {
    this.at = undefined;
    this.wanted = wanted;
    let told = '';
    if (wanted) {
      const {count, time} = this.matched(), least = this.content.drawn < this.content.events ? 'at least ' : '';
      told = count ? `${least}${count.toLocaleString('en')} events, ${duration(time)}` : 'no event';
    }
    this.root.querySelector('.matches').textContent = told;
    this.chart.setOption({series: [{id: 'events', data: this.rows.map((_, row) => [row])}]});
  }

  /** What colours stand for, where they are seen; a click leaves only that in colour. */
  showLegend() {
    const list = this.root.querySelector('.legend'), {names} = this.content;
    const families = [['program', ['program']], ['Python', ['python']], ['operators and kernels', ['gpu', 'host']]];
    list.replaceChildren();
    for (const [family, groups] of families) {
      const ofName = new Float64Array(names.text.length), seen = new Uint8Array(names.text.length), time = new Map();
      for (const {name, dur} of this.tracks.filter(one => groups.includes(one.group))) {
        for (let i = 0; i < name.length; i++) {
          ofName[name[i]] += dur[i];
          seen[name[i]] = 1;
        }
      }
      ofName.forEach((sum, index) => {
        const key = `${names.colour[index]} ${names.kind[index]}`;
        if (seen[index]) time.set(key, (time.get(key) || 0) + sum);
      });
      const kinds = [...time].sort((a, b) => b[1] - a[1]).map(([key]) => [key.slice(0, 7), key.slice(8)]).filter(([, kind]) => kind);
      if (!kinds.length) continue;
      const head = document.createElement('li');
      head.className = 'of';
      head.textContent = `${family}:`;
      list.append(head, ...kinds.slice(0, MOST_KINDS).map(([colour, kind]) => this.legendItem(colour, kind)));
      if (kinds.length > MOST_KINDS) list.append(Object.assign(document.createElement('li'), {className: 'of', textContent: `and ${kinds.length - MOST_KINDS} more`}));
    }
  }

  legendItem(colour, kind) {
    const item = document.createElement('li'), button = document.createElement('button'), swatch = document.createElement('span');
    swatch.className = 'swatch';
    swatch.style.background = colour;
    button.type = 'button';
    button.setAttribute('aria-pressed', 'false');
    button.append(swatch, kind);
    button.onclick = () => {
      const pressed = button.getAttribute('aria-pressed') === 'true';
      this.root.querySelectorAll('.legend button').forEach(one => one.setAttribute('aria-pressed', 'false'));
      button.setAttribute('aria-pressed', String(!pressed));
      this.root.querySelector('.search').value = '';
      const {names} = this.content;
      this.look(pressed ? null : new Set(names.kind.flatMap((one, index) => (one === kind && names.colour[index] === colour ? [index] : []))));
    };
    item.append(button);
    return item;
  }

  /** How many events match, and their time; of those inside another match on a track the time counts once. */
  matched() {
    let count = 0, time = 0;
    for (const {tick, start, dur, name, merged} of this.tracks) {
      let until = -1;
      for (let i = 0; i < start.length; i++) {
        if (!this.wanted.has(name[i])) continue;
        count += merged ? merged[i] : 1;
        if (start[i] >= until) {
          time += dur[i] * tick;
          until = start[i] + dur[i];
        }
      }
    }
    return {count, time};
  }

  /** Go to the next match, or to the one before (-1), from the one shown last. */
  step(direction) {
    if (!this.wanted || !this.wanted.size) return;
    const from = this.at ?? {start: direction > 0 ? -1 : Infinity, row: -1};
    const isPast = (start, number) => (start - from.start || number - from.row) * direction > 0;
    let best = null;
    this.rows.forEach((row, number) => {
      for (let i = direction > 0 ? 0 : row.length - 1; i >= 0 && i < row.length; i += direction) {
        if (!this.wanted.has(row.name[i]) || !isPast(row.start[i], number)) continue;
        const closer = !best || (row.start[i] - best.start || number - best.number) * direction < 0;
        if (closer) best = {start: row.start[i], number, row, index: i};
        break;
      }
    });
    if (!best) {
      this.at = undefined;
      return;
    }
    this.at = {start: best.start, row: best.number};
    this.show(best.start, best.row.end[best.index], 3);
    this.choose(best);
  }

  // -- hands -------------------------------------------------------------------------------------------

  bind() {
    const search = this.root.querySelector('.search');
    const jump = this.root.querySelector('.jump');
    const deeds = {
      in: () => this.zoom(0.5), out: () => this.zoom(2), all: () => this.show(0, this.content.span_ns),
      next: () => this.step(1), previous: () => this.step(-1),
      sum: () => this.sumUp({from: this.from, to: this.to, first: 0, last: this.rows.length - 1, whole: true}),
    };
    for (const button of this.root.querySelectorAll('[data-do]')) button.onclick = deeds[button.dataset.do];
    search.oninput = () => { this.at = undefined; this.search(search.value); };
    search.onkeydown = event => {
      if (event.key === 'Enter') deeds[event.shiftKey ? 'previous' : 'next']();
      if (event.key === 'Escape') { search.value = ''; search.oninput(); this.element.focus(); }
    };
    const keys = {
      ArrowLeft: () => this.pan(-0.2), ArrowRight: () => this.pan(0.2), '+': deeds.in, '=': deeds.in, '-': deeds.out, 0: deeds.all,
      '/': () => search.focus(), n: deeds.next, p: deeds.previous, s: deeds.sum,
      Escape: () => { this.choose(null); this.sumUp(null); },
    };
    zoomByWheel(this.element, (factor, x) => this.zoom(factor, this.chart.convertFromPixel({xAxisIndex: 0}, Math.max(this.left, x))));
    this.bindArea();
    this.element.onkeydown = event => {
      if (event.key in keys && !event.ctrlKey && !event.metaKey && !event.altKey) {
        event.preventDefault();
        keys[event.key]();
      }
    };
    const places = this.places();
    jump.append(new Option('zoom to …', ''), ...places.map(([label], index) => new Option(label, index)));
    jump.onchange = () => {
      if (jump.value !== '') this.show(places[jump.value][1], places[jump.value][2], 0.05);
      jump.value = '';
    };
  }

  /** Stretches that a reader may want to see: [label, begin, end]. */
  places() {
    const found = [['the whole run', 0, this.content.span_ns]];
    this.content.windows.forEach(([from, to], index) => found.push([`kernel window ${index}`, from, to]));
    const phases = this.tracks.find(track => track.lane === 'phases');
    if (phases) {
      const reach = new Map();
      for (const row of phases.rows) {
        for (let i = 0; i < row.length; i++) {
          const name = this.content.names.text[row.name[i]];
          const [from, to] = reach.get(name) ?? [row.start[i], row.end[i]];
          reach.set(name, [Math.min(from, row.start[i]), Math.max(to, row.end[i])]);
        }
      }
      for (const [name, [from, to]] of reach) found.push([name, from, to]);
    }
    return found;
  }
}

/** Whether white is easier to read on a colour than black. */
function isDark(colour) {
  const [red, green, blue] = [1, 3, 5].map(at => (parseInt(colour.slice(at, at + 2), 16) / 255) ** 2.2);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.19;
}

/** What held at a moment: the last value that began by then. */
function valueAt(series, time) {
  let low = 0, high = series.time.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (series.time[middle] <= time) low = middle + 1; else high = middle;
  }
  const value = low ? series.value[low - 1] : NaN;
  return Number.isNaN(value) ? 'not measured' : `${Number(value.toPrecision(4)).toLocaleString('en')} ${series.unit}`;
}

/** From light to dark as a core is busier; the lightness alone tells it. */
function heatColour(pct) {
  const steps = ['#fdf6e3', '#fbe6b5', '#f8cf7d', '#f2ae4f', '#e58a34', '#cf6726', '#a9461d', '#7a2a16'];
  return steps[Math.min(7, Math.max(0, Math.floor(pct / 12.5)))];
}

/** A shape of many rectangles of one colour: one element to draw, however many there are. */
function registerRects() {
  const shape = echarts.graphic.extendShape({
    type: 'dlprofRects',
    shape: {rects: []},
    buildPath(context, {rects}) {
      for (let i = 0; i < rects.length; i += 4) context.rect(rects[i], rects[i + 1], rects[i + 2], rects[i + 3]);
    },
  });
  echarts.graphic.registerShape('dlprofRects', shape);
}
