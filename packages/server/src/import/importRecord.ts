/**
 * How far a log is taken, as a section of the hub: the position is in the same commit as the events before it, so that an
 * import goes on after a kill and no row counts twice. A state with an import that has not ended is opened for it alone.
 */
import { Refusal } from "brume/node";
import type { HubSection } from "brume";

const ID_BYTES = 32;
const NO_ID = new Uint8Array(ID_BYTES);
/** A position that says that the past has ended. */
const ENDED = -1;

interface Progress {
  /** 32 bytes that name the log and how it is read; zeros if the service began without one. */
  readonly id: Uint8Array;
  /** Events of the log that are stored, in the order of time; −1 when the past has ended. */
  readonly position: number;
}

export class ImportRecord implements HubSection {
  /** Metrics have no spaces in their names. */
  readonly name = "past from a log";
  // Parameters
  readonly #asked: Uint8Array | undefined;
  // State
  #progress: Progress;

  /** @param id 32 bytes that name the log that is to be imported; undefined if none is */
  constructor(id?: Uint8Array) {
    this.#asked = id;
    this.#progress = { id: id ?? NO_ID, position: 0 };
  }

  /** Events of the log that are stored. */
  get position(): number {
    return this.#progress.position;
  }

  get hasEnded(): boolean {
    return this.#progress.position === ENDED;
  }

  /** Refuses a state that has begun in another way, before anything changes. */
  check(state: Uint8Array | undefined, begun: boolean): void {
    if (!begun) return;
    const progress = state === undefined ? { id: NO_ID, position: ENDED } : read(state);
    this.#checkOwn(progress);
    if (this.#asked !== undefined && progress.position === ENDED) throw new Refusal(TAKEN);
  }

  /** Refuses what another log has begun, or none, if this one is asked for; and what is for a log alone, if none is. */
  #checkOwn({ id, position }: Progress): void {
    const isPast = !isEqual(id, NO_ID);
    if (this.#asked === undefined) {
      if (isPast && position !== ENDED) throw new Refusal(UNFINISHED);
      return;
    }
    if (!isPast) throw new Refusal(BEGUN);
    if (!isEqual(id, this.#asked)) throw new Refusal(position === ENDED ? BEGUN : OTHER);
  }

  /** Checks again: another process may have begun the state since the first look at it. */
  load(state: Uint8Array | undefined): void {
    const progress = state === undefined ? { id: this.#asked ?? NO_ID, position: 0 } : read(state);
    if (state !== undefined) this.#checkOwn(progress);
    this.#progress = progress;
  }

  take(report: Uint8Array): void {
    this.#progress = { ...this.#progress, position: new DataView(report.slice().buffer).getFloat64(0) };
  }

  save(): Uint8Array {
    const state = new Uint8Array(ID_BYTES + 8);
    state.set(this.#progress.id);
    state.set(reportOf(this.#progress.position), ID_BYTES);
    return state;
  }

  /** The report that stores how many events of the log are taken. */
  reports(position: number) {
    return { section: this.name, reports: [reportOf(position)] };
  }

  /** The report that stores that the import has ended. */
  get end() {
    return this.reports(ENDED);
  }
}

const EMPTY = "Begin with an empty state: another store, and no mark beside it";
const UNFINISHED = `import: the state has a part of a log, and the import has not ended; start with the same --import again, and it goes on. ${EMPTY}, if you want the service without it`;
const BEGUN = `import: expected a new service, got a state that has begun: what is closed cannot be filled any more. Start without --import to go on. ${EMPTY}, to import a log`;
const OTHER = `import: the state has a part of another log, or of this one with other options, columns or metrics; give what the import began with. ${EMPTY}, to import this one`;
const TAKEN = "import: this log is in the state already, and is not taken twice; start without --import";

const isEqual = (a: Uint8Array, b: Uint8Array): boolean => a.every((byte, i) => byte === b[i]);

function read(state: Uint8Array): Progress {
  const copy = state.slice();
  return { id: copy.slice(0, ID_BYTES), position: new DataView(copy.buffer).getFloat64(ID_BYTES) };
}

function reportOf(position: number): Uint8Array {
  const report = new Uint8Array(8);
  new DataView(report.buffer).setFloat64(0, position);
  return report;
}
