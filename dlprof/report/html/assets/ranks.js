// Steps of all ranks as a map, rank by step; the median step of each rank by its parts, or in two runs.

const HEAT_PARTS = {own: 'own work', whole: 'step', input: 'waiting for the batch', wait: 'waiting for later ranks', transfer: 'transfer'};
const HEAT_COLOURS = 24, HEAT_LEFT = 74, HEAT_RIGHT = 46, HEAT_MOST = 640;
const PART_COLOURS = {work: PALETTE[0], input: PALETTE[1], wait: PALETTE[7], transfer: PALETTE[4]};

/** From light to dark, in even steps between the colours that cores have. */
const heatRamp = (() => {
  const ends = ['#fdf6e3', '#fbe6b5', '#f8cf7d', '#f2ae4f', '#e58a34', '#cf6726', '#a9461d', '#7a2a16'];
  const parts = colour => [1, 3, 5].map(at => parseInt(colour.slice(at, at + 2), 16));
  return Array.from({length: HEAT_COLOURS}, (_, step) => {
    const at = step / (HEAT_COLOURS - 1) * (ends.length - 1), low = Math.min(ends.length - 2, Math.floor(at));
    const [from, to] = [parts(ends[low]), parts(ends[low + 1])];
    return `#${from.map((value, n) => Math.round(value + (at - low) * (to[n] - value)).toString(16).padStart(2, '0')).join('')}`;
  });
})();

/** The figures of a map in ns, by name: one value for each cell, row after row; NaN: there is no such step. */
function heatFigures(content, column) {
  const figures = {};
  for (const name of ['whole', 'input', 'wait', 'transfer', 'longest']) {
    if (content[name] === undefined) continue;
    figures[name] = Float64Array.from(column(content[name]), value => (value ? (value - 1) * content.tick_ns : NaN));
  }
  figures.own = content.waits
    ? figures.whole.map((value, at) => Math.max(0, value - figures.wait[at] - figures.transfer[at])) : figures.whole;
  return figures;
}

/** A share of some values, from 0 to 1, of those that are there. */
function quantile(values, share) {
  const sorted = values.filter(value => !Number.isNaN(value)).sort();
  return sorted.length ? sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] : NaN;
}

class RankHeat {
  constructor(element, content, column) {
    this.element = element;
    this.content = content;
    this.figures = heatFigures(content, column);
    this.longestAt = content.longest_at === null ? null : column(content.longest_at);
    this.places = Object.fromEntries(Object.entries(content.places).map(([rank, one]) => [rank, {begin: column(one.begin), end: column(one.end)}]));
    this.figure = content.waits ? 'own' : 'whole';
    this.scale = [0, 1];
    this.cell = null;  // row and column that the keys have come to
    this.steps = content.columns * content.each;
    this.goTo = null;
    this.rowHeight = Math.min(24, Math.max(1, HEAT_MOST / content.rows.length));
    const height = Math.round(content.rows.length * this.rowHeight);
    element.style.height = `${height + 70}px`;
    this.made = null;
    this.heard = null;  // the chart whose mouse is listened to
    this.bind();
  }

  draw() {
    if (this.made) this.made.draw(this.made.chart);
    else this.made = chartIn(this.element, chart => this.show(chart));
  }

  show(chart) {
    if (!RankHeat.registered) registerRects();
    RankHeat.registered = true;
    const {rows} = this.content, many = rows.length > 40;
    const zoom = {filterMode: 'none', zoomOnMouseWheel: false, moveOnMouseWheel: false, preventDefaultMouseMove: false};
    chart.setOption({
      ...baseOption(),
      aria: {enabled: false},
      grid: {left: HEAT_LEFT, right: HEAT_RIGHT, top: 8, bottom: 62, outerBoundsMode: 'none'},
      xAxis: {type: 'value', min: 0.5, max: this.steps + 0.5, name: 'step', nameLocation: 'middle', nameGap: 20, minInterval: 1,
        ...axisStyle(), splitLine: {show: false}, axisLabel: {color: css('--weak'), hideOverlap: true, formatter: v => (Number.isInteger(v) ? v.toLocaleString('en') : '')}},
      yAxis: {type: 'category', inverse: true, data: rows.map(rank => `rank ${rank}`), ...axisStyle(), splitLine: {show: false},
        axisTick: {show: false}, axisLabel: {color: css('--text'), fontSize: 11, interval: Math.ceil(15 / this.rowHeight) - 1}},
      dataZoom: [
        {id: 'x', type: 'inside', xAxisIndex: 0, ...zoom},
        {id: 'xs', type: 'slider', xAxisIndex: 0, filterMode: 'none', height: 14, bottom: 6, showDetail: false, showDataShadow: false, left: HEAT_LEFT, right: HEAT_RIGHT},
        ...(many ? [{id: 'ys', type: 'slider', yAxisIndex: 0, filterMode: 'none', width: 14, right: 6, showDetail: false, showDataShadow: false}] : []),
      ],
      series: [{type: 'custom', clip: true, silent: true, encode: {x: -1, y: -1}, data: rows.map((_, row) => [row]),
        renderItem: (params, api) => this.renderRow(params, api)}],
    }, true);
    if (this.heard === chart) return;
    this.heard = chart;
    const zr = chart.getZr();
    zr.on('mousemove', event => this.hover(event));
    zr.on('globalout', () => showTip(null));
    zr.on('click', event => this.choose(this.cellAt(event.offsetX, event.offsetY)));
  }

  renderRow(params, api) {
    const row = api.value(0), {columns, each} = this.content, values = this.figures[this.figure];
    const area = params.coordSys, height = Math.max(1, Math.abs(api.size([0, 1])[1]));
    const y = api.coord([0, row])[1] - height / 2;
    if (y + height < area.y || y > area.y + area.height) return null;
    const [x0] = api.coord([0.5, row]), [x1] = api.coord([0.5 + each, row]), width = x1 - x0;
    const rects = new Map(), gap = width > 6 && height > 6 ? 0.6 : -0.3;
    const [low, high] = this.scale;
    const first = Math.max(0, Math.floor((area.x - x0) / width)), last = Math.min(columns - 1, Math.ceil((area.x + area.width - x0) / width));
    for (let at = first; at <= last; at++) {
      const value = values[row * columns + at];
      if (Number.isNaN(value)) continue;
      const colour = heatRamp[Math.max(0, Math.min(HEAT_COLOURS - 1, Math.round((value - low) / (high - low) * (HEAT_COLOURS - 1))))];
      if (!rects.has(colour)) rects.set(colour, []);
      const left = x0 + at * width, steps = at === columns - 1 ? Math.min(width, x0 + this.steps / each * width - left) : width;
      rects.get(colour).push(left, y, Math.max(0.5, steps - gap), Math.max(1, height - (height > 6 ? 0.6 : 0)));
    }
    const marked = this.cell && this.cell.row === row ? [{type: 'rect', shape: {x: x0 + this.cell.column * width, y, width: Math.max(2, width), height},
      style: {fill: 'none', stroke: css('--text'), lineWidth: 2}}] : [];
    return {type: 'group', silent: true, $mergeChildren: false, children: [
      ...Array.from(rects, ([fill, list]) => ({type: 'dlprofRects', shape: {rects: list}, style: {fill}, silent: true})), ...marked]};
  }

  cellAt(x, y) {
    const chart = this.made.chart;
    if (!chart.containPixel({gridIndex: 0}, [x, y])) return null;
    const [step, row] = chart.convertFromPixel({gridIndex: 0}, [x, y]);
    const column = Math.floor((step - 0.5) / this.content.each);
    return column >= 0 && column < this.content.columns && row >= 0 && row < this.content.rows.length ? {row, column} : null;
  }

  /** What is said of a cell: the rank, the step, how long it took, what it consisted of, and what the rank did more than the others. */
  lines({row, column}) {
    const {rows, columns, each, waits} = this.content, at = row * columns + column, of = this.figures;
    const first = column * each + 1, whole = of.whole[at];
    const head = `rank ${rows[row]}, ${each > 1 ? `steps ${first.toLocaleString('en')} to ${(first + each - 1).toLocaleString('en')}, mean` : `step ${first.toLocaleString('en')}`}`;
    if (Number.isNaN(whole)) return [head, 'this rank has no such step'];
    const names = waits ? ['own', 'wait', 'transfer'] : [];
    const medianOf = name => quantile(Float64Array.from(rows, (_, other) => of[name][other * columns + column]), 0.5);
    const usual = rows.length > 1 ? medianOf('own') : NaN, more = of.own[at] - usual;
    return [
      head,
      `${duration(whole)} with the wait for the batch`,
      ...names.map(name => `${HEAT_PARTS[name]}: ${duration(of[name][at])} (${percent(of[name][at], whole)})`),
      `${waits ? 'of its own work ' : ''}waiting for the batch: ${duration(of.input[at])} (${percent(of.input[at], whole)})`,
      Number.isNaN(usual) ? '' : `${duration(Math.abs(more))} ${more < 0 ? 'less' : 'more'} ${waits ? 'own work ' : ''}than the median rank here`,
      this.longestAt ? `the longest: step ${this.longestAt[at] ? (this.longestAt[at]).toLocaleString('en') : '–'}, ${duration(of.longest[at])}` : '',
    ];
  }

  hover(event) {
    const cell = this.cellAt(event.offsetX, event.offsetY);
    showTip(cell ? this.lines(cell) : null, event.event);
  }

  /** Tell of a cell below the map, and show its step in the timelines where the rank is drawn. */
  choose(cell) {
    this.cell = cell;
    this.made.chart.setOption({series: [{data: this.content.rows.map((_, row) => [row])}]});
    const place = cell && this.places[this.content.rows[cell.row]];
    $('heat-chosen').textContent = cell ? this.lines(cell).filter(Boolean).join(' — ') : '';
    if (place && this.goTo && cell.column < place.begin.length) this.goTo(place.begin[cell.column], place.end[cell.column]);
  }

  bind() {
    const move = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]};
    this.element.addEventListener('keydown', event => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === 'Enter' && this.cell) return this.choose(this.cell);
      if (!(event.key in move)) return;
      event.preventDefault();
      const [down, right] = move[event.key], {rows, columns} = this.content, from = this.cell || {row: 0, column: -right};
      this.cell = {row: Math.max(0, Math.min(rows.length - 1, from.row + down)), column: Math.max(0, Math.min(columns - 1, from.column + right))};
      this.made.chart.setOption({series: [{data: rows.map((_, row) => [row])}]});
      $('heat-chosen').textContent = this.lines(this.cell).filter(Boolean).join(' — ');
    });
    zoomByWheel(this.element, (factor, x) => {
      const {start, end} = this.made.chart.getOption().dataZoom[0];
      const at = Math.max(0, Math.min(1, (x - HEAT_LEFT) / (this.made.chart.getWidth() - HEAT_LEFT - HEAT_RIGHT)));
      const middle = start + at * (end - start);
      this.made.chart.dispatchAction({type: 'dataZoom', dataZoomId: 'x', start: Math.max(0, middle - (middle - start) * factor), end: Math.min(100, middle + (end - middle) * factor)});
    });
  }
}

/** The maps of a page, on one scale, with the choice of what their colour tells. */
function rankHeats(data) {
  const heats = [...document.querySelectorAll('[data-heat]')].filter(one => data.heats[one.dataset.heat])
    .map(one => new RankHeat(one, data.heats[one.dataset.heat], data.column));
  if (!heats.length) return heats;
  const select = $('heat-figure'), waits = heats.every(one => one.content.waits);
  for (const name of waits ? ['own', 'whole', 'input', 'wait', 'transfer'] : ['whole', 'input']) select.append(new Option(HEAT_PARTS[name], name));
  const draw = () => {
    const all = heats.map(one => one.figures[select.value]);
    const values = new Float64Array(all.reduce((sum, one) => sum + one.length, 0));
    all.reduce((at, one) => { values.set(one, at); return at + one.length; }, 0);
    const low = quantile(values, 0.02), high = Math.max(quantile(values, 0.98), low * 1.25, low + 1);
    for (const heat of heats) Object.assign(heat, {figure: select.value, scale: [low, high]}).draw();
    showRamp($('heat-scale'), low, high);
  };
  select.onchange = draw;
  draw();
  return heats;
}

/** What the colours stand for, from the shortest to the longest. */
function showRamp(place, low, high) {
  const bar = document.createElement('span');
  bar.className = 'colours';
  bar.style.background = `linear-gradient(to right, ${heatRamp.join(', ')})`;
  place.replaceChildren(`${duration(low)} and less `, bar, ` ${duration(high)} and more`);
  place.setAttribute('aria-label', `Colours from ${duration(low)} to ${duration(high)}`);
}

/** Bars of ranks: as many as fit, a thousand become thin. */
function rankAxes(ranks) {
  return {
    grid: {left: HEAT_LEFT, right: 20, top: 30, bottom: 58},
    legend: {top: 0, type: 'scroll', textStyle: {color: css('--text')}},
    dataZoom: ranks.length > 40 ? [{type: 'inside', zoomOnMouseWheel: false, preventDefaultMouseMove: false}, {type: 'slider', height: 14, bottom: 6, showDetail: false, showDataShadow: false}] : [],
    xAxis: {type: 'category', data: ranks.map(String), name: 'rank', nameLocation: 'middle', nameGap: 20, ...axisStyle(), axisLabel: {color: css('--weak'), hideOverlap: true}},
    yAxis: {type: 'value', min: 0, ...axisStyle(), axisLabel: {color: css('--weak'), formatter: v => duration(v)}},
  };
}

/** The median step of each rank, by its parts. */
function rankChart(data) {
  const names = {work: data.ranks.every(one => one.wait === null) ? 'step, without the wait for the batch' : 'own work, without the wait for the batch',
    input: HEAT_PARTS.input, wait: HEAT_PARTS.wait, transfer: HEAT_PARTS.transfer};
  const parts = Object.keys(names).filter(name => data.ranks.some(one => one[name]));
  chartIn($('rank-chart'), chart => chart.setOption({
    ...baseOption(),
    aria: {enabled: true, label: {enabled: false}, decal: {show: data.ranks.length <= 64}},
    ...rankAxes(data.ranks.map(one => one.rank)),
    tooltip: tooltip(item => [`rank ${item.name}`, `${item.seriesName}: ${duration(item.value)} in a median step`]),
    series: parts.map(name => ({name: names[name], type: 'bar', stack: 'step', barMaxWidth: 60, data: data.ranks.map(one => one[name]), itemStyle: {color: PART_COLOURS[name]}})),
  }));
}

/** The median step of each rank in two runs. */
function pairChart(data) {
  chartIn($('pair-chart'), chart => chart.setOption({
    ...baseOption(),
    aria: {enabled: true, label: {enabled: false}, decal: {show: data.pairs.length <= 64}},
    ...rankAxes(data.pairs.map(one => one.rank)),
    tooltip: tooltip(item => [`rank ${item.name}`, `${item.seriesName}: ${duration(item.value)} a step`]),
    series: [['a_ns', PALETTE[2]], ['b_ns', PALETTE[3]]].map(([key, colour], side) => ({
      name: data.labels[side], type: 'bar', barMaxWidth: 40, data: data.pairs.map(one => one[key]), itemStyle: {color: colour}})),
  }));
}
