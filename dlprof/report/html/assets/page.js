// Puts the page together: the theme first, then one chart after the other, so that the page can be used meanwhile.

const root = document.documentElement;
const wantsDark = matchMedia('(prefers-color-scheme: dark)');

function setTheme(dark) {
  root.dataset.theme = dark ? 'dark' : 'light';
  charts.forEach(one => one.make());
}

setTheme(wantsDark.matches);
$('theme').onclick = () => setTheme(root.dataset.theme !== 'dark');
wantsDark.onchange = event => setTheme(event.matches);

// Paper is light, and as wide as it is: charts are drawn anew for it, at once, because the browser does not wait.
const PAPER = 700;
let asBefore = null;
addEventListener('beforeprint', () => {
  if (asBefore !== null) return;
  asBefore = root.dataset.theme === 'dark';
  paper = PAPER;
  setTheme(false);
});
addEventListener('afterprint', () => {
  if (asBefore === null) return;
  paper = 0;
  setTheme(asBefore);
  asBefore = null;
});
addEventListener('resize', () => charts.forEach(one => one.resize()));

for (const link of document.querySelectorAll('.download')) {
  const name = link.dataset.json;
  link.onclick = event => {
    event.preventDefault();
    const made = document.createElement('a');
    made.href = URL.createObjectURL(new Blob([$(name).textContent], {type: 'application/json'}));
    made.download = name;
    made.click();
    URL.revokeObjectURL(made.href);
  };
}

/** Open the file of a line that a link leads to, and unfold its lines. */
function openTarget() {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  const file = target && target.closest('details'), lines = target && target.closest('tbody.folded');
  if (file) file.open = true;
  if (lines) unfold(lines.previousElementSibling);
  if (file || lines) target.scrollIntoView({block: 'center'});
}
addEventListener('hashchange', openTarget);

async function fill() {
  const page = window.dlprofPage = {};
  const [data] = await Promise.all([readData(), $('library').textContent && loadLibrary()]);  // pages of tables have none
  const jobs = [];
  const job = (id, work) => { if ($(id)) jobs.push(work); };
  if (data.kind === 'run') {
    job('phase-chart', () => phaseChart(data));
    job('step-chart', () => stepChart(data));
    job('flame-chart', () => { page.flames = new Flames(data); });
    job('layer-chart', () => layerChart(data));
    job('memory-chart', () => { page.memory = new MemoryChart(data.memory); });
  } else if (data.kind === 'ranks') {
    job('heat', () => { page.heats = rankHeats(data); });
    job('rank-chart', () => rankChart(data));
    job('pair-chart', () => pairChart(data));
  } else {
    job('waterfall-chart', () => waterfallChart(data));
    job('layer-chart', () => layersOfBoth(data));
    job('flame-chart', () => { page.flames = new FlamesOfBoth(data); });
  }
  const timelines = [];
  const spans = data.timelines.filter(Boolean).map(one => one.span_ns);
  for (const element of document.querySelectorAll('[data-timeline]')) {
    const content = data.timelines[element.dataset.timeline];
    if (!content) {
      element.textContent = 'The timeline is empty: no event of this run has a time.';
      continue;
    }
    content.span_ns = Math.max(...spans);  // both sides of a comparison on one scale
    jobs.push(async () => timelines.push(await Timeline.make(element, content, data.column)));
  }
  const failures = [];
  for (const work of jobs) {
    await breath();
    try {
      await work();
    } catch (error) {
      failures.push(error);
    }
  }
  if (timelines.length === 2) tie(timelines);
  if (timelines.length && page.memory) followTimeline(timelines[0], page.memory);
  for (const heat of page.heats || []) heat.goTo = timelines.length ? (from, to) => timelines[0].show(from, to, 1) : null;
  Object.assign(page, {data, timelines});
  if (failures.length) throw failures[0];
  root.dataset.ready = 'yes';
}

/** Two timelines show the same stretch, unless the reader says otherwise. */
function tie(timelines) {
  timelines.forEach((one, index) => one.listeners.push((from, to) => {
    if ($('together').checked) timelines[1 - index].show(from, to, 0, false);
  }));
}

/** Memory is drawn on the timeline's axis, whatever stretch of it is shown. */
function followTimeline(timeline, memory) {
  const shift = timeline.content.shift_ns || 0;
  const show = (from, to) => memory.show(from - shift, to - shift);
  timeline.listeners.push(show);
  show(timeline.from, timeline.to);
}

makeTables();
makeFolds();
openTarget();
fill().catch(error => {
  root.dataset.ready = 'failed';
  const told = document.createElement('p');
  told.className = 'bad';
  told.textContent = `Not every chart could be drawn: ${error.message}. The tables are complete.`;
  document.querySelector('main').prepend(told);
  console.error(error);
});
