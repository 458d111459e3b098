// Which parts of a line have which classes.
import { CUDA_WORDS } from "./words.js";

// `marks`: {from, to, names} within the line, in order. The line as runs of text, whose `names` are "" where they have no
// class. In mode "cuda", CUDA's words count outside comments and strings.
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
