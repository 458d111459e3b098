// Keeps a part of a page up to date: asks its data-source every data-refresh milliseconds while the page is seen, and
// swaps the part when it changed (the ETag says so). A part that holds a panel with data-final is asked for no more.
"use strict";

class Refresher {
  static SLOWEST_MS = 30000;

  constructor(place) {
    Object.assign(this, { place, pace: Number(place.dataset.refresh), etag: "", failures: 0 });
    this.later();
  }

  get final() { return Boolean(this.place.querySelector("[data-final]:not([data-final=''])")); }

  later() {
    if (this.final) return;
    setTimeout(() => this.ask(), Math.min(Refresher.SLOWEST_MS, this.pace * 2 ** this.failures));
  }

  async ask() {
    if (!document.hidden && !this.busy()) {
      try {
        const answer = await fetch(this.place.dataset.source, {
          headers: this.etag ? { "If-None-Match": this.etag } : {},
          credentials: "same-origin",
        });
        this.failures = answer.ok || answer.status === 304 ? 0 : this.failures + 1;
        if (answer.ok) this.show(answer.headers.get("ETag") || "", await answer.text());
      } catch {
        this.failures += 1;
      }
    }
    this.later();
  }

  // Somebody who fills in a field or opened a part must not lose it.
  busy() {
    const at = document.activeElement;
    return (this.place.contains(at) && at.matches("input, select, textarea")) || this.place.querySelector("details[open]");
  }

  show(etag, text) {
    this.etag = etag;
    const focused = this.place.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
    this.place.innerHTML = text;
    if (typeof localTimes === "function") localTimes(this.place);
    if (focused) this.place.querySelector(`[aria-label="${CSS.escape(focused)}"]`)?.focus();
  }
}

for (const place of document.querySelectorAll("[data-refresh][data-source]")) new Refresher(place);
