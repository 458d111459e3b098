import assert from "node:assert/strict";
import { test } from "node:test";
import { paintLine } from "../src/paint.js";

const marked = (...args) => paintLine(...args).filter((run) => run.names).map((run) => [run.text, run.names]);

test("a line keeps its text, and marks their places", () => {
  const marks = [{ from: 0, to: 3, names: "tok-keyword" }, { from: 9, to: 12, names: "tok-comment" }];
  const runs = paintLine("def f():  # no", marks, "python");
  assert.equal(runs.map((run) => run.text).join(""), "def f():  # no");
  assert.deepEqual(marked("def f():  # no", marks, "python"), [["def", "tok-keyword"], [" # ", "tok-comment"]]);
  assert.deepEqual(paintLine("", [], "python"), []);
});

test("CUDA's words are marked outside comments and strings, and in CUDA alone", () => {
  const text = "k<<<1, 2>>>(threadIdx); // dim3";
  const marks = [{ from: 24, to: 31, names: "tok-comment" }];
  const found = [["<<<", "tok-keyword"], [">>>", "tok-keyword"], ["threadIdx", "tok-typeName"], ["// dim3", "tok-comment"]];
  assert.deepEqual(marked(text, marks, "cuda"), found);
  assert.deepEqual(marked(text, marks, "python"), [["// dim3", "tok-comment"]]);
});
