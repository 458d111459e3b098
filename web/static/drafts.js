// Saves the editor's text: at once in this browser, then on the server for signed-in users. Replaces text of other tabs
// or browsers only after asking. Tests are in web/client/test.
"use strict";
{
  const QUIET_MS = 1500;
  const AGAIN_MS = 20000;
  // Browsers send no more while a page closes; the rest goes when it opens again.
  const FAREWELL_BYTES = 60000;

  // `local`: {text, at, base, kept}: edited at `at` (ms) from the server's draft `base`; `kept`: sent. `server`: {text,
  // at, revision}. Either may be null. Returns whose text to show, and whether to ask about the other.
  function choose(local, server) {
    if (!local) return { use: server ? "server" : "starter", ask: false };
    if (!server) return { use: local.kept ? "starter" : "local", ask: false };
    if (local.text === server.text) return { use: "server", ask: false };
    if (!local.kept && local.base === server.revision) return { use: "local", ask: false };
    if (local.kept) return { use: "server", ask: false };
    return { use: local.at > server.at ? "local" : "server", ask: true };
  }

  // `found`: the record about to be replaced. `seen`: the one that this tab last read or stored. Returns other tabs'
  // texts that would be lost.
  function endangered(found, seen, mine) {
    if (!found || (found.tab === seen?.tab && found.at === seen?.at)) return [];
    const all = [...(found.kept ? [] : [{ text: found.text, at: found.at, tab: found.tab }]), ...(found.others ?? [])];
    return all.filter((it) => it.text !== mine && it.text !== seen?.text);
  }

  const store = {
    get(key) {
      try { return JSON.parse(localStorage.getItem(key)); } catch { return null; }
    },
    set(key, value) {
      try { localStorage.setItem(key, JSON.stringify(value)); return true; } catch { return false; }
    },
    remove(key) {
      try { localStorage.removeItem(key); } catch { /* storage may be disabled */ }
    },
    // Removes other users' texts from a shared browser if the server has them.
    tidy(mine) {
      try {
        for (const key of Object.keys(localStorage)) {
          if (!key.startsWith("draft:") || key.startsWith(mine)) continue;
          const found = store.get(key);
          if (found?.kept && !found.others?.length) localStorage.removeItem(key);
        }
      } catch { }
    },
  };

  class Draft {
    constructor(form, area, tell) {
      const { editor, version, user } = form.dataset;
      const { language } = area.dataset;
      Object.assign(this, { form, area, tell, timer: 0, sending: false, signedIn: Boolean(user) });
      // For the student: {other, revision}. `other`: {text, at, tab}, not shown. `revision`: the server's, if it has
      // the text.
      this.questions = [];
      this.seen = null;
      this.unanswered = null;
      this.tab = Math.random().toString(36).slice(2);
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
      this.seen = store.get(this.key);
      const local = this.seen ?? (this.signedIn && !server ? this.adopted() : null);
      const { use, ask } = choose(local, server);
      if (use === "local") this.show(local.text);
      for (const other of local?.others ?? []) if (other.text !== this.area.value) this.ask(other);
      if (ask && use === "local") {
        this.base = local.base;
        this.kept = false;
        this.ask({ text: server.text, at: server.at }, server.revision);
      } else if (ask) this.ask({ text: local.text, at: local.at });
      else if (use === "local" && (local.text !== this.area.dataset.starter || server)) this.edited();
      else if (use === "server") this.remember(true);
    }

    // Written before signing in.
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
      const text = this.area.value;
      for (const other of endangered(store.get(this.key), this.seen, text)) this.ask(other);
      const others = this.questions.filter((it) => !it.revision).map((it) => it.other);
      this.kept = kept;
      this.seen = { text, at: Date.now(), base: this.base, kept, tab: this.tab, others };
      return store.set(this.key, this.seen);
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
      if (!this.signedIn || this.kept || this.sending || this.questions.length) return;
      const text = this.area.value;
      this.sending = true;
      this.unanswered = text;
      if (!leaving) this.tell("Saving …");
      try {
        const answer = await this.call("PUT", { source: text, based_on: this.base }, leaving);
        await this.answered(answer, text);
      } catch (error) {
        if (error instanceof SignedOut) this.tell(error.message, true);
        else {
          this.tell("Not saved: offline. It is kept in this browser.", true);
          this.later(AGAIN_MS);
        }
      } finally {
        this.sending = false;
      }
    }

    call(method, body, leaving = false) {
      return session.send(this.address, (token) => ({
        method,
        headers: { "Content-Type": "application/json", "X-CSRFToken": token },
        body: body && JSON.stringify(body),
        keepalive: leaving && body.source.length < FAREWELL_BYTES,
        signal: AbortSignal.timeout(15000),
      }));
    }

    async answered(answer, text) {
      const told = answer.status === 204 ? {} : await answer.json();
      if (answer.ok) {
        this.base = told.updated_at;
        this.unanswered = null;
        const same = this.area.value === text;
        this.remember(same);
        if (same) this.tell("Saved.");
        else this.later(QUIET_MS);
      } else if (told.error?.code === "draft_changed") await this.compare();
      else if (answer.status === 429 || answer.status >= 500) {
        this.tell("Not saved yet. It is kept in this browser.", true);
        this.later(AGAIN_MS);
      } else this.tell(`Not saved: ${told.error?.message ?? "the server refused it."}`, true);
    }

    async compare() {
      const answer = await this.call("GET");
      if (answer.status === 404) {
        this.base = null;
        this.later(0);
        return;
      }
      const { source, updated_at: revision } = await answer.json();
      const ours = source === this.unanswered; // it arrived, but its answer did not
      if (source === this.area.value || ours) {
        this.base = revision;
        this.remember(source === this.area.value);
        if (this.kept) this.tell("Saved.");
        else this.later(QUIET_MS);
      } else this.ask({ text: source, at: Date.parse(revision) }, revision);
    }

    ask(other, revision = null) {
      const asked = this.questions.find((it) => (revision ? it.revision : it.other.tab && it.other.tab === other.tab));
      if (asked) Object.assign(asked, { other, revision });
      else this.questions.push({ other, revision });
      this.tell("Not saved before you choose. It is kept in this browser.", true);
      this.form.dispatchEvent(new Event("ask-draft"));
    }

    decided(takeOther) {
      const { other, revision } = this.questions.shift();
      if (revision) this.base = revision;
      if (takeOther) this.show(other.text);
      const saved = revision ? takeOther : this.kept && !takeOther;
      if (saved) { this.remember(true); this.tell("Saved."); } else this.edited();
      this.form.dispatchEvent(new Event("ask-draft"));
    }

    async forget() {
      clearTimeout(this.timer);
      store.remove(this.key);
      const had = this.base !== null;
      Object.assign(this, { base: null, kept: true, seen: null, questions: [] });
      this.form.dispatchEvent(new Event("ask-draft"));
      this.tell("");
      if (!this.signedIn || !had) return;
      try {
        await this.call("DELETE");
      } catch (error) {
        this.tell(`The server still has your code. ${error instanceof SignedOut ? error.message : "You are offline."}`, true);
      }
    }
  }

  function moment(ms) {
    return new Date(ms).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  }

  // One question at a time, about shown texts only.
  function askAt(box, draft) {
    const { other, revision } = draft.questions[0];
    const [first, second] = box.querySelectorAll("button");
    box.querySelector("p").textContent = revision
      ? `This code was also changed elsewhere, ${moment(other.at)}:`
      : `This browser has other code, changed ${moment(other.at)} and never saved:`;
    box.querySelector("pre").textContent = other.text;
    first.textContent = "Take this one";
    second.textContent = "Keep what the editor has";
    first.onclick = () => draft.decided(true);
    second.onclick = () => draft.decided(false);
    box.hidden = false;
  }

  function start(form) {
    const status = document.getElementById("kept");
    const box = document.getElementById("which");
    const tell = (text, failed = false) => {
      status.classList.toggle("failed", failed);
      // Screen readers should not say "Saved" every few seconds.
      if (failed) status.setAttribute("role", "status"); else status.removeAttribute("role");
      status.textContent = text;
    };
    store.tidy(`draft:${encodeURIComponent(form.dataset.user)}:`);
    const drafts = [...form.querySelectorAll("textarea[data-language]")].map((area) => new Draft(form, area, tell));
    const chosen = () => form.querySelector('[name="language"]:checked')?.value;
    const offer = () => {
      const draft = drafts.find((it) => it.area.dataset.language === chosen());
      if (draft?.questions.length) askAt(box, draft); else box.hidden = true;
    };
    form.addEventListener("ask-draft", offer);
    for (const radio of form.querySelectorAll('[name="language"]')) radio.addEventListener("change", offer);
    for (const draft of drafts) draft.begin();
    const all = (leaving) => { for (const draft of drafts) draft.send(leaving); };
    addEventListener("online", () => all(false));
    document.addEventListener("signed-in", () => all(false));
    addEventListener("pagehide", () => all(true));
    document.addEventListener("keep-drafts", () => all(false));
  }

  if (typeof module === "object") module.exports = { choose, endangered };
  else if (document.querySelector("form[data-editor]")) start(document.querySelector("form[data-editor]"));
}
