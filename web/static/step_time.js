// Time line of a block's warps: a row per warp, a column per instruction, from step.js.
"use strict";
{
const SVG = "http://www.w3.org/2000/svg";
const HIGH = 14;
// Rows of the table.
const MOST_LISTED = 400;
const WORDS = { runs: "runs", diverged: "diverged", waits: "waits at a barrier", later: "has its turn later", done: "done" };

const root = document.querySelector("#stepper[data-worker]");
const part = root?.querySelector("[data-timeline]");
const find = (name) => part.querySelector(`[data-${name}]`);
let drawn = null; // {rows, warps, blocks, line}
let chosen = 0;

function made(tag, text = "", className = "") {
  const element = document.createElement(tag);
  element.textContent = text;
  if (className) element.className = className;
  return element;
}

function svg(tag, attributes) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

function nameOf(line) {
  if (drawn.blocks.length === 1) return `warp ${line.warp}`;
  const [x, y, z] = drawn.blocks[line.part];
  const index = z ? `(${x}, ${y}, ${z})` : y ? `(${x}, ${y})` : String(x);
  return `${index}: warp ${line.warp}`;
}

function words([from, to, state, lanes]) {
  const many = state === "diverged" ? `${lanes} lane${lanes === 1 ? "" : "s"} active` : WORDS[state];
  const last = to - from > 1 ? ` to ${to.toLocaleString("en")}` : "";
  return `instruction${last ? "s" : ""} ${(from + 1).toLocaleString("en")}${last}: ${many}`;
}

function draw({ detail }) {
  part.hidden = false;
  const long = detail === null;
  find("timeline-long").hidden = !long;
  find("timeline-shown").hidden = long;
  drawn = null;
  if (long) return;
  drawn = detail;
  chosen = 0;
  const { rows, warps } = drawn;
  const image = svg("svg", { viewBox: `0 0 ${rows} ${warps.length * HIGH}`, preserveAspectRatio: "none" });
  image.setAttribute("aria-hidden", "true");
  warps.forEach((line, index) => {
    for (const span of line.spans) {
      const [from, to, state] = span;
      const bar = svg("rect", { x: from, y: index * HIGH + 1, width: to - from, height: HIGH - 2, class: state });
      const title = svg("title", {});
      title.textContent = `${nameOf(line)}, ${words(span)}`;
      bar.append(title);
      image.append(bar);
    }
  });
  image.style.height = `${warps.length * HIGH}px`;
  drawn.mark = svg("line", { x1: 0, x2: 0, y1: 0, y2: warps.length * HIGH, class: "mark" });
  image.append(drawn.mark);
  find("timeline-drawn").replaceChildren(image);
  find("timeline-names").replaceChildren(...warps.map((line) => made("span", nameOf(line))));
  find("timeline-drawn").setAttribute("aria-valuemax", String(rows));
  list();
}

function list() {
  const every = drawn.warps.flatMap((line) => line.spans.map((span) => [line, span]));
  find("timeline-table").replaceChildren(...every.slice(0, MOST_LISTED).map(([line, span]) => {
    const row = made("tr");
    const head = made("th", nameOf(line));
    head.scope = "row";
    const go = made("button", "Go there", "quiet");
    go.type = "button";
    go.addEventListener("click", () => ask(span[0]));
    const cell = made("td");
    cell.append(go);
    const numbers = [span[0] + 1, span[1]].map((number) => made("td", number.toLocaleString("en"), "right figures"));
    row.append(head, ...numbers, made("td", WORDS[span[2]]), made("td", span[3] ? String(span[3]) : "", "right figures"), cell);
    return row;
  }));
}

function ask(row) {
  root.dispatchEvent(new CustomEvent("stepask", { detail: { op: "go", row } }));
}

function present({ detail: { row, part: of, warp } }) {
  if (drawn === null) return;
  const at = Math.min(row, drawn.rows - 1);
  const index = drawn.warps.findIndex((line) => line.part === of && line.warp === warp);
  if (index >= 0 && document.activeElement !== find("timeline-drawn")) chosen = index;
  drawn.mark.setAttribute("x1", at + 0.5);
  drawn.mark.setAttribute("x2", at + 0.5);
  drawn.row = row;
  say();
}

function say() {
  const line = drawn.warps[chosen];
  const span = line.spans.find(([from, to]) => from <= drawn.row && drawn.row < to);
  const text = `${nameOf(line)}${span ? `, ${words(span)}` : ", not in this block's time"}`;
  find("timeline-words").textContent = text.charAt(0).toUpperCase() + text.slice(1);
  const slider = find("timeline-drawn");
  slider.setAttribute("aria-valuenow", String(drawn.row));
  slider.setAttribute("aria-valuetext", text);
  find("timeline-names").childNodes.forEach((name, index) => name.classList.toggle("chosen", index === chosen));
}

/** Left and right: the chosen warp's next change; up and down: another warp. */
function key(event) {
  if (drawn === null || event.ctrlKey || event.metaKey || event.altKey) return;
  const { spans } = drawn.warps[chosen];
  const steps = {
    ArrowRight: () => ask(spans.find(([from]) => from > drawn.row)?.[0] ?? drawn.rows - 1),
    ArrowLeft: () => ask(spans.findLast(([from]) => from < drawn.row)?.[0] ?? 0),
    ArrowDown: () => { chosen = Math.min(chosen + 1, drawn.warps.length - 1); say(); },
    ArrowUp: () => { chosen = Math.max(chosen - 1, 0); say(); },
    Home: () => ask(0),
    End: () => ask(drawn.rows - 1),
  };
  if (!(event.key in steps)) return;
  event.preventDefault();
  event.stopPropagation();
  steps[event.key]();
}

function click(event) {
  if (drawn === null) return;
  const image = find("timeline-drawn").querySelector("svg").getBoundingClientRect();
  const share = (event.clientX - image.left) / Math.max(image.width, 1);
  chosen = Math.max(0, Math.min(drawn.warps.length - 1, Math.floor((event.clientY - image.top) / HIGH)));
  ask(Math.max(0, Math.min(drawn.rows - 1, Math.floor(share * drawn.rows))));
}

if (part) {
  root.addEventListener("steptimeline", draw);
  root.addEventListener("stepstate", present);
  find("timeline-drawn").addEventListener("keydown", key);
  find("timeline-drawn").addEventListener("click", click);
}
}
