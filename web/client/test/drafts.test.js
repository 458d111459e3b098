import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";

const { choose } = createRequire(import.meta.url)("../../static/drafts.js");
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
