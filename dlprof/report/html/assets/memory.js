// Memory over time: areas by kind of page, the tree's whole as a line, the peak with who stood there.

/** A number of bytes, as the reports print it. */
function bytes(value) {
  if (value === null || value === undefined) return '–';
  for (const unit of ['B', 'kB', 'MB']) {
    if (Math.abs(value) < 1000) return `${value.toFixed(0)} ${unit}`;
    value /= 1000;
  }
  return `${value.toFixed(2)} GB`;
}

/** The place of the last value that is no later. */
function before(times, time) {
  let low = 0, high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= time) low = middle + 1; else high = middle;
  }
  return low - 1;
}

class MemoryChart {
  constructor(content) {
    this.content = content;
    this.from = 0;
    this.to = content.wall_ns;
    this.made = chartIn($('memory-chart'), chart => this.draw(chart));
  }

  /** Show a stretch: that of the timeline above. */
  show(from, to) {
    this.from = from;
    this.to = to;
    this.made.chart.setOption({xAxis: {min: from, max: to}});
  }

  draw(chart) {
    const {content} = this, left = sideWidth($('memory-chart'), SIDE);
    const points = (times, values) => times.map((time, index) => [time, values[index]]);
    const area = kind => ({
      name: kind.label, type: 'line', stack: 'kinds', symbol: 'none', data: points(content.time_ns, kind.bytes),
      lineStyle: {width: 0}, itemStyle: {color: kind.colour}, areaStyle: {color: kind.colour, opacity: 0.55},
    });
    const whole = {
      name: 'all', type: 'line', symbol: 'none', data: points(content.time_ns, content.tree_bytes),
      lineStyle: {width: 1.5, color: css('--text')}, itemStyle: {color: css('--text')},
      ...(content.kinds.length ? {} : {areaStyle: {color: PALETTE[4], opacity: 0.45}}),
      markArea: {
        silent: true, label: {show: false},
        data: content.bands.map(band => [{xAxis: band.from, itemStyle: {color: band.colour, opacity: 0.09}}, {xAxis: band.to}]),
      },
      markLine: content.limit ? {
        silent: true, symbol: 'none', lineStyle: {color: SLOWER, type: 'dashed'},
        label: {formatter: `${content.limit.name}: ${bytes(content.limit.bytes)}`, position: 'insideStartTop', color: css('--text')},
        data: [{yAxis: content.limit.bytes}],
      } : undefined,
    };
    const dots = (name, moments, size, colour, more) => ({
      name, type: 'scatter', symbol: 'circle', symbolSize: size, itemStyle: {color: colour, borderColor: css('--ground'), borderWidth: 1},
      data: moments.map(one => [one.time_ns, one.bytes]), ...more,
    });
    chart.setOption({
      ...baseOption(),
      grid: {left, right: RIGHT, top: 34, bottom: 26, outerBoundsMode: 'none'},
      legend: {top: 0, type: 'scroll', textStyle: {color: css('--text')}, itemWidth: 14, itemHeight: 10,
        data: ['all', ...content.kinds.map(kind => kind.label), 'peak of a phase', 'peak']},
      tooltip: {
        trigger: 'axis', confine: true, backgroundColor: css('--raised'), borderColor: css('--line'),
        textStyle: {color: css('--text')}, axisPointer: {type: 'line'},
        formatter: items => tipContent(this.lines(items[0].axisValue)),
      },
      xAxis: {type: 'value', min: this.from, max: this.to, ...axisStyle(), axisLabel: {
        color: css('--weak'), hideOverlap: true, alignMaxLabel: 'right', formatter: v => moment(v, this.to - this.from)}},
      yAxis: {type: 'value', min: 0, max: Math.max(content.limit ? content.limit.bytes : 0, content.peak.bytes * 1.12, ...content.tree_bytes),
        ...axisStyle(), axisLabel: {color: css('--weak'), formatter: bytes, showMaxLabel: false}},
      series: [
        ...content.kinds.map(area), whole,
        dots('peak of a phase', content.peaks, 6, PALETTE[1]),
        dots('peak', [content.peak], 11, SLOWER, {z: 5, label: {
          show: true, color: css('--text'), formatter: () => this.peakText(), position: 'top',
          align: content.peak.time_ns > content.wall_ns / 2 ? 'right' : 'left'}}),
      ],
    }, true);
  }

  peakText() {
    const {peak} = this.content;
    return [bytes(peak.bytes), peak.phase, peak.at].filter(Boolean).join(', ');
  }

  /** What is said of a moment: memory as it was sampled last, by kind, and who stood there. */
  lines(time) {
    const {content} = this;
    const at = before(content.time_ns, time);
    if (at < 0) return [duration(time), 'not sampled yet'];
    const near = content.moments[Math.max(0, before(content.moments.map(one => one.time_ns), time))];
    const band = content.bands.find(one => one.from <= time && time < one.to);
    return [
      `${moment(time, content.wall_ns)}: ${bytes(content.tree_bytes[at])}`,
      ...content.kinds.map(one => `${one.label}: ${bytes(one.bytes[at])}`),
      band ? `in ${band.phase}` : '',
      near && near.at ? `nearby the main thread stood at ${near.at}` : '',
    ];
  }
}
