import { autocompletion } from "@codemirror/autocomplete";
import { syntaxTree } from "@codemirror/language";
import { Prec, StateEffect, StateField } from "@codemirror/state";
import { EditorView, hoverTooltip, keymap, showTooltip } from "@codemirror/view";
import { callAround, nameAt, nameBefore, signatureParts } from "./calls.js";

const TYPES = { argument: "variable" };
// Only these open the list by themselves (else Ctrl-Space): a list that pops up hides the code.
const TELLING = /^(?:__|cuda|atomic)\w/;
const MOST_CHARS = 100_000;
const WORD = /[A-Za-z_]\w{2,}/g;

export function assist(knowledge) {
  return [
    // So the list needs no scrolling.
    autocompletion({ override: [completions(knowledge)], activateOnTyping: true, maxRenderedOptions: 10 }),
    hoverTooltip((view, pos) => explanation(knowledge, view, pos), { hoverTime: 400 }),
    signatures(knowledge),
    EditorView.domEventHandlers({ focus() { knowledge.load(); return false; } }),
  ];
}

function isText(state, pos) {
  return /Comment|String/.test(syntaxTree(state).resolveInner(pos, -1).name);
}

function completions(knowledge) {
  return async (context) => {
    const { state, pos, explicit } = context;
    const { name } = nameBefore(state.sliceDoc(Math.max(0, pos - 200), pos), Math.min(200, pos));
    const dot = name.lastIndexOf(".");
    const prefix = dot < 0 ? "" : name.slice(0, dot);
    const word = name.slice(dot + 1);
    if (isText(state, pos) || !(explicit || prefix || TELLING.test(word))) return null;
    await knowledge.load();
    if (context.aborted) return null;
    const known = knowledge.within(prefix).map(([label, entry]) => option(label, entry));
    const labels = new Set(known.map(({ label }) => label));
    const own = prefix ? [] : wordsOf(state, word, pos).filter((label) => !labels.has(label));
    if (!known.length && !own.length) return null;
    return { from: pos - word.length, options: [...known, ...own.map((label) => ({ label, type: "text", boost: -20 }))], validFor: /^\w*$/ };
  };
}

function option(label, entry) {
  const { parameters } = signatureParts(entry.signature);
  return {
    label,
    type: TYPES[entry.kind] ?? entry.kind,
    detail: parameters.length ? `(${parameters.map((each) => each.split("=")[0].trim()).join(", ")})` : undefined,
    info: entry.about ? () => described(entry) : undefined,
    boost: entry.kind === "argument" ? 20 : 0,
  };
}

// Without the word being written.
function wordsOf(state, word, pos) {
  if (state.doc.length > MOST_CHARS) return [];
  const found = new Set();
  for (const match of state.doc.toString().matchAll(WORD)) if (match.index + match[0].length !== pos) found.add(match[0]);
  return [...found];
}

async function explanation(knowledge, view, pos) {
  const line = view.state.doc.lineAt(pos);
  const found = nameAt(line.text, pos - line.from);
  if (!found || isText(view.state, pos)) return null;
  await knowledge.load();
  const entry = knowledge.find(found.name);
  if (!entry) return null;
  return { pos: line.from + found.from, end: line.from + found.to, above: true, create: () => ({ dom: described(entry) }) };
}

function described({ signature, about, parameters = {} }) {
  const dom = element("div", "cm-described");
  dom.tabIndex = 0; // long ones scroll
  if (signature) dom.append(element("code", "", signature));
  for (const paragraph of about.split("\n")) dom.append(element("p", "", paragraph));
  const told = Object.entries(parameters);
  if (told.length) dom.append(element("dl", "", ...told.flatMap(([name, text]) => [element("dt", "", name), element("dd", "", text)])));
  return dom;
}

function element(tag, className, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children);
  return made;
}

const show = StateEffect.define();

// Appears with a bracket or comma, or by key, until the cursor leaves the call or Escape.
function signatures(knowledge) {
  const field = StateField.define({
    create: () => null,
    update(value, transaction) {
      const asked = transaction.effects.find((effect) => effect.is(show));
      if (asked) return asked.value ? find(transaction.state) : null;
      if (!transaction.docChanged && !transaction.selection) return value;
      return value || opens(transaction) ? find(transaction.state) : null;
    },
    provide: (self) => showTooltip.from(self, (value) => value && { pos: value.pos, above: true, create: () => ({ dom: written(value) }) }),
  });

  function find(state) {
    const { head, empty } = state.selection.main;
    if (!empty || isText(state, head)) return null;
    const start = Math.max(0, head - 4000);
    const tree = syntaxTree(state);
    const skipped = (place) => /Comment|String/.test(tree.resolveInner(start + place, 1).name);
    const call = callAround(state.sliceDoc(start, head), head - start, skipped);
    const entry = call && knowledge.find(call.name);
    return entry?.signature.includes("(") ? { pos: start + call.from, entry, argument: call.argument } : null;
  }

  const hide = (view) => { if (view.state.field(field)) view.dispatch({ effects: show.of(false) }); return false; };
  return [
    field,
    keymap.of([{ key: "Mod-Shift-Space", run: (view) => { view.dispatch({ effects: show.of(true) }); return true; } }]),
    // Escape goes on: it also closes lists, frees Tab, and is vim's.
    Prec.highest(EditorView.domEventHandlers({ keydown: (event, view) => event.key === "Escape" && hide(view) })),
    // The view cannot change during its own update.
    EditorView.domEventHandlers({ blur(_, view) { setTimeout(() => hide(view)); return false; } }),
  ];
}

function opens(transaction) {
  if (!transaction.isUserEvent("input.type") && !transaction.isUserEvent("input.complete")) return false;
  let found = false;
  transaction.changes.iterChanges((_from, _to, _newFrom, _newTo, inserted) => { found ||= /[(,]/.test(inserted.toString()); });
  return found;
}

function written({ entry, argument }) {
  const { before, parameters, after } = signatureParts(entry.signature);
  const line = element("code", "", before);
  // A star takes all that follow.
  const starred = parameters.findIndex((each) => /^\*\w|^\.\.\./.test(each));
  const present = starred >= 0 ? Math.min(argument, starred) : argument;
  for (const [number, parameter] of parameters.entries()) {
    line.append(number ? ", " : "", element(number === present ? "strong" : "span", "", parameter));
  }
  line.append(after);
  const dom = element("div", "cm-described cm-signature", line);
  const name = /^\*{0,2}(\w+)/.exec(parameters[present] ?? "")?.[1];
  const about = entry.parameters?.[name] ?? (parameters.length ? "" : entry.about);
  if (about) dom.append(element("p", "", about));
  return dom;
}
