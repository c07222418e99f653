/** The numbers that the journal knows streams and metrics by. They only ever get more, so old rows keep their meaning. */
import type { Part } from "./part.js";

export class Catalog implements Part {
  readonly name = "catalog";
  #names: string[] = [];
  #numbers = new Map<string, number>();

  /** The number of a name; a new one if it has none. */
  number(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    this.#numbers.set(name, this.#names.length);
    return this.#names.push(name) - 1;
  }

  get size(): number {
    return this.#names.length;
  }

  save(): Uint8Array {
    return Buffer.from(JSON.stringify(this.#names));
  }

  load(bytes: Uint8Array): void {
    this.#names = JSON.parse(Buffer.from(bytes).toString()) as string[];
    this.#numbers = new Map(this.#names.map((name, i) => [name, i]));
  }
}
