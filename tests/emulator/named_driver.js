// Variables of a block, by the page's worker script, in Node: node named_driver.js WORKER ENGINE BUNDLE QUESTION...
// A question is LINE,WARP[,OPERATION]: at the first such row of that line in that warp. Prints the states as JSON.
"use strict";
const fs = require("node:fs");
const vm = require("node:vm");

const [worker, wasm, bundle, ...questions] = process.argv.slice(2);
globalThis.self = { postMessage() {} };
vm.runInThisContext(fs.readFileSync(worker, "utf8") + "; globalThis.stepper = { begun, machine: () => machine };");

async function main() {
  const module = await WebAssembly.compile(fs.readFileSync(wasm));
  const answer = await stepper.begun(module, fs.readFileSync(bundle));
  if (answer.failed) throw new Error(`${answer.failed} ${answer.detail}`);
  const it = stepper.machine();
  const states = questions.map((question) => {
    const [line, warp] = question.split(",").map(Number);
    const operation = question.split(",")[2];
    const isWanted = (each) => each.warp === warp && each.lineAt(each.pc) === line && (!operation || each.rowAt(each.pc).name === operation);
    it.go(0);
    if (line) it.seek(true, isWanted);
    else it.go(answer.about.rows);
    const { row, variables, prints, allocations, operands, status, name } = it.state();
    return { row, line: it.lineAt(it.pc), variables, prints, allocations, operands, status, name };
  });
  const text = (_, value) => (typeof value === "bigint" ? String(value) : value);
  process.stdout.write(JSON.stringify({ about: answer.about, states }, text));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
