import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { beforeEach, test } from "node:test";

const load = createRequire(import.meta.url);
const page = { at: "/account", user: "ada", token: "new" };
let answers, asked, notice, field;

// As much of a browser as the two scripts use.
beforeEach(() => {
  [answers, asked] = [[], []];
  const [said, link] = [{ textContent: "" }, { href: "", hidden: true }];
  notice = { hidden: true, dataset: { stays: "Your code stays here." }, querySelector: (name) => (name === "a" ? link : said) };
  field = { value: "old" };
  globalThis.document = Object.assign(new EventTarget(), { hidden: false, querySelector: () => field, querySelectorAll: () => [field] });
  globalThis.location = { pathname: "/challenges/saxpy" };
  globalThis.addEventListener = () => {};
  globalThis.removeEventListener = () => {};
  globalThis.BroadcastChannel = class extends EventTarget { postMessage() {} };
  globalThis.DOMParser = class {
    parseFromString() { return { body: { dataset: { user: page.user } }, querySelector: () => ({ value: page.token }) }; }
  };
  globalThis.fetch = async (address, options) => {
    asked.push([address, options.headers?.["X-CSRFToken"]]);
    const { status = 200, ...more } = answers.shift() ?? {};
    return { status, ok: status === 200, type: "basic", headers: new Headers(), text: async () => "text", ...more };
  };
  const { Session } = load("../../static/session.js");
  globalThis.session = new Session("ada", notice);
});

const toSignIn = { status: 0, type: "opaqueredirect" };
const make = (token) => ({ headers: { "X-CSRFToken": token } });

test("a poller that is led to sign-in says so, stops, and goes on when the same person is back", async () => {
  const { Poller } = load("../../static/poll.js");
  let seen = "";
  const poller = new Poller("/panel", { pace: () => Infinity, changed: (text) => { seen = text; } });
  answers = [toSignIn];
  await poller.ask();
  assert.equal(notice.querySelector("span").textContent, "You are signed out. Your code stays here.");
  assert.equal(notice.hidden, false);
  await poller.ask();
  assert.deepEqual([asked.length, seen], [1, ""]);
  assert.equal(await session.revive(), true);
  await new Promise(setImmediate);
  assert.deepEqual([asked.map(([address]) => address), seen], [["/panel", "/account", "/panel"], "text"]);
  assert.equal(notice.hidden, true);
});

test("what is sent with the token of an ended session is sent again with that of the present one", async () => {
  answers = [{ status: 403 }, {}, {}];
  assert.equal((await session.send("/drafts", make)).status, 200);
  assert.deepEqual(asked, [["/drafts", "old"], ["/account", undefined], ["/drafts", "new"]]);
});

test("nothing is sent for another person", async () => {
  page.user = "bob";
  answers = [{ status: 403 }];
  await assert.rejects(session.send("/drafts", make), { message: "You are signed in as bob now. Your code stays here." });
  page.user = "ada";
  assert.deepEqual(asked, [["/drafts", "old"], ["/account", undefined]]);
});

test("the API's 401 is the end of the session, and of nothing where nobody was signed in", async () => {
  answers = [{ status: 401 }];
  await assert.rejects(session.send("/drafts", make), { message: "You are signed out. Your code stays here." });
  session.user = "";
  session.over = false;
  answers = [{ status: 401 }];
  assert.equal((await session.send("/drafts", make)).status, 401);
});
