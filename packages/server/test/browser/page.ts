/** Helpers of tests that operate the dashboard and read the numbers on it. */
import type { Page } from "playwright-core";
import { expect } from "vitest";

export const WAIT = 60_000;

/** Waits for a text. */
export const text = (page: Page, selector: string, wanted: RegExp) =>
  page.waitForFunction(
    ([at, pattern]) => new RegExp(pattern!).test(document.querySelector(at!)?.textContent ?? ""),
    [selector, wanted.source],
    { timeout: WAIT },
  );

export const pick = (page: Page, id: string, value: string) => page.locator(id).selectOption(value);

export const literal = (words: string): string => words.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** A number as the page writes it, with "−" and commas. */
export const numberOf = (words: string): number => Number(words.replaceAll(",", "").replace("−", "-"));

/** "between 120 and 310 ms", or "120 to 310 ms" of a table, as numbers; "above 300 ms" has no upper end. */
export const bounds = (words: string): [number, number] => {
  const both = /between (−?[\d.,]+) and (−?[\d.,]+)/.exec(words) ?? /(−?[\d.,]+) to (−?[\d.,]+)/.exec(words);
  const one = /(above|below) (−?[\d.,]+)/.exec(words);
  expect(both ?? one).not.toBeNull();
  if (one !== null) return one[1] === "above" ? [numberOf(one[2]!), Infinity] : [0, numberOf(one[2]!)];
  return [numberOf(both![1]!), numberOf(both![2]!)];
};

export const holds = ([low, high]: readonly [number, number], truth: number): boolean =>
  low <= truth && truth <= high;
