// Sums of an area of the timeline, and the calls that launched what a GPU ran.

const TOP_NAMES = 15;
const AS_ONE = 'short events, drawn as one';

/** Sums of the events of some rows in a stretch of time: by place, and by name with what runs inside taken out. */
function sumsOf(timeline, {from, to, first, last}) {
  const places = new Map(), names = new Map(), {kind, text} = timeline.content.names;
  timeline.shown.slice(first, last + 1).forEach((entry, offset) => {
    if (entry.head) return;
    const {row, track, depth} = entry, inner = track.rows[depth + 1];
    const isOutermost = depth === 0 || first + offset === first || timeline.shown[first + offset - 1].track !== track;
    const place = places.get(track.place) || {count: 0, stretches: []};
    places.set(track.place, place);
    let child = inner ? inner.after(from) : 0;
    for (let i = row.after(from); i < row.length && row.start[i] < to; i++) {
      const begin = Math.max(from, row.start[i]), end = Math.min(to, row.end[i]);
      let own = end - begin;
      while (inner && child < inner.length && inner.start[child] < end) {
        own -= Math.max(0, Math.min(to, inner.end[child]) - Math.max(from, inner.start[child]));
        child++;
      }
      const count = row.merged ? row.merged[i] : 1, isIdle = kind[row.name[i]] === 'idle';
      const name = count > 1 ? AS_ONE : text[row.name[i]], key = `${track.place}\u0000${name}`;
      const sum = names.get(key) || {name, place: track.place, count: 0, own: 0, total: 0};
      names.set(key, sum);
      sum.count += count;
      sum.own += own;
      sum.total += end - begin;
      if (isIdle) continue;
      place.count += count;
      if (isOutermost) place.stretches.push([begin, end]);
    }
  });
  return {
    places: [...places].map(([name, place]) => ({name, count: place.count, covered: covered(place.stretches)})).filter(one => one.count),
    names: [...names.values()].sort((a, b) => b.own - a.own),
  };
}

/** Time in which at least one of some stretches holds. */
function covered(stretches) {
  let sum = 0, until = -Infinity;
  for (const [begin, end] of stretches.sort((a, b) => a[0] - b[0])) {
    sum += Math.max(0, end - Math.max(begin, until));
    until = Math.max(until, end);
  }
  return sum;
}

/** A table of an area's sums. */
function areaTable(names) {
  const table = document.createElement('table'), head = table.createTHead().insertRow(), body = table.createTBody();
  for (const [label, isFigure] of [['name', false], ['where', false], ['count', true], ['own time', true], ['total', true]]) {
    const cell = document.createElement('th');
    cell.textContent = label;
    if (isFigure) cell.className = 'number';
    head.append(cell);
  }
  for (const one of names.slice(0, TOP_NAMES)) {
    const row = body.insertRow();
    for (const [text, value] of [[one.name], [one.place], [one.count.toLocaleString('en'), one.count], [duration(one.own), one.own], [duration(one.total), one.total]]) {
      const cell = row.insertCell();
      cell.textContent = text;
      if (value === undefined) continue;
      cell.className = 'number';
      cell.dataset.value = value;
    }
  }
  if (body.rows.length > 1) makeSortable(table);
  return table;
}

Object.assign(Timeline.prototype, {
  /** Show the sums of an area; null: of none. */
  sumUp(area) {
    const place = this.root.querySelector('.area');
    this.area = area;
    this.placeBand();
    if (!area) return place.replaceChildren();
    const {places, names} = sumsOf(this, area), span = area.to - area.from;
    const text = line => Object.assign(document.createElement('p'), {textContent: line});
    const told = [text(`${area.whole ? 'In sight' : 'Area'}: ${this.moment(area.from, span)} to ${this.moment(area.to, span)}, ${duration(span)}${this.content.drawn < this.content.events ? '; some short events are drawn as one' : ''}`)];
    for (const one of places) told.push(text(`${one.name}: ${one.count.toLocaleString('en')} ${one.count === 1 ? 'event' : 'events, at least one of them'} for ${duration(one.covered)} (${percent(one.covered, span)})`));
    if (!places.length) told.push(text('No event.'));
    if (names.length) told.push(areaTable(names));
    if (names.length > TOP_NAMES) told.push(text(`${names.length - TOP_NAMES} more names, ${duration(names.slice(TOP_NAMES).reduce((sum, one) => sum + one.own, 0))} of own time, over all rows`));
    place.replaceChildren(...told);
  },

  /** Keep the band of a chosen area where its moments and rows are. */
  placeBand() {
    const lanes = this.root.querySelector('.lanes'), area = this.area;
    let band = lanes.querySelector('.band');
    if (!area || area.whole) return band && band.remove();
    if (!band) lanes.append(band = Object.assign(document.createElement('div'), {className: 'band'}));
    const edge = time => Math.max(this.left, Math.min(this.chart.getWidth() - RIGHT, this.chart.convertToPixel({xAxisIndex: 0}, time)));
    const [x0, x1] = [edge(area.from), edge(area.to)];
    Object.assign(band.style, {left: `${x0}px`, width: `${x1 - x0}px`, top: `${this.grids[0].top + area.first * ROW}px`, height: `${(area.last - area.first + 1) * ROW}px`});
    band.hidden = x1 <= x0;
  },

  /** Drag with Shift: an area from where the button went down to where it came up. */
  bindArea() {
    this.element.addEventListener('mousedown', event => {
      const grid = this.grids[0];
      if (!event.shiftKey || !grid || grid.kind !== 'events') return;
      event.stopPropagation();
      event.preventDefault();
      const at = one => {
        const box = this.element.getBoundingClientRect();
        const time = this.chart.convertFromPixel({xAxisIndex: 0}, Math.max(this.left, Math.min(box.width - RIGHT, one.clientX - box.left)));
        const row = Math.floor((one.clientY - box.top - grid.top) / ROW);
        return {time: Math.max(0, Math.min(this.content.span_ns, time)), row: Math.max(0, Math.min(this.rows.length - 1, row))};
      };
      const begin = at(event);
      const areaTo = end => ({
        from: Math.min(begin.time, end.time), to: Math.max(begin.time, end.time), first: Math.min(begin.row, end.row), last: Math.max(begin.row, end.row)});
      const move = one => { this.area = areaTo(at(one)); this.placeBand(); };
      const up = one => {
        removeEventListener('mousemove', move);
        removeEventListener('mouseup', up);
        const area = areaTo(at(one));
        this.sumUp(area.to > area.from ? area : null);
      };
      addEventListener('mousemove', move);
      addEventListener('mouseup', up);
    }, {capture: true});
    this.element.addEventListener('click', event => { if (event.shiftKey) event.stopPropagation(); }, {capture: true});
  },
});

const LINKS = 200;

/** What launched an event, or what an event launched: the call that begins when the launch did, the innermost one. */
function linksOf(timeline, found) {
  const {row, index} = found;
  if (row.launch) {
    const from = Number.isNaN(row.launch[index]) ? null : hostEvent(timeline, row.launch[index]);
    return from ? [{from, to: found}] : [];
  }
  const links = [], begin = row.start[index];
  for (const track of timeline.tracks) {
    if (track.group !== 'gpu') continue;
    for (const other of track.rows) {
      for (let i = 0; other.launch && i < other.length && links.length < LINKS; i++) {
        if (other.launch[i] === begin) links.push({from: found, to: {row: other, index: i}});
      }
    }
  }
  // A call around the launching one may begin in the same moment: only the innermost launched.
  const launcher = links.length ? hostEvent(timeline, begin) : null;
  return launcher && launcher.row === row ? links : [];
}

/** The innermost event of a host that begins at a moment. */
function hostEvent(timeline, begin) {
  let best = null;
  for (const track of timeline.tracks) {
    if (track.group !== 'host') continue;
    track.rows.forEach(row => {
      const index = row.after(begin);
      if (index < row.length && row.start[index] === begin) best = {row, index};
    });
  }
  return best;
}

/** The launches of the chosen event in words. */
function saidOfLinks(timeline, found) {
  const {links} = timeline, {row, index} = found;
  if (row.launch && !Number.isNaN(row.launch[index])) {
    const ago = `launched ${duration(row.start[index] - row.launch[index])} before`;
    return [links.length ? `${ago}, by ${timeline.nameOf(links[0].from.row, links[0].from.index)}` : ago];
  }
  if (!links.length) return [];
  const first = links[0].to, count = links.length;
  return [`launched ${count > 1 ? `${count}${count === LINKS ? ' or more' : ''} kernels or copies, the first: ` : ''}${timeline.nameOf(first.row, first.index)}`];
}
