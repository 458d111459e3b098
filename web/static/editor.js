// The editor: Tab indents (Escape first, then Tab leaves), line numbers, and edits that survive a reload of the tab.
"use strict";

const form = document.querySelector("form[data-editor]");

function indent(area, back) {
  const width = Number(area.dataset.indent);
  const { selectionStart: start, selectionEnd: end, value } = area;
  if (start === end && !back) {
    const column = start - (value.lastIndexOf("\n", start - 1) + 1);
    insert(area, " ".repeat(width - (column % width)));
    return;
  }
  const from = value.lastIndexOf("\n", start - 1) + 1;
  const lines = value.slice(from, end).split("\n");
  const moved = lines.map((line) => (back ? line.replace(new RegExp(`^ {1,${width}}|^\\t`), "") : line && " ".repeat(width) + line));
  area.setSelectionRange(from, end);
  insert(area, moved.join("\n"));
  if (start === end) area.setSelectionRange(Math.max(from, start + moved[0].length - lines[0].length), area.selectionEnd + 0);
  else area.setSelectionRange(from, from + moved.join("\n").length);
}

function insert(area, text) {
  // execCommand keeps the browser's undo; setRangeText is what remains where it is gone.
  const done = text ? document.execCommand("insertText", false, text) : document.execCommand("delete");
  if (!done) {
    area.setRangeText(text, area.selectionStart, area.selectionEnd, "end");
    area.dispatchEvent(new Event("input"));
  }
}

function newline(area) {
  const { selectionStart: start, value } = area;
  const line = value.slice(value.lastIndexOf("\n", start - 1) + 1, start);
  insert(area, "\n" + line.match(/^[ \t]*/)[0]);
}

function setUp(area) {
  const gutter = area.previousElementSibling;
  const key = `draft:${form.dataset.editor}:${area.name}`;
  let leaving = false;
  let drawn = 0;

  const draw = () => {
    const count = area.value.split("\n").length;
    if (count !== drawn) gutter.textContent = Array.from({ length: count }, (_, i) => i + 1).join("\n");
    drawn = count;
    gutter.scrollTop = area.scrollTop;
  };
  const refused = form.querySelector("[role=alert]");
  const draft = sessionStorage.getItem(key);
  if (draft !== null && !refused) area.value = draft;

  area.addEventListener("keydown", (event) => {
    if (event.key === "Escape") leaving = true;
    else if (event.key === "Tab" && !leaving && !event.ctrlKey && !event.altKey && !event.metaKey) {
      event.preventDefault();
      indent(area, event.shiftKey);
    } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      newline(area);
    } else if (event.key !== "Tab" && event.key !== "Shift") leaving = false;
  });
  area.addEventListener("blur", () => { leaving = false; });
  area.addEventListener("input", () => { draw(); sessionStorage.setItem(key, area.value); });
  area.addEventListener("scroll", () => { gutter.scrollTop = area.scrollTop; });
  draw();
}

if (form) for (const area of form.querySelectorAll("textarea")) setUp(area);
