/** Every message of docs/errors.md stands in the source: "…" is what the message fills in. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const sources = ["src", "packages/server/src", "packages/kafka/src"].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => readFileSync(join(folder, path), "utf8").replaceAll('\\"', '"')),
);

const messages = readFileSync("docs/errors.md", "utf8")
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .flatMap((line) => [...line.split(" | ")[0]!.matchAll(/`([^`]+)`/g)].map(([, message]) => message!));

/** Whether one file has all words of the message, in any place: templates and line breaks come between them. */
const isThere = (message: string): boolean => {
  const words = message.split("…").filter((part) => part.trim().length > 1);
  return words.length > 0 && sources.some((source) => words.every((part) => source.includes(part.trim())));
};

test.each(messages)("%s", (message) => expect(isThere(message)).toBe(true));

test("there are messages, and one that nobody throws is noticed", () => {
  expect(messages.length).toBeGreaterThan(35);
  expect(isThere("epsilon: expected more fun, got …")).toBe(false);
});
