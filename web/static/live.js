// Follows a submission or run: fetches its panel at the panel's pace, rarely while the page is hidden, and swaps it on
// change (ETag). Reports a lost server.
"use strict";

class Follower {
  static QUICK_MS = 1000;
  static HIDDEN_MS = 15000;
  static TOLD_MS = 5000; // hidden, and the user wants a notification

  // announce: a live region; title: sentence -> the tab's title.
  constructor(live, announce, title, ended = () => {}) {
    Object.assign(this, { live, announce, title, ended, away: false });
    this.id = live.dataset.source.split("/").at(-2);
    this.wanted = Follower.kept(this.id) && Follower.mayTell();
    live.addEventListener("click", (event) => { if (event.target.closest("[data-tell]")) this.tell(); });
    live.addEventListener("submit", (event) => this.cancel(event));
    this.poller = new Poller(live.dataset.source, {
      pace: () => this.pace(),
      changed: (html) => this.show(html),
      asked: (failures) => this.heard(failures),
      gone: () => this.gone(),
    });
    this.ticks = setInterval(() => this.tick(), 1000);
    this.dress();
    if (this.final) this.stop();
  }

  get panel() { return this.live.querySelector(".panel"); }
  get final() { return this.poller.stopped || Boolean(this.panel.dataset.final); }
  get stopped() { return this.poller.stopped; }

  static mayTell() { return "Notification" in window && Notification.permission === "granted"; }
  static kept(id) { try { return sessionStorage.getItem(`tell:${id}`) === "1"; } catch { return false; } }

  stop() {
    this.poller.stop();
    clearInterval(this.ticks);
  }

  pace() {
    const pace = document.hidden ? (this.wanted ? Follower.TOLD_MS : Follower.HIDDEN_MS) : Number(this.panel.dataset.pace);
    // Spread, so users who submitted together do not ask together.
    return Math.min(Poller.SLOWEST_MS, pace * (pace > Follower.QUICK_MS ? 0.8 + 0.4 * Math.random() : 1));
  }

  heard(failures) {
    if (failures && !this.away) this.say("Offline");
    if (!failures && this.away) this.say(this.panel.dataset.phase);
    this.away = Boolean(failures);
    if (this.final) this.stop();
    this.tick();
  }

  gone() {
    this.stop();
    if (this.live.id === "live") location.reload();
    else this.connection("It is gone: reload the page.");
  }

  show(html) {
    const before = { ...this.panel.dataset };
    const focused = this.live.contains(document.activeElement) ? document.activeElement.id : "";
    this.live.innerHTML = html; // rendered and escaped by the server
    if (focused) (document.getElementById(focused) || document.getElementById("main")).focus({ preventScroll: true });
    this.dress();
    const { phase, sentence } = this.panel.dataset;
    if (sentence !== before.sentence) document.title = this.title(sentence);
    // Phases only: with every case, a screen reader would never stop.
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

  // Unknown to the server: time zone and support for notifications.
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
    const left = Math.max(1, Math.ceil((this.poller.next - Date.now()) / 1000));
    this.connection(this.away ? `Offline, trying again in ${left} s. Judging goes on without this page.` : "");
  }

  static span(seconds) {
    const whole = Math.max(0, Math.floor(seconds));
    if (whole < 60) return `${whole} s`;
    const minutes = Math.floor(whole / 60);
    if (minutes < 60) return `${minutes} min ${whole % 60} s`;
    return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  }

  // Asks only after a click.
  async tell() {
    this.wanted = !this.wanted && (await Notification.requestPermission()) === "granted";
    try { sessionStorage.setItem(`tell:${this.id}`, this.wanted ? "1" : ""); } catch { /* then for this page only */ }
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
    } catch { /* phones allow notifications only from service workers */ }
  }

  // Without leaving the page: a run stays in the editor.
  async cancel(event) {
    event.preventDefault();
    const button = event.target.querySelector("button");
    button.disabled = true;
    button.textContent = "Cancelling";
    const { target } = event;
    const make = () => ({ method: "POST", body: new URLSearchParams(new FormData(target)) });
    try {
      await session.send(target.action, make);
    } catch { /* the next poll reports the lost server */ }
    this.poller.etag = ""; // draw the button again in any case
    this.poller.ask();
  }
}

// Parts outside the panel that come with the result.
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
