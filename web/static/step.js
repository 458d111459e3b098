// Steps through a failing block: shows step_worker.js's answers. Without it the page shows the fault.
"use strict";
{
const LANES = 32;
// Lines of 32 words around the access.
const SHOWN_LINES = 64;
const WORDS = { runs: "run", off: "skip it", path: "are on another path", waits: "wait at a barrier", later: "have their turn later", returned: "returned" };
const FAILURES = {
  wasm: "This browser has no WebAssembly, so the page cannot step: it shows the source and, if the block goes wrong, the fault.",
  network: "The recorded block could not be loaded. Reload the page to try again.",
  version: "This block was recorded by another version of the platform. Submit again to step through it.",
  bundle: "The recorded block cannot be read. Submit again to record it anew.",
  engine: "The engine stopped in this browser. Reload the page to begin again.",
};

const root = document.querySelector("#stepper[data-worker]");
const find = (name) => root.querySelector(`[data-${name}]`);
let worker = null;
let about = null;
let state = null;
let asked = 0;
let busy = false;
let next = null;

function made(tag, text = "", className = "") {
  const element = document.createElement(tag);
  element.textContent = text;
  if (className) element.className = className;
  return element;
}

function fail(kind) {
  const text = find("failed");
  text.textContent = FAILURES[kind] ?? FAILURES.engine;
  text.hidden = false;
  for (const part of root.querySelectorAll("[data-only-stepping]")) part.hidden = true;
  worker?.terminate();
  worker = null;
}

/** One question at a time; of waiting ones only the last. */
function ask(question) {
  if (worker === null) return;
  if (busy) { next = question; return; }
  busy = true;
  worker.postMessage({ id: ++asked, ...question });
}

function answered({ data }) {
  busy = false;
  if (data.failed) { fail(data.failed); return; }
  if (data.about) begin(data.about);
  if (data.timeline !== undefined) say("timeline", data.timeline);
  root.dataset.took = String(data.took); // for benchmarks/stepping.py
  if (data.state) { state = data.state; show(); }
  if (next !== null) { const question = next; next = null; ask(question); }
}

/** To step_time.js and step_race.js, which ask by the event stepask. */
function say(name, detail) {
  root.dispatchEvent(new CustomEvent(`step${name}`, { detail }));
}

function begin(told) {
  about = told;
  say("about", told);
  for (const part of root.querySelectorAll("[data-only-stepping]")) part.hidden = false;
  const table = find("fault-table");
  if (table) table.hidden = true;
  find("slider").max = String(about.rows);
  const fault = root.querySelector("[data-step=fault]");
  if (about.pair) fault.textContent = "To the second access";
  if (about.how) fault.textContent = about.how === "branch" ? "To where it turns away" : "To the store";
  root.querySelector(`[data-line="${about.fault_line}"]`)?.classList.add("fault");
  root.querySelector(`[data-line="${about.other_line}"]`)?.classList.add("fault");
  find("values").value = about.words;
  stepParts.begins({ root, about });
  next = about.kind_name ? { op: "go", row: Math.max(0, about.rows - 1) } : { op: "forward" };
}

function indexOf([x, y, z]) {
  return z ? `(${x}, ${y}, ${z})` : y ? `(${x}, ${y})` : String(x);
}

function threadOf(warp, lane) {
  const number = warp * LANES + lane;
  const [x, y] = about.threads;
  return indexOf([number % x, Math.floor(number / x) % y, Math.floor(number / x / y)]);
}

function ending() {
  if (about.pair) return " This is the second of the two accesses.";
  if (!about.how) return " This instruction goes wrong.";
  const who = root.dataset.programs !== undefined ? "this program" : `thread ${indexOf(about.thread)}`;
  if (about.how === "branch") return ` Here ${who} turns away from the store.`;
  return about.how === "mask" ? ` For ${who}, this store's condition is false.` : ` Here ${who} stores to another element.`;
}

function counted(states) {
  const counts = new Map();
  for (const each of states) if (each !== "none") counts.set(each, (counts.get(each) ?? 0) + 1);
  return [...counts].map(([each, count]) => `${count} ${WORDS[each]}`).join(", ");
}

function status() {
  const { row, rows } = state;
  if (state.status === "ended") return `After the end: ${rows.toLocaleString("en")} instructions ran.`;
  if (row === rows) return `After the ${about.pair || about.how ? "last instruction" : "fault"}: ${rows.toLocaleString("en")} instructions ran.`;
  const fault = about.kind_name && row === rows - 1 ? ending() : "";
  const block = about.pair ? `${root.dataset.programs !== undefined ? "program" : "block"} ${indexOf(state.block)}, ` : "";
  const space = state.access ? ` ${state.space} memory` : "";
  return `Instruction ${(row + 1).toLocaleString("en")} of ${rows.toLocaleString("en")}: ${block}warp ${state.warp}, line ${state.line || "unknown"}, ${state.name.replaceAll("_", " ")}${space}.${fault}`;
}

function show() {
  find("slider").value = String(state.row);
  find("slider").setAttribute("aria-valuetext", `${state.row} of ${state.rows}`);
  find("status").textContent = status();
  find("block").textContent = indexOf(state.block);
  say("state", state);
  showSource();
  showWarps();
  showLanes();
  showShared();
  stepParts.show({ root, state, ask, threadOf, indexOf });
}

function showSource() {
  root.querySelector("li.now")?.classList.remove("now");
  root.querySelector("li[aria-current]")?.removeAttribute("aria-current");
  const line = root.querySelector(`[data-line="${state.line}"]`);
  if (!line) return;
  line.classList.add("now");
  line.setAttribute("aria-current", "step");
  const list = find("source");
  const top = line.offsetTop;
  if (top < list.scrollTop || top > list.scrollTop + list.clientHeight - 40) list.scrollTop = top - list.clientHeight / 2;
}

function showWarps() {
  find("warps").replaceChildren(...state.warps.map((warp, number) => {
    const row = made("tr", "", number === state.warp ? "turn" : "");
    const cells = made("td");
    const drawn = made("span");
    drawn.setAttribute("aria-hidden", "true");
    drawn.append(...warp.states.map((each) => made("span", "", `lane ${each}`)));
    cells.append(drawn);
    const words = warp.begun || warp.states.includes("returned") ? counted(warp.states) : "has not begun";
    const head = made("th", String(number));
    head.scope = "row";
    row.append(head, cells, made("td", warp.lines.join(", ")), made("td", words));
    return row;
  }));
}

function shown(value, kind) {
  if (kind === "pred") return value ? "true" : "false";
  if (kind === "b32" || kind === "b16") return `${value | 0} (0x${value.toString(16)})`;
  if (kind === "b64") return `0x${value.toString(16)}`;
  if (Array.isArray(value)) return `(${value.map((each) => String(Number(each.toPrecision(5)))).join(", ")})`;
  if (kind === "f16" || kind === "bf16") return String(Number(value.toPrecision(5)));
  if (kind === "f32") return String(Number(value.toPrecision(7)));
  return String(value);
}

function word(bits, digits = 7) {
  const kind = find("values").value;
  const view = new DataView(new ArrayBuffer(4));
  view.setUint32(0, bits);
  if (kind === "hex") return bits.toString(16);
  if (kind === "f16x2") return halves(bits).map((each) => String(Number(each.toPrecision(4)))).join(" ");
  return kind === "s32" ? String(view.getInt32(0)) : String(Number(view.getFloat32(0).toPrecision(digits)));
}

/** Two fp16 numbers. */
function halves(bits) {
  return [bits & 0xffff, bits >>> 16].map((half) => {
    const [exponent, part] = [(half >> 10) & 31, half & 1023];
    const size = exponent === 31 ? (part ? NaN : Infinity) : exponent === 0 ? part * 2 ** -24 : (1 + part / 1024) * 2 ** (exponent - 15);
    return half & 0x8000 ? -size : size;
  });
}

function showLanes() {
  const { access, operands, warps, warp } = state;
  const states = warps[warp].states;
  const head = made("tr");
  head.append(made("th", "Lane"), made("th", "Thread"), made("th", "State"));
  if (access) head.append(made("th", access.updates ? "Updates" : access.writes ? "Writes" : "Reads"));
  for (const operand of operands) head.append(made("th", `${operand.name === "result" ? "result before" : operand.name} (${operand.kind})`));
  find("lane-head").replaceChildren(head);
  find("lanes").replaceChildren(...states.flatMap((each, lane) => {
    if (each === "none") return [];
    const row = made("tr", "", each === "runs" ? "" : "idle");
    row.append(made("td", String(lane)), made("td", threadOf(warp, lane)), made("td", each === "runs" ? "runs" : each === "off" ? "condition false" : each === "path" ? "other path" : each));
    if (access) row.append(made("td", each === "runs" ? element(access.lanes[lane], access) : "", each === "runs" && access.lanes[lane].outside ? "outside" : ""));
    for (const operand of operands) row.append(made("td", shown(operand.values[lane], operand.kind)));
    return [row];
  }));
  find("access").textContent = access ? sentence(access, states) : "";
}

function element(place, access) {
  const index = place.offset / access.size;
  const text = Number.isInteger(index) ? `${place.name}[${index}]` : `${place.name}, byte ${place.offset}`;
  return place.outside ? `${text} is outside` : text;
}

function sentence(access, states) {
  const lanes = access.lanes.filter((_, lane) => states[lane] === "runs");
  const outside = lanes.filter((place) => place.outside).length;
  const verb = access.updates ? "update" : access.writes ? "write" : "read";
  const where = [...new Set(lanes.map((place) => place.name))].join(", ");
  const beyond = outside ? ` ${outside} of them ${outside === 1 ? "is" : "are"} outside it.` : "";
  if (lanes.length === 1) return `1 lane ${verb}s ${access.bytes} bytes of ${where}.${beyond}`;
  return `${lanes.length} lanes ${verb} ${access.bytes} bytes each of ${where}.${beyond}`;
}

function passes(words) {
  const banks = new Map();
  for (const word of words) {
    const bank = word % LANES;
    if (!banks.has(bank)) banks.set(bank, new Set());
    banks.get(bank).add(word);
  }
  return [Math.max(...[...banks.values()].map((each) => each.size)), banks.size];
}

function showShared() {
  const { shared, access, warps, warp } = state;
  const part = find("shared-part");
  part.hidden = shared === null;
  if (shared === null) return;
  const states = warps[warp].states;
  const touched = new Set();
  const first = [];
  if (access) access.lanes.forEach((place, lane) => {
    if (place.space !== "shared" || states[lane] !== "runs") return;
    first.push(place.at >> 2);
    for (let word = place.at >> 2; word <= (place.at + access.bytes - 1) >> 2; word++) touched.add(word);
  });
  const words = Math.ceil(shared.data.length / 4);
  const unwritten = (word) => shared.valid !== null && shared.valid.subarray(4 * word, 4 * word + 4).every((each) => each === 0);
  const text = [];
  if (touched.size) {
    const [most, banks] = passes([...new Set(first)]);
    text.push(`${first.length} lanes want ${new Set(first).size} words in ${banks} bank${banks === 1 ? "" : "s"}: ${most} pass${most === 1 ? "" : "es"}.`);
    const never = [...touched].filter((word) => word < words && unwritten(word)).length;
    if (never && !access.writes) text.push(`${never} of these words ${never === 1 ? "was" : "were"} never written.`);
  }
  let all = 0;
  for (let word = 0; word < words; word++) all += unwritten(word) ? 1 : 0;
  text.push(`${(words - all).toLocaleString("en")} of ${words.toLocaleString("en")} words are written.`);
  find("banks").textContent = text.join(" ");
  const lines = Math.ceil(words / LANES);
  const at = touched.size ? Math.floor(Math.min(...touched) / LANES) : 0;
  const from = Math.max(0, Math.min(at - 2, lines - SHOWN_LINES));
  const view = new DataView(shared.data.buffer, shared.data.byteOffset, shared.data.length);
  const value = (number) => (4 * number + 4 > shared.data.length ? "" : word(view.getUint32(4 * number, true), 4));
  const head = made("tr");
  head.append(made("th", "word"), ...Array.from({ length: LANES }, (_, bank) => made("th", String(bank))));
  find("bank-head").replaceChildren(head);
  find("words").replaceChildren(...Array.from({ length: Math.min(SHOWN_LINES, lines) }, (_, line) => {
    const row = made("tr");
    row.append(made("th", String((from + line) * LANES)));
    for (let bank = 0; bank < LANES; bank++) {
      const number = (from + line) * LANES + bank;
      if (number >= words) break;
      const never = unwritten(number);
      row.append(made("td", never ? "" : value(number), `${never ? "unwritten" : ""} ${touched.has(number) ? "touched" : ""}`.trim()));
    }
    return row;
  }));
}

const STEPS = {
  begin: () => ({ op: "go", row: 0 }),
  back: () => ({ op: "back" }),
  "row-back": () => ({ op: "go", row: state.row - 1 }),
  row: () => ({ op: "go", row: state.row + 1 }),
  forward: () => ({ op: "forward" }),
  fault: () => ({ op: "go", row: about.kind_name ? state.rows - 1 : state.rows }),
};

function step(name) {
  if (state !== null) ask(STEPS[name]());
}

function start() {
  if (typeof WebAssembly !== "object" || typeof DecompressionStream !== "function") { fail("wasm"); return; }
  worker = new Worker(root.dataset.worker);
  worker.addEventListener("message", answered);
  worker.addEventListener("error", () => fail("engine"));
  root.addEventListener("click", (event) => {
    const button = event.target.closest("[data-step]");
    if (button) step(button.dataset.step);
  });
  find("slider").addEventListener("input", (event) => ask({ op: "go", row: Number(event.target.value) }));
  find("values").addEventListener("change", () => { if (state) show(); });
  root.addEventListener("stepask", ({ detail }) => ask(detail));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea, [role=region], [role=slider]")) return;
    const name = { ArrowRight: event.shiftKey ? "forward" : "row", ArrowLeft: event.shiftKey ? "back" : "row-back", Home: "begin", End: "fault" }[event.key];
    if (!name) return;
    event.preventDefault();
    step(name);
  });
  ask({ op: "load", wasm: new URL(root.dataset.engine, location.href).href, bundle: new URL(root.dataset.bundle, location.href).href });
}

if (root) start();
}
