import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";
import { faults } from "../src/brackets.js";

const ROOT = new URL("../../../", import.meta.url);
const told = (text, mode) => faults(text, mode).map(({ from, to, message }) => [text.slice(from, to), message]);

test("brackets, quotes and comments of C++", () => {
  assert.deepEqual(told("void f() { g(1; }", "cuda"), [["}", '"(" of line 1 needs ")" before this "}".'], ["{", '"{" is never closed.']].reverse());
  assert.deepEqual(told("f());", "cuda"), [[")", '")" closes nothing.']]);
  assert.deepEqual(told('printf("(\\"\n);', "cuda"), [['"(\\"', "This text has no closing quote."]]);
  assert.deepEqual(told("/* ( ", "cuda"), [["/*", "This comment is never closed."]]);
  assert.deepEqual(told('// (\nchar c = \'(\'; int n = 1\'000; auto s = R"x()")x"; k<<<1, 2>>>(n);', "cuda"), []);
  assert.deepEqual(told("#if A\nf(\n#else\ng(\n#endif\n1);", "cuda"), []);
});

test("brackets, strings and colons of Python", () => {
  assert.deepEqual(told("def f(a)\n    pass", "python"), [["def f(a)", "This line needs a colon at its end."]]);
  assert.deepEqual(told("if x[1:2]\n    pass\nelse:\n    pass", "python"), [["if x[1:2]", "This line needs a colon at its end."]]);
  assert.deepEqual(told("x = 'it\ny = 1", "python"), [["'it", "This text has no closing quote."]]);
  assert.deepEqual(told('"""(\n', "python"), [['"""', "This text has no closing quote."]]);
  assert.deepEqual(told("def f(\n    a,\n    b,\n):  # (\n    return {1: '\\'('}\n\nfor_each = 1\nif a and \\\n        b:\n    x = 1 if a else 2\n", "python"), []);
  assert.deepEqual(told("(", "text"), []);
});

test("no source of the catalogue has a fault", () => {
  const folders = ["challenges", "reference", "benchmarks/variants"];
  const files = folders.flatMap((folder) => readdirSync(new URL(folder, ROOT), { recursive: true }).map((name) => `${folder}/${name}`));
  const sources = files.filter((name) => /\.(?:cu|py)$/.test(name) && !name.includes("mutants"));
  assert.ok(sources.length > 100);
  for (const name of sources) {
    assert.deepEqual(told(readFileSync(new URL(name, ROOT), "utf8"), name.endsWith(".cu") ? "cuda" : "python"), [], name);
  }
});
