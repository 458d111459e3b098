// Chooses a comment's lines by click, tap or keyboard; without it, numbers are typed.
"use strict";

class LineChooser {
  constructor(source, form) {
    Object.assign(this, { source, form, anchor: 0, end: 0 });
    this.count = source.querySelectorAll("[id^='L-']").length;
    for (const hint of form.querySelectorAll("[data-with-script]")) hint.hidden = false;
    this.announce = document.getElementById("announce");
    this.button = document.createElement("button");
    Object.assign(this.button, { type: "button", className: "remark" });
    this.button.dataset.count = "comment"; // drawn by the style sheet, so copying omits it
    this.button.addEventListener("click", () => form.elements.text.focus());
    source.addEventListener("click", (event) => this.click(event));
    source.addEventListener("keydown", (event) => this.key(event));
    for (const field of [form.elements.first_line, form.elements.last_line]) {
      field.addEventListener("input", () => this.typed());
    }
    this.typed();
  }

  static number(element) { return Number(element.id.slice(2)); }

  click(event) {
    const line = event.target.closest("[id^='L-']");
    const range = event.shiftKey && this.anchor;
    // Selecting text is for copying. With Shift the browser selects the text between.
    if (!line || !(range || getSelection().isCollapsed)) return;
    if (range) getSelection().removeAllRanges();
    const number = LineChooser.number(line);
    if (number === this.anchor && number === this.end && !range) this.choose(0, 0);
    else this.choose(range ? this.anchor : number, number);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { j: 1, k: -1 }[event.key.toLowerCase()];
    if (step) {
      const next = Math.min(this.count, Math.max(1, this.end + step));
      this.choose(event.shiftKey && this.anchor ? this.anchor : next, next);
      if (this.announce) this.announce.textContent = this.about;
      document.getElementById(`L-${next}`).scrollIntoView({ block: "nearest" });
    } else if (event.key === "c" && this.anchor) {
      this.form.elements.text.focus();
    } else return;
    event.preventDefault();
  }

  get about() {
    const [first, last] = [Math.min(this.anchor, this.end), Math.max(this.anchor, this.end)];
    return first === last ? `Line ${last}` : `Lines ${first} to ${last}`;
  }

  choose(anchor, end) {
    this.form.elements.first_line.value = Math.min(anchor, end) || "";
    this.form.elements.last_line.value = Math.max(anchor, end) || "";
    this.show(anchor, end);
  }

  typed() {
    const first = Number(this.form.elements.first_line.value);
    this.show(first, Number(this.form.elements.last_line.value) || first);
  }

  show(anchor, end) {
    Object.assign(this, { anchor, end });
    for (const line of this.source.querySelectorAll("[id^='L-']")) {
      const number = LineChooser.number(line);
      line.classList.toggle("chosen", number >= Math.min(anchor, end) && number <= Math.max(anchor, end));
    }
    this.button.remove();
    this.button.setAttribute("aria-label", `Comment on ${this.about.toLowerCase()}`);
    document.getElementById(`L-${Math.max(anchor, end)}`)?.after(this.button);
  }
}

{
  const source = document.getElementById("source");
  const form = document.getElementById("comment-form");
  if (source && form) new LineChooser(source, form);
}
