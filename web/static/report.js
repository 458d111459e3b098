// Filters cases without reloading, and unfolds a link's target. Without it the links do the same.
"use strict";

{ // other scripts use the same names
// The panel is swapped, so listeners are above it.
document.addEventListener("click", async (event) => {
  const choice = event.target.closest(".choices a[data-cases]");
  if (!choice || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  try {
    const answer = await fetch(choice.href, { redirect: "manual", signal: AbortSignal.timeout(10000) });
    if (!answer.ok) throw new Error(String(answer.status));
    show(new DOMParser().parseFromString(await answer.text(), "text/html"), choice);
    history.replaceState(null, "", choice.href.split("#")[0]);
  } catch {
    location.href = choice.href;
  }
});

function show(page, choice) {
  const height = choice.getBoundingClientRect().top;
  document.getElementById("case-parts").replaceWith(page.getElementById("case-parts")); // rendered and escaped by the server
  document.getElementById("cases").open = true;
  const again = document.querySelector(`.choices a[data-cases="${CSS.escape(choice.dataset.cases)}"]`);
  if (!again) return;
  again.focus({ preventScroll: true });
  // Content above changed: keep the choices in place.
  scrollBy({ top: again.getBoundingClientRect().top - height, behavior: "instant" });
}

// Not all browsers unfold a target's parents.
function unfold(hash) {
  const target = hash.length > 1 && document.getElementById(decodeURIComponent(hash.slice(1)));
  const folded = target ? [...ancestors(target)].filter((each) => each.matches("details:not([open])")) : [];
  for (const details of folded) details.open = true;
  if (folded.length) target.scrollIntoView({ block: "start" });
  return Boolean(target);
}

function* ancestors(element) {
  for (let each = element; each; each = each.parentElement) yield each;
}

function open() {
  const found = unfold(location.hash);
  if (!found && location.hash.startsWith("#case-") && new URLSearchParams(location.search).has("cases")) {
    location.replace(location.pathname + location.hash);
  }
}

// A second click on a link changes no address.
document.addEventListener("click", (event) => {
  const link = event.target.closest('a[href^="#"]');
  if (link) unfold(link.hash);
});
window.addEventListener("hashchange", open);
open();
}
