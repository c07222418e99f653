/**
 * A recorder of sensitivity. All noise passes through `Core`, and true sums meet it in a few methods. While a recording is
 * active, both sides are watched: every draw (method, sub-stream, position, scale, count), and every integer that meets a
 * drawn number. Two recordings of neighbouring inputs under one key then show what a release spends:
 *
 *     ε spent = Σ over all noisy integers of |difference of true sums| / scale
 *
 * It must not exceed the ε of the statement, in exact rationals. Draws and scales must be equal, up to the first public
 * decision (θ, levels to skip) in which the two runs differ: outputs are the same on both sides of a composition. And no
 * index of noise may ever meet two different sums, in one run or in any number of runs that share a store.
 *
 * `test/support/recorderHooks.ts` has the list of methods that are watched: a new mechanism adds its own there.
 */
import { Purpose, type Random } from "../../src/core/random.js";
import type { Scale } from "../../src/core/tables/scale.js";
import { exactRational } from "../../src/core/tables/fixedPoint.js";

/** A fault that a test plants between a stream and its core, to see that the recorder notices. */
export interface Plant {
  /** Changes the scale of a draw. @param sum the largest sum that has met noise so far */
  readonly scale?: (scale: Scale, sum: number) => Scale;
  /** Changes the sub-stream of a draw. */
  readonly nonce?: (nonce: Uint32Array) => Uint32Array;
  /** Every event is added to its period twice. */
  readonly addTwice?: boolean;
  /** Every person of the day that chooses k is counted twice. */
  readonly chooseTwice?: boolean;
  /** Every vote for a key is cast twice. */
  readonly voteTwice?: boolean;
  /** The votes of a running day are tested with each of them, by the one noise of the day. */
  readonly testOften?: boolean;
  /** Periods without events draw nothing. */
  readonly skipEmpty?: boolean;
}

export interface Draw {
  readonly method: string;
  readonly stream: SubStream;
  readonly stage: number;
  readonly scale: Scale;
  /** The noise, for draws of one or a few numbers. */
  readonly noise: Float64Array;
  /** Sensitivity of a selection's score to one value. */
  readonly weight: number;
}

/** An integer that met a number of noise, or the counts per candidate of a selection. */
interface Meeting {
  readonly index: string;
  readonly scale: Scale;
  readonly sum: number;
  /** Units of the noise per unit of the sum. */
  readonly weight: number;
  readonly counts?: Float64Array;
  /** Counts of named cells, each with noise of its own; one that is missing is 0. */
  readonly cells?: ReadonlyMap<string, number>;
}

/** How the leaves of a tree nest: for each level above them, the first leaf of each node, and the end. */
export type Bounds = readonly (readonly number[])[];

/** A tree of noise. */
export interface NoiseTree {
  /** Name of the sub-stream. */
  readonly name: string;
  readonly scale: Scale;
  readonly bounds: Bounds;
}

interface LeafMeeting {
  readonly tree: NoiseTree;
  readonly leaf: number;
  readonly sum: number;
}

/** A public decision, and how much was recorded before it. */
interface Output {
  readonly value: string;
  readonly calls: number;
  readonly meetings: number;
  readonly leaves: number;
}

/** A sub-stream of noise. */
interface SubStream {
  /** The number of its key, and its nonce. */
  readonly name: string;
  /** The number of its key. */
  readonly key: number;
  readonly nonce: readonly number[];
}

/** A call that draws: a text, or what a text is made of if two runs differ. */
type Call =
  string | { readonly draw: Draw; readonly position: number; readonly count: number; readonly scale: string };

/** Names of scales, which are few objects and have large numbers. */
const scaleNames = new WeakMap<Scale, string>();

function nameOf(scale: Scale): string {
  let name = scaleNames.get(scale);
  if (name === undefined) scaleNames.set(scale, (name = `${scale.numerator}/${scale.denominator}`));
  return name;
}

/** Keys in the order in which they came up, by their words, since a name of eight words would be built for every draw. */
const keyNumbers = new Map<string, number>();
const knownKeys = new WeakMap<Uint32Array, { readonly words: Uint32Array; readonly number: number }>();

function numberOf(key: Uint32Array): number {
  const known = knownKeys.get(key);
  if (known?.words.every((word, i) => word === key[i])) return known.number;
  const name = key.join(".");
  const number = keyNumbers.get(name) ?? keyNumbers.size;
  keyNumbers.set(name, number);
  knownKeys.set(key, { words: key.slice(), number });
  return number;
}

function streamOf({ key, nonce }: Random): SubStream {
  const number = numberOf(key);
  const [first, second, third] = nonce as unknown as [number, number, number];
  return { name: `${number}:${first}.${second}.${third}`, key: number, nonce: [first, second, third] };
}

/** Sums that each index of noise met, in all runs that share a key. */
export class Ledger {
  readonly #met = new Map<string, string>();
  readonly #leaves = new Map<string, Map<number, number>>();

  /** The fault if the index has met something else before. */
  add(index: string, what: string): string | undefined {
    const before = this.#met.get(index);
    if (before === undefined) this.#met.set(index, what);
    return before === undefined || before === what
      ? undefined
      : `index used twice: ${index} met ${before}, then ${what}`;
  }

  addLeaf({ name }: NoiseTree, leaf: number, sum: number): string | undefined {
    let leaves = this.#leaves.get(name);
    if (leaves === undefined) this.#leaves.set(name, (leaves = new Map<number, number>()));
    const before = leaves.get(leaf);
    if (before === undefined) leaves.set(leaf, sum);
    return before === undefined || before === sum
      ? undefined
      : `index used twice: leaf ${leaf} of ${name} met ${before}, then ${sum}`;
  }
}

type RecordingOptions = Partial<Pick<Recording, "plant" | "real" | "ledger" | "hub">>;

export class Recording {
  // Parameters
  readonly plant: Plant;
  /** Whether noise is drawn; if not, it is 0, which is as good for differences and takes less time. */
  readonly real: boolean;
  readonly ledger: Ledger;
  /** Whether metrics belong to hubs, which replay the counts of people in one of several copies of a metric. */
  readonly hub: boolean;
  // State
  readonly calls: Call[] = [];
  readonly meetings: Meeting[] = [];
  readonly leaves: LeafMeeting[] = [];
  readonly outputs: Output[] = [];
  readonly faults: string[] = [];
  /** Sub-streams that decided something, of hubs. */
  readonly #decided = new Set<string>();
  /** Draws of the running call of a watched method. */
  draws: Draw[] = [];
  largest = 0;

  constructor({ plant = {}, real = false, ledger = new Ledger(), hub = false }: RecordingOptions = {}) {
    this.plant = plant;
    this.real = real;
    this.ledger = ledger;
    this.hub = hub;
  }

  /** The scale of a draw, changed if a fault is planted. */
  scaleOf(scale: Scale): Scale {
    return this.plant.scale?.(scale, this.largest) ?? scale;
  }

  randomOf(random: Random): Random {
    const { nonce } = this.plant;
    return nonce === undefined ? random : { ...random, nonce: nonce(random.nonce) };
  }

  draw(method: string, random: Random, scale: Scale, noise: Float64Array, count: number, weight = 1): Draw {
    const draw = {
      ...{ method, stream: streamOf(random), stage: random.nonce[2]! & 0xff, scale, weight },
      noise: count <= 64 ? noise.slice() : noise,
    };
    this.calls.push({ draw, position: random.position, count, scale: nameOf(scale) });
    this.draws.push(draw);
    return draw;
  }

  /** Notes a draw whose noise hides no sum: a key that is derived, a report. */
  note(text: string): void {
    this.calls.push(text);
  }

  /** An integer met one number of a draw. */
  meet({ stream, scale }: Draw, at: number, sum: number): void {
    this.#add({ index: `${stream.name}#${at}`, scale, sum, weight: 1 }, `${sum} t=${nameOf(scale)}`);
  }

  /** Counts per candidate met the noise of a selection. */
  meetCounts({ stream, scale }: Draw, counts: Float64Array, weight: number): void {
    this.#add(
      { index: `${stream.name}#*`, scale, sum: 0, weight, counts },
      `${counts.join()} t=${nameOf(scale)}`,
    );
  }

  /** Counts of named cells met one number of a draw each. */
  meetCells({ stream, scale }: Draw, cells: ReadonlyMap<string, number>): void {
    const text = JSON.stringify([...cells].sort());
    this.#add(
      { index: `${stream.name}#cells`, scale, sum: 0, weight: 1, cells },
      `${text} t=${nameOf(scale)}`,
    );
  }

  #add(meeting: Meeting, what: string): void {
    this.meetings.push(meeting);
    this.#check(meeting.index, what);
  }

  #check(index: string, what: string): void {
    this.#note(this.ledger.add(index, what));
  }

  #note(fault: string | undefined): void {
    if (fault !== undefined) this.faults.push(fault);
  }

  /** The sum of a leaf met the noise of its tree. */
  meetLeaf(tree: NoiseTree, leaf: number, sum: number): void {
    this.leaves.push({ tree, leaf, sum });
    this.largest = Math.max(this.largest, sum);
    this.#note(this.ledger.addLeaf(tree, leaf, sum));
  }

  /** A tree of noise has one scale and one shape for ever. */
  growTree({ name, scale, bounds }: NoiseTree): void {
    this.#check(name, `${bounds.map((level) => level.length).join()} t=${nameOf(scale)}`);
  }

  /**
   * Says what was decided in public: runs are compared as long as they decide the same.
   * @param later how many of the draws so far came after the decision
   * @param draw that decided: a hub that is opened again decides again, which is the same decision
   */
  output(value: unknown, later = 0, draw?: Draw): void {
    if (this.hub && draw !== undefined) {
      if (this.#decided.has(draw.stream.name)) return;
      this.#decided.add(draw.stream.name);
    }
    const { calls, meetings, leaves } = this;
    const counts = { calls: calls.length - later, meetings: meetings.length, leaves: leaves.length };
    this.outputs.push({ value: JSON.stringify(value), ...counts });
  }
}

/** Result of comparing two recordings of neighbours. */
export interface Compared {
  readonly faults: readonly string[];
  /** ε spent, over the ε allowed. */
  readonly share: number;
  /** Whether a public decision differed, and the rest was not compared. */
  readonly diverged: boolean;
}

/**
 * Compares two recordings of neighbouring inputs.
 * @param epsilon what the statement declares
 * @param ordered whether draws must be the same in the same order; hubs draw ahead when nobody waits, and what they publish is
 *   compared
 */
export function compare(a: Recording, b: Recording, epsilon: number, ordered = true): Compared {
  const faults = [...a.faults, ...b.faults];
  const at = a.outputs.findIndex(({ value }, i) => value !== b.outputs[i]?.value);
  const diverged = at >= 0;
  const endOf = ({ outputs, calls, meetings, leaves }: Recording): Omit<Output, "value"> =>
    (diverged ? outputs[at] : undefined) ?? {
      ...{ calls: calls.length, meetings: meetings.length, leaves: leaves.length },
    };
  const [endA, endB] = [endOf(a), endOf(b)];
  const difference = ordered ? differentCall([a.calls, endA.calls], [b.calls, endB.calls]) : undefined;
  if (difference !== undefined) faults.push(difference);
  const spent = new Spending();
  spendMeetings(spent, faults, a.meetings.slice(0, endA.meetings), b.meetings.slice(0, endB.meetings));
  spendTrees(spent, faults, [a, endA.leaves], [b, endB.leaves]);
  const share = spent.shareOf(epsilon);
  if (share.exceeds) faults.push(`ε spent: ${share.value} of what is declared`);
  return { faults, share: share.value, diverged };
}

function differentCall(
  [a, endA]: readonly [readonly Call[], number],
  [b, endB]: readonly [readonly Call[], number],
): string | undefined {
  let at = 0;
  while (at < endA && at < endB && sameCall(a[at]!, b[at]!)) at++;
  if (at === endA && at === endB) return undefined;
  const shown = (calls: readonly Call[], end: number) => (at < end ? textOf(calls[at]!) : "nothing");
  return `draws differ: ${shown(a, endA)} in one run, ${shown(b, endB)} in the other`;
}

function sameCall(a: Call, b: Call): boolean {
  if (typeof a === "string" || typeof b === "string") return a === b;
  return (
    a.draw.stream.name === b.draw.stream.name &&
    a.position === b.position &&
    a.count === b.count &&
    a.scale === b.scale &&
    a.draw.method === b.draw.method
  );
}

function textOf(call: Call): string {
  if (typeof call === "string") return call;
  const { draw, position, count, scale } = call;
  const { method, stream, stage } = draw;
  return `${method} ${Purpose[stage] ?? stage} ${stream.name}@${position} t=${scale} ×${count}`;
}

/** Σ |Δ|/t in exact rationals, summed up scale by scale. */
class Spending {
  readonly #units = new Map<string, { readonly scale: Scale; total: bigint }>();

  add(scale: Scale, units: number): void {
    if (units === 0) return;
    const name = nameOf(scale);
    const known = this.#units.get(name) ?? { scale, total: 0n };
    known.total += BigInt(units);
    this.#units.set(name, known);
  }

  shareOf(epsilon: number): { readonly value: number; readonly exceeds: boolean } {
    let [up, down] = [0n, 1n];
    for (const { scale, total } of this.#units.values()) {
      const { numerator, denominator } = scale;
      [up, down] = [up * numerator + total * denominator * down, down * numerator];
    }
    const allowed = exactRational(epsilon);
    const [spent, limit] = [up * allowed.denominator, down * allowed.numerator];
    return { value: Number((spent * 10n ** 18n) / limit) / 1e18, exceeds: spent > limit };
  }
}

function spendMeetings(
  spent: Spending,
  faults: string[],
  a: readonly Meeting[],
  b: readonly Meeting[],
): void {
  const others = new Map(b.map((meeting) => [meeting.index, meeting]));
  for (const meeting of new Map(a.map((one) => [one.index, one])).values()) {
    const other = others.get(meeting.index);
    others.delete(meeting.index);
    if (other === undefined) faults.push(`only in one run: ${meeting.index}`);
    else if (nameOf(other.scale) !== nameOf(meeting.scale)) faults.push(`scales differ: ${meeting.index}`);
    else spent.add(meeting.scale, meeting.weight * movedBy(meeting, other));
  }
  for (const index of others.keys()) faults.push(`only in one run: ${index}`);
}

/** By how much a sum differs. Counts of a selection that move in both directions cost twice as much. */
function movedBy(a: Meeting, b: Meeting): number {
  if (a.cells !== undefined)
    return [...new Set([...a.cells.keys(), ...b.cells!.keys()])].reduce(
      (sum, name) => sum + Math.abs((a.cells!.get(name) ?? 0) - (b.cells!.get(name) ?? 0)),
      0,
    );
  if (a.counts === undefined) return Math.abs(b.sum - a.sum);
  const moves = Array.from(a.counts, (count, k) => b.counts![k]! - count);
  const [least, most] = [Math.min(0, ...moves), Math.max(0, ...moves)];
  return most - least;
}

function spendTrees(
  spent: Spending,
  faults: string[],
  a: readonly [Recording, number],
  b: readonly [Recording, number],
): void {
  if (spendLeaves(spent, a, b)) return;
  const [treesA, treesB] = [leavesByTree(...a), leavesByTree(...b)];
  for (const name of new Set([...treesA.keys(), ...treesB.keys()])) {
    const [one, other] = [treesA.get(name), treesB.get(name)];
    const moved = new Map<number, number>();
    if (one && other && nameOf(one.tree.scale) !== nameOf(other.tree.scale))
      faults.push(`scales differ: ${name}`);
    for (const leaf of new Set([...(one?.leaves.keys() ?? []), ...(other?.leaves.keys() ?? [])])) {
      const [before, after] = [one?.leaves.get(leaf), other?.leaves.get(leaf)];
      if (before === undefined || after === undefined)
        faults.push(`published in one run only: leaf ${leaf} of ${name}`);
      else if (before !== after) moved.set(leaf, after - before);
    }
    if (moved.size > 0) spendTree(spent, one!.tree, moved);
  }
}

/** Leaves that were published in one order, which need no search. Gives false if the runs differ in more than sums. */
function spendLeaves(
  spent: Spending,
  [{ leaves: a }, endA]: readonly [Recording, number],
  [{ leaves: b }, endB]: readonly [Recording, number],
): boolean {
  if (endA !== endB) return false;
  const trees = new Map<string, { readonly tree: NoiseTree; readonly moved: Map<number, number> }>();
  for (let i = 0; i < endA; i++) {
    const [one, other] = [a[i]!, b[i]!];
    const { tree, leaf } = one;
    if (leaf !== other.leaf || tree.name !== other.tree.name) return false;
    if (nameOf(tree.scale) !== nameOf(other.tree.scale)) return false;
    if (one.sum === other.sum) continue;
    let own = trees.get(tree.name);
    if (own === undefined) trees.set(tree.name, (own = { tree, moved: new Map<number, number>() }));
    own.moved.set(leaf, other.sum - one.sum);
  }
  for (const { tree, moved } of trees.values()) spendTree(spent, tree, moved);
  return true;
}

/** All nodes of a tree whose sums differ, level by level. */
function spendTree(spent: Spending, { scale, bounds }: NoiseTree, moved: ReadonlyMap<number, number>): void {
  for (const by of moved.values()) spent.add(scale, Math.abs(by));
  for (const level of bounds) {
    const nodes = new Map<number, number>();
    for (const [leaf, by] of moved) {
      const node = level.findIndex((first, i) => leaf >= first && leaf < level[i + 1]!);
      nodes.set(node, (nodes.get(node) ?? 0) + by);
    }
    for (const by of nodes.values()) spent.add(scale, Math.abs(by));
  }
}

function leavesByTree({ leaves }: Recording, end: number) {
  const trees = new Map<string, { readonly tree: NoiseTree; readonly leaves: Map<number, number> }>();
  for (let i = 0; i < end; i++) {
    const { tree, leaf, sum } = leaves[i]!;
    let own = trees.get(tree.name);
    if (own === undefined) trees.set(tree.name, (own = { tree, leaves: new Map<number, number>() }));
    own.leaves.set(leaf, sum);
  }
  return trees;
}
