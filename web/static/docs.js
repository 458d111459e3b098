// The docs: links at headings, copy buttons, the current section, "/" to search.
"use strict";

for (const heading of document.querySelectorAll(".docs-prose :is(h2, h3, h4)[id]")) {
  const link = document.createElement("a");
  link.className = "docs-anchor";
  link.href = `#${heading.id}`;
  link.textContent = "#";
  link.setAttribute("aria-label", `Link to: ${heading.textContent}`);
  heading.append(link);
}

for (const block of document.querySelectorAll(".docs-prose pre")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "quiet";
  button.textContent = "Copy";
  button.dataset.copyPrevious = "";
  block.append(button);
}

document.addEventListener("keydown", (event) => {
  const writes = event.target.closest("input, textarea, select, [contenteditable]");
  if (event.key !== "/" || writes || event.ctrlKey || event.metaKey || event.altKey) return;
  document.querySelector("[data-docs-search]").focus();
  event.preventDefault();
});

const contents = document.querySelector("[data-docs-contents]");
if (contents) {
  const links = new Map([...contents.querySelectorAll("a")].map((link) => [link.hash.slice(1), link]));
  const headings = [...links.keys()].map((id) => document.getElementById(decodeURIComponent(id)));
  const mark = () => {
    // The current section has the last heading above a third of the window.
    const read = headings.filter((heading) => heading.getBoundingClientRect().top < innerHeight / 3).pop();
    for (const [id, link] of links) {
      if (read && decodeURIComponent(id) === read.id) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  };
  let waits = false;
  addEventListener("scroll", () => {
    if (waits) return;
    waits = true;
    requestAnimationFrame(() => { waits = false; mark(); });
  }, { passive: true });
  mark();
}
