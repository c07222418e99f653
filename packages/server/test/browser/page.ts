/** What tests do with the dashboard, and how they read the numbers on it. */
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

/** "between 120 and 310 ms" as numbers; "above 300 ms" has no upper end. */
export const bounds = (words: string): [number, number] => {
  const number = (pattern: RegExp, open: number): number => {
    const found = pattern.exec(words);
    return found === null ? open : numberOf(found[1]!);
  };
  expect(words).toMatch(/between|above|below/);
  return [
    number(/(?:between|above) (−?[\d.,]+)/, 0),
    number(/(?:between −?[\d.,]+ and|below) (−?[\d.,]+)/, Infinity),
  ];
};

export const holds = ([low, high]: readonly [number, number], truth: number): boolean =>
  low <= truth && truth <= high;
