// A result page: filters cases without reloading, and opens a linked case. Without this script the links do the same.
"use strict";

{ // a scope of its own: other scripts of the page use the same names
// The panel is swapped during judging, so listeners are above it.
document.addEventListener("click", async (event) => {
  const choice = event.target.closest(".choices a[data-cases]");
  if (!choice || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  try {
    const answer = await fetch(choice.href, { redirect: "manual", signal: AbortSignal.timeout(10000) });
    if (!answer.ok) throw new Error(String(answer.status));
    show(new DOMParser().parseFromString(await answer.text(), "text/html"), choice.dataset.cases);
    history.replaceState(null, "", choice.href.split("#")[0]);
  } catch {
    location.href = choice.href;
  }
});

function show(page, chosen) {
  const cases = document.getElementById("cases");
  for (const part of document.querySelectorAll("[data-filtered]")) part.remove();
  const found = page.querySelectorAll("[data-filtered]"); // rendered and escaped by the server
  cases.replaceWith(page.getElementById("cases"), ...found);
  const again = document.querySelector(`.choices a[data-cases="${CSS.escape(chosen)}"]`);
  if (again) again.focus({ preventScroll: true });
}

function open() {
  if (!location.hash.startsWith("#case-")) return;
  const target = document.getElementById(location.hash.slice(1));
  if (!target && new URLSearchParams(location.search).has("cases")) location.replace(location.pathname + location.hash);
  const details = target && target.closest("details");
  if (!details) return;
  details.open = true;
  details.scrollIntoView({ block: "start" });
}

window.addEventListener("hashchange", open);
open();
}
