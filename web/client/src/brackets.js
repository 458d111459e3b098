// Faults that need no compiler: unclosed brackets, quotes and comments, and in Python a missing colon.

// More are consequences of the first.
const MOST = 3;
const CLOSING = { "(": ")", "[": "]", "{": "}" };
const BLOCK = /(?:async[ \t]+)?(?:def|class|if|elif|else|for|while|with|try|except|finally)\b/y;

// {from, to, message}, in order. `mode`: cuda or python; others have no faults.
export function faults(text, mode) {
  // Only one preprocessor branch counts, and each may close the other's brackets.
  if (mode === "cuda" && /^[ \t]*#[ \t]*(?:else|elif)/m.test(text)) return [];
  if (mode !== "cuda" && mode !== "python") return [];
  return new Scan(text, mode === "python").run().sort((a, b) => a.from - b.from).slice(0, MOST);
}

class Scan {
  constructor(text, python) {
    Object.assign(this, { text, python, at: 0, open: [], found: [] });
    // Where a Python statement that needs a colon begins; -1 for none.
    this.block = -1;
    this.begins = true;
  }

  run() {
    while (this.at < this.text.length) this.step();
    this.endLine();
    for (const place of this.open) this.fault(place, place + 1, `"${this.text[place]}" is never closed.`);
    return this.found;
  }

  fault(from, to, message) { this.found.push({ from, to, message }); }

  step() {
    const { text, at } = this;
    const letter = text[at];
    if (this.begins && this.python && /\S/.test(letter) && letter !== "#") this.begin();
    if (letter === "\n") { this.at += 1; this.endLine(); } else if (this.comment() || this.quoted()) return;
    else {
      if (letter === "\\" && text[at + 1] === "\n") this.at += 1;
      else if (letter in CLOSING) this.open.push(at);
      else if (")]}".includes(letter)) this.close(letter);
      else if (letter === ":" && !this.open.length) this.block = -1;
      this.at += 1;
    }
  }

  begin() {
    this.begins = false;
    BLOCK.lastIndex = this.at;
    if (BLOCK.test(this.text)) this.block = this.at;
  }

  endLine() {
    if (this.open.length) return;
    if (this.block >= 0) {
      const end = this.text.slice(0, Math.min(this.at, this.text.length)).trimEnd().length;
      this.fault(this.block, Math.max(end, this.block + 1), "This line needs a colon at its end.");
    }
    this.block = -1;
    this.begins = true;
  }

  close(letter) {
    const place = this.open.pop();
    if (place === undefined) this.fault(this.at, this.at + 1, `"${letter}" closes nothing.`);
    else if (CLOSING[this.text[place]] !== letter) {
      const line = this.text.slice(0, place).split("\n").length;
      this.fault(this.at, this.at + 1, `"${this.text[place]}" of line ${line} needs "${CLOSING[this.text[place]]}" before this "${letter}".`);
    }
  }

  comment() {
    const { text, at, python } = this;
    if (python ? text[at] === "#" : text.startsWith("//", at)) {
      this.at = end(text, "\n", at);
      return true;
    }
    if (python || !text.startsWith("/*", at)) return false;
    const close = text.indexOf("*/", at + 2);
    if (close < 0) this.fault(at, at + 2, "This comment is never closed.");
    this.at = close < 0 ? text.length : close + 2;
    return true;
  }

  quoted() {
    const { text, at, python } = this;
    const quote = text[at];
    if (quote !== '"' && quote !== "'") return false;
    // 1'000'000 in C++.
    if (!python && quote === "'" && /[0-9a-fA-F]/.test(text[at - 1] ?? "") && /[0-9a-fA-F]/.test(text[at + 1] ?? "")) return false;
    if (!python && quote === '"' && /(?:^|[^\w])(?:u8|[uUL])?R$/.test(text.slice(Math.max(0, at - 5), at))) return this.raw();
    const mark = python && text.startsWith(quote.repeat(3), at) ? quote.repeat(3) : quote;
    for (let place = at + mark.length; place < text.length; place += 1) {
      if (text[place] === "\\") place += 1;
      else if (text.startsWith(mark, place)) { this.at = place + mark.length; return true; }
      else if (text[place] === "\n" && mark.length === 1) return this.unclosed(at, place);
    }
    return this.unclosed(at, mark.length === 1 ? text.length : at + 3, text.length);
  }

  // R"mark( ... )mark"
  raw() {
    const { text, at } = this;
    const mark = /^"([^\s()\\]{0,16})\(/.exec(text.slice(at, at + 20))?.[1];
    const close = mark === undefined ? -1 : text.indexOf(`)${mark}"`, at);
    if (close < 0) return this.unclosed(at, at + 1, text.length);
    this.at = close + mark.length + 2;
    return true;
  }

  unclosed(from, to, next = to) {
    this.fault(from, Math.max(to, from + 1), "This text has no closing quote.");
    this.at = next;
    return true;
  }
}

function end(text, mark, from) {
  const found = text.indexOf(mark, from);
  return found < 0 ? text.length : found;
}
