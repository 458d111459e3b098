// Run and Submit stay on the page until the server accepts the code. A run's panel replaces the description, or is
// under the editor on narrow screens. Without this script the buttons lead to pages.
"use strict";

{
  const form = document.querySelector("form[data-editor]");
  const place = document.getElementById("run");
  const announce = document.getElementById("run-announce");
  const title = document.title;
  const bench = form?.closest(".workbench");
  const views = bench?.querySelector(".views");
  let follower = null;

  // about or run
  function view(name) {
    bench.dataset.view = name;
    for (const button of views.querySelectorAll("button")) button.ariaPressed = String(button.dataset.view === name);
  }

  function say(text, tone) {
    const line = document.createElement("p");
    line.className = `notice ${tone}`;
    line.append(text);
    place.replaceChildren(line);
    announce.textContent = text;
  }

  // For a refusal, from the answer's page.
  function reason(page) {
    const told = [page.querySelector("main p[role=alert]:not([hidden])") || page.querySelector("main h1"), page.querySelector("main h1 + p")];
    const words = told.filter((each, index) => each && (index === 0 || told[0].matches("h1")));
    return words.map((each) => each.textContent.replace(/\s+/g, " ").trim()).join(" ") || "The server refused it.";
  }

  async function send(button) {
    const make = () => {
      const body = new URLSearchParams(new FormData(form));
      body.set("action", button.value);
      return { method: "POST", body };
    };
    button.disabled = true;
    if (follower) follower.stop();
    say("Sending", "busy");
    place.hidden = false;
    views.hidden = false;
    view("run");
    try {
      const answer = await session.send(form.getAttribute("action"), make);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (!answer.redirected) say(reason(page), "bad");
      else if (button.value.startsWith("run")) follow(page.getElementById("live"));
      else location.assign(answer.url);
    } catch (error) {
      say(error instanceof SignedOut ? error.message : "The server cannot be reached. Your code stays here; try again.", "bad");
    } finally {
      button.disabled = false;
    }
    place.scrollIntoView({ block: "nearest" });
  }

  function follow(live) {
    live.removeAttribute("id"); // belongs to a submission's page
    const link = Object.assign(document.createElement("a"), { href: live.dataset.source.replace(/\/panel$/, "") });
    link.textContent = "This run on a page of its own";
    const line = document.createElement("p");
    line.className = "small";
    line.append(link);
    place.replaceChildren(document.adoptNode(live), line);
    announce.textContent = live.querySelector(".panel").dataset.sentence;
    follower = new Follower(live, announce, (sentence) => `Run: ${sentence} · ${title}`, mark);
    if (follower.final) mark(follower);
  }

  async function mark({ id, stopped, panel }) {
    if (stopped && !panel.dataset.final) return;
    document.title = `Run: ${panel.dataset.sentence} · ${title}`;
    try {
      const answer = await fetch(`/api/v1/submissions/${id}/diagnostics`, { headers: { Accept: "application/json" } });
      if (!answer.ok) return;
      const { language, diagnostics } = await answer.json();
      const area = form.querySelector(`textarea[name="source-${language}"]`);
      if (area) area.dispatchEvent(new CustomEvent("messages", { detail: diagnostics }));
    } catch { /* the compiler's log has them, too */ }
  }

  // Links to lines lead to the editor.
  function goTo(event) {
    const link = event.target.closest('a[href^="#L-"]');
    if (!link) return;
    event.preventDefault();
    const chosen = form.querySelector("[name=language]:checked") || form.querySelector("[name=language]");
    const area = form.querySelector(`textarea[name="source-${chosen.value}"]`);
    const number = Number(link.hash.slice(3));
    const went = new CustomEvent("goto", { detail: number, cancelable: true });
    if (!area.dispatchEvent(went)) return;
    const start = area.value.split("\n").slice(0, number - 1).join("\n").length + (number > 1 ? 1 : 0);
    area.focus();
    area.setSelectionRange(start, start);
  }

  if (form && place && window.fetch) {
    form.addEventListener("submit", (event) => {
      if (!event.submitter || event.submitter.name !== "action") return;
      event.preventDefault();
      send(event.submitter);
    });
    place.addEventListener("click", goTo);
    views.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button) view(button.dataset.view);
    });
  }
}
