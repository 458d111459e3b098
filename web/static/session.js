// When an open page's session ends, the page says so and waits until the same user signs in again, in any tab.
"use strict";

class SignedOut extends Error {}

class Session {
  static PATIENCE_MS = 15000;

  // user: "" for nobody. notice: says that they are signed out.
  constructor(user, notice) {
    Object.assign(this, { user, notice, over: false, words: "" });
    const back = () => { if (this.over && !document.hidden) this.revive().catch(() => {}); };
    document.addEventListener("visibilitychange", back);
    if (!user) return;
    // A sign-in elsewhere tells the other tabs.
    const tabs = new BroadcastChannel("session");
    tabs.addEventListener("message", back);
    tabs.postMessage(user);
  }

  // fetch for changes. make: token -> options. A refused request is repeated with the new session's token. Throws
  // SignedOut if the session has ended.
  async send(address, make) {
    if (this.over && !await this.revive()) throw new SignedOut(this.words);
    let answer = await fetch(address, make(this.token));
    if (this.isOver(answer)) this.end();
    else if (answer.status === 403 && await this.revive()) answer = await fetch(address, make(this.token));
    if (this.over) throw new SignedOut(this.words);
    return answer;
  }

  get token() { return document.querySelector('input[name="csrf_token"]')?.value ?? ""; }

  // Signed out: pages redirect to sign-in, the API answers 401.
  isOver(answer) {
    const led = answer.type === "opaqueredirect" || (answer.redirected && new URL(answer.url).pathname === "/sign-in");
    return Boolean(this.user) && (led || answer.status === 401);
  }

  // user: who is signed in instead.
  end(user = "") {
    this.words = `${user ? `You are signed in as ${user} now.` : "You are signed out."} ${this.notice.dataset.stays}`;
    this.notice.querySelector("span").textContent = this.words;
    const link = this.notice.querySelector("a");
    link.href = `/sign-in?next=${encodeURIComponent(location.pathname)}`;
    link.hidden = Boolean(user);
    this.notice.hidden = false;
    this.over = true;
  }

  // Takes the new session's token. True if it is the same user's.
  async revive() {
    if (!this.user) return false;
    const answer = await fetch("/account", {
      cache: "no-store", redirect: "manual", signal: AbortSignal.timeout(Session.PATIENCE_MS),
    });
    if (this.isOver(answer)) { this.end(); return false; }
    if (!answer.ok) return false;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const { user } = page.body.dataset;
    if (user !== this.user) { this.end(user); return false; }
    const { value } = page.querySelector('input[name="csrf_token"]');
    for (const field of document.querySelectorAll('input[name="csrf_token"]')) field.value = value;
    const returned = this.over;
    this.over = false;
    this.notice.hidden = true;
    if (returned) document.dispatchEvent(new Event("signed-in"));
    return true;
  }
}

if (typeof module === "object") module.exports = { Session, SignedOut };
else globalThis.session = new Session(document.body.dataset.user ?? "", document.getElementById("signed-out"));
