/**
 * Private page views of a site whose URLs nobody listed: people's events vote for pages, and pages that many people see
 * become public. The page of one person never does, but for odds of δ.
 *
 *     npm run example -- pages
 *
 * Prints the truth beside the published numbers, which only an example can know.
 */
import { openHub } from "../src/index.js";

const DAY = 86_400_000;
const DAYS = 4;
const PEOPLE = 3000;
const PAGES = ["/", "/pricing", "/docs", "/docs/start", "/blog/why-noise", "/jobs", "/imprint"];

let now = Date.UTC(2026, 5, 1);
const hub = openHub({
  clock: () => now,
  metrics: {
    views: {
      ...{ of: "count", epsilon: 2, every: "1d", perPerson: { events: 5, people: PEOPLE } },
      keys: { discover: { delta: 1e-9 } },
    },
  },
});

/** A few pages a person: the first ones more often, and now and then one that is theirs alone. Made up, the same every time. */
function pagesOf(person: number, day: number): string[] {
  const hash = (salt: number) =>
    (Math.imul(person * 31 + day * 17 + salt, 0x9e3779b1) ^ Math.imul(person + salt, 0x85ebca6b)) >>> 0;
  const pages = Array.from(
    { length: 3 },
    (_, i) => PAGES[Math.floor(PAGES.length * (hash(i) / 2 ** 32) ** 2)]!,
  );
  return person % 10 === 0 ? [`/account/${person}`, ...pages] : pages;
}

for (let day = 0; day < DAYS; day++) {
  const views = Array.from({ length: PEOPLE }, (_, person) =>
    pagesOf(person, day).map((key) => ({ key, person: `visitor ${person}` })),
  ).flat();
  await hub.addMany("views", views);
  now += DAY;
  const [closed] = await hub.advance();
  console.log(`day ${day + 1}: found ${closed?.found?.join(", ") || "nothing new"}`);
  for (const page of await hub.keys("views")) {
    const { value, low, high } = await hub.between("views", page, now - DAY, now);
    if (value === null) continue; // public from the second midnight on
    const known = new Set(await hub.keys("views"));
    const truth = views.filter(({ key }) => (page === "(other)" ? !known.has(key) : key === page)).length;
    console.log(
      `  ${page.padEnd(16)} ${String(Math.round(value)).padStart(5)}  [${Math.round(low!)}, ${Math.round(high!)}]` +
        (day > 1 ? `  truth ${truth}` : ""),
    );
  }
}
console.log(await hub.explain("views", "(other)"));
await hub.close();
