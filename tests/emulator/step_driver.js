// Runs bundles with the page's worker script, in Node: node step_driver.js WORKER ENGINE BUNDLE... Prints what came out.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");

const JUMPS = 60;
const [worker, wasm, ...bundles] = process.argv.slice(2);
globalThis.self = { postMessage() {} };
// What the script declares at its top is visible to this script after it ran.
vm.runInThisContext(fs.readFileSync(worker, "utf8") + "; globalThis.stepper = { begun, machine: () => machine };");

// A small generator, so that each run makes the same jumps.
let seed = 12345;
const drawn = (below) => {
  seed = (seed * 1103515245 + 12345) % 2147483648;
  return Math.floor((seed / 2147483648) * below);
};

async function main() {
  const module = await WebAssembly.compile(fs.readFileSync(wasm));
  const out = {};
  for (const file of bundles) {
    const answer = await stepper.begun(module, fs.readFileSync(file));
    if (answer.failed) throw new Error(`${file}: ${answer.failed} ${answer.detail}`);
    const it = stepper.machine();
    const sums = [it.checksum()];
    for (let row = 1; row <= answer.about.rows; row++) {
      it.go(row);
      if (it.row !== row) throw new Error(`${file}: at ${it.row}, not ${row}`);
      sums.push(it.checksum());
      it.state();
    }
    const before = it.bytes.length;
    let wrong = 0;
    for (let i = 0; i < JUMPS; i++) {
      const row = drawn(answer.about.rows + 1);
      it.go(row);
      wrong += it.checksum() !== sums[row];
    }
    out[path.basename(file)] = { sums, wrong_jumps: wrong, grew: it.bytes.length - before };
  }
  process.stdout.write(JSON.stringify(out));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
