// Keeps what is in the editor: at once in this browser, and a moment later, for who is signed in, on the server. Which of
// two texts is shown is decided by ``choose``, which tests/web/client asks alone.
"use strict";
{
  // From the last key to sending it.
  const QUIET_MS = 1500;
  const AGAIN_MS = 20000;
  // What browsers send while a page goes away; the rest is sent when it comes back.
  const FAREWELL_BYTES = 60000;

  // `local`: {text, at, base, kept}: edited last at `at` (ms), made from the server's draft `base`, and whether it was sent.
  // `server`: {text, at, revision}. Either may be null. Returns whose text to show, and whether to ask about the other.
  function choose(local, server) {
    if (!local) return { use: server ? "server" : "starter", ask: false };
    if (!server) return { use: local.kept ? "starter" : "local", ask: false };
    if (local.text === server.text) return { use: "server", ask: false };
    if (!local.kept && local.base === server.revision) return { use: "local", ask: false };
    if (local.kept) return { use: "server", ask: false };
    return { use: local.at > server.at ? "local" : "server", ask: true };
  }

  const store = {
    get(key) {
      try { return JSON.parse(localStorage.getItem(key)); } catch { return null; }
    },
    set(key, value) {
      try { localStorage.setItem(key, JSON.stringify(value)); return true; } catch { return false; }
    },
    remove(key) {
      try { localStorage.removeItem(key); } catch { /* nothing is kept here anyway */ }
    },
    // What others left in a browser that several people use, as far as the server has it.
    tidy(mine) {
      try {
        for (const key of Object.keys(localStorage)) {
          if (key.startsWith("draft:") && !key.startsWith(mine) && store.get(key)?.kept) localStorage.removeItem(key);
        }
      } catch { /* as above */ }
    },
  };

  class Draft {
    constructor(form, area, tell) {
      const { editor, version, user } = form.dataset;
      const { language } = area.dataset;
      Object.assign(this, { form, area, tell, timer: 0, sending: false, asked: null, signedIn: Boolean(user) });
      this.key = `draft:${encodeURIComponent(user)}:${editor}:${version}:${language}`;
      this.anonymous = `draft::${editor}:${version}:${language}`;
      this.address = `/api/v1/drafts/${editor}/${language}`;
      this.base = area.dataset.kept || null;
      this.kept = Boolean(this.base);
      area.addEventListener("input", () => this.edited());
      area.addEventListener("reset-draft", () => this.forget());
    }

    begin() {
      const server = this.base && { text: this.area.value, at: Date.parse(this.base), revision: this.base };
      if ("refused" in this.form.dataset) {
        if (this.area.value !== this.area.dataset.starter || this.base) this.edited();
        return;
      }
      const local = store.get(this.key) ?? (this.signedIn && !server ? this.adopted() : null);
      const { use, ask } = choose(local, server);
      if (use === "local") this.show(local.text);
      if (ask) this.ask(use === "local" ? { text: server.text, at: server.at } : local, use === "local");
      else if (use === "local" && (local.text !== this.area.dataset.starter || server)) this.edited();
      else if (use === "server") this.remember(true);
    }

    // What was written before signing in.
    adopted() {
      const found = store.get(this.anonymous);
      if (found) store.remove(this.anonymous);
      return found && { ...found, base: null, kept: false };
    }

    show(text) {
      this.area.value = text;
      this.area.dispatchEvent(new Event("change", { bubbles: true }));
    }

    remember(kept) {
      this.kept = kept;
      return store.set(this.key, { text: this.area.value, at: Date.now(), base: this.base, kept });
    }

    edited() {
      const stored = this.remember(false);
      if (!this.signedIn) this.tell(stored ? "Kept in this browser." : "Not kept: this browser stores nothing.", !stored);
      else this.later(QUIET_MS);
    }

    later(wait) {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.send(), wait);
    }

    async send(leaving = false) {
      clearTimeout(this.timer);
      if (!this.signedIn || this.kept || this.sending || this.asked) return;
      const text = this.area.value;
      this.sending = true;
      if (!leaving) this.tell("Saving …");
      try {
        const answer = await this.call("PUT", { source: text, based_on: this.base }, leaving);
        await this.answered(answer, text);
      } catch {
        this.tell("Not saved: offline. It is kept in this browser.", true);
        this.later(AGAIN_MS);
      } finally {
        this.sending = false;
      }
    }

    call(method, body, leaving = false) {
      return fetch(this.address, {
        method,
        headers: { "Content-Type": "application/json", "X-CSRFToken": this.form.elements.csrf_token.value },
        body: body && JSON.stringify(body),
        keepalive: leaving && body.source.length < FAREWELL_BYTES,
        signal: AbortSignal.timeout(15000),
      });
    }

    async answered(answer, text) {
      const told = answer.status === 204 ? {} : await answer.json();
      if (answer.ok) {
        this.base = told.updated_at;
        const same = this.area.value === text;
        this.remember(same);
        if (same) this.tell("Saved.");
        else this.later(QUIET_MS);
      } else if (told.error?.code === "draft_changed") await this.compare();
      else if (answer.status === 429 || answer.status >= 500) {
        this.tell("Not saved yet. It is kept in this browser.", true);
        this.later(AGAIN_MS);
      } else if (answer.status === 401 || answer.status === 403) {
        this.tell("Not saved: you are signed out. It is kept in this browser.", true);
      } else this.tell(`Not saved: ${told.error?.message ?? "the server refused it."}`, true);
    }

    // Somebody else, most likely oneself, wrote it too.
    async compare() {
      const answer = await this.call("GET");
      if (answer.status === 404) {
        this.base = null;
        this.later(0);
        return;
      }
      const { source, updated_at: revision } = await answer.json();
      this.base = revision;
      if (source === this.area.value) this.remember(true);
      else this.ask({ text: source, at: Date.parse(revision) }, true);
    }

    // `other` is what is not shown. `elsewhere`: it is the server's.
    ask(other, elsewhere) {
      this.asked = { other, elsewhere };
      this.form.dispatchEvent(new CustomEvent("ask-draft", { detail: this }));
    }

    decided(takeOther) {
      const { other, elsewhere } = this.asked;
      this.asked = null;
      if (takeOther) this.show(other.text);
      // What the server has stands there already; anything else is sent over it.
      if (takeOther === elsewhere) { this.remember(true); this.tell("Saved."); } else this.edited();
    }

    async forget() {
      clearTimeout(this.timer);
      store.remove(this.key);
      const had = this.base !== null;
      Object.assign(this, { base: null, kept: true, asked: null });
      this.tell("");
      if (!this.signedIn || !had) return;
      try {
        await this.call("DELETE");
      } catch {
        this.tell("The server still has your code: offline.", true);
      }
    }
  }

  function moment(ms) {
    return new Date(ms).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  }

  // One question at a time, and only about what is shown.
  function askAt(box, draft) {
    const { other, elsewhere } = draft.asked;
    const [first, second] = box.querySelectorAll("button");
    box.querySelector("p").textContent = elsewhere
      ? `This code was also changed elsewhere, ${moment(other.at)}. Which one do you want to go on with?`
      : `This browser has other code, changed ${moment(other.at)} and never saved. Which one do you want to go on with?`;
    first.textContent = elsewhere ? "Take the one from elsewhere" : "Take this browser's";
    second.textContent = "Keep what is shown";
    first.onclick = () => { box.hidden = true; draft.decided(true); };
    second.onclick = () => { box.hidden = true; draft.decided(false); };
    box.hidden = false;
  }

  function start(form) {
    const status = document.getElementById("kept");
    const box = document.getElementById("which");
    const tell = (text, failed = false) => {
      status.classList.toggle("failed", failed);
      // "Saved" every few seconds is nothing to read aloud.
      if (failed) status.setAttribute("role", "status"); else status.removeAttribute("role");
      status.textContent = text;
    };
    store.tidy(`draft:${encodeURIComponent(form.dataset.user)}:`);
    const drafts = [...form.querySelectorAll("textarea[data-language]")].map((area) => new Draft(form, area, tell));
    const chosen = () => form.querySelector('[name="language"]:checked')?.value;
    const offer = () => {
      const draft = drafts.find((it) => it.area.dataset.language === chosen());
      if (draft?.asked) askAt(box, draft); else box.hidden = true;
    };
    form.addEventListener("ask-draft", offer);
    for (const radio of form.querySelectorAll('[name="language"]')) radio.addEventListener("change", offer);
    for (const draft of drafts) draft.begin();
    const all = (leaving) => { for (const draft of drafts) draft.send(leaving); };
    addEventListener("online", () => all(false));
    addEventListener("pagehide", () => all(true));
    document.addEventListener("keep-drafts", () => all(false));
  }

  if (typeof module === "object") module.exports = { choose };
  else if (document.querySelector("form[data-editor]")) start(document.querySelector("form[data-editor]"));
}
