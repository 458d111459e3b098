// Where the cursor is, in the text before it: the name that it is at the end of, and the call that it is within.

// Longer calls are not looked at.
const REACH = 4000;
const OPENING = { ")": "(", "]": "[", "}": "{" };

// The dotted name that ends at `at`, and where it begins: {name, from}; "" for none.
export function nameBefore(text, at) {
  const name = /(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*$|(?:[A-Za-z_]\w*\.)+$/.exec(text.slice(Math.max(0, at - 200), at))?.[0] ?? "";
  return { name, from: at - name.length };
}

// The dotted name around `at`: {name, from, to}, up to the end of the word that `at` is in; null for none.
export function nameAt(text, at) {
  const rest = /^\w*/.exec(text.slice(at, at + 200))[0];
  const to = at + rest.length;
  const { name, from } = nameBefore(text, to);
  return name && !name.endsWith(".") ? { name, from, to } : null;
}

// The innermost call around `at`: {name, from, argument}; `from` is the name's beginning, `argument` counts from 0. null
// for none. `skipped(position)` is true in comments and strings.
export function callAround(text, at, skipped = () => false) {
  const wanted = [];
  let argument = 0;
  for (let place = at - 1; place >= Math.max(0, at - REACH); place -= 1) {
    const letter = text[place];
    if (!"()[]{},;".includes(letter) || skipped(place)) continue;
    if (letter in OPENING) wanted.push(OPENING[letter]);
    else if (letter === ";") { if (!wanted.length) return null; } else if (letter === ",") argument += wanted.length ? 0 : 1;
    else if (wanted.length) { if (wanted.pop() !== letter) return null; } else if (letter !== "(") {
      // A list within the call, as in `f([1, 2`: its commas are not the call's.
      if (letter === "{") return null;
      argument = 0;
    } else {
      const found = nameBefore(text, place);
      return found.name ? { ...found, argument } : null;
    }
  }
  return null;
}

// A signature in parts: before, each parameter, after.
export function signatureParts(signature) {
  const open = signature.indexOf("(");
  const close = signature.lastIndexOf(")");
  if (open < 0 || close < open) return { before: signature, parameters: [], after: "" };
  const parameters = [];
  let depth = 0;
  let start = open + 1;
  for (let place = open + 1; place <= close; place += 1) {
    const letter = signature[place];
    if ((letter === "," && !depth) || place === close) {
      const parameter = signature.slice(start, place).trim();
      if (parameter) parameters.push(parameter);
      start = place + 1;
    } else if ("([{".includes(letter)) depth += 1;
    else if (")]}".includes(letter)) depth -= 1;
  }
  return { before: signature.slice(0, open + 1), parameters, after: signature.slice(close) };
}
