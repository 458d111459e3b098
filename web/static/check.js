// Shows compiler messages while one types, for users who want them. After a pause the code becomes a run, which is
// cancelled once it has compiled, or with the next key. It counts as one of the hour's runs; the last are left for the
// Run button.
"use strict";
{
  const QUIET_MS = 2000;
  const ASK_MS = 500;
  const PATIENCE_MS = 60000;
  const LEFT_FOR_RUNS = 30;
  const KEY = "compile-while-typing";
  const form = document.querySelector("form[data-editor]");
  const box = document.getElementById("compiles");

  const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });
  const json = (body) => (token) => ({
    method: "POST", headers: { "Content-Type": "application/json", "X-CSRFToken": token }, ...(body && { body: JSON.stringify(body) }),
  });

  class Checker {
    constructor(line) {
      Object.assign(this, { line, timer: 0, present: null, faults: 0, refused: false });
    }

    get area() {
      const language = form.querySelector('[name="language"]:checked:enabled')?.value;
      return form.querySelector(`textarea[data-language="${language}"]`);
    }

    // True during a run that the user asked for, which a check would replace.
    get runs() { return Boolean(document.querySelector('#run .panel[data-final=""]')); }

    say(text) { this.line.textContent = text; }

    edited() {
      this.stop();
      this.say("");
      if (box.checked && !this.refused) this.timer = setTimeout(() => this.check(), QUIET_MS);
    }

    stop() {
      clearTimeout(this.timer);
      const { present } = this;
      this.present = null;
      if (present?.id) this.cancel(present.id);
    }

    cancel(id) { session.send(`/api/v1/submissions/${id}/cancel`, json()).catch(() => {}); }

    async check() {
      const { area } = this;
      // Skips code with faults that need no compiler.
      if (!area?.value.trim() || this.faults || this.runs) return;
      const present = { id: "" };
      this.present = present;
      this.say("Compiling");
      try {
        await this.follow(present, area);
      } catch {
        if (this.present === present) this.say("");
      }
      if (this.present === present) this.present = null;
    }

    async follow(present, area) {
      const device = form.elements.device?.value || null;
      const body = { challenge: form.dataset.editor, language: area.dataset.language, source: area.value, device };
      const answer = await session.send("/api/v1/runs", json(body));
      const view = await answer.json();
      if (!answer.ok) {
        if (this.present === present) this.refuse(view.error?.message ?? "");
        return;
      }
      present.id = view.id;
      if (this.present !== present) {
        this.cancel(view.id);
        return;
      }
      if (view.remaining !== null && view.remaining <= LEFT_FOR_RUNS) this.refused = true;
      for (let waited = 0; waited < PATIENCE_MS; waited += ASK_MS) {
        await pause(ASK_MS);
        if (this.present !== present) return;
        const { state } = await (await fetch(`/api/v1/submissions/${view.id}`)).json();
        if (this.present !== present) return;
        if (["queued", "compiling"].includes(state)) continue;
        if (!["done", "failed", "cancelled"].includes(state)) this.cancel(view.id);
        await this.tell(state, view.id, area);
        return;
      }
      this.cancel(view.id);
      this.say("");
    }

    async tell(state, id, area) {
      const done = state === "done" && await fetch(`/api/v1/submissions/${id}/diagnostics`);
      const found = done && done.ok ? (await done.json()).diagnostics : [];
      area.dispatchEvent(new CustomEvent("messages", { detail: found }));
      const errors = found.filter(({ severity }) => severity === "error").length;
      const last = this.refused ? ` ${LEFT_FOR_RUNS} runs of this hour are left for Run: no more compiling while you type.` : "";
      if (["failed", "cancelled"].includes(state)) this.say(last);
      else this.say(`${errors ? `${errors} ${errors === 1 ? "error" : "errors"}.` : "It compiles."}${last}`);
    }

    refuse(text) {
      this.refused = true;
      this.say(text);
    }
  }

  if (form && box && window.fetch) {
    const checker = new Checker(document.getElementById("compiled"));
    try { box.checked = localStorage.getItem(KEY) === "1"; } catch { /* storage may be disabled */ }
    box.addEventListener("change", () => {
      try { localStorage.setItem(KEY, box.checked ? "1" : "0"); } catch { /* as above */ }
      checker.refused = false;
      checker.edited();
    });
    form.addEventListener("input", (event) => { if (event.target.matches("textarea[data-language]")) checker.edited(); });
    form.addEventListener("looked", (event) => { checker.faults = event.detail; });
    // The user's run replaces this one, and another page needs none.
    form.addEventListener("submit", () => { clearTimeout(checker.timer); checker.present = null; checker.say(""); });
    addEventListener("pagehide", () => checker.stop());
  }
}
