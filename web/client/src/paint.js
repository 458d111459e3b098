import { CUDA_WORDS } from "./words.js";

// `marks`: {from, to, names}, in order. Returns runs of text; `names` is "" without a class. In mode "cuda", CUDA's
// words count outside comments and strings.
export function paintLine(text, marks, mode) {
  const painted = new Array(text.length).fill("");
  for (const { from, to, names } of marks) painted.fill(names, from, to);
  for (const match of mode === "cuda" ? text.matchAll(CUDA_WORDS) : []) {
    if (/comment|string/.test(painted[match.index])) continue;
    painted.fill(match[2] ? "tok-typeName" : "tok-keyword", match.index, match.index + match[0].length);
  }
  const runs = [];
  for (let start = 0, end = 0; start < text.length; start = end) {
    while (end < text.length && painted[end] === painted[start]) end += 1;
    runs.push({ text: text.slice(start, end), names: painted[start] });
  }
  return runs;
}
