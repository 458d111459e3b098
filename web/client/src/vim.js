// Vim's keys; static/editor.js keeps the choice.
import { Compartment, Prec } from "@codemirror/state";
import { Vim, vim } from "@replit/codemirror-vim";

const keys = new Compartment();
const box = document.querySelector("#vim-keys");

// Before all other keys.
export function vimKeys() {
  return Prec.high(keys.of(chosen()));
}

export function followVim(view) {
  box?.addEventListener("change", () => view.dispatch({ effects: keys.reconfigure(chosen()) }));
}

function chosen() {
  return box?.checked ? vim({ status: true }) : [];
}

// Drafts are saved anyway; :w saves at once.
Vim.defineEx("write", "w", () => document.dispatchEvent(new Event("keep-drafts")));
