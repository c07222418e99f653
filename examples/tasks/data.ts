/** Made-up files for the tasks, the same every time: `npx tsx examples/tasks/data.ts FOLDER`. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
/** Midnight of Monday, 2 March 2026, in Berlin. */
export const MONDAY = Date.UTC(2026, 2, 1, 23);

/** Uniform numbers in [0, 1) that depend on the seed alone. */
function uniform(seed: number): () => number {
  let state = seed >>> 0;
  const next = () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
  for (let i = 0; i < 8; i++) next();
  return next;
}
/** Mean 0, variance 1. */
const bell = (random: () => number): number => (random() + random() + random() + random() - 2) * Math.sqrt(3);

/** How busy an hour of the day is: 1 on average, lowest at four in the morning. */
const wave = (hour: number): number => 1 - 0.8 * Math.cos((2 * Math.PI * (hour - 4)) / 24);

export interface Order {
  readonly at: number;
  readonly shop: string;
  readonly basket: number;
}
export const SHOPS = ["berlin", "paris", "oslo"];

/** A week of three shops: about 120 orders a day and shop, baskets around 30 to 50 with a long tail. */
export function orders(): Order[] {
  const random = uniform(1);
  return Array.from({ length: 2520 }, (_, i) => {
    const shop = i % 3;
    const basket = Math.round(100 * (24 + 8 * shop) * Math.exp(0.6 * bell(random))) / 100;
    return { at: MONDAY + Math.floor(((i + random()) / 2520) * 7 * DAY), shop: SHOPS[shop]!, basket };
  });
}

export interface Reading {
  readonly at: number;
  readonly meter: string;
  readonly kwh: number;
}

/** Three days of 100 meters, a reading in each quarter of an hour; most of a home's use is in the evening. */
export function readings(): Reading[] {
  const random = uniform(2);
  return Array.from({ length: 3 * 96 }, (_, quarter) =>
    Array.from({ length: 100 }, (_, meter): Reading => {
      const hour = (quarter % 96) / 4;
      const usual = 0.03 + 0.15 * wave(hour - 8) * (0.5 + (meter % 10) / 10);
      const kwh = Math.round(1000 * usual * (0.5 + random()) + (random() < 0.01 ? 500 : 0)) / 1000;
      return { at: MONDAY + quarter * 15 * MINUTE, meter: `m${meter}`, kwh };
    }),
  ).flat();
}

export interface Request {
  readonly at: number;
  readonly ms: number;
  readonly status: number;
}

/** A day of a web server: about 400 requests an hour, and an hour of trouble from two to three in the afternoon. */
export function requests(): Request[] {
  const random = uniform(3);
  return Array.from({ length: 24 }, (_, hour) =>
    Array.from({ length: Math.round(400 * wave(hour)) }, (): Request => {
      const slow = hour === 14 ? 6 : 1;
      return {
        at: MONDAY + hour * HOUR + Math.floor(HOUR * random()),
        ms: Math.round(10 * slow * 60 * Math.exp(0.7 * bell(random))) / 10,
        status: random() < 0.02 * slow ? 500 : 200,
      };
    }),
  ).flat();
}

/** Milliseconds that pages took to load on a day, one per visit: half of them below 1.5 seconds, a few beyond ten. */
export function pageLoads(day: number): number[] {
  const random = uniform(4 + day);
  return Array.from({ length: 1200 }, () => Math.round(1500 * Math.exp(0.8 * bell(random))));
}

const iso = (time: number): string => new Date(time).toISOString();

export function writeData(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const write = (name: string, lines: readonly string[]) =>
    writeFileSync(join(folder, name), `${lines.join("\n")}\n`);
  write("orders.csv", [
    "time,shop,basket",
    ...orders().map(({ at, shop, basket }) => `${iso(at)},${shop},${basket}`),
  ]);
  write("meters.csv", [
    "time,meter,kwh",
    ...readings().map(({ at, meter, kwh }) => `${iso(at)},${meter},${kwh}`),
  ]);
  write(
    "access.ndjson",
    requests().map(({ at, ms, status }) => JSON.stringify({ ts: iso(at), took: { ms }, status })),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeData(process.argv[2] ?? ".");
