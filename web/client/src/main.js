// Puts CodeMirror in the place of each text area of the editor. The text area stays: it is what the form sends, and what
// the page's other scripts (static/editor.js, static/drafts.js) read and write. They tell of their changes by "change",
// we tell of ours by "input".
import { EditorView } from "@codemirror/view";
import { showMessages } from "./messages.js";
import { makeState } from "./state.js";
import { followVim } from "./vim.js";

const form = document.querySelector("form[data-editor]");
if (form) for (const area of form.querySelectorAll("textarea[data-language]")) mount(area);

function mount(area) {
  const pane = area.closest(".pane");
  const view = new EditorView({
    state: makeState(area, form.dataset.styleNonce, (text) => {
      area.value = text;
      area.dispatchEvent(new Event("input", { bubbles: true }));
    }),
  });
  area.addEventListener("change", () => replace(view, area.value));
  area.addEventListener("goto", (event) => { event.preventDefault(); goTo(view, event.detail); });
  area.addEventListener("messages", (event) => showMessages(view, event.detail));
  followVim(view);
  const { selectionStart: anchor, selectionEnd: head } = area;
  const typing = document.activeElement === area;
  pane.append(view.dom);
  pane.classList.add("mounted");
  // Who was in the text area already goes on in the same place.
  if (typing) {
    view.dispatch({ selection: { anchor, head } });
    view.focus();
  }
  const { language, diagnostics } = JSON.parse(form.dataset.diagnostics || "{}");
  if (language === area.dataset.language) showMessages(view, diagnostics);
}

// As one change that can be undone: also what was reset by mistake comes back.
function replace(view, text) {
  if (view.state.doc.toString() === text) return;
  const { state } = view;
  const line = state.doc.lineAt(state.selection.main.head);
  const column = state.selection.main.head - line.from;
  const changes = state.changes({ from: 0, to: state.doc.length, insert: text });
  // The cursor stays on its line.
  const doc = changes.apply(state.doc);
  const after = doc.line(Math.min(line.number, doc.lines));
  const anchor = Math.min(after.from + column, after.to);
  view.dispatch({ changes, selection: { anchor }, scrollIntoView: true, userEvent: "input.replace" });
}

function goTo(view, number) {
  const line = view.state.doc.line(Math.min(Math.max(number, 1), view.state.doc.lines));
  view.dispatch({ selection: { anchor: line.from }, effects: EditorView.scrollIntoView(line.from, { y: "center" }) });
  view.focus();
}
