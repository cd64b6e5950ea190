// SPDX-License-Identifier: Apache-2.0
// Asks Perfetto's own trace processor about a trace: node trace_processor.mjs DIR TRACE SQL...
// DIR has it as WebAssembly with its engine: trace_processor.wasm, engine_bundle.node.js and
// engine.mjs. A line for each row, its columns apart by tabs; an empty line after each query.
import fs from 'node:fs';
import path from 'node:path';
import url from 'node:url';
import vm from 'node:vm';

const [dir, trace, ...queries] = process.argv.slice(2);
const file = (name) => path.join(path.resolve(dir), name);
console.warn = () => {};

// The bridge is made for a browser's worker, and fetches its code.
function bridgeOf(source) {
  const changes = [
    ['this.useMemory64 = hasMemory64Support();', 'this.useMemory64 = false;'],
    ['locateFile: (s) => s,', 'locateFile: (s) => s, wasmBinary: globalThis.nocapWasm,'],
    ['const wasmBridge = new wasm_bridge_1.WasmBridge();',
     'const wasmBridge = globalThis.nocapBridge = new wasm_bridge_1.WasmBridge();'],
  ];
  for (const [from, to] of changes) {
    if (!source.includes(from)) throw new Error(`another engine_bundle.node.js: no '${from}'`);
    source = source.replace(from, to);
  }
  globalThis.self = globalThis;
  globalThis.WorkerGlobalScope = class {};
  globalThis.location = { href: url.pathToFileURL(file('/')).href };
  globalThis.nocapWasm = new Uint8Array(fs.readFileSync(file('trace_processor.wasm')));
  vm.runInThisContext(source);
  return globalThis.nocapBridge;
}

const { EngineBase } = await import(url.pathToFileURL(file('engine.mjs')).href);
class Engine extends EngineBase {
  mode = 'WASM';
  id = 'test';
  constructor(port) {
    super();
    this.port = port;
    port.onmessage = (m) => this.onRpcResponseBytes(m.data);
  }
  rpcSendRequestBytes(data) { this.port.postMessage(data); }
  dispose() { this.port.close(); }
}

const bridge = bridgeOf(fs.readFileSync(file('engine_bundle.node.js'), 'utf8'));
const { port1, port2 } = new MessageChannel();
bridge.initialize(port1);
const engine = new Engine(port2);
await new Promise((done) => setTimeout(done, 1500));
await engine.parse(new Uint8Array(fs.readFileSync(trace)));
await engine.notifyEof();
for (const sql of queries) {
  const result = await engine.query(sql);
  if (result.error()) throw new Error(`${sql}: ${result.error()}`);
  const columns = result.columns();
  for (const row = result.iter({}); row.valid(); row.next()) {
    console.log(columns.map((c) => row.get(c)).join('\t'));
  }
  console.log('');
}
process.exit(0);
