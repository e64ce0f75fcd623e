// Unpacks what the page carries: see dlprof/report/html/pack.py.

/** The bytes of a compressed text in the page. */
async function unpacked(id) {
  const text = atob(document.getElementById(id).textContent);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).arrayBuffer();
}

/** The page's data: its JSON, and `column(number)` for its columns. */
async function readData() {
  const buffer = await unpacked('packed');
  const length = new DataView(buffer).getUint32(0, true);
  const content = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const columns = content.columns;
  content.column = number => {
    const [offset, count, kind] = columns[number];
    const begin = 4 + length + offset;
    if (kind === 'f') return new Float32Array(buffer.slice(begin, begin + 4 * count));
    return leb128(new Uint8Array(buffer, begin), count, kind === 'd');
  };
  return content;
}

/** Numbers in groups of seven bits; of `rising` ones the differences were written. */
function leb128(bytes, count, rising) {
  const values = new Float64Array(count);
  let at = 0, before = 0;
  for (let i = 0; i < count; i++) {
    let value = 0, scale = 1, byte;
    do {
      byte = bytes[at++];
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte & 128);
    before = rising ? before + value : value;
    values[i] = before;
  }
  return values;
}

/** Make the plotting library that the page carries known as `echarts`. */
async function loadLibrary() {
  const script = document.createElement('script');
  script.textContent = `${new TextDecoder().decode(await unpacked('library'))};window.echarts = echarts;`;
  document.head.append(script);
}

/** A time with three significant digits, as the reports print it. */
function duration(ns) {
  if (ns === null || ns === undefined) return '–';
  if (ns < 0) return `-${duration(-ns)}`;
  for (const [limit, scale, unit] of [[1e3, 1, 'ns'], [1e6, 1e3, 'µs'], [1e9, 1e6, 'ms'], [600e9, 1e9, 's']]) {
    if (Math.abs(ns) < limit * 0.9995) {
      const value = ns / scale;
      return `${value.toFixed(Math.abs(value) >= 100 || unit === 'ns' ? 0 : Math.abs(value) >= 10 ? 1 : 2)} ${unit}`;
    }
  }
  const minutes = Math.floor(Math.round(ns / 1e9) / 60), seconds = Math.round(ns / 1e9) % 60;
  const hours = Math.floor(minutes / 60);
  return hours ? `${hours} h ${String(minutes % 60).padStart(2, '0')} min` : `${minutes} min ${String(seconds).padStart(2, '0')} s`;
}

/** A moment on an axis, as fine as the stretch that is shown asks for. */
function moment(ns, span) {
  const [scale, unit] = span >= 5e9 ? [1e9, 's'] : span >= 5e6 ? [1e6, 'ms'] : [1e3, 'µs'];
  const digits = Math.max(0, Math.min(6, Math.ceil(1 - Math.log10(span / scale / 8))));
  return `${(ns / scale).toLocaleString('en', {minimumFractionDigits: 0, maximumFractionDigits: digits})} ${unit}`;
}

/** Let the browser paint, then go on; a page that nobody looks at is not painted. */
const breath = () => new Promise(done => (document.hidden ? setTimeout(done) : requestAnimationFrame(() => setTimeout(done))));

const percent = (part, whole) => (whole ? `${(100 * part / whole).toFixed(1)} %` : '–');
const $ = id => document.getElementById(id);
