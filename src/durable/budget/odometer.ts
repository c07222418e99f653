/**
 * Adds up the ε of several releases (streams, hubs, histograms, reporters), refuses a release that would go above a limit,
 * and is kept in a store like a stream: a charge is stored before the release may publish.
 */
import { checkChoice, checkInteger, checkNumber, checkText, ownOptions, shown } from "../../core/checks.js";
import { given } from "../../core/given.js";
import { software, type Software, softwareText } from "../../core/software.js";
import { type SnapshotKey, snapshotKey, StreamCipher } from "../../snapshot/streamCipher.js";
import { encodeState, openSnapshot, type Parameters, encryptSnapshot } from "../../snapshot/snapshot.js";
import { CheckedStore, checkSequence } from "../checkedStore.js";
import {
  type ApproximateSpending,
  approximateSpending,
  approximateWords,
  checkDelta,
} from "./composition.js";
import {
  type Charge,
  checkEpsilon,
  costOf,
  deltaOf,
  exact,
  type Periods,
  rounded,
  spentOn,
} from "./ledger.js";
import { Committer } from "../journal/committer.js";
import { isConflict, type Store } from "../stores/store.js";

export interface OdometerOptions {
  /** Which odometer of the store; streams and odometers share one set of names. Public. */
  readonly name: string;
  /** Where the odometer is kept. */
  readonly store: Store;
  /** Encrypts its state. */
  readonly key: SnapshotKey;
  /**
   * The ε that one unit of any data set may spend at most, and δ if any release has one: a number is `{ epsilon }`. Without δ
   * a release whose keys votes make public is refused.
   */
  readonly limit: number | { readonly epsilon: number; readonly delta?: number };
  /** Whose spending is added up. Default "one value", which is what streams protect. */
  readonly unit?: string;
  /** The lowest sequence number that the stored state may have, against a store that was rolled back. Default 0. */
  readonly atLeast?: number;
}

/** Fields of a release's statement that a budget needs: every `statement()` of the library has them. */
export interface Release {
  readonly epsilon: number;
  readonly delta?: number;
  readonly unit: string;
  /**
   * Whether each time that it is spent has noise of its own: the days of a counter do, and the reports of a device. Default
   * "shared noise", which always holds.
   */
  readonly periods?: Periods;
}

/** Which data a release reads. */
export interface Terms {
  /** Releases with the same `data` add up. Different names promise that no unit is in two of them. Default "all data". */
  readonly data?: string;
  /** One of several disjoint parts of that data: a unit is in one part at most. Default: the release reads all of it. */
  readonly part?: string;
  /**
   * How many units of the release belong to one unit of the odometer, at most: 5 if a person has at most 5 values. Must be
   * given when the two units have different names. Default 1.
   */
  readonly perUnit?: number;
}

/** For `openStream` and `openHub`: the odometer to charge, and the data. */
export interface Budget extends Terms {
  /** The odometer that is charged. */
  readonly odometer: Odometer;
}

export interface StatementOptions {
  /** Also gives the (ε, δ) of all releases together, by optimal composition: 1e-9, for example. */
  readonly delta?: number;
}

export interface OdometerStatement {
  readonly software: Software;
  readonly unit: string;
  readonly limit: number;
  /** δ that may be spent; not there if none may. */
  readonly deltaLimit?: number;
  readonly data: readonly {
    readonly data: string;
    readonly spent: number;
    readonly left: number;
    /** δ that is spent, the sum over releases; not there if it is 0. */
    readonly delta?: number;
    /** The ε of the same releases at a δ > 0; only if a δ was asked for. */
    readonly approximate?: ApproximateSpending;
    readonly releases: readonly (Charge & { readonly spent: number })[];
  }[];
  readonly composition: string;
}

type Charges = ReadonlyMap<string, Charge>;

const MOST_RELEASES = 2 ** 16;
const COMPOSITION =
  "Releases of the same data add up. Parts of one data set are disjoint: the part that spent most counts. Data sets are disjoint: each has the whole limit.";

/** Opens an odometer of a store: continues its newest state, or begins it. */
export async function openOdometer(asked: OdometerOptions): Promise<Odometer> {
  const own = ownOptions("openOdometer", asked, ["name", "store", "key", "limit", "unit", "atLeast"]);
  const { name, store, key, limit, unit = "one value", atLeast = 0 } = own;
  checkText("name", name);
  checkText("unit", unit);
  const limits = ownOptions("limit", typeof limit === "object" ? limit : { epsilon: limit }, LIMITS);
  checkEpsilon("limit", limits.epsilon);
  if (limits.delta !== undefined) checkNumber("limit.delta", limits.delta, 0, 1);
  checkInteger("atLeast", atLeast, 0, Number.MAX_SAFE_INTEGER);
  const odometer = new Odometer(new CheckedStore(store), await snapshotKey(key), name, unit, limits);
  await odometer.load(atLeast);
  return odometer;
}

export class Odometer {
  // Parameters
  readonly #store: CheckedStore;
  readonly #committer: Committer;
  readonly #key: CryptoKey;
  readonly #name: string;
  readonly #unit: string;
  readonly #limit: number;
  readonly #deltaLimit: number;
  readonly #parameters: Parameters;
  // State
  #charges: Charges = new Map();
  #sequence = 0;
  /** The salt of its key, once there is one. */
  #salt: Uint8Array<ArrayBuffer> | undefined;
  /** The store may have another state than this object. */
  #stale = false;
  /** The change that is being stored. */
  #changing: Promise<unknown> = Promise.resolve();

  constructor(
    store: CheckedStore,
    key: CryptoKey,
    name: string,
    unit: string,
    limit: { readonly epsilon: number; readonly delta?: number },
  ) {
    this.#store = store;
    this.#committer = new Committer(store);
    this.#key = key;
    this.#name = name;
    this.#unit = unit;
    this.#limit = limit.epsilon;
    this.#deltaLimit = limit.delta ?? 0;
    this.#parameters = { kind: "odometer", name, unit };
  }

  /** The number of the newest stored state: what `atLeast` takes. */
  get sequence(): number {
    return this.#sequence;
  }

  /**
   * Charges a release, once per name: the same release after a restart costs nothing more. Register before you publish.
   * Rejects, and changes nothing, if the limit does not allow it or if the name has other terms.
   * @param again charge it although the name is registered: its state was lost, and it reads the data another time
   */
  register(name: string, release: Release, terms: Terms = {}, again = false): Promise<void> {
    return this.#change((charges) => this.#registered(charges, name, release, terms, again));
  }

  /** Rejects if `register` would, and changes nothing. */
  check(name: string, release: Release, terms: Terms = {}, again = false): Promise<void> {
    return this.#replace((charges) => {
      this.#with(charges, this.#registered(charges, name, release, terms, again));
      return undefined;
    });
  }

  #registered(charges: Charges, name: string, release: Release, terms: Terms, again: boolean): Charge {
    const charge = this.#chargeOf(name, release, terms);
    const before = charges.get(name);
    if (before === undefined) return charge;
    checkSameTerms(before, charge);
    return again ? { ...before, times: before.times + 1 } : before;
  }

  /** Spends the ε of a registered release again: one more report of a device, period, or pass over the data. */
  spend(name: string, times = 1): Promise<void> {
    return this.#change((charges) => {
      checkInteger("times", times, 1, 2 ** 40);
      const before = charges.get(name);
      if (before === undefined)
        throw new RangeError(
          `odometer: expected a registered release, got ${JSON.stringify(name)}; register it first`,
        );
      return { ...before, times: checkInteger("times", before.times + times, 1, 2 ** 40) };
    });
  }

  /**
   * Removes what a data set has spent. Only for data that nothing will ever read again, such as a day that is over: a later
   * release of it would be charged as the first one. Does nothing if the odometer does not know the data set.
   */
  forget(data: string): Promise<void> {
    checkText("data", data);
    return this.#replace((charges) => {
      const kept = new Map([...charges].filter(([, charge]) => charge.data !== data));
      return kept.size === charges.size ? undefined : kept;
    });
  }

  /** ε that one unit of a data set has spent at most. */
  spent(data = ALL_DATA): number {
    return rounded(spentOn(data, this.#charges.values()));
  }

  /** ε that the limit leaves for a data set. */
  left(data = ALL_DATA): number {
    const left = exact(this.#limit) - spentOn(data, this.#charges.values());
    return left > 0n ? rounded(left) : 0; // a lower limit than before may be below what is spent
  }

  /** The machine-readable statement. With a `delta` it has a second number beside each sum; the limit is for the sum. */
  statement(asked: StatementOptions = {}): OdometerStatement {
    const { delta } = ownOptions("statement", asked, ["delta"]);
    if (delta !== undefined) checkDelta(delta);
    const byData = new Map<string, Charge[]>();
    for (const charge of this.#charges.values()) {
      const known = byData.get(charge.data);
      if (known === undefined) byData.set(charge.data, [charge]);
      else known.push(charge);
    }
    const data = [...byData].map(([data, charges]) => ({
      data,
      spent: this.spent(data),
      left: this.left(data),
      ...withDelta("delta", rounded(spentOn(data, charges, deltaOf))),
      ...(delta === undefined ? {} : { approximate: approximateSpending(charges, delta) }),
      releases: charges.map((charge) => ({ ...charge, spent: rounded(costOf(charge)) })),
    }));
    const limits = { limit: this.#limit, ...withDelta("deltaLimit", this.#deltaLimit) };
    return { software, unit: this.#unit, ...limits, data, composition: COMPOSITION };
  }

  /** The statement as a short text. */
  explain(asked: StatementOptions = {}): string {
    const { software, unit, limit, deltaLimit, data, composition } = this.statement(asked);
    return [
      `Privacy budget of ${unit}: ε at most ${limit}${deltaLimit === undefined ? "" : ` and δ at most ${deltaLimit}`} for each data set.`,
      ...data.flatMap(({ data, spent, left, delta, approximate, releases }) => [
        `${data}: ε = ${spent} spent, ${left} left${delta === undefined ? "" : `; δ = ${delta} spent: the probability that a key that only one unit used becomes public`}`,
        ...(approximate === undefined ? [] : [`  ${approximateWords(approximate, spent)}`]),
        ...releases.map(
          ({ name, part, epsilon, unit, perUnit, times, spent }) =>
            `  ${name}${part === null ? "" : ` (part ${part})`}: ε = ${spent} (${epsilon} for ${unit}, × ${perUnit} × ${times})`,
        ),
      ]),
      composition,
      softwareText(software),
    ].join("\n");
  }

  /** Reads the newest state from the store. */
  async load(atLeast: number): Promise<void> {
    const found = await this.#store.get(this.#name, atLeast);
    await this.#store.giveBack(this.#name); // nothing is published from it before the next change is stored
    if (found !== undefined) {
      const { sequence, salt, state } = await openSnapshot(found.bytes, this.#key, this.#parameters);
      checkSequence(this.#name, found.sequence, sequence);
      const charges = JSON.parse(state.text()) as Charge[];
      this.#charges = new Map(charges.map((charge) => [charge.name, charge]));
      this.#sequence = sequence;
      this.#salt = salt;
    }
    this.#stale = false;
  }

  #chargeOf(name: string, release: Release, terms: Terms): Charge {
    const { data = ALL_DATA, part, perUnit } = ownOptions("terms", terms, TERMS);
    if (typeof release !== "object" || (release as unknown) === null)
      throw new TypeError(`release: expected a statement, got ${shown(release)}`);
    const { epsilon, delta = 0, unit, periods } = given(release, ["epsilon", "delta", "unit", "periods"]);
    checkText("name", name);
    checkText("data", data);
    if (part !== undefined) checkText("part", part);
    const unitOfRelease = checkText("unit", unit);
    const each = checkEpsilon("epsilon", epsilon);
    if (delta !== 0 && this.#deltaLimit === 0)
      throw new RangeError(
        `delta: expected 0, got ${delta}; this odometer adds up pure ε. Open it with limit: { epsilon, delta } to allow δ`,
      );
    // Amounts have 30 decimal places: a smaller δ is charged as 10⁻¹², which is never too little.
    const charged = delta === 0 ? 0 : Math.max(LEAST_DELTA, checkNumber("delta", delta, 0, 1));
    if (perUnit === undefined && unit !== this.#unit)
      throw new TypeError(
        `perUnit: expected how many of "${unit}" belong to "${this.#unit}" at most, got none; give perUnit, 1 if they are the same`,
      );
    const most = perUnit === undefined ? 1 : checkInteger("perUnit", perUnit, 1, 2 ** 40);
    // A group of k units has δ·(e^(kε) − 1)/(e^ε − 1): more than any limit that is worth having.
    if (delta !== 0 && most !== 1)
      throw new RangeError(`perUnit: expected 1 for a release with δ > 0, got ${most}`);
    if (periods !== undefined) checkChoice("periods", periods, ["own noise", "shared noise"]);
    return {
      ...{ name, data, part: part ?? null, epsilon: each, unit: unitOfRelease, perUnit: most, times: 1 },
      ...(periods === "own noise" ? { periods } : {}),
      ...withDelta("delta", charged),
    };
  }

  #change(next: (charges: Charges) => Charge): Promise<void> {
    return this.#replace((before) => this.#with(before, next(before)));
  }

  /** These charges and one more, or another one in its place; undefined if it is there. Throws if it is above the limit. */
  #with(before: Charges, charge: Charge): Charges | undefined {
    if (before.get(charge.name) === charge) return undefined;
    const charges = new Map(before).set(charge.name, charge);
    this.#checkLimit(charge, charges);
    return charges;
  }

  /**
   * One change at a time: computed on a copy, checked, stored, and only then made.
   * @param next gives undefined if nothing changes
   */
  #replace(next: (charges: Charges) => Charges | undefined): Promise<void> {
    this.#store.checkOutside();
    const turn = this.#changing.then(() => this.#tryReplace(next));
    this.#changing = turn.catch(() => undefined);
    return turn;
  }

  async #tryReplace(next: (charges: Charges) => Charges | undefined): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      if (this.#stale) await this.load(this.#sequence);
      const charges = next(this.#charges);
      if (charges === undefined) return;
      try {
        return await this.#put(charges);
      } catch (error) {
        this.#stale = true;
        // Another process changed it: read its state and decide again.
        if (!isConflict(error) || attempt === ATTEMPTS) throw error;
      }
    }
  }

  #checkLimit(charge: Charge, charges: Charges): void {
    if (charges.size > MOST_RELEASES)
      throw new RangeError(
        `odometer: expected at most ${MOST_RELEASES} releases, and all of them are taken; ${JSON.stringify(charge.name)} is not charged and must not publish. Forget data that nothing reads any more`,
      );
    const delta = spentOn(charge.data, charges.values(), deltaOf);
    if (delta > exact(this.#deltaLimit))
      throw new RangeError(
        `odometer: release ${JSON.stringify(charge.name)} would bring ${JSON.stringify(charge.data)} to δ = ${rounded(delta)}, expected at most ${this.#deltaLimit}`,
      );
    const total = spentOn(charge.data, charges.values());
    if (total <= exact(this.#limit)) return;
    throw new RangeError(
      `odometer: release ${JSON.stringify(charge.name)} would bring ${JSON.stringify(charge.data)} to ε = ${rounded(total)}, expected at most ${this.#limit}; ${this.left(charge.data)} is left`,
    );
  }

  async #put(charges: Charges): Promise<void> {
    const plain = encodeState(this.#parameters, (writer) =>
      writer.text(JSON.stringify([...charges.values()])),
    );
    const cipher = await StreamCipher.make(this.#key, this.#salt);
    const sequence = this.#sequence + 1;
    await this.#committer.commit(async () => ({
      name: this.#name,
      sequence,
      bytes: await encryptSnapshot(cipher, sequence, plain),
    }));
    this.#charges = charges;
    this.#sequence = sequence;
    this.#salt = cipher.salt;
  }
}

const LIMITS = ["epsilon", "delta"];
const LEAST_DELTA = 1e-12;

/** A field that is there only if δ > 0: elsewhere nothing speaks of it. */
const withDelta = <N extends string>(name: N, delta: number): { readonly [name in N]?: number } =>
  delta === 0 ? {} : ({ [name]: delta } as { readonly [name in N]: number });

export const TERMS: readonly (keyof Terms)[] = ["data", "part", "perUnit"];
const ALL_DATA = "all data";
/** How often a change is tried when other processes change the odometer at the same time. */
const ATTEMPTS = 8;

/** Noise that was once said to be shared stays so: that is never too little. */
function checkSameTerms(before: Charge, now: Charge): void {
  if (before.periods === "own noise" && now.periods === undefined)
    throw new RangeError(
      `odometer: expected release ${JSON.stringify(now.name)} with periods = "own noise", got "shared noise"; a release with other terms needs another name`,
    );
  for (const term of ["data", "part", "epsilon", "delta", "unit", "perUnit"] as const)
    if (before[term] !== now[term])
      throw new RangeError(
        `odometer: expected release ${JSON.stringify(now.name)} with ${term} = ${JSON.stringify(before[term])}, got ${JSON.stringify(now[term])}; a release with other terms needs another name`,
      );
}
