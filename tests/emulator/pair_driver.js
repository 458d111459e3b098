// Steps through a bundle with the page's worker script, in Node: node pair_driver.js WORKER ENGINE BUNDLE. Prints the
// time line of each order of its blocks, and a race's word before and after both accesses.
"use strict";
const fs = require("node:fs");
const vm = require("node:vm");

const [worker, wasm, file] = process.argv.slice(2);
globalThis.self = { postMessage() {} };
vm.runInThisContext(fs.readFileSync(worker, "utf8") + "; globalThis.stepper = { begun, machine: () => machine };");

function word(machine) {
  const { finding } = machine.header;
  const window = machine.windows.find((each) => each.number === finding.region);
  const at = window.at + finding.offset - window.from;
  return Buffer.from(machine.bytes.slice(at, at + finding.size)).toString("hex");
}

async function main() {
  const module = await WebAssembly.compile(fs.readFileSync(wasm));
  const answer = await stepper.begun(module, fs.readFileSync(file));
  if (answer.failed) throw new Error(`${answer.failed} ${answer.detail}`);
  const machine = stepper.machine();
  const orders = machine.orders.map((plan, number) => {
    machine.begin(number);
    const timeline = machine.timeline();
    const at = (row) => { machine.go(row); return word(machine); };
    const changes = () => {
      const found = [];
      let before = at(0);
      for (let row = 1; row <= machine.total; row++) {
        const after = at(row);
        if (after !== before) found.push([before, after]);
        before = after;
      }
      return found;
    };
    const words = changes();
    // Back and forth between the two blocks.
    machine.go(machine.total);
    machine.go(1);
    machine.go(plan.rows[0] + 1);
    return { timeline, words, again: changes(), rows: machine.total, blocks: plan.indices };
  });
  process.stdout.write(JSON.stringify({ orders }));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
