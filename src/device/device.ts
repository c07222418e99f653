/**
 * A page that reports with a budget and sends by itself.
 *
 *     value ─▶ is there a report for this id? ─▶ is the budget left? ─▶ report ─▶ charged and stored ─▶ sent, until acknowledged
 *
 * The charge is stored before the report leaves. So a reload, a second tab or a killed page never spends more than the
 * budget, and the report made for an id is the only one that ever leaves for it.
 */
import { checkText, checkValue, ownOptions } from "../core/checks.js";
import { fillReports } from "../core/js/reports.js";
import { software, type Software } from "../core/software.js";
import { type Duration, parseDuration } from "../events/days/duration.js";
import { packReport, type Report, unpackReport } from "../local/report.js";
import { dayReporter, type Reporter } from "../local/reporter.js";
import { type BudgetOptions, type Limits, limitsOf, originsOf, promiseOf, reportsLeft } from "./budget.js";
import { Database } from "./database.js";
import { Outbox } from "./outbox.js";
import { fetchTerms, type Terms } from "./terms.js";

export interface DeviceOptions {
  /** Which budget of this origin, in its storage. Devices of one name share budget, remembered reports and outbox. */
  readonly name: string;
  /** ε of every report. Write it into the page; do not take it from the server. */
  readonly epsilon: number;
  /** Public upper bound of a value. Write it into the page, too. */
  readonly max: number;
  /**
   * Every origin that this page is served from, such as "https://shop.example". A browser keeps a budget for each origin, so
   * the statement multiplies ε by their number, and the page refuses to report from any other. Default: the statement is
   * about one origin.
   */
  readonly origins?: readonly string[];
  /** How many reports this device may make, at one origin. */
  readonly budget: BudgetOptions;
  /** Where reports are posted to. */
  readonly url: string;
  /** Address that tells θ of the day: { "threshold": 62.5 }. */
  readonly terms?: string;
  /** Instead of `terms`: θ, as `reporter` takes it. Default: `max`. */
  readonly threshold?: number;
  /** How long a report waits for others, so that they are sent together. Default "1s". */
  readonly wait?: Duration;
}

const OPTIONS = ["name", "epsilon", "max", "budget", "url", "terms", "threshold", "wait", "origins"];

export interface ReportOptions {
  /**
   * Names the thing that the value belongs to: a visit, an order, a day. The same id gives the same report again, whatever the
   * value, in every tab and after every reload, and costs nothing more.
   */
  readonly id?: string;
}

/** Privacy statement of a device for its user. */
export interface DeviceStatement {
  /** Version, commit and noise version of the library on the page. */
  readonly software: Software;
  /** The kind of privacy that is promised. */
  readonly definition: "local differential privacy";
  /** Whose reports ε is for, such as "one device and origin, per day". */
  readonly unit: string;
  /** ε of one report. */
  readonly epsilonPerReport: number;
  /** ε of all reports of one unit in a period. */
  readonly epsilon: number;
  /** δ, which is always 0. */
  readonly delta: 0;
  /** ε of all reports that this device ever makes; null without a `lifetime`. */
  readonly lifetimeEpsilon: number | null;
  /** Where reports are made: a page needs no WebAssembly. */
  readonly core: "js";
  /** Things that the promise does not cover, in words. */
  readonly notProtected: readonly string[];
}

const NOT_PROTECTED = [
  "when reports are sent, how many there are, and from which address",
  "the same page at several origins that `origins` does not list: browsers keep a budget for each",
  "the same page in frames on pages of several sites: browsers keep a budget for each of these sites",
  "a person who clears the page's storage, or uses several devices or browsers: each has a budget of its own",
  "the same person under several names: the ε of budgets with different names add up",
];

const MOST_NAME = 128;

export class Device {
  readonly #epsilon: number;
  readonly #max: number;
  readonly #limits: Limits;
  /** How many origins the page is served from; undefined if it does not say. */
  readonly #origins: number | undefined;
  readonly #terms: string | Terms;
  readonly #database: Promise<Database>;
  readonly #outbox: Outbox;
  #reporter: { readonly terms: Terms; readonly reporter: Reporter };

  constructor(options: DeviceOptions) {
    checkPlatform();
    const own = ownOptions("device", options, OPTIONS);
    const { epsilon, max, terms, threshold } = own;
    const name = checkText("name", own.name);
    if (name.length === 0 || name.length > MOST_NAME)
      throw new RangeError(`name: expected 1 to ${MOST_NAME} characters, got ${name.length}`);
    const url = new URL(checkText("url", own.url), location.href).href;
    this.#limits = limitsOf(own.budget);
    this.#origins = originsOf(own.origins, location.origin);
    const wait = parseDuration("wait", own.wait ?? "1s", 0);
    if (terms !== undefined && threshold !== undefined)
      throw new TypeError("terms: expected either terms or threshold, got both");
    this.#terms = terms === undefined ? { threshold: threshold ?? max } : checkText("terms", terms);
    this.#epsilon = epsilon;
    this.#max = max;
    // Checks ε, max and θ now: a page with a wrong one must not fail at the first value.
    this.#reporter = this.#make(typeof this.#terms === "string" ? { threshold: max } : this.#terms);
    this.#database = Database.open(name);
    this.#database.catch(() => undefined); // every call that needs it says so
    this.#outbox = new Outbox(name, url, wait, this.#database);
  }

  /**
   * Makes a report of a value, stores and charges it, and sends it a little later. Gives the report, or undefined when the
   * budget is spent. The value is stored nowhere.
   */
  async report(value: number, options: ReportOptions = {}): Promise<Report | undefined> {
    const checked = checkValue(value);
    const { id } = ownOptions("report", options, ["id"]);
    if (id !== undefined && (typeof id !== "string" || id === ""))
      throw new TypeError("id: expected a string that is not empty");
    const database = await this.#database;
    const key = id === undefined ? undefined : await database.keyOf(id);
    const known = key === undefined ? undefined : await database.report(key);
    if (known !== undefined) return unpackReport(known);
    if ((await this.left()) === 0) return undefined; // no need to ask the server
    const reporter = await this.#current();
    const made = packReport(reporter.report(checked));
    let outcome: Uint8Array | undefined = made;
    await this.#outbox.add(made, async (batch) => {
      const result = await database.charge(this.#limits, Date.now(), made, batch, key);
      if (result.kind !== "made") outcome = result.kind === "known" ? result.report : undefined;
      return result.kind === "made";
    });
    return outcome && unpackReport(outcome);
  }

  /** Reports left in this period. */
  async left(): Promise<number> {
    return reportsLeft(this.#limits, await (await this.#database).spent(), Date.now());
  }

  /** Sends now what waits. True: the server has acknowledged everything; false: the rest is sent later. */
  flush(): Promise<boolean> {
    return this.#outbox.flush();
  }

  /** Reports of this page that the server acknowledged, and those that it refused for good (400 to 499). */
  get sent(): { readonly acknowledged: number; readonly refused: number } {
    return this.#outbox.counts;
  }

  /** The promise to the user of this device, for machines and for the page that shows it. */
  statement(): DeviceStatement {
    return {
      software,
      definition: "local differential privacy",
      ...promiseOf(this.#limits, this.#epsilon, this.#origins),
      delta: 0,
      core: "js",
      notProtected: NOT_PROTECTED,
    };
  }

  /** Stops sending from this page. Reports that wait stay stored; the next visit sends them. */
  close(): void {
    this.#outbox.close();
    this.#database.then(
      (database) => database.close(),
      () => undefined,
    );
  }

  /** The reporter for what is wanted now; made anew only when that changed. */
  async #current(): Promise<Reporter> {
    const terms = typeof this.#terms === "string" ? await fetchTerms(this.#terms) : this.#terms;
    if (terms.threshold !== this.#reporter.terms.threshold) this.#reporter = this.#make(terms);
    return this.#reporter.reporter;
  }

  #make(terms: Terms): { readonly terms: Terms; readonly reporter: Reporter } {
    const options = { epsilon: this.#epsilon, max: this.#max, ...terms };
    return { terms, reporter: dayReporter(options, () => ({ fillReports })) };
  }
}

/** Everything that a budget needs; without it nothing is reported. */
function checkPlatform(): void {
  if (typeof indexedDB === "undefined")
    throw new Error("indexedDB: expected a browser's storage, got none; without it no budget can be kept");
  if (typeof globalThis.crypto?.subtle === "undefined" || typeof globalThis.navigator?.locks === "undefined")
    throw new Error(
      "navigator.locks, crypto.subtle: expected both, got none; browsers have them on https pages only",
    );
}
