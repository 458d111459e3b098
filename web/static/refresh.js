// Refreshes parts with data-source every data-refresh ms. Stops at a panel with data-final.
"use strict";

class Refresher {
  constructor(place) {
    this.place = place;
    const pace = Number(place.dataset.refresh);
    this.poller = new Poller(place.dataset.source, {
      pace: () => (document.hidden ? Infinity : pace),
      changed: (text) => this.show(text),
    });
    if (this.final) this.poller.stop();
  }

  get final() { return Boolean(this.place.querySelector("[data-final]:not([data-final=''])")); }

  // Never replaces a field in use or an opened part.
  busy() {
    const at = document.activeElement;
    return (this.place.contains(at) && at.matches("input, select, textarea")) || this.place.querySelector("details[open]");
  }

  show(text) {
    if (this.busy()) { this.poller.etag = ""; return; }
    const focused = this.place.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
    this.place.innerHTML = text;
    localTimes(this.place);
    if (focused) this.place.querySelector(`[aria-label="${CSS.escape(focused)}"]`)?.focus();
    if (this.final) this.poller.stop();
  }
}

for (const place of document.querySelectorAll("[data-refresh][data-source]")) new Refresher(place);
