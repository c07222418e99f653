/** Ids of requests: known again after a restart, with their bodies, and written fast enough that nobody waits. */
import { expect, test } from "vitest";
import { RequestIds } from "../../../src/durable/eventHub/requestIds.js";
import { Encoder } from "../../../src/snapshot/codec.js";

const KEY = Uint32Array.of(1, 2, 3, 4);
const MINUTE = 60_000;

function restarted(ids: RequestIds): RequestIds {
  const again = new RequestIds(KEY, 10 * MINUTE);
  ids.sections.forEach((section, i) => {
    const writer = new Encoder();
    section.save(writer);
    again.sections[i]!.load(writer.read());
  });
  return again;
}

test("an id is known for as long as asked, with its body, also after a restart", () => {
  const ids = new RequestIds(KEY, 10 * MINUTE);
  const hash = (n: number, body = "body") => ids.hash({ id: `request ${n}`, body });
  for (let n = 0; n < 500; n++) ids.add(hash(n).id, hash(n).body, n * 1000);
  for (const known of [ids, restarted(ids)]) {
    for (let n = 0; n < 500; n++) expect(known.has(hash(n), 500_000)).toBe(true);
    expect(known.has(hash(500), 500_000)).toBe(false);
    expect(() => known.has(hash(7, "another body"), 500_000)).toThrow(/^request: expected the body/);
    expect(known.has(hash(7), 7000 + 10 * MINUTE)).toBe(true);
    known.forgetBefore(7000 + 13 * MINUTE);
    expect(known.has(hash(7), 7000 + 13 * MINUTE)).toBe(false);
  }
});

test("writing the ids of a busy minute takes a small part of the time that hashing them took", () => {
  const ids = new RequestIds(KEY, 10 * MINUTE);
  const timeOf = (act: () => void): number => {
    const before = process.cpuUsage();
    act();
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  const adding = timeOf(() => {
    for (let n = 0; n < 40_000; n++) {
      const { id, body } = ids.hash({ id: `events\nrequest ${n}`, body: "b".repeat(44) });
      ids.add(id, body, 0);
    }
  });
  const saving = Array.from({ length: 5 }, () => timeOf(() => ids.sections[0]!.save(new Encoder())));
  expect(Math.min(...saving)).toBeLessThan(adding / 5); // a twentieth; four tenths where words are written as digits
});
