// Vim's keys, for who wants them: the box near the editor says so, and static/editor.js keeps the choice.
import { Compartment, Prec } from "@codemirror/state";
import { Vim, vim } from "@replit/codemirror-vim";

const keys = new Compartment();
const box = document.querySelector("#vim-keys");

// Ahead of all other keys, or these would take vim's.
export function vimKeys() {
  return Prec.high(keys.of(chosen()));
}

export function followVim(view) {
  box?.addEventListener("change", () => view.dispatch({ effects: keys.reconfigure(chosen()) }));
}

function chosen() {
  return box?.checked ? vim({ status: true }) : [];
}

// The draft is kept while one types, so this is for the fingers: now, and not in a second.
Vim.defineEx("write", "w", () => document.dispatchEvent(new Event("keep-drafts")));
