/** Counts by name: calls ("push"), and states that streams went through ("smoother median", "next forest"). */
export class Tally {
  readonly counts: Record<string, number> = {};

  add(name: string, count = 1): void {
    this.counts[name] = (this.counts[name] ?? 0) + count;
  }

  merge(counts: Readonly<Record<string, number>>): void {
    for (const [name, count] of Object.entries(counts)) this.add(name, count);
  }
}
