import assert from "node:assert/strict";
import test from "node:test";
import { callAround, nameAt, nameBefore, signatureParts } from "../src/calls.js";
import { cudaEntries } from "../src/cuda.js";

const AT = "|";
const call = (marked) => callAround(marked.replace(AT, ""), marked.indexOf(AT));

test("each line is an entry with a sentence", () => {
  const entries = cudaEntries();
  assert.ok(entries.size > 170);
  for (const [name, { signature, about }] of entries) {
    assert.match(name, /^[A-Za-z_]\w*$/);
    assert.ok(signature.includes(name));
    assert.match(about, /\.$/, name);
    assert.doesNotMatch(signature, / = .* = [A-Z]/, name);
  }
  assert.equal(entries.get("__syncwarp").signature, "void __syncwarp(unsigned mask = 0xffffffff)");
  assert.equal(entries.get("threadIdx").kind, "variable");
});

test("names before and around the cursor", () => {
  assert.deepEqual(nameBefore("x = tl.lo", 9), { name: "tl.lo", from: 4 });
  assert.deepEqual(nameBefore("x = tl.", 7), { name: "tl.", from: 4 });
  assert.deepEqual(nameBefore("x = ", 4), { name: "", from: 4 });
  assert.deepEqual(nameAt("x = tl.load(p)", 8), { name: "tl.load", from: 4, to: 11 });
  assert.deepEqual(nameAt("x = tl.load(p)", 5), { name: "tl", from: 4, to: 6 });
  assert.equal(nameAt("x = (", 5), null);
});

test("the call around the cursor, and its argument", () => {
  assert.deepEqual(call("f(a, |"), { name: "f", from: 0, argument: 1 });
  assert.deepEqual(call("g(tl.load(p, m|, 3), 2)"), { name: "tl.load", from: 2, argument: 1 });
  assert.deepEqual(call("g(f(a, b), [1, 2], |)"), { name: "g", from: 0, argument: 2 });
  assert.deepEqual(call("g(a, [1, 2|"), { name: "g", from: 0, argument: 1 });
  assert.deepEqual(call("atomicAdd(&x[i, j], |1)"), { name: "atomicAdd", from: 0, argument: 1 });
  assert.equal(call("f(a); |"), null);
  assert.equal(call("void f(int a) { |"), null);
  assert.equal(call("(a + |b)"), null);
});

test("the parameters of a signature", () => {
  const parts = signatureParts("tl.load(pointer, mask=None, boundary=(0, 1))");
  assert.deepEqual(parts.parameters, ["pointer", "mask=None", "boundary=(0, 1)"]);
  assert.deepEqual(signatureParts("void __syncthreads()").parameters, []);
});
