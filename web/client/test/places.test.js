import assert from "node:assert/strict";
import { test } from "node:test";
import { findLine, findRange } from "../src/places.js";

const lines = ["import a", "", "x = = 3", "y = 1", "x = = 3"];
const find = (line, text) => findLine({ line, text }, (number) => lines[number - 1], lines.length);

test("a line that stayed where it was is found there, although there is another like it", () => {
  assert.equal(find(3, "x = = 3"), 3);
  assert.equal(find(5, "x = = 3"), 5);
});

test("a line that moved is found at the nearest place, indented again or not", () => {
  assert.equal(find(2, "  x = = 3"), 3);
  assert.equal(find(100, "y = 1"), 0); // too far away to be the same
  assert.equal(find(54, "y = 1"), 4);
});

test("a line that is gone has no message", () => assert.equal(find(3, "z = 3"), 0));

test("a column marks its word, no column the line without its indent", () => {
  assert.deepEqual(findRange("  foo = 3;", 3), [2, 5]);
  assert.deepEqual(findRange("  foo = 3;", 7), [6, 7]);
  assert.deepEqual(findRange("  foo = 3;", null), [2, 10]);
  assert.deepEqual(findRange("  foo", 99), [2, 5]);
  assert.deepEqual(findRange("", null), [0, 0]);
});
