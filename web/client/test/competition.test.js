import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";

const { ranksOf } = createRequire(import.meta.url)("../../static/competition.js");
const ranks = (sorts, resolution) => ranksOf(sorts.map((sort) => ({ sort })), resolution);

test("equal scores share a rank, and the next one counts them all", () => {
  assert.deepEqual(ranks([[-300, 0], [-200, 0], [-100, 0], [-100, 0], [-50, 0], null], 0.01), [1, 2, 3, 3, 5, null]);
});

test("times that the board cannot tell apart share a rank", () => {
  assert.deepEqual(ranks([[-1, 100], [-1, 101], [-1, 104], [-2, 900]], 0.02), [2, 2, 4, 1]);
});
