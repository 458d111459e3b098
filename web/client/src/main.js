// Puts CodeMirror over each text area, which the form sends and other scripts read and write. They announce changes by
// "change", we by "input".
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
  // Keeps the cursor's place.
  if (typing) {
    view.dispatch({ selection: { anchor, head } });
    view.focus();
  }
  const { language, diagnostics } = JSON.parse(form.dataset.diagnostics || "{}");
  if (language === area.dataset.language) showMessages(view, diagnostics);
}

// One change that can be undone, even a reset.
function replace(view, text) {
  if (view.state.doc.toString() === text) return;
  const { state } = view;
  const line = state.doc.lineAt(state.selection.main.head);
  const column = state.selection.main.head - line.from;
  const changes = state.changes({ from: 0, to: state.doc.length, insert: text });
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
