// On every page: local times, copy buttons, theme, scrolling link lines.
"use strict";

const DAY = { dateStyle: "medium" };
const MOMENT = { dateStyle: "medium", timeStyle: "short" };
const ZONED = { year: "numeric", month: "short", day: "numeric", hour: "numeric", minute: "2-digit", timeZoneName: "short" };
const OWN_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

function localTimes(root) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    const moment = new Date(time.dateTime);
    if (Number.isNaN(moment.valueOf()) || !time.dateTime.includes("T")) continue;
    const utc = moment.toLocaleString([], { ...MOMENT, timeZone: "UTC" });
    time.title = `${utc} UTC`;
    time.textContent = moment.toLocaleString([], "zone" in time.dataset ? ZONED : "day" in time.dataset ? DAY : MOMENT);
  }
}

// Unknown to the server.
function ownZone() {
  if (!OWN_ZONE) return;
  for (const line of document.querySelectorAll("[data-zone-of]")) {
    const zone = line.dataset.zoneOf;
    if (zone !== OWN_ZONE) line.textContent = `Times are in your time zone, ${OWN_ZONE}; the competition's is ${zone}.`;
  }
  for (const field of document.querySelectorAll("[data-own-zone]")) {
    if (field.value === field.defaultValue && [...field.list.options].some((option) => option.value === OWN_ZONE)) field.value = OWN_ZONE;
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
    getSelection().selectAllChildren(what); // no clipboard without TLS or permission
    button.textContent = "Marked";
  }
  setTimeout(() => { button.textContent = label; }, 1500);
}

const THEMES = ["system", "light", "dark"];
const after = (theme) => THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];

function showTheme(theme) {
  document.documentElement.dataset.theme = theme;
  document.querySelector('meta[name="color-scheme"]').content = theme === "system" ? "light dark" : theme;
  const form = document.querySelector("form.theme");
  form.elements.theme.value = after(theme);
  const button = form.querySelector("button");
  button.title = `Theme: ${theme}`;
  button.querySelector(".hidden").textContent = `Theme: ${theme}. Change to ${after(theme)}.`;
  document.dispatchEvent(new CustomEvent("themechange", { detail: theme }));
}

function switchTheme(event) {
  const form = event.target.closest("form.theme");
  if (!form || !window.fetch) return;
  event.preventDefault();
  unsaved = new URLSearchParams(new FormData(form));
  showTheme(unsaved.get("theme"));
  if (!saving) saveTheme(form.action);
}

let saving = false;
let unsaved = null;

// One at a time, so the last press is saved. Without an answer, only this page shows the choice.
async function saveTheme(address) {
  saving = true;
  while (unsaved) {
    const body = unsaved;
    unsaved = null;
    await fetch(address, { method: "POST", body, redirect: "manual", keepalive: true }).catch(() => {});
  }
  saving = false;
}

// Scrolls wide lines of links to the current one.
for (const here of document.querySelectorAll("nav [aria-current]")) {
  const line = here.closest("nav");
  line.scrollLeft = here.offsetLeft - (line.clientWidth - here.offsetWidth) / 2;
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy], [data-copy-previous]");
  if (button) copy(button);
});
document.addEventListener("submit", switchTheme);
localTimes(document);
ownZone();

{
  const bell = document.querySelector("[data-notices]");
  // Spread, so users do not all ask at once.
  const PACE_MS = 60000 * (0.8 + 0.4 * Math.random());

  function count(text) {
    const { unread } = JSON.parse(text);
    bell.querySelector("[data-unread]").hidden = unread === 0;
    bell.querySelector("[data-number]").textContent = String(unread);
  }

  if (bell && window.fetch) {
    new Poller(bell.dataset.notices, { pace: () => (document.hidden ? Infinity : PACE_MS), changed: count, gone: () => {} });
  }
}
