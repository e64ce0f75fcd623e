// Colours, the tip, and the charts that stand for themselves.

// Okabe and Ito's colours, which colour-blind people can tell apart.
const PALETTE = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#b8a800', '#7f7f7f'];
const SLOWER = '#d55e00', FASTER = '#0072b2';  // as in report/colours.py
const DIRECTIONS = {forward: PALETTE[0], backward: PALETTE[1], update: PALETTE[2], 'not known': PALETTE[7]};
const charts = [];

const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

let paper = 0;  // width of what is printed (px); 0: nothing is

/** Make a chart, and make it anew when the theme changes, or for paper. */
function chartIn(element, draw, before = () => {}) {
  const made = {element, draw, chart: null};
  made.make = () => {
    if (made.chart) made.chart.dispose();
    before();
    made.chart = echarts.init(element, null, {renderer: 'canvas', ...(paper ? {width: paper, devicePixelRatio: 2} : {})});
    draw(made.chart);
    element.classList.toggle('tall', element.offsetHeight > 900);
    if (paper) made.chart.getZr().flush();
  };
  made.resize = () => made.chart.resize();
  charts.push(made);
  made.make();
  return made;
}

/** The wheel scrolls the page; with Ctrl or the command key it zooms, by a factor around a pixel. */
function zoomByWheel(element, zoom) {
  element.addEventListener('wheel', event => {
    event.stopPropagation();  // the chart's own handling would keep the page from scrolling
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 30 : 1;
    zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY * lines / 400))), event.clientX - element.getBoundingClientRect().left);
  }, {capture: true, passive: false});
}

const baseOption = () => ({
  animation: false,
  textStyle: {color: css('--text'), fontFamily: 'system-ui, sans-serif'},
  aria: {enabled: true, label: {enabled: false}},  // the elements have labels of their own
});

const axisStyle = () => ({
  axisLine: {lineStyle: {color: css('--line')}},
  axisTick: {lineStyle: {color: css('--line')}},
  axisLabel: {color: css('--weak')},
  nameTextStyle: {color: css('--weak')},
  splitLine: {lineStyle: {color: css('--line'), opacity: 0.5}},
});

/** Texts below each other: as text, whatever is in them. */
function tipContent(lines) {
  const box = document.createElement('div');
  for (const line of lines.filter(Boolean)) {
    const row = document.createElement('div');
    row.textContent = line;
    box.append(row);
  }
  return box;
}

/** Show a tip at the pointer; no lines: hide it. */
function showTip(lines, event) {
  const tip = $('tip');
  if (!lines) {
    tip.hidden = true;
    return;
  }
  tip.replaceChildren(...tipContent(lines).children);
  tip.hidden = false;
  const {clientX: x, clientY: y} = event;
  tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${y + 18 + tip.offsetHeight > innerHeight ? y - tip.offsetHeight - 12 : y + 18}px`;
}

const tooltip = lines => ({
  trigger: 'item', confine: true, backgroundColor: css('--raised'), borderColor: css('--line'),
  textStyle: {color: css('--text')}, formatter: item => tipContent(lines(item)),
});

/** Phases as one bar; leaf phases, so that the parts do not overlap. */
function phaseChart(data) {
  const parents = new Set(data.phases.map(phase => phase.parent));
  const leaves = data.phases.filter(phase => !parents.has(phase.name) && phase.dur_ns > 0);
  if (data.unattributed_ns > 0) leaves.push({name: 'unattributed', dur_ns: data.unattributed_ns, colour: '#999999'});
  chartIn($('phase-chart'), chart => chart.setOption({
    ...baseOption(),
    aria: {enabled: true, label: {enabled: false}, decal: {show: true}},
    grid: {left: 4, right: 12, top: 34, bottom: 22},
    legend: {top: 0, type: 'scroll', textStyle: {color: css('--text')}, itemWidth: 14, itemHeight: 10},
    tooltip: tooltip(item => [item.seriesName, `${duration(item.value)}, ${percent(item.value, data.wall_ns)} of the wall time`]),
    xAxis: {type: 'value', max: data.wall_ns, ...axisStyle(), axisLabel: {color: css('--weak'), hideOverlap: true, formatter: v => moment(v, data.wall_ns)}},
    yAxis: {type: 'category', data: [''], show: false},
    series: leaves.map(phase => ({
      name: phase.name, type: 'bar', stack: 'wall', data: [phase.dur_ns], barWidth: 26,
      itemStyle: {color: phase.colour, borderColor: css('--ground'), borderWidth: 1},
    })),
  }));
}

/** Time of each step. */
function stepChart(data) {
  const select = $('step-loop'), log = $('step-log');
  data.steps.forEach((loop, index) => select.append(new Option(loop.loop, index)));
  const times = [...data.steps[0].step_ms].sort((a, b) => a - b);
  log.checked = times[times.length - 1] > 5 * times[times.length >> 1];
  const made = chartIn($('step-chart'), chart => chart.setOption(stepOption(data.steps[Number(select.value) || 0], log.checked), true));
  select.onchange = log.onchange = () => made.draw(made.chart);
  zoomByWheel($('step-chart'), (factor, x) => {
    const {start, end} = made.chart.getOption().dataZoom[0];
    const at = Math.max(0, Math.min(1, (x - 70) / (made.chart.getWidth() - 90)));
    const middle = start + at * (end - start);
    made.chart.dispatchAction({type: 'dataZoom', start: Math.max(0, middle - (middle - start) * factor), end: Math.min(100, middle + (end - middle) * factor)});
  });
}

function stepOption(loop, logarithmic) {
  const compiled = new Set(loop.compiled);
  const median = loop.median_ns === null ? null : loop.median_ns / 1e6;
  const numberOf = index => (loop.number ? loop.number[index] : index + 1);
  const last = numberOf(loop.step_ms.length - 1);
  const points = {step: [], outlier: [], compiled: []};
  loop.step_ms.forEach((ms, index) => {
    points[compiled.has(index) ? 'compiled' : median !== null && ms > 2 * median ? 'outlier' : 'step'].push([numberOf(index), ms]);
  });
  const series = (name, symbol, colour, size) => ({
    name, type: 'scatter', data: points[name], symbol, symbolSize: size, large: points[name].length > 4000,
    itemStyle: {color: colour},
  });
  const steps = series('step', 'circle', PALETTE[0], loop.step_ms.length > 500 ? 3 : 5);
  const lines = loop.epoch_starts.length <= 60 ? loop.epoch_starts.map(start => ({xAxis: numberOf(start)})) : [];
  steps.markLine = {
    silent: true, symbol: 'none', label: {show: false}, lineStyle: {color: css('--weak'), type: 'dotted', opacity: 0.7},
    data: median === null ? lines : [...lines, {yAxis: median, label: {
      show: true, formatter: `median ${duration(median * 1e6)}`, color: css('--text'), position: 'insideEndTop'}, lineStyle: {type: 'solid'}}],
  };
  steps.markArea = {
    silent: true, itemStyle: {color: PALETTE[1], opacity: 0.18},
    label: {color: css('--weak'), position: 'insideTop'},
    data: loop.windows.map(([from, to]) => [{xAxis: numberOf(from) - 0.5, name: 'kernel window'}, {xAxis: numberOf(to) + 0.5}]),
  };
  return {
    ...baseOption(),
    grid: {left: 70, right: 20, top: 30, bottom: 60},
    legend: {top: 0, textStyle: {color: css('--text')}, data: ['step', 'outlier', 'compiled']},
    tooltip: tooltip(item => [`${loop.loop === 'unknown' ? '' : loop.loop + ' '}step ${item.value[0]}`, duration(item.value[1] * 1e6), item.seriesName === 'compiled' ? 'a graph was compiled in it'
      : item.seriesName === 'outlier' ? 'more than twice the median' : '']),
    dataZoom: [{type: 'inside', zoomOnMouseWheel: false, preventDefaultMouseMove: false}, {type: 'slider', height: 18, bottom: 8, showDetail: false}],
    xAxis: {type: 'value', name: 'step', min: 1, max: Math.max(2, last), minInterval: 1, nameLocation: 'middle', nameGap: 22, ...axisStyle()},
    yAxis: {type: logarithmic ? 'log' : 'value', name: 'ms', ...axisStyle()},
    series: [steps, series('outlier', 'triangle', PALETTE[5], 9), series('compiled', 'diamond', PALETTE[3], 10)],
  };
}

/** Room for the labels beside a chart: less where the chart is narrow. */
const sideWidth = (element, most) => Math.round(Math.min(most, 0.3 * (paper || element.clientWidth || 1000)));

let ruler;
/** Width of a text in a chart's labels (px). */
function textWidth(text, font = '11px system-ui, sans-serif') {
  ruler = ruler || document.createElement('canvas').getContext('2d');
  ruler.font = font;
  return ruler.measureText(text).width;
}

/** A text cut in its middle, because what tells names apart stands at both of their ends. */
function middled(text, width, font) {
  if (textWidth(text, font) <= width) return text;
  let least = 0, most = text.length;
  const cut = count => `${text.slice(0, Math.ceil(count / 2))}…${text.slice(text.length - Math.floor(count / 2))}`;
  while (least < most) {
    const count = (least + most + 1) >> 1;
    if (textWidth(cut(count), font) <= width) least = count; else most = count - 1;
  }
  return cut(least);
}

/** Kernel time of each layer, by direction. */
function layerChart(data) {
  const layers = data.layers.slice(0, 30).reverse();
  const directions = Object.keys(DIRECTIONS).filter(name => layers.some(layer => layer.ns[name]));
  horizontalBars($('layer-chart'), layers.map(layer => layer.layer), directions.map(name => ({
    name, colour: DIRECTIONS[name], values: layers.map(layer => layer.ns[name] || 0),
  })), 'stack');
}

/** Kernel time of each layer on both sides of a comparison. */
function layersOfBoth(data) {
  const layers = data.layers_of_both.slice(0, 30).reverse();
  const sides = [['a_ns', PALETTE[2]], ['b_ns', PALETTE[3]]];  // not those of slower and faster
  horizontalBars($('layer-chart'), layers.map(layer => `${layer.layer || 'no layer'} ${layer.direction || ''}`), sides.map(([key, colour], index) => ({
    name: data.labels[index], colour, values: layers.map(layer => layer[key]),
  })));
}

function horizontalBars(element, labels, series, stack) {
  element.style.height = `${80 + labels.length * (stack ? 20 : 30)}px`;
  chartIn(element, chart => chart.setOption({
    ...baseOption(),
    aria: {enabled: true, label: {enabled: false}, decal: {show: true}},
    grid: {left: sideWidth(element, 190), right: 30, top: 30, bottom: 30},
    legend: {top: 0, type: 'scroll', textStyle: {color: css('--text')}},
    tooltip: tooltip(item => [item.name, `${item.seriesName}: ${duration(item.value)}, in all steps`]),
    xAxis: {type: 'value', ...axisStyle(), axisLabel: {color: css('--weak'), hideOverlap: true, formatter: v => duration(v)}},
    yAxis: {type: 'category', data: labels, ...axisStyle(), axisLabel: {color: css('--text'), interval: 0, formatter: name => middled(name, sideWidth(element, 190) - 15)}},
    series: series.map(one => ({name: one.name, type: 'bar', stack, data: one.values, itemStyle: {color: one.colour}})),
  }));
}

/** From B's wall time to A's, part by part. */
function waterfallChart(data) {
  const [a, b] = data.labels, [aWall, bWall] = data.walls_ns;
  const labels = [b], low = [0], up = [null], down = [null], whole = [bWall], noise = [null];
  let at = bWall;
  for (const part of data.waterfall) {
    labels.push(part.path);
    low.push(Math.min(at, at + part.delta_ns));
    const size = Math.abs(part.delta_ns);
    noise.push(part.noise ? size : null);
    up.push(!part.noise && part.delta_ns > 0 ? size : null);
    down.push(!part.noise && part.delta_ns <= 0 ? size : null);
    whole.push(null);
    at += part.delta_ns;
  }
  labels.push(a); low.push(0); up.push(null); down.push(null); noise.push(null); whole.push(aWall);
  const element = $('waterfall-chart');
  element.style.height = `${90 + labels.length * 24}px`;
  const bars = (name, values, colour) => ({name, type: 'bar', stack: 'w', data: values, itemStyle: {color: colour}, barCategoryGap: '25%'});
  chartIn(element, chart => chart.setOption({
    ...baseOption(),
    aria: {enabled: true, label: {enabled: false}, decal: {show: true}},
    grid: {left: sideWidth(element, 230), right: 90, top: 30, bottom: 30},
    legend: {top: 0, textStyle: {color: css('--text')}, data: ['wall time', `more in ${a}`, `less in ${a}`, 'within noise']},
    tooltip: tooltip(item => {
      const part = data.waterfall[item.dataIndex - 1];
      if (!part) return [`${item.name}: ${duration(item.value)}`];
      const interval = part.ci_ns ? `95 %: ${duration(part.ci_ns[0])} to ${duration(part.ci_ns[1])}` : '';
      return [part.path, `${duration(part.delta_ns)} (${a} − ${b})`, interval, part.noise ? 'within noise' : ''];
    }),
    xAxis: {type: 'value', min: 0, ...axisStyle(), axisLabel: {color: css('--weak'), hideOverlap: true, formatter: v => duration(v)}},
    yAxis: {type: 'category', inverse: true, data: labels, ...axisStyle(), axisLabel: {color: css('--text'), interval: 0, formatter: name => middled(name, sideWidth(element, 230) - 15)}},
    series: [
      {type: 'bar', stack: 'w', data: low, itemStyle: {color: 'transparent', decal: {symbol: 'none', color: 'transparent'}}, silent: true, tooltip: {show: false}},
      bars('wall time', whole, PALETTE[7]),
      bars(`more in ${a}`, up, SLOWER),
      bars(`less in ${a}`, down, FASTER),
      bars('within noise', noise, css('--line')),
    ].map((series, index) => index === 0 ? series : {...series, label: {
      show: true, position: 'right', color: css('--text'), formatter: item => {
        if (item.value === null || item.value === undefined) return '';
        const part = data.waterfall[item.dataIndex - 1];
        return duration(part ? part.delta_ns : item.value);
      },
    }}),
  }));
}

