// Run, without leaving the code: the form's answer is the page of the run, whose panel is shown under the editor and
// followed there. Without this script the button leads to that page.
"use strict";

{
  const form = document.querySelector("form[data-editor]");
  const place = document.getElementById("run");
  const announce = document.getElementById("run-announce");
  const title = document.title;
  let follower = null;

  function say(text, tone, link) {
    const line = document.createElement("p");
    line.className = `notice ${tone}`;
    line.append(text);
    if (link) {
      const anchor = Object.assign(document.createElement("a"), { href: link, target: "_blank", textContent: "Sign in" });
      line.append(" ", anchor);
    }
    place.replaceChildren(line);
    announce.textContent = text;
  }

  // The panel of the page that the server answered with, or its reason why there is none.
  function shown(page, address) {
    const live = page.getElementById("live");
    if (live) return live;
    if (address.pathname.endsWith("/sign-in")) say("You are signed out. Your code stays here.", "bad", address.href);
    else {
      const told = [page.querySelector("p[role=alert]") || page.querySelector("main h1"), page.querySelector("main h1 + p")];
      const words = told.filter((each, index) => each && (index === 0 || told[0].matches("h1")));
      say(words.map((each) => each.textContent.replace(/\s+/g, " ").trim()).join(" ") || "The server refused it.", "bad");
    }
    return null;
  }

  async function run(button) {
    const sent = new URLSearchParams(new FormData(form));
    sent.set("action", "run");
    button.disabled = true;
    if (follower) follower.stop();
    say("Sending", "busy");
    place.hidden = false;
    try {
      const answer = await fetch(form.getAttribute("action"), { method: "POST", body: sent });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const live = shown(page, new URL(answer.url));
      if (live) follow(live);
    } catch {
      say("The server cannot be reached. Your code stays here; try again.", "bad");
    } finally {
      button.disabled = false;
    }
    place.scrollIntoView({ block: "nearest" });
  }

  function follow(live) {
    live.removeAttribute("id"); // that one is of the page of a submission
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

  // Errors of the compiler go to their lines in the editor.
  async function mark({ id, stopped, panel }) {
    if (stopped && !panel.dataset.final) return;
    document.title = `Run: ${panel.dataset.sentence} · ${title}`;
    try {
      const answer = await fetch(`/api/v1/submissions/${id}/diagnostics`, { headers: { Accept: "application/json" } });
      if (!answer.ok) return;
      const { language, diagnostics } = await answer.json();
      const area = form.querySelector(`textarea[name="source-${language}"]`);
      if (area) area.dispatchEvent(new CustomEvent("messages", { detail: diagnostics }));
    } catch { /* they stand in the compiler's log, too */ }
  }

  // "Show line 3" of the panel means the editor here.
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
      if (!event.submitter || event.submitter.name !== "action" || event.submitter.value !== "run") return;
      event.preventDefault();
      run(event.submitter);
    });
    place.addEventListener("click", goTo);
  }
}
