/** Words for people on standard error, beside the numbers; --quiet leaves them out. */

/** In the environment: the commands of research/ have modules of their own when they are bundled. */
const QUIET = "BRUME_QUIET";

export function beQuiet(): void {
  process.env[QUIET] = "1";
}

export const isQuiet = (): boolean => process.env[QUIET] === "1";

export function tell(text: string): void {
  if (!isQuiet()) process.stderr.write(`${text}\n`);
}
