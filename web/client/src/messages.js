// Errors and warnings of the compiler, on their lines.
import { setDiagnostics } from "@codemirror/lint";
import { findLine, findRange } from "./places.js";

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
  found.sort((a, b) => a.from - b.from);
  view.dispatch(setDiagnostics(view.state, found));
}
