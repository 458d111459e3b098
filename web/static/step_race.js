// A race of two blocks: goes to either access, in either order.
"use strict";
{
const root = document.querySelector("#stepper[data-worker]");
const part = root?.querySelector("[data-race]");

/** Hexadecimal, in memory order. */
function shown(hex, kind) {
  const bytes = Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
  const view = new DataView(bytes.buffer);
  const size = bytes.length;
  if (kind === "hex" || ![4, 8].includes(size)) return [...bytes].reverse().map((each) => each.toString(16).padStart(2, "0")).join("");
  if (kind === "s32") return String(size === 4 ? view.getInt32(0, true) : view.getBigInt64(0, true));
  return size === 4 ? String(Number(view.getFloat32(0, true).toPrecision(7))) : String(view.getFloat64(0, true));
}

if (part) {
  const values = root.querySelector("[data-values]");
  values.addEventListener("change", () => {
    for (const each of part.querySelectorAll("[data-word]")) each.textContent = shown(each.dataset.word, values.value);
  });
  part.addEventListener("click", (event) => {
    const button = event.target.closest("[data-order]");
    if (!button) return;
    const detail = { op: "order", order: Number(button.dataset.order), row: Number(button.dataset.row) };
    root.dispatchEvent(new CustomEvent("stepask", { detail }));
  });
  root.addEventListener("stepstate", ({ detail: { order, row } }) => {
    for (const button of part.querySelectorAll("[data-order]")) {
      const here = Number(button.dataset.order) === order && Number(button.dataset.row) === row;
      button.closest("tr").classList.toggle("turn", here);
      if (here) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    }
  });
}
}
