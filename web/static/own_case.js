// The form for one case, and filters for a run's prints.
"use strict";

{
  const fields = document.getElementById("own-case");
  const choice = fields && fields.querySelector("select");

  function describe() {
    const sizes = JSON.parse(choice.selectedOptions[0].dataset.sizes || "{}");
    for (const field of fields.querySelectorAll("input[data-size]")) {
      const size = sizes[field.dataset.size];
      field.placeholder = size === undefined ? "as in the case" : String(size);
    }
  }

  if (choice) {
    choice.addEventListener("change", describe);
    describe();
    fields.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !event.target.matches("input") || event.isComposing) return;
      event.preventDefault();
      const button = fields.querySelector("button[value=run-case]");
      if (!button.disabled) fields.closest("form").requestSubmit(button);
    });
  }

  function filter(prints) {
    const wanted = {};
    for (const field of prints.querySelectorAll("[data-filter]")) wanted[field.dataset.filter] = field.value.trim();
    const filtered = Boolean(wanted.block || wanted.thread || wanted.text);
    let shown = 0;
    for (const block of prints.querySelectorAll("details[data-block]")) {
      const here = !wanted.block || block.dataset.block === wanted.block;
      let inside = 0;
      for (const row of block.querySelectorAll("tr[data-thread]")) {
        row.hidden = !here || (wanted.thread && row.dataset.thread !== wanted.thread) || !row.textContent.includes(wanted.text);
        inside += row.hidden ? 0 : 1;
      }
      block.hidden = filtered && !inside;
      if (filtered && inside) block.open = true;
      shown += inside;
    }
    prints.querySelector("[data-shown]").textContent = filtered ? `${shown} threads shown` : "";
  }

  document.addEventListener("input", (event) => {
    if (event.target.matches("[data-filter]")) filter(event.target.closest("[data-prints]"));
  });

  // A run's panel arrives later, and is swapped.
  const reveal = () => { for (const line of document.querySelectorAll("[data-filters][hidden]")) line.hidden = false; };
  reveal();
  new MutationObserver(reveal).observe(document.body, { childList: true, subtree: true });
}
