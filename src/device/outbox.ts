/**
 * Brings reports to the server: in batches, again after a failure, by one tab at a time, and when the page goes away too.
 *
 *     POST url?batch=ID        body: packed reports, 8 bytes each        no cookie, no referrer, no content type
 *
 * A batch belongs to the page that opened it while that page holds the batch's lock (Web Locks). When the page is gone,
 * killed or closed, the lock is free, and another page or the next visit sends the batch. A batch never changes after it
 * was sent once and keeps its ID, 128 random bits, so a server counts it once however often it comes.
 */
import { joinBytes } from "../core/bytes.js";
import { REPORT_BYTES } from "../local/report.js";
import { type Database, hex } from "./database.js";

/** Reports in a batch: 4 KB, where browsers let a page leave 64 KB behind. */
const MOST_IN_BATCH = 512;
/** Milliseconds: an answer is awaited this long, and the pause after failures grows between these two. */
const PATIENCE = 30_000;
const SHORTEST_PAUSE = 1_000;
const LONGEST_PAUSE = 300_000;

/** Answers that say "later". Any other answer from 400 to 499 refuses the batch for good. */
const LATER = [408, 425, 429];

/** A batch that this page may still add to. */
interface OpenBatch {
  readonly id: string;
  readonly reports: Uint8Array[];
  /** Reports that are being stored: while there are any, the batch is not sent. */
  storing: number;
  /** Gives the lock back. */
  readonly release: () => void;
}

export class Outbox {
  readonly #name: string;
  readonly #url: string;
  /** Milliseconds that a report waits for others. */
  readonly #wait: number;
  readonly #database: Promise<Database>;
  /** The batch that reports are added to; a promise while its lock is being taken. */
  #own: OpenBatch | undefined;
  #opening: Promise<OpenBatch> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #delivering: Promise<boolean> | undefined;
  #pause = SHORTEST_PAUSE;
  #closed = false;
  #acknowledged = 0;
  #refused = 0;

  constructor(name: string, url: string, wait: number, database: Promise<Database>) {
    this.#name = name;
    this.#url = url;
    this.#wait = wait;
    this.#database = database;
    addEventListener("pagehide", this.#leave);
    addEventListener("visibilitychange", this.#leave);
    addEventListener("online", this.#deliverSoon);
    this.#deliverSoon(); // what an earlier visit left
  }

  /**
   * Stores a report in the batch of this page and sends it a little later.
   * @param store stores it under the batch's ID; false: it was not stored
   */
  async add(report: Uint8Array, store: (batch: string) => Promise<boolean>): Promise<void> {
    const batch = await this.#openBatch();
    try {
      if (await store(batch.id)) batch.reports.push(report);
    } finally {
      batch.storing--;
      if (batch !== this.#own) releaseIdle(batch);
    }
    this.#deliverIn(batch.reports.length >= MOST_IN_BATCH ? 0 : this.#wait);
  }

  /** Sends everything that waits. True: the server has acknowledged all of it. */
  flush(): Promise<boolean> {
    return (this.#delivering ??= this.#deliver().finally(() => (this.#delivering = undefined)));
  }

  /** Reports that the server took from this page, and reports that it refused for good. */
  get counts(): { readonly acknowledged: number; readonly refused: number } {
    return { acknowledged: this.#acknowledged, refused: this.#refused };
  }

  /** Ends sending from this page; what waits is stored. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    removeEventListener("pagehide", this.#leave);
    removeEventListener("visibilitychange", this.#leave);
    removeEventListener("online", this.#deliverSoon);
    this.#leaveOwn();
  }

  /** Ends the page's batch where it is; it is sent like one that a page left behind. */
  #leaveOwn(): void {
    if (this.#own !== undefined) releaseIdle(this.#own);
    this.#own = undefined;
  }

  async #openBatch(): Promise<OpenBatch> {
    if (this.#own === undefined || this.#own.reports.length + this.#own.storing >= MOST_IN_BATCH) {
      this.#leaveOwn();
      this.#own = await (this.#opening ??= this.#lockedBatch().finally(() => (this.#opening = undefined)));
    }
    this.#own.storing++;
    return this.#own;
  }

  #lockedBatch(): Promise<OpenBatch> {
    const id = hex(crypto.getRandomValues(new Uint8Array(16)));
    return new Promise((resolve, reject) => {
      const held = () => new Promise<void>((release) => resolve({ id, reports: [], storing: 0, release }));
      navigator.locks.request(this.#lock(id), held).catch(reject);
    });
  }

  #lock(batch: string): string {
    return `brume ${this.#name} ${batch}`;
  }

  readonly #deliverSoon = (): void => this.#deliverIn(0);

  #deliverIn(pause: number): void {
    if (this.#closed) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.flush(), pause);
  }

  /** The page is hidden, perhaps for good: its batch leaves now, before anything can be awaited. */
  readonly #leave = (event: Event): void => {
    if (event.type === "pagehide" || document.visibilityState === "hidden") void this.#deliverOwn();
  };

  async #deliver(): Promise<boolean> {
    const all = await this.#deliverAll().catch(() => false); // the storage failed: perhaps not the next time
    if (!all) this.#deliverIn(this.#pause);
    this.#pause = all ? SHORTEST_PAUSE : Math.min(2 * this.#pause, LONGEST_PAUSE);
    return all;
  }

  /** Ends at the first failure: the other batches would fare no better. */
  async #deliverAll(): Promise<boolean> {
    if (!(await this.#deliverOwn())) return false;
    const database = await this.#database;
    let all = true;
    for (const batch of await database.batches()) {
      if (batch === this.#own?.id) continue;
      const sent = await navigator.locks.request(this.#lock(batch), { ifAvailable: true }, async (lock) =>
        lock === null ? undefined : this.#post(batch, await database.batch(batch)),
      );
      if (sent === false) return false;
      all &&= sent === true; // undefined: its lock is taken, so it belongs to a page that lives
    }
    return all;
  }

  async #deliverOwn(): Promise<boolean> {
    const own = this.#own;
    if (own === undefined) return true;
    if (own.storing > 0 || own.reports.length === 0) return own.storing === 0;
    this.#own = undefined; // closed: from here on it never changes
    try {
      return await this.#post(own.id, joinBytes(own.reports));
    } finally {
      own.release();
    }
  }

  /** True: the batch needs no more care, because the server took it or refused it for good. */
  async #post(batch: string, body: Uint8Array<ArrayBuffer>): Promise<boolean> {
    if (body.length === 0) return true; // another tab was faster
    const url = new URL(this.#url, location.href);
    url.searchParams.set("batch", batch);
    try {
      const { ok, status, headers } = await fetch(url, {
        method: "POST",
        body,
        keepalive: true, // like a beacon it outlives the page; unlike a beacon it sends no cookie and can be answered
        credentials: "omit",
        referrerPolicy: "no-referrer",
        cache: "no-store",
        signal: AbortSignal.timeout(PATIENCE),
      });
      const refused = status >= 400 && status < 500 && !LATER.includes(status);
      if (ok) this.#acknowledged += body.length / REPORT_BYTES;
      if (refused) this.#refused += body.length / REPORT_BYTES;
      if (ok || refused) await (await this.#database).remove(batch);
      else this.#pause = Math.max(this.#pause, pauseAskedFor(headers.get("retry-after")));
      return ok || refused;
    } catch {
      return false; // no connection, no answer in time, or the storage failed
    }
  }
}

/** While a report is being stored, its batch may still change, so nobody else may send it. */
function releaseIdle(batch: OpenBatch): void {
  if (batch.storing === 0) batch.release();
}

/** Milliseconds; a server asks for an hour at most. Dates and nonsense count as nothing. */
function pauseAskedFor(seconds: string | null): number {
  return /^\d{1,5}$/.test(seconds ?? "") ? Math.min(1000 * Number(seconds), 3_600_000) : 0;
}
