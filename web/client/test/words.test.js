import assert from "node:assert/strict";
import { test } from "node:test";
import { CUDA_WORDS } from "../src/words.js";

const words = (text) => [...text.matchAll(CUDA_WORDS)].map((it) => it[0]);

test("CUDA's words are found, as whole words", () => {
  assert.deepEqual(words("__global__ void k(float4* a) { a[threadIdx.x]; }"), ["__global__", "float4", "threadIdx"]);
  assert.deepEqual(words("__shared__ half2 s; __syncthreads(); atomicAdd(p, 1);"), ["__shared__", "half2", "__syncthreads", "atomicAdd"]);
  assert.deepEqual(words("k<<<grid, 256>>>(a)"), ["<<<", ">>>"]);
  assert.deepEqual(words("my__global__ threadIdxs float5 blockDimension a << b"), []);
});
