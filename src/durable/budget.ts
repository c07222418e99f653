/** What a release of a store owes to an odometer. */
import { checkText, ownOptions, shown } from "../core/checks.js";
import { given } from "../core/given.js";
import { type Budget, Odometer, type Release, TERMS, type Terms } from "./odometer.js";

/**
 * Charges a release to the odometer of its budget, if it has one.
 * @param name of the release; undefined where the budget has it
 * @param begins it begins now, and reads the data another time if the odometer knows its name
 */
export async function charge(
  budget: Budget | undefined,
  name: string | undefined,
  release: Release,
  begins = false,
): Promise<void> {
  if (budget === undefined) return;
  const { odometer, ...own } = ownOptions<Budget & { readonly name?: string }>("budget", budget, [
    ...TERMS,
    ...["odometer", "name"],
  ]);
  if (!(odometer instanceof Odometer))
    throw new TypeError(`budget.odometer: expected an odometer (openOdometer), got ${shown(odometer)}`);
  const releaseName = name ?? checkText("budget.name", own.name);
  await odometer.register(releaseName, release, given<Terms>(own, TERMS), begins);
}
