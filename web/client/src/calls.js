// The name and the call at the cursor.

// Characters before the cursor.
const REACH = 4000;
const OPENING = { ")": "(", "]": "[", "}": "{" };

// {name, from}: the dotted name that ends at `at`; name "" for none.
export function nameBefore(text, at) {
  const name = /(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*$|(?:[A-Za-z_]\w*\.)+$/.exec(text.slice(Math.max(0, at - 200), at))?.[0] ?? "";
  return { name, from: at - name.length };
}

// {name, from, to}: the dotted name around `at`, up to its word's end; null for none.
export function nameAt(text, at) {
  const rest = /^\w*/.exec(text.slice(at, at + 200))[0];
  const to = at + rest.length;
  const { name, from } = nameBefore(text, to);
  return name && !name.endsWith(".") ? { name, from, to } : null;
}

// {name, from, argument}: the innermost call around `at`; `argument` counts from 0; null for none. `skipped(position)`:
// in a comment or string.
export function callAround(text, at, skipped = () => false) {
  const wanted = [];
  let argument = 0;
  for (let place = at - 1; place >= Math.max(0, at - REACH); place -= 1) {
    const letter = text[place];
    if (!"()[]{},;".includes(letter) || skipped(place)) continue;
    if (letter in OPENING) wanted.push(OPENING[letter]);
    else if (letter === ";") { if (!wanted.length) return null; } else if (letter === ",") argument += wanted.length ? 0 : 1;
    else if (wanted.length) { if (wanted.pop() !== letter) return null; } else if (letter !== "(") {
      // Commas of a list as in `f([1, 2` are not the call's.
      if (letter === "{") return null;
      argument = 0;
    } else {
      const found = nameBefore(text, place);
      return found.name ? { ...found, argument } : null;
    }
  }
  return null;
}

// Before, each parameter, after.
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
