// Keeps a submission's page up to date: asks for the panel at the pace that it names while the page is seen, seldom
// while it is hidden, and swaps it when it changed (the ETag says so). Ends with the submission.
"use strict";

const HIDDEN_MS = 15000;
const SLOWEST_MS = 30000;

const live = document.getElementById("live");
const announce = document.getElementById("announce");
let etag = "";
let failures = 0;
let timer = 0;

const panel = () => live.querySelector(".panel");

function later() {
  clearTimeout(timer);
  if (panel().dataset.final) return;
  const pace = document.hidden ? HIDDEN_MS : Number(panel().dataset.pace);
  timer = setTimeout(ask, Math.min(SLOWEST_MS, pace * 2 ** failures));
}

async function ask() {
  clearTimeout(timer);
  try {
    const answer = await fetch(live.dataset.source, {
      headers: etag ? { "If-None-Match": etag } : {},
      cache: "no-store", // the ETag is ours to send: the browser's cache would turn each 304 into a 200
      redirect: "manual",
      signal: AbortSignal.timeout(10000),
    });
    if (answer.type === "opaqueredirect" || answer.status === 404) {
      location.reload(); // signed out meanwhile
      return;
    }
    if (answer.ok) {
      etag = answer.headers.get("ETag") || "";
      show(await answer.text());
    } else if (answer.status !== 304) throw new Error(String(answer.status));
    failures = 0;
  } catch {
    failures = Math.min(failures + 1, 5);
  }
  later();
}

function show(html) {
  const before = panel().dataset.sentence;
  const focused = document.activeElement && live.contains(document.activeElement) ? document.activeElement.id : "";
  live.innerHTML = html; // made and escaped by the server, as the page itself was
  if (focused) (document.getElementById(focused) || document.getElementById("main")).focus({ preventScroll: true });
  localTimes(live);
  const sentence = panel().dataset.sentence;
  if (sentence === before) return;
  announce.textContent = sentence;
  document.title = `${live.dataset.name}: ${sentence} · grader`;
}

document.addEventListener("visibilitychange", () => { if (!document.hidden && !panel().dataset.final) ask(); });
later();
