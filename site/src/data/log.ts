/** Events at their times: a visitor's file, or an example. */

export interface Log {
  /** Milliseconds since 1970, ascending. */
  readonly times: Float64Array;
  /** Whose each event is, as numbers from 0: ids themselves stay in the Worker that read them. */
  readonly people?: Uint32Array;
  /** The number that each event carries, where a column was chosen. */
  readonly values?: Float64Array;
}

/** The events of [from, to). */
export function logBetween({ times, people, values }: Log, from: number, to: number): Log {
  const [first, last] = [indexAt(times, from), indexAt(times, to)];
  return {
    times: times.subarray(first, last),
    ...(people === undefined ? {} : { people: people.subarray(first, last) }),
    ...(values === undefined ? {} : { values: values.subarray(first, last) }),
  };
}

/** How many of ascending times lie before `time`. */
export function indexAt(times: Float64Array, time: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle]! < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Events in the order of their times; those of one time stay in their order. */
export function sortedLog({ times, people, values }: Log): Log {
  if (times.every((time, i) => i === 0 || times[i - 1]! <= time))
    return { times, ...(people && { people }), ...(values && { values }) };
  const order = Uint32Array.from(times.keys()).sort((a, b) => times[a]! - times[b]! || a - b);
  return {
    times: Float64Array.from(order, (i) => times[i]!),
    ...(people === undefined ? {} : { people: Uint32Array.from(order, (i) => people[i]!) }),
    ...(values === undefined ? {} : { values: Float64Array.from(order, (i) => values[i]!) }),
  };
}
