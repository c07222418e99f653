/**
 * A part of the state that is stored by itself: a stream, the counters of a metric's people, a generation of request
 * keys. Its stored bytes say up to which row of the journal they go; rows after it are applied again at a start.
 */
export interface Part {
  /** Public. */
  readonly name: string;
  /** Its state now, as bytes of this moment. */
  save(): Uint8Array | Promise<Uint8Array>;
  /** It must be in the next commit. */
  readonly urgent?: boolean;
  /** Its newest state is in the store. */
  onStored?(): void;
  /** Takes up what `save` gave. */
  load(bytes: Uint8Array): void | Promise<void>;
}

/** A part and where it stands in the store. */
export class StoredPart {
  readonly part: Part;
  /** The number of the newest stored snapshot; 0 if there is none. */
  sequence = 0;
  /** All rows up to this one are in the stored snapshot. */
  position = -1;
  /** The first row that changed the part since then. */
  changedBy: number | undefined;

  constructor(part: Part) {
    this.part = part;
  }
}
