// Competitions: countdown, live board, and the big screen that reveals frozen ranks from the last upwards.
"use strict";

// By the server's clock: a projector's laptop may be wrong.
class Countdown {
  constructor(line) {
    this.figure = line.querySelector(".figures");
    this.at = Date.parse(line.dataset.countdown);
    this.skew = Date.now() - Date.parse(line.dataset.now);
    this.tick();
    this.timer = setInterval(() => this.tick(), 1000);
  }

  tick() {
    const left = Math.ceil((this.at - (Date.now() - this.skew)) / 1000);
    this.figure.textContent = Countdown.words(Math.max(0, left));
    if (left > 0) return;
    clearInterval(this.timer);
    // Spread, so spectators do not all ask at once.
    setTimeout(() => location.reload(), 1000 + 4000 * Math.random());
  }

  static words(seconds) {
    const two = (number) => String(number).padStart(2, "0");
    const hours = Math.floor(seconds / 3600);
    const days = Math.floor(hours / 24);
    const clock = `${two(hours % 24)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
    return days ? `${days} d ${clock}` : clock;
  }
}

class LiveBoard {
  static HIDDEN_MS = 30000;

  constructor(place, announce) {
    Object.assign(this, { place, announce, first: true });
    const pace = Number(place.dataset.pace);
    new Poller(place.dataset.source, {
      pace: () => (document.hidden ? LiveBoard.HIDDEN_MS : pace) * (0.8 + 0.4 * Math.random()),
      changed: (html) => this.show(html),
    });
  }

  show(html) {
    const before = this.place.querySelector(".panel").dataset.phase;
    this.place.innerHTML = html; // rendered and escaped by the server
    const { phase } = this.place.querySelector(".panel").dataset;
    if (phase !== before) { location.reload(); return; }
    if (!this.first) this.announce.textContent = "The board has changed.";
    this.first = false;
  }
}

// By `sort`, [class, time], smaller is better; null: no rank. As on the server: 1 + the number of rows better by more
// than `resolution`, a share of the time.
function ranksOf(rows, resolution) {
  const better = (one, other) => one[0] < other[0] || (one[0] === other[0] && one[1] < other[1] / (1 + resolution));
  const sorts = rows.map((it) => it.sort).filter(Boolean);
  return rows.map((it) => it.sort && 1 + sorts.filter((other) => better(other, it.sort)).length);
}

// Teams as shown: first the frozen board, then the results, one by one from below.
class Resolver {
  constructor(place, announce) {
    Object.assign(this, { place, announce, steps: [] });
    const { before, after, resolution } = JSON.parse(place.dataset.resolve);
    this.resolution = resolution;
    const frozen = new Map(before.rows.map((row) => [row.team, row]));
    this.teams = after.rows.map((row) => ({ team: row.team, after: row, before: frozen.get(row.team) || row, revealed: false }));
    this.body = place.querySelector("tbody");
    document.addEventListener("keydown", (event) => this.key(event));
    place.addEventListener("click", (event) => {
      const button = event.target.closest("[data-step]");
      if (button) this.step(button.dataset.step);
    });
    this.draw();
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === " " && event.target.closest("button, a")) return; // the key presses that button
    const step = { " ": "1", ArrowRight: "1", ArrowDown: "1", ArrowLeft: "-1", ArrowUp: "-1", a: "all", r: "begin", f: "full" }[event.key];
    if (!step) return;
    event.preventDefault();
    this.step(step);
  }

  step(step) {
    if (step === "full") {
      if (document.fullscreenElement) document.exitFullscreen();
      else document.documentElement.requestFullscreen();
      return;
    }
    if (step === "begin") { this.steps = []; for (const it of this.teams) it.revealed = false; }
    else if (step === "-1") { const last = this.steps.pop(); if (last) last.revealed = false; }
    else if (step === "all") { while (this.reveal()) { /* until nothing is left */ } }
    else this.reveal();
    this.draw();
  }

  reveal() {
    const next = this.next();
    if (!next) return false;
    next.revealed = true;
    this.steps.push(next);
    this.announce.textContent = `${next.team}: ${next.after.rank === null ? "no rank" : `rank ${next.after.rank}`}, ${next.after.score}`;
    return true;
  }

  // The lowest hidden team; when it moves up, the next is the lowest.
  next() {
    return this.order().filter((it) => !it.revealed).at(-1);
  }

  // Sets ranks. Once all are revealed, they are the results'.
  order() {
    const shown = (it) => (it.revealed ? it.after : it.before);
    const ranks = ranksOf(this.teams.map(shown), this.resolution);
    this.teams.forEach((it, place) => { it.rank = ranks[place]; });
    if (this.teams.every((it) => it.revealed)) {
      for (const it of this.teams) it.rank = it.after.rank;
      return this.teams;
    }
    return [...this.teams].sort((one, other) => {
      if (!one.rank || !other.rank) return (other.rank ? 1 : 0) - (one.rank ? 1 : 0);
      const [a, b] = [shown(one).at, shown(other).at];
      return one.rank - other.rank || (a < b ? -1 : a > b ? 1 : 0);
    });
  }

  draw() {
    const next = this.next();
    const last = this.steps.at(-1);
    this.body.replaceChildren(...this.order().map((it) => {
      const shown = it.revealed ? it.after : it.before;
      const row = document.createElement("tr");
      row.classList.toggle("focused", it === next);
      row.classList.toggle("revealed", it === last);
      for (const [text, name] of [[it.rank ?? "–", "right figures"], [it.team, "user"], [shown.score, "right figures nowrap"], [it.revealed ? "" : shown.pending || "", "right figures"]]) {
        const cell = document.createElement("td");
        cell.className = name;
        cell.textContent = text; // names come from users: never as HTML
        row.append(cell);
      }
      return row;
    }));
    const seen = this.body.querySelector(".focused") || this.body.querySelector(".revealed");
    if (seen) seen.scrollIntoView({ block: "nearest" });
  }
}

if (typeof module === "object") module.exports = { ranksOf };
else {
  for (const line of document.querySelectorAll("[data-countdown]")) new Countdown(line);
  const announce = document.getElementById("announce");
  const board = document.querySelector("#live-board[data-pace]");
  const resolve = document.getElementById("resolve");
  if (board) new LiveBoard(board, announce);
  if (resolve) new Resolver(resolve, announce);
}
