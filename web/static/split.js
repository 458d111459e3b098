// The description's width, by dragging or arrow keys; this browser remembers it.
"use strict";
{
  const KEY = "description-width";
  const DEFAULT = 45;
  const STEP = 2;
  const split = document.querySelector(".workbench");
  const divider = split?.querySelector(".divider");

  const bounds = () => [Number(divider.ariaValueMin), Number(divider.ariaValueMax)];

  function show(percent) {
    const [least, most] = bounds();
    const share = Math.round(Math.min(Math.max(percent, least), most));
    divider.ariaValueNow = String(share);
    divider.ariaValueText = `${share} %`;
    split.style.setProperty("--about", `${share}fr`);
    split.style.setProperty("--editor", `${100 - share}fr`);
    return share;
  }

  function keep(percent) {
    const share = show(percent);
    try { localStorage.setItem(KEY, String(share)); } catch { /* storage may be disabled */ }
  }

  function start() {
    let stored = null;
    try { stored = Number(localStorage.getItem(KEY)) || null; } catch { /* as above */ }
    if (stored !== null) show(stored);
    divider.addEventListener("pointerdown", (event) => {
      divider.setPointerCapture(event.pointerId);
      divider.classList.add("dragged");
      document.body.classList.add("resizing");
    });
    divider.addEventListener("pointermove", (event) => {
      if (!divider.hasPointerCapture(event.pointerId)) return;
      const { left, width } = split.getBoundingClientRect();
      keep(((event.clientX - left) / width) * 100);
    });
    divider.addEventListener("lostpointercapture", () => {
      divider.classList.remove("dragged");
      document.body.classList.remove("resizing");
    });
    divider.addEventListener("dblclick", () => keep(DEFAULT));
    divider.addEventListener("keydown", (event) => {
      const now = Number(divider.ariaValueNow);
      const [least, most] = bounds();
      const wanted = { ArrowLeft: now - STEP, ArrowRight: now + STEP, Home: least, End: most, Enter: DEFAULT }[event.key];
      if (wanted === undefined) return;
      event.preventDefault();
      keep(wanted);
    });
  }

  if (divider) start();
}
