// Plays the frames of drawings. Without scripts all frames are there, one below the other.
"use strict";

(() => {
  const FRAME_MS = 2600;

  class Player {
    constructor(figure) {
      this.frames = [...figure.querySelectorAll("li")];
      this.place = 0;
      this.timer = 0;
      if (this.frames.length < 2) return;
      this.build(figure);
      figure.addEventListener("keydown", (event) => this.key(event));
      this.show(0);
    }

    build(figure) {
      const row = document.createElement("p");
      row.className = "controls";
      const button = (label, act) => {
        const made = document.createElement("button");
        made.type = "button";
        made.textContent = label;
        made.addEventListener("click", act);
        row.append(made);
        return made;
      };
      button("Back", () => this.step(-1));
      this.play = button("Play", () => (this.timer ? this.stop() : this.start()));
      button("Forward", () => this.step(1));
      this.said = document.createElement("span");
      this.said.className = "muted small figures";
      row.append(this.said);
      figure.append(row);
      // Captions are read out when a reader steps, not when frames play.
      this.list = figure.querySelector("ol");
    }

    key(event) {
      if (event.target.closest("button") && event.key === " ") return;
      const steps = { ArrowRight: 1, ArrowLeft: -1 };
      if (event.key in steps) this.step(steps[event.key]);
      else if (event.key === " ") this.timer ? this.stop() : this.start();
      else return;
      event.preventDefault();
    }

    step(by) {
      this.stop();
      this.list.setAttribute("aria-live", "polite");
      this.show((this.place + by + this.frames.length) % this.frames.length);
    }

    start() {
      this.list.removeAttribute("aria-live");
      if (this.place === this.frames.length - 1) this.show(0);
      this.play.textContent = "Pause";
      this.timer = setInterval(() => {
        if (this.place === this.frames.length - 1) this.stop();
        else this.show(this.place + 1);
      }, FRAME_MS);
    }

    stop() {
      clearInterval(this.timer);
      this.timer = 0;
      this.play.textContent = "Play";
    }

    show(place) {
      this.place = place;
      this.frames.forEach((frame, number) => { frame.hidden = number !== place; });
      this.said.textContent = `${place + 1} of ${this.frames.length}`;
    }
  }

  document.querySelectorAll("[data-drawing]").forEach((figure) => new Player(figure));
})();
