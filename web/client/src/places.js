// The place of a message in the present text. Each message has the text of its line.

// How far a line may have moved.
const REACH = 50;

// The message's own line, else the nearest line with the same text; 0 for none.
export function findLine(message, lineAt, count) {
  const wanted = message.text.trim();
  for (let far = 0; far <= REACH; far += 1) {
    for (const line of far ? [message.line - far, message.line + far] : [message.line]) {
      if (line >= 1 && line <= count && lineAt(line).trim() === wanted) return line;
    }
  }
  return 0;
}

// Offsets from column (from 1; null: the whole line) to the end of its word.
export function findRange(text, column) {
  const start = text.length - text.trimStart().length;
  if (!column || column > text.length) return [Math.min(start, text.length), text.length];
  const word = /^(?:\w+|\W)/.exec(text.slice(column - 1));
  return [column - 1, column - 1 + word[0].length];
}
