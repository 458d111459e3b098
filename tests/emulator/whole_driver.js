// Runs whole launches with the engine as WebAssembly, in Node: node whole_driver.js WORKER ENGINE BUNDLE... Prints the
// number of instructions and a digest of all memory after each.
"use strict";
const crypto = require("node:crypto");
const fs = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");

const [worker, wasm, ...bundles] = process.argv.slice(2);
globalThis.self = { postMessage() {} };
vm.runInThisContext(fs.readFileSync(worker, "utf8") + "; globalThis.stepper = { unpacked, Machine };");

async function main() {
  const module = await WebAssembly.compile(fs.readFileSync(wasm));
  const out = {};
  for (const file of bundles) {
    const parts = await stepper.unpacked(fs.readFileSync(file));
    const it = new stepper.Machine(await WebAssembly.instantiate(module, {}), parts);
    const cluster = it.copied(new Uint8Array(Uint32Array.from([1, 1, 1]).buffer));
    const ended = it.c.step_all(it.it, cluster, parts.header.cooperative);
    const digest = crypto.createHash("sha256");
    for (const window of it.windows) digest.update(it.bytes.subarray(window.at, window.at + window.bytes));
    out[path.basename(file)] = { ended, rows: Number(it.c.engine_instructions(it.engine)), memory: digest.digest("hex") };
  }
  process.stdout.write(JSON.stringify(out));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
