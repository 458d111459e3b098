// Polls a part of a visible page and hands over changes (ETag). Stops if it is gone, and pauses while the session is
// over.
"use strict";

class Poller {
  static AWAY_MS = 2000; // doubles with each further failure
  static SLOWEST_MS = 30000;
  static PATIENCE_MS = 10000;

  // source: an address. pace: () -> ms until the next request, Infinity for none. changed: gets the text. asked: gets
  // the number of failures in a row. gone: the address no longer exists.
  constructor(source, { pace, changed, asked = () => {}, gone = () => location.reload() }) {
    Object.assign(this, { source, pace, changed, asked, gone, etag: "", failures: 0, next: 0, timer: 0, stopped: false, waits: false });
    this.seen = () => { if (!document.hidden) this.ask(); };
    this.back = () => { if (this.waits) { this.waits = false; this.ask(); } };
    document.addEventListener("visibilitychange", this.seen);
    document.addEventListener("signed-in", this.back);
    addEventListener("online", this.seen);
    this.later();
  }

  stop() {
    this.stopped = true;
    clearTimeout(this.timer);
    document.removeEventListener("visibilitychange", this.seen);
    document.removeEventListener("signed-in", this.back);
    removeEventListener("online", this.seen);
  }

  later() {
    clearTimeout(this.timer);
    const away = this.failures ? Poller.AWAY_MS * 2 ** (this.failures - 1) : 0;
    const pause = Math.max(this.pace(), Math.min(Poller.SLOWEST_MS, away));
    if (this.stopped || pause === Infinity) return;
    this.next = Date.now() + pause;
    this.timer = setTimeout(() => this.ask(), pause);
  }

  async ask() {
    clearTimeout(this.timer);
    if (this.stopped || this.waits) return;
    try {
      const answer = await fetch(this.source, {
        headers: this.etag ? { "If-None-Match": this.etag } : {},
        cache: "no-store", // the browser's cache would turn each 304 into a 200
        redirect: "manual",
        signal: AbortSignal.timeout(Poller.PATIENCE_MS),
      });
      if (this.stopped) return;
      if (session.isOver(answer)) { this.waits = true; session.end(); return; }
      if (answer.type === "opaqueredirect" || answer.status === 404) { this.stop(); this.gone(); return; }
      if (answer.ok) {
        const text = await answer.text();
        if (this.stopped) return;
        this.etag = answer.headers.get("ETag") || "";
        this.changed(text);
      } else if (answer.status !== 304) throw new Error(String(answer.status));
      this.failures = 0;
    } catch {
      if (this.stopped) return;
      this.failures = Math.min(this.failures + 1, 5);
    }
    this.asked(this.failures);
    this.later();
  }
}

if (typeof module === "object") module.exports = { Poller };
