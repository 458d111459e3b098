// Where a message belongs in the text as it is now. Each message brings the line that it was said of.

// How far a line may have moved since.
const REACH = 50;

// `text` of the message at its own line, else the nearest line with the same text; 0 where there is none.
export function findLine(message, lineAt, count) {
  const wanted = message.text.trim();
  for (let far = 0; far <= REACH; far += 1) {
    for (const line of far ? [message.line - far, message.line + far] : [message.line]) {
      if (line >= 1 && line <= count && lineAt(line).trim() === wanted) return line;
    }
  }
  return 0;
}

// From column (counted from 1; null for the whole line) to the end of the word there, as offsets into the line.
export function findRange(text, column) {
  const start = text.length - text.trimStart().length;
  if (!column || column > text.length) return [Math.min(start, text.length), text.length];
  const word = /^(?:\w+|\W)/.exec(text.slice(column - 1));
  return [column - 1, column - 1 + word[0].length];
}
