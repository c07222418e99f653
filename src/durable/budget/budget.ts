/** Charges releases to the odometers of their budgets. */
import { checkText, ownOptions, shown } from "../../core/checks.js";
import { given } from "../../core/given.js";
import { StreamCipher } from "../../snapshot/streamCipher.js";
import { encodeState, openSnapshot, encryptSnapshot } from "../../snapshot/snapshot.js";
import type { CheckedStore } from "../checkedStore.js";
import { Committer } from "../journal/committer.js";
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
  begins: boolean,
): Promise<void> {
  if (budget === undefined) return;
  const { odometer, terms, releaseName } = debtOf(budget, name);
  await odometer.register(releaseName, release, terms, begins);
}

/** Rejects if a charge would be rejected, and charges nothing. */
export async function checkCharge(
  budget: Budget,
  name: string,
  release: Release,
  begins: boolean,
): Promise<void> {
  const { odometer, terms, releaseName } = debtOf(budget, name);
  await odometer.check(releaseName, release, terms, begins);
}

/**
 * Charges a metric of a hub of events, once for each time that it begins. The store of the hub gets a mark with the first
 * charge, so a hub whose state was lost, or that never had one, is charged again. The mark is stored after the charge: a
 * crash in between costs ε twice, and never nothing.
 * @param name of the release
 * @param store of the hub; undefined if the hub lives as long as the process
 * @param begins the state of the release is not in the store: it is charged, whatever the mark says
 */
export async function chargeMetric(
  budget: Budget | undefined,
  name: string,
  release: Release,
  store: CheckedStore | undefined,
  key: CryptoKey,
  begins: boolean,
): Promise<void> {
  if (budget === undefined) return;
  if (store === undefined) return charge(budget, name, release, true);
  const mark = MARK + name;
  const found = await store.get(mark);
  await store.giveBack(mark);
  const parameters = { kind: "charged", name: mark };
  if (found !== undefined) await openSnapshot(found.bytes, key, parameters); // no other key, and no other bytes
  await charge(budget, name, release, begins || found === undefined);
  if (found !== undefined) return;
  const bytes = await encryptSnapshot(
    await StreamCipher.make(key),
    1,
    encodeState(parameters, () => undefined),
  );
  await new Committer(store).commit(() => ({ name: mark, sequence: 1, bytes }));
}

/** Names of marks begin with it; no stream is listed under such a name. */
export const MARK = "brume/charged/";

/** A stream under the name of a mark would make the hub of that mark unopenable. */
export function checkHubName(name: string): void {
  if (checkText("name", name).startsWith(MARK))
    throw new RangeError(`name: expected a name that does not begin with ${MARK}, got one that does`);
}

/** The name of a release whose budget has it. */
export const releaseNameOf = (budget: Budget): string => debtOf(budget, undefined).releaseName;

function debtOf(
  budget: Budget,
  name: string | undefined,
): { readonly odometer: Odometer; readonly terms: Terms; readonly releaseName: string } {
  const { odometer, ...own } = ownOptions<Budget & { readonly name?: string }>("budget", budget, [
    ...TERMS,
    ...["odometer", "name"],
  ]);
  if (!(odometer instanceof Odometer))
    throw new TypeError(`budget.odometer: expected an odometer (openOdometer), got ${shown(odometer)}`);
  const releaseName = name ?? checkText("budget.name", own.name);
  return { odometer, terms: given<Terms>(own, TERMS), releaseName };
}
