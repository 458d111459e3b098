// Parts that step.js fills at each step: variables, prints, and memory of malloc.
"use strict";
{
function made(tag, text = "", className = "") {
  const element = document.createElement(tag);
  element.textContent = text;
  if (className) element.className = className;
  return element;
}

const number = (value) => value.toLocaleString("en");

/** Variables equal in all lanes are a list, others columns of a table. */
function variables({ root, state, threadOf }) {
  const find = (name) => root.querySelector(`[data-${name}]`);
  const part = find("variables-part");
  part.hidden = !state.variables?.length;
  if (part.hidden) return;
  find("variables-warp").textContent = String(state.warp);
  const states = state.warps[state.warp].states;
  const lanes = states.flatMap((each, lane) => (each === "none" ? [] : [lane]));
  const same = [];
  const apart = [];
  for (const each of state.variables) {
    const known = new Set(lanes.map((lane) => each.values[lane]).filter((value) => value !== ""));
    (known.size === 1 ? same : apart).push(each);
  }
  const label = (each) => {
    const code = made("code", each.name);
    code.title = each.line ? `line ${each.line}` : "";
    return code;
  };
  find("uniform").replaceChildren(...same.flatMap((each) => {
    const term = made("dt");
    term.append(label(each), made("span", ` ${each.type}`, "muted small"));
    return [term, made("dd", each.values.find((value) => value !== ""), "figures")];
  }));
  const head = made("tr");
  head.append(made("th", "Lane"), made("th", "Thread"));
  for (const each of apart) {
    const cell = made("th");
    cell.append(label(each), made("span", ` ${each.type}`, "muted small"));
    head.append(cell);
  }
  const table = find("variables").closest(".scroll");
  table.hidden = !apart.length;
  find("variables-head").replaceChildren(head);
  find("variables").replaceChildren(...lanes.map((lane) => {
    const row = made("tr", "", states[lane] === "runs" ? "" : "idle");
    row.append(made("td", String(lane)), made("td", threadOf(state.warp, lane)));
    for (const each of apart) row.append(made("td", each.values[lane] || "–"));
    return row;
  }));
}

function toRow(row, ask) {
  const cell = made("td", "", "right figures");
  const button = made("button", number(row + 1), "quiet");
  button.type = "button";
  button.setAttribute("aria-label", `Go to instruction ${number(row + 1)}`);
  button.addEventListener("click", () => ask({ op: "go", row }));
  cell.append(button);
  return cell;
}

function prints({ root, state, ask, indexOf }) {
  const find = (name) => root.querySelector(`[data-${name}]`);
  const { list, left_out: leftOut } = state.prints;
  find("prints-part").hidden = !list.length && !leftOut;
  find("prints-left").textContent = leftOut ? `${number(leftOut)} more ${leftOut === 1 ? "print is" : "prints are"} not kept.` : "";
  find("prints").replaceChildren(...list.map((each) => {
    const row = made("tr", "", each.row === state.row - 1 ? "turn" : "");
    const text = made("td");
    text.append(made("code", each.text.replace(/\n$/, ""), "said-by"));
    row.append(toRow(each.row, ask), made("td", indexOf(each.thread)), made("td", each.line ? String(each.line) : "–", "right"), text);
    return row;
  }));
}

function heap({ root, state, threadOf }) {
  const find = (name) => root.querySelector(`[data-${name}]`);
  const pieces = state.allocations;
  find("heap-part").hidden = !pieces.length;
  const live = pieces.filter((each) => each.freed === null);
  const bytes = live.reduce((sum, each) => sum + each.size, 0);
  find("heap-words").textContent = `The block allocated ${number(pieces.length)} ${pieces.length === 1 ? "piece" : "pieces"} so far; ${number(live.length)} with ${number(bytes)} bytes ${live.length === 1 ? "is" : "are"} not freed.`;
  const who = ({ thread, line, row }) => `thread ${threadOf(0, thread)}${line ? `, line ${line}` : ""}, instruction ${number(row + 1)}`;
  find("heap").replaceChildren(...pieces.map((each) => {
    const last = BigInt(`0x${each.address}`) + BigInt(each.size) - 1n;
    const row = made("tr", "", each.freed ? "idle" : "");
    const range = made("td");
    range.append(made("code", `0x${each.address} to 0x${last.toString(16)}`));
    row.append(range, made("td", number(each.size), "right figures"), made("td", who(each)), made("td", each.freed ? who(each.freed) : "–"));
    return row;
  }));
}

/** Runs once. */
function begins({ root, about }) {
  for (const name of ["variables-part", "prints-part", "heap-part"]) root.querySelector(`[data-${name}]`).hidden = true;
  const text = document.querySelector("[data-differs]");
  if (text && typeof about.differs === "number")
    text.textContent = about.differs === 0
      ? "Both leave the same bytes in memory."
      : `${number(about.differs)} of the words that they leave in memory differ: the judged program rounds or orders them otherwise, for instance where it fuses a product and a sum.`;
}

globalThis.stepParts = { begins, show: (given) => { variables(given); prints(given); heap(given); } };
}
