/** A hub's catalogue of itself, as it is stored now and as it was stored before. */
import { expect, test } from "vitest";
import { Catalogue } from "../../../src/durable/eventHub/catalogue.js";
import { Decoder, Encoder } from "../../../src/snapshot/codec.js";

const DAY = 86_400_000;
const ROOT = Uint32Array.from({ length: 8 }, (_, i) => i + 1);
const PARAMETERS = { epsilon: "1" };

const written = (save: (writer: Encoder) => void): Uint8Array => {
  const writer = new Encoder();
  save(writer);
  return writer.bytes;
};

function loaded(bytes: Uint8Array): Catalogue {
  const catalogue = new Catalogue(new Uint32Array(8), "UTC");
  catalogue.load(new Decoder(bytes.slice()));
  return catalogue;
}

function catalogueOf(spans?: [number, number][]): Catalogue {
  const catalogue = new Catalogue(ROOT.slice(), "Europe/Berlin");
  const record = catalogue.begin("visits", PARAMETERS, DAY, 7, ["a", "b"]);
  catalogue.begin("orders", PARAMETERS, 2 * DAY, 9, []);
  record.counts.push({ row: 12, keys: 3 });
  record.keys.push({ name: "c", since: NaN, until: -Infinity, ...(spans && { spans }) });
  catalogue.addSections(["reports"]);
  return catalogue;
}

test.each<[string, [number, number][] | undefined]>([
  ["listed keys", undefined],
  ["a key that votes made public, and not for ever", [[DAY, 3 * DAY]]],
  ["a key that is public", [[DAY, Infinity]]],
])("what is stored is what is loaded: %s", (_, spans) => {
  const before = catalogueOf(spans);
  const after = loaded(written((writer) => before.save(writer)));
  expect([after.zone, after.root, after.sectionName(0)]).toEqual(["Europe/Berlin", ROOT, "reports"]);
  for (const name of ["visits", "orders"])
    expect(after.listed(name, PARAMETERS)).toEqual(before.listed(name, PARAMETERS));
  expect(after.listed("visits", { epsilon: "2" })).toBeUndefined();
  expect(after.nextGeneration("visits")).toBe(2);
});

test("catalogues from before rows, and from before found keys, load: their metrics began before every row", () => {
  const all = written((writer) => catalogueOf().save(writer));
  const rows = written((writer) => {
    for (const number of [7, 2, 7, 2, 12, 3, 9, 1, 9, 0]) writer.count(number);
  });
  const found = written((writer) => writer.text("[]"));
  for (const cut of [rows.length, rows.length + found.length]) {
    const record = loaded(all.subarray(0, all.length - cut)).listed("visits", PARAMETERS)!;
    expect([record.row, record.counts, record.keys.map(({ name }) => name)]).toEqual([
      0,
      [],
      ["a", "b", "c"],
    ]);
  }
});
