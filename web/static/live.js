// Follows a submission or a run: asks for its panel at the pace that it names while the page is seen, seldom while it is
// hidden, and swaps it when it changed (the ETag says so). Counts the time meanwhile, says when the server is away, and
// ends with the submission.
"use strict";

class Follower {
  static QUICK_MS = 1000;
  static HIDDEN_MS = 15000;
  static TOLD_MS = 5000; // hidden, and somebody wants to be told
  static AWAY_MS = 2000; // the first pause after a failure; each further one is twice as long
  static SLOWEST_MS = 30000;
  static PATIENCE_MS = 10000;

  // live: the element that holds the panel; announce: a live region; title: sentence -> what the tab is called.
  constructor(live, announce, title, ended = () => {}) {
    Object.assign(this, { live, announce, title, ended, etag: "", failures: 0, next: 0, timer: 0, stopped: false });
    this.id = live.dataset.source.split("/").at(-2);
    this.wanted = Follower.kept(this.id) && Follower.mayTell();
    this.seen = () => { if (!document.hidden && !this.final) this.ask(); };
    document.addEventListener("visibilitychange", this.seen);
    addEventListener("online", this.seen);
    live.addEventListener("click", (event) => { if (event.target.closest("[data-tell]")) this.tell(); });
    live.addEventListener("submit", (event) => this.cancel(event));
    this.ticks = setInterval(() => this.tick(), 1000);
    this.dress();
    this.later();
  }

  get panel() { return this.live.querySelector(".panel"); }
  get final() { return this.stopped || Boolean(this.panel.dataset.final); }

  static mayTell() { return "Notification" in window && Notification.permission === "granted"; }
  static kept(id) { try { return sessionStorage.getItem(`tell:${id}`) === "1"; } catch { return false; } }

  stop() {
    this.stopped = true;
    clearTimeout(this.timer);
    clearInterval(this.ticks);
    document.removeEventListener("visibilitychange", this.seen);
    removeEventListener("online", this.seen);
  }

  later() {
    clearTimeout(this.timer);
    if (this.final) { this.stop(); return; }
    const pace = document.hidden ? (this.wanted ? Follower.TOLD_MS : Follower.HIDDEN_MS) : Number(this.panel.dataset.pace);
    const away = this.failures ? Follower.AWAY_MS * 2 ** (this.failures - 1) : 0;
    // Not all at one moment who submitted at one word.
    const spread = pace > Follower.QUICK_MS ? 0.8 + 0.4 * Math.random() : 1;
    const pause = Math.min(Follower.SLOWEST_MS, Math.max(pace * spread, away));
    this.next = Date.now() + pause;
    this.timer = setTimeout(() => this.ask(), pause);
    this.tick();
  }

  async ask() {
    clearTimeout(this.timer);
    try {
      const answer = await fetch(this.live.dataset.source, {
        headers: this.etag ? { "If-None-Match": this.etag } : {},
        cache: "no-store", // the ETag is ours to send: the browser's cache would turn each 304 into a 200
        redirect: "manual",
        signal: AbortSignal.timeout(Follower.PATIENCE_MS),
      });
      if (this.stopped) return;
      if (answer.type === "opaqueredirect" || answer.status === 404) { this.lost(); return; }
      if (answer.ok) {
        const html = await answer.text();
        if (this.stopped) return;
        this.etag = answer.headers.get("ETag") || "";
        this.show(html);
      } else if (answer.status !== 304) throw new Error(String(answer.status));
      if (this.failures) this.say(this.panel.dataset.phase);
      this.failures = 0;
    } catch {
      if (this.stopped) return;
      if (!this.failures) this.say("Offline");
      this.failures = Math.min(this.failures + 1, 5);
    }
    this.later();
  }

  // Signed out meanwhile, or gone: the server says what now.
  lost() {
    this.stop();
    if (this.live.id === "live") location.reload();
    else this.connection("You are signed out, or it is gone: reload the page.");
  }

  show(html) {
    const before = { ...this.panel.dataset };
    const focused = this.live.contains(document.activeElement) ? document.activeElement.id : "";
    this.live.innerHTML = html; // made and escaped by the server, as the page itself was
    if (focused) (document.getElementById(focused) || document.getElementById("main")).focus({ preventScroll: true });
    this.dress();
    const { phase, sentence } = this.panel.dataset;
    if (sentence !== before.sentence) document.title = this.title(sentence);
    // Every phase, but not every case of it: a screen reader would talk without end.
    if (phase !== before.phase) this.say(sentence);
    if (!this.panel.dataset.final) return;
    this.notify(sentence);
    this.ended(this);
  }

  say(sentence) { this.announce.textContent = sentence; }

  connection(text) {
    const line = this.live.querySelector("[data-connection]");
    if (line && line.textContent !== text) line.textContent = text;
    this.panel.classList.toggle("away", Boolean(text));
  }

  // What the server cannot know: this browser's clock and time zone, and whether it can tell.
  dress() {
    localTimes(this.live);
    this.skew = Date.now() - Date.parse(this.panel.dataset.now);
    const button = this.live.querySelector("[data-tell]");
    if (button && "Notification" in window && Notification.permission !== "denied") {
      button.hidden = false;
      button.setAttribute("aria-pressed", String(this.wanted));
      if (this.wanted) button.textContent = "You will be notified";
    }
    this.tick();
  }

  tick() {
    for (const span of this.live.querySelectorAll("[data-elapsed]")) {
      const ms = Date.now() - this.skew - Date.parse(span.dataset.elapsed);
      span.textContent = Follower.span(ms / 1000);
    }
    if (this.final) return;
    const left = Math.max(1, Math.ceil((this.next - Date.now()) / 1000));
    this.connection(this.failures ? `Offline, trying again in ${left} s. Judging goes on without this page.` : "");
  }

  static span(seconds) {
    const whole = Math.max(0, Math.floor(seconds));
    if (whole < 60) return `${whole} s`;
    const minutes = Math.floor(whole / 60);
    if (minutes < 60) return `${minutes} min ${whole % 60} s`;
    return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  }

  // Only ever asked for by a click.
  async tell() {
    this.wanted = !this.wanted && (await Notification.requestPermission()) === "granted";
    try { sessionStorage.setItem(`tell:${this.id}`, this.wanted ? "1" : ""); } catch { /* for this page only, then */ }
    const button = this.live.querySelector("[data-tell]");
    if (!button) return;
    button.setAttribute("aria-pressed", String(this.wanted));
    button.textContent = this.wanted ? "You will be notified" : "Notify me when it is done";
    if (!this.wanted && Notification.permission === "denied") {
      button.disabled = true;
      button.textContent = "This browser blocks notifications";
    }
  }

  notify(sentence) {
    if (!this.wanted || !document.hidden || !Follower.mayTell()) return;
    try {
      const notice = new Notification(this.live.dataset.name, { body: sentence, tag: this.id });
      notice.addEventListener("click", () => { window.focus(); notice.close(); });
    } catch { /* phones take notifications from service workers alone: the title has to do */ }
  }

  // On the spot, so that who runs from the editor does not leave it.
  async cancel(event) {
    event.preventDefault();
    const button = event.target.querySelector("button");
    button.disabled = true;
    button.textContent = "Cancelling";
    const form = new URLSearchParams(new FormData(event.target));
    try {
      await fetch(event.target.action, { method: "POST", body: form, redirect: "manual" });
    } catch { /* the next look tells that the server is away, and offers the button again */ }
    this.etag = ""; // whatever it says: the button is to be drawn again
    this.ask();
  }
}

// What comes with the result and stands outside the panel: the report as a file, and sharing.
async function showWithResult() {
  try {
    const answer = await fetch(location.href, { redirect: "manual" });
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const part of document.querySelectorAll("[data-with-result]")) {
      const now = page.getElementById(part.id);
      if (now) part.replaceWith(now);
    }
  } catch { /* a reload shows them */ }
}

{
  const live = document.getElementById("live");
  const announce = document.getElementById("announce");
  if (live) new Follower(live, announce, (sentence) => `${live.dataset.name}: ${sentence} · grader`, showWithResult);
}
