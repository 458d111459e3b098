import { closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentLess, indentMore } from "@codemirror/commands";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorSelection, EditorState, Prec } from "@codemirror/state";
import {
  crosshairCursor, drawSelection, dropCursor, EditorView, highlightActiveLine, highlightActiveLineGutter,
  highlightSpecialChars, keymap, lineNumbers, rectangularSelection,
} from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import { assist } from "./assist.js";
import { knowledgeOf } from "./knowledge.js";
import { languageOf } from "./languages.js";
import { textFaults } from "./messages.js";
import { vimKeys } from "./vim.js";

// Colours are in static/editor.css.
export function makeState(area, nonce, changed) {
  return EditorState.create({
    doc: area.value,
    extensions: [
      // The policy allows only our files and the answer's nonce.
      EditorView.cspNonce.of(nonce),
      EditorView.contentAttributes.of({
        "aria-label": area.getAttribute("aria-label"),
        "aria-describedby": area.getAttribute("aria-describedby"),
        spellcheck: "false",
        // For tools that check what scrolls.
        tabindex: "0",
      }),
      EditorView.updateListener.of((update) => { if (update.docChanged) changed(update.state.doc.toString()); }),
      vimKeys(),
      tabKey(),
      replacing(),
      looks(),
      editing(Number(area.dataset.indent)),
      languageOf(area.dataset.mode),
      textFaults(area.dataset.mode),
      assist(knowledgeOf(area.dataset.mode, JSON.parse(area.form.dataset.arguments), area.form.dataset.words)),
      keymap.of([
        ...closeBracketsKeymap, ...searchKeymap, ...historyKeymap, ...lintKeymap, ...completionKeymap, ...defaultKeymap,
      ]),
    ],
  });
}

function looks() {
  return [
    lineNumbers(), lintGutter(), highlightActiveLineGutter(), highlightSpecialChars(), highlightActiveLine(),
    highlightSelectionMatches(), drawSelection(), dropCursor(), syntaxHighlighting(classHighlighter),
  ];
}

function editing(width) {
  return [
    history(), indentOnInput(), bracketMatching(), closeBrackets(), rectangularSelection(), crosshairCursor(),
    EditorState.allowMultipleSelections.of(true), EditorState.tabSize.of(width), indentUnit.of(" ".repeat(width)),
    search({ top: true }),
  ];
}

// The browser would style text typed over a selection by an attribute, which the policy refuses.
function replacing() {
  return EditorView.domEventHandlers({
    beforeinput(event, view) {
      const { state } = view;
      const { from, to, empty } = state.selection.main;
      if (event.inputType !== "insertText" || !event.data || event.isComposing || empty || state.readOnly) return false;
      const typed = () => view.state.update(view.state.replaceSelection(event.data), { scrollIntoView: true, userEvent: "input.type" });
      event.preventDefault();
      const handled = state.facet(EditorView.inputHandler).some((it) => it(view, from, to, event.data, typed));
      if (!handled) view.dispatch(typed());
      return true;
    },
  });
}

// Tab indents; Escape, then Tab leaves the editor.
function tabKey() {
  let leaving = false;
  const watch = EditorView.domEventHandlers({
    keydown(event) {
      if (event.key === "Escape") leaving = true;
      else if (event.key !== "Tab" && event.key !== "Shift") leaving = false;
      return false;
    },
    blur() { leaving = false; return false; },
  });
  const keys = keymap.of([{ key: "Tab", run: (view) => !leaving && indent(view), shift: (view) => !leaving && indentLess(view) }]);
  return [Prec.highest(watch), keys];
}

function indent(view) {
  const { state } = view;
  if (state.selection.ranges.some((range) => !range.empty)) return indentMore(view);
  const width = state.facet(indentUnit).length;
  view.dispatch(state.changeByRange((range) => {
    const column = range.head - state.doc.lineAt(range.head).from;
    return insertAt(range.head, " ".repeat(width - (column % width)));
  }), { scrollIntoView: true, userEvent: "input" });
  return true;
}

function insertAt(at, insert) {
  return { changes: { from: at, insert }, range: EditorSelection.cursor(at + insert.length) };
}
