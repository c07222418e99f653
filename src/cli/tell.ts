/** Words for people on standard error, beside the numbers; --quiet leaves them out. */

/** In the environment: commands of other packages have modules of their own. */
const QUIET = "BRUME_QUIET";

export function beQuiet(): void {
  process.env[QUIET] = "1";
}

export const isQuiet = (): boolean => process.env[QUIET] === "1";

export function tell(text: string): void {
  if (!isQuiet()) process.stderr.write(`${text}\n`);
}
