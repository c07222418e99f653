/**
 * The protocol of a partition as a state machine, small enough to look at every run: two workers, one partition, a
 * few values, crashes anywhere. `explore` visits all states and says which promises were broken.
 *
 * A worker takes these steps, and any of them may be its last; a step of the other worker may come between any two:
 *
 *     fence ─▶ load ─▶ [make stream ─▶ write snapshot ─▶ commit] ─▶ push ─▶ write number and offset ─▶ commit ─▶ push …
 *
 * Noise keys are numbered in the order in which they are drawn; a published number is (position, value, noise key),
 * so two numbers are equal only if their noise is.
 */

export interface Rules {
  /** A new stream publishes nothing before its noise key is committed. */
  readonly birthFirst: boolean;
  /** A worker that was replaced can write nothing more. */
  readonly fencing: boolean;
  /** State, numbers and offsets are committed together. Otherwise the number is visible before the state. */
  readonly atomic: boolean;
  /** After an error in a commit, the worker reads again what is there. Otherwise it takes it for an abort. */
  readonly rereads: boolean;
}

export const ALL_RULES: Rules = { birthFirst: true, fencing: true, atomic: true, rereads: true };

export type Broken = "published twice" | "different numbers seen" | "position missing";

interface WorkerState {
  readonly step: "off" | "fence" | "load" | "ready" | "written";
  readonly epoch: number;
  /** Noise key and next position, in memory. */
  readonly key: number;
  readonly next: number;
  /** The transaction that is written and not ended. */
  readonly pending: Transaction | undefined;
}

interface Transaction {
  readonly key: number;
  readonly next: number;
  /** Position whose number it holds, or none (a birth). */
  readonly position: number | undefined;
}

interface World {
  readonly workers: readonly WorkerState[];
  readonly epoch: number;
  /** Committed state: noise key (0: none yet) and next position. */
  readonly key: number;
  readonly next: number;
  /** Numbers that committed readers see: noise key by order of commits, as "position:key". */
  readonly committed: readonly string[];
  /** Numbers that uncommitted readers have seen. */
  readonly seen: readonly string[];
  readonly keysDrawn: number;
  readonly crashes: number;
}

const OFF: WorkerState = { step: "off", epoch: 0, key: 0, next: 0, pending: undefined };

export interface Exploration {
  readonly states: number;
  readonly broken: ReadonlySet<Broken>;
  /** States in which everything is published and nobody can do more. */
  readonly finished: number;
}

/** Visits every state that can be reached. */
export function explore(rules: Rules, values: number, mostCrashes: number): Exploration {
  const start: World = {
    ...{ workers: [OFF, OFF], epoch: 0, key: 0, next: 0, committed: [], seen: [] },
    ...{ keysDrawn: 0, crashes: 0 },
  };
  const visited = new Set([JSON.stringify(start)]);
  const queue = [start];
  const broken = new Set<Broken>();
  let finished = 0;
  for (let world = queue.pop(); world !== undefined; world = queue.pop()) {
    const failures = failuresOf(world);
    for (const failure of failures) broken.add(failure);
    if (failures.length > 0) continue; // it is broken: what comes after adds nothing
    if (world.next === values) {
      finished++;
      if (new Set(world.committed.map(positionOf)).size < values) broken.add("position missing");
    }
    for (const next of successors(world, rules, values, mostCrashes)) {
      const id = JSON.stringify(next);
      if (visited.has(id)) continue;
      visited.add(id);
      queue.push(next);
    }
  }
  return { states: visited.size, broken, finished };
}

function positionOf(number: string): string {
  return number.slice(0, number.indexOf(":"));
}

function failuresOf({ committed, seen }: World): Broken[] {
  const failures: Broken[] = [];
  if (new Set(committed.map(positionOf)).size < committed.length) failures.push("published twice");
  const all = new Set([...seen, ...committed]);
  if (new Set([...all].map(positionOf)).size < all.size) failures.push("different numbers seen");
  return failures;
}

function successors(world: World, rules: Rules, values: number, mostCrashes: number): World[] {
  return world.workers.flatMap((worker, who) => {
    const moved = stepsOf(world, worker, rules, values).map(({ worker: after, ...changes }) => {
      return { ...world, ...changes, workers: replaced(world.workers, who, after) };
    });
    if (worker.step === "off" || world.crashes >= mostCrashes) return moved;
    const crashed = { ...world, crashes: world.crashes + 1, workers: replaced(world.workers, who, OFF) };
    return [...moved, crashed];
  });
}

type Step = Partial<Omit<World, "workers">> & { worker: WorkerState };

function stepsOf(world: World, worker: WorkerState, rules: Rules, values: number): Step[] {
  const isFenced = rules.fencing && worker.epoch !== world.epoch;
  switch (worker.step) {
    case "off":
      return [{ worker: { ...worker, step: "fence" } }];
    case "fence": {
      // Fencing also ends what the worker before had open; it is aborted.
      const epoch = world.epoch + 1;
      return epoch > MOST_EPOCHS ? [] : [{ epoch, worker: { ...OFF, step: "load", epoch } }];
    }
    case "load":
      return [{ worker: { ...worker, step: "ready", key: world.key, next: world.next } }];
    case "ready":
      return worker.next >= values || world.keysDrawn > MOST_KEYS
        ? []
        : [isFenced ? { worker: OFF } : write(world, worker, rules)];
    case "written":
      return isFenced ? [{ worker: OFF }] : commit(world, worker, rules);
  }
}

/** Fencing more often adds nothing: four takeovers cover each worker replacing the other twice. */
const MOST_EPOCHS = 4;
/** Each takeover draws a key at most once; more are drawn only by workers that break a rule. */
const MOST_KEYS = 4;

/** Sends the records of a transaction: from now on, readers of uncommitted data see them. */
function write(world: World, worker: WorkerState, rules: Rules): Step {
  const isBirth = worker.key === 0;
  const keysDrawn = world.keysDrawn + (isBirth ? 1 : 0);
  const key = isBirth ? keysDrawn : worker.key;
  const position = isBirth && rules.birthFirst ? undefined : worker.next;
  const pending = { key, position, next: worker.next + (position === undefined ? 0 : 1) };
  const number = position === undefined ? [] : [`${position}:${key}`];
  return {
    keysDrawn,
    seen: sorted([...new Set([...world.seen, ...number])]),
    // Without one transaction for all, the number is committed before the state is.
    ...(rules.atomic ? {} : { committed: sorted([...world.committed, ...number]) }),
    worker: { ...worker, step: "written", pending },
  };
}

/** Three ways: it succeeds and the worker knows; it succeeds and the answer is lost; it fails. */
function commit(world: World, worker: WorkerState, rules: Rules): Step[] {
  const { key, next, position } = worker.pending!;
  const number = position === undefined || !rules.atomic ? [] : [`${position}:${key}`];
  const done = { key, next, committed: sorted([...world.committed, ...number]) };
  const after = { ...worker, step: "ready" as const, pending: undefined };
  const afterError = rules.rereads ? OFF : after;
  return [
    { ...done, worker: { ...after, key, next } },
    { ...done, worker: afterError },
    { worker: afterError },
  ];
}

function replaced(workers: readonly WorkerState[], who: number, worker: WorkerState): WorkerState[] {
  return workers.map((old, i) => (i === who ? worker : old));
}

/** Numbers in one order, so that equal states are found equal. */
function sorted(numbers: readonly string[]): string[] {
  return [...numbers].sort();
}
