// The editor without scripts/build_client's files: indents, line numbers. With and without them: shortcuts, reset,
// format, messages that link to lines.
"use strict";
{
  const form = document.querySelector("form[data-editor]");
  const areas = form ? [...form.querySelectorAll("textarea[data-language]")] : [];
  const language = () => form.querySelector('[name="language"]:checked')?.value;
  const areaOf = (name) => areas.find((area) => area.dataset.language === name);

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
    if (start === end) area.setSelectionRange(Math.max(from, start + moved[0].length - lines[0].length), area.selectionEnd);
    else area.setSelectionRange(from, from + moved.join("\n").length);
  }

  function insert(area, text) {
    // execCommand keeps the browser's undo.
    const done = text ? document.execCommand("insertText", false, text) : document.execCommand("delete");
    if (!done) {
      area.setRangeText(text, area.selectionStart, area.selectionEnd, "end");
      area.dispatchEvent(new Event("input", { bubbles: true }));
    }
  }

  function newline(area) {
    const { selectionStart: start, value } = area;
    const line = value.slice(value.lastIndexOf("\n", start - 1) + 1, start);
    insert(area, "\n" + line.match(/^[ \t]*/)[0]);
  }

  function setUp(area) {
    const gutter = area.previousElementSibling;
    let leaving = false;
    let drawn = 0;
    const draw = () => {
      if (area.closest(".mounted")) return;
      const count = area.value.split("\n").length;
      if (count !== drawn) gutter.textContent = Array.from({ length: count }, (_, i) => i + 1).join("\n");
      drawn = count;
      gutter.scrollTop = area.scrollTop;
    };
    area.addEventListener("keydown", (event) => {
      if (event.key === "Escape") leaving = true;
      else if (event.key === "Tab" && !leaving && !event.ctrlKey && !event.altKey && !event.metaKey) {
        event.preventDefault();
        indent(area, event.shiftKey);
      } else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        newline(area);
      } else if (event.key !== "Tab" && event.key !== "Shift") leaving = false;
    });
    area.addEventListener("blur", () => { leaving = false; });
    area.addEventListener("input", draw);
    area.addEventListener("change", draw);
    area.addEventListener("messages", () => form.querySelector(".said")?.remove());
    area.addEventListener("scroll", () => { gutter.scrollTop = area.scrollTop; });
    draw();
  }

  // Ctrl (or Cmd) + Enter runs, with Shift it submits. Captured, or the editor would begin a line.
  function press(event) {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
    const button = (value) => form.querySelector(`button[name="action"][value="${value}"]:enabled`);
    const chosen = (!event.shiftKey && button("run")) || button("submit");
    event.preventDefault();
    event.stopPropagation();
    if (chosen && !event.repeat) form.requestSubmit(chosen);
  }

  function goTo(area, number) {
    if (!area.dispatchEvent(new CustomEvent("goto", { detail: number, cancelable: true }))) return;
    const lines = area.value.split("\n");
    const start = lines.slice(0, number - 1).join("\n").length + (number > 1 ? 1 : 0);
    area.focus();
    area.setSelectionRange(start, start + (lines[number - 1] ?? "").length);
  }

  function follow(event) {
    const link = event.target.closest("[data-line]");
    if (!link) return;
    event.preventDefault();
    const name = link.closest("[data-language]").dataset.language;
    const choice = form.querySelector(`[name="language"][value="${name}"]:enabled`);
    if (choice) choice.checked = true;
    goTo(areaOf(name), nearest(areaOf(name).value.split("\n"), Number(link.dataset.line), link.dataset.text));
  }

  // The line's present place, else its old one.
  function nearest(lines, number, text) {
    const places = lines.flatMap((line, at) => (line.trim() === text.trim() ? [at + 1] : []));
    return places.sort((a, b) => Math.abs(a - number) - Math.abs(b - number))[0] ?? number;
  }

  // Undo restores the old text.
  function setText(area, text) {
    if (area.closest(".mounted")) {
      area.value = text;
      area.dispatchEvent(new Event("change", { bubbles: true }));
      return;
    }
    area.focus();
    area.select();
    insert(area, text);
  }

  function offerReset(dialog) {
    document.getElementById("reset").addEventListener("click", () => dialog.showModal());
    dialog.addEventListener("close", () => {
      const area = areaOf(language());
      if (dialog.returnValue !== "reset" || !area) return;
      dialog.returnValue = "";
      setText(area, area.dataset.starter);
      area.dispatchEvent(new CustomEvent("reset-draft", { bubbles: true }));
    });
  }

  async function format(button) {
    const area = areaOf(language());
    const line = document.getElementById("compiled");
    if (!area || button.disabled) return;
    if (!button.dataset.formats.split(" ").includes(area.dataset.language)) {
      line.textContent = "This server has no formatter for this language.";
      return;
    }
    const before = area.value;
    button.disabled = true;
    try {
      const body = JSON.stringify({ language: area.dataset.language, source: before });
      const answer = await session.send("/api/v1/format", (token) => ({
        method: "POST", headers: { "Content-Type": "application/json", "X-CSRFToken": token }, body,
      }));
      const { source, error } = await answer.json();
      // Keeps text typed meanwhile.
      if (answer.ok && area.value === before && source !== before) setText(area, source);
      line.textContent = error ? error.message : "";
    } catch (error) {
      line.textContent = error instanceof SignedOut ? error.message : "The server cannot be reached.";
    } finally {
      button.disabled = false;
    }
  }

  function offerFormat(button) {
    button.addEventListener("click", () => format(button));
    form.addEventListener("keydown", (event) => {
      if (event.code !== "KeyF" || !event.shiftKey || !event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      format(button);
    });
  }

  // Stored in the browser, and in signed-in users' preferences.
  function keepVim(box) {
    const key = "vim-keys";
    const signedIn = Boolean(form.dataset.user);
    try {
      if (!signedIn) box.checked = localStorage.getItem(key) === "1";
    } catch { /* storage may be disabled */ }
    box.addEventListener("change", () => {
      try { localStorage.setItem(key, box.checked ? "1" : "0"); } catch { /* as above */ }
      if (signedIn) {
        const body = JSON.stringify({ vim: box.checked });
        session.send("/api/v1/me/preferences", (token) => ({
          method: "PATCH", headers: { "Content-Type": "application/json", "X-CSRFToken": token }, body,
        })).catch(() => {});
      }
    });
  }

  if (form) {
    for (const area of areas) setUp(area);
    form.addEventListener("keydown", press, true);
    form.addEventListener("click", follow);
    offerReset(document.getElementById("ask-reset"));
    const formatter = document.getElementById("format");
    if (formatter) offerFormat(formatter);
    const box = document.getElementById("vim-keys");
    if (box) keepVim(box);
    if (/Mac|iPhone|iPad/.test(navigator.platform)) {
      for (const key of form.querySelectorAll("kbd")) key.textContent = key.textContent.replace("Ctrl", "⌘");
    }
  }
}
