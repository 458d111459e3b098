// Highlights students' sources with the editor's parsers. A source may be made to be slow, so characters, time and
// elements are bounded, the page answers between slices, and the text stays plain if this gives up.
import { parser as cpp } from "@lezer/cpp";
import { classHighlighter, highlightTree } from "@lezer/highlight";
import { parser as python } from "@lezer/python";
import { paintLine } from "./paint.js";

// By the server's mode, see languages.js.
const PARSERS = { cuda: cpp, python };
const SLICE_MS = 10;
const PATIENCE_MS = 2000;
const MOST_MARKS = 40_000;
// Longer than any kernel. A parser's last step, which makes the tree, cannot be sliced.
const MOST_CHARS = 65_536;
// Lines per query of the tree.
const BATCH = 100;

class Work {
  constructor() { Object.assign(this, { spent: 0, marks: 0, began: performance.now() }); }

  // False: enough was done.
  async goesOn() {
    const now = performance.now();
    if (now - this.began < SLICE_MS) return true;
    this.spent += now - this.began;
    if (this.spent > PATIENCE_MS) return false;
    await new Promise((resolve) => { setTimeout(resolve); });
    this.began = performance.now();
    return true;
  }
}

async function mark(lines, mode, work) {
  if (!PARSERS[mode]) return;
  const texts = lines.map((line) => line.textContent);
  const tree = await parsed(texts.join("\n").slice(0, MOST_CHARS), mode, work);
  for (let first = 0, start = 0; tree && first < lines.length && start < MOST_CHARS; first += BATCH) {
    const part = texts.slice(first, first + BATCH);
    const end = start + part.join("\n").length;
    const found = [];
    highlightTree(tree, classHighlighter, (from, to, names) => found.push({ from, to, names }), start, end);
    let next = 0;
    for (const [place, text] of part.entries()) {
      const own = [];
      // Comments and strings may continue in the next line.
      for (; next < found.length && found[next].from < start + text.length; next += 1) {
        own.push({ ...found[next], from: Math.max(found[next].from - start, 0), to: Math.min(found[next].to - start, text.length) });
        if (found[next].to > start + text.length) break;
      }
      const runs = paintLine(text, own, mode);
      work.marks += runs.length;
      if (work.marks > MOST_MARKS) return;
      if (runs.some((run) => run.names)) lines[first + place].replaceChildren(...runs.map(element));
      start += text.length + 1;
    }
    if (!await work.goesOn()) return;
  }
}

async function parsed(text, mode, work) {
  const parse = PARSERS[mode].startParse(text);
  for (let steps = 1; ; steps += 1) {
    const tree = parse.advance();
    if (tree) return tree;
    if (steps % 64 === 0 && !await work.goesOn()) return null;
  }
}

function element({ text, names }) {
  if (!names) return document.createTextNode(text);
  const span = document.createElement("span");
  span.className = names;
  span.textContent = text;
  return span;
}

async function main() {
  const work = new Work();
  const source = document.querySelector("#source[data-mode]");
  if (source) await mark([...source.querySelectorAll("[id^='L-']")], source.dataset.mode, work);
  const difference = document.querySelector(".difference");
  for (const side of difference ? ["before", "after"] : []) {
    await mark([...difference.querySelectorAll(`.side.${side} .text`)], difference.dataset[side], work);
  }
}

main();
