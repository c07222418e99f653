/** Colours, on a terminal only: a file or a pipe gets plain text (and so does a terminal where NO_COLOR is set). */
const painted = (code: number) => (text: string) =>
  process.stdout.isTTY && !process.env["NO_COLOR"] ? `\x1b[${code}m${text}\x1b[0m` : text;

export const bold = painted(1);
export const faint = painted(2);
export const green = painted(32);
