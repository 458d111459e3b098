import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";

const { choose, endangered } = createRequire(import.meta.url)("../../static/drafts.js");
const local = (more) => ({ text: "mine", at: 10, base: "r1", kept: false, ...more });
const server = (more) => ({ text: "theirs", at: 5, revision: "r1", ...more });

test("where there is one, it is shown", () => {
  assert.deepEqual(choose(null, null), { use: "starter", ask: false });
  assert.deepEqual(choose(null, server()), { use: "server", ask: false });
  assert.deepEqual(choose(local(), null), { use: "local", ask: false });
});

test("what was saved, and is gone on the server, was reset elsewhere", () => {
  assert.deepEqual(choose(local({ kept: true }), null), { use: "starter", ask: false });
});

test("what was edited since is newer, and nobody is asked", () => {
  assert.deepEqual(choose(local(), server()), { use: "local", ask: false });
});

test("what was saved here and then changed elsewhere is taken from there", () => {
  assert.deepEqual(choose(local({ kept: true }), server({ revision: "r2" })), { use: "server", ask: false });
});

test("where both were changed the newer one is shown, and one is asked", () => {
  assert.deepEqual(choose(local(), server({ revision: "r2" })), { use: "local", ask: true });
  assert.deepEqual(choose(local({ at: 1 }), server({ revision: "r2" })), { use: "server", ask: true });
});

test("the same text is no conflict", () => {
  assert.deepEqual(choose(local({ text: "theirs" }), server({ revision: "r2" })), { use: "server", ask: false });
});

test("what another tab wrote and no server has is in danger", () => {
  const mine = { text: "a", at: 1, tab: "A", kept: false };
  const theirs = { text: "b", at: 2, tab: "B", kept: false };
  const other = { text: "b", at: 2, tab: "B" };
  assert.deepEqual(endangered(theirs, null, "a"), [other]);
  assert.deepEqual(endangered({ ...theirs, others: [{ text: "c", at: 1, tab: "C" }] }, mine, "ab"), [other, { text: "c", at: 1, tab: "C" }]);
});

test("what is one's own, what the server has, and the same text are not", () => {
  const mine = { text: "a", at: 1, tab: "A", kept: false };
  assert.deepEqual(endangered(null, null, "a"), []);
  assert.deepEqual(endangered(mine, mine, "ab"), []);
  assert.deepEqual(endangered({ text: "b", at: 2, tab: "B", kept: true }, mine, "ab"), []);
  assert.deepEqual(endangered({ text: "ab", at: 2, tab: "B", kept: false, others: [{ text: "a", at: 1, tab: "A" }] }, mine, "ab"), []);
});
