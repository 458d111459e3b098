// Errors and warnings on their lines: the compiler's, and faults found while one types.
import { forEachDiagnostic, setDiagnostics } from "@codemirror/lint";
import { ViewPlugin } from "@codemirror/view";
import { faults } from "./brackets.js";
import { findLine, findRange } from "./places.js";

// After the last key: unfinished words are no mistakes.
const QUIET_MS = 500;
// Only the compiler checks longer texts.
const MOST_CHARS = 65_536;

export function showMessages(view, messages) {
  const { doc } = view.state;
  const found = [];
  for (const message of messages ?? []) {
    const number = findLine(message, (line) => doc.line(line).text, doc.lines);
    if (!number) continue;
    const line = doc.line(number);
    const [from, to] = findRange(line.text, message.column);
    found.push({ from: line.from + from, to: line.from + to, severity: message.severity, message: message.message });
  }
  replace(view, found, (each) => !each.ofText);
}

// Replaces those that `old` names.
function replace(view, found, old) {
  forEachDiagnostic(view.state, (each, from, to) => { if (!old(each)) found.push({ ...each, from, to }); });
  found.sort((a, b) => a.from - b.from);
  view.dispatch(setDiagnostics(view.state, found));
}

export function textFaults(mode) {
  return ViewPlugin.define((view) => {
    let timer = 0;
    const look = () => {
      const text = view.state.doc.toString();
      const found = text.length > MOST_CHARS ? [] : faults(text, mode);
      replace(view, found.map((each) => ({ ...each, severity: "error", ofText: true })), (each) => each.ofText);
      view.contentDOM.dispatchEvent(new CustomEvent("looked", { bubbles: true, detail: found.length }));
    };
    return {
      update({ docChanged }) {
        if (!docChanged) return;
        clearTimeout(timer);
        timer = setTimeout(look, QUIET_MS);
      },
      destroy() { clearTimeout(timer); },
    };
  });
}
