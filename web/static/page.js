// What every page does: local times, and buttons that copy.
"use strict";

function localTimes(root) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    const moment = new Date(time.dateTime);
    time.title = time.dateTime;
    time.textContent = moment.toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  }
}

async function copy(button) {
  const what = button.dataset.copy
    ? document.querySelector(button.dataset.copy)
    : button.previousElementSibling;
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(what.textContent);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(what); // no clipboard without TLS or permission: at least it is marked
    button.textContent = "Marked";
  }
  setTimeout(() => { button.textContent = label; }, 1500);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy], [data-copy-previous]");
  if (button) copy(button);
});
localTimes(document);
