// The editor's parsers, by the server's mode.
import { cpp } from "@codemirror/lang-cpp";
import { python } from "@codemirror/lang-python";
import { syntaxTree } from "@codemirror/language";
import { Decoration, MatchDecorator, ViewPlugin } from "@codemirror/view";
import { CUDA_WORDS } from "./words.js";

const MODES = { cuda: () => [cpp(), cudaWords], python };

// Text without a parser stays plain.
export function languageOf(mode) {
  return MODES[mode]?.() ?? [];
}

const marks = {
  keyword: Decoration.mark({ class: "tok-keyword cm-cuda" }),
  name: Decoration.mark({ class: "tok-typeName cm-cuda" }),
  launch: Decoration.mark({ class: "tok-keyword cm-launch" }),
};

const matcher = new MatchDecorator({
  regexp: CUDA_WORDS,
  decorate(add, from, to, match, view) {
    // In comments and strings they mean nothing.
    if (/Comment|String/.test(syntaxTree(view.state).resolveInner(from, 1).name)) return;
    add(from, to, marks[match[1] ? "keyword" : match[2] ? "name" : "launch"]);
  },
});

const cudaWords = ViewPlugin.define(
  (view) => ({
    decorations: matcher.createDeco(view),
    update(update) {
      const parsed = syntaxTree(update.startState) !== syntaxTree(update.state);
      this.decorations = parsed && !update.docChanged ? matcher.createDeco(update.view) : matcher.updateDeco(update, this.decorations);
    },
  }),
  { decorations: (plugin) => plugin.decorations },
);
