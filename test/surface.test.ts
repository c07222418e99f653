/** Pins the names that users can import: few, so that each can be found, explained and kept. */
import { expect, test } from "vitest";
import * as main from "../src/index.js";
import * as node from "../src/node.js";
import * as page from "../src/device.js";
import * as device from "../src/reporter.js";

const MOST = 15;

test("the main entry has few values", () => {
  expect(Object.keys(main).length).toBeLessThanOrEqual(MOST);
});

test("entries do not share names, but for the reporter, which needs no wasm on a device", () => {
  const all = [...Object.keys(main), ...Object.keys(node), ...Object.keys(device), ...Object.keys(page)];
  expect(all.filter((name, i) => all.indexOf(name) !== i)).toEqual(["reporter"]);
});
