/**
 * How often each answer that a page shows with "95 %" holds the truth, by the page's own Worker code. Writes
 * research/notes/site-intervals.md:
 *
 *     npm run web -- intervals             # 3,000 runs of each, half an hour
 *     npm run web -- intervals 200      # fewer, printed and not written
 */
import { writeFileSync } from "node:fs";
import { countHeld, SITE_INTERVALS } from "../test/support/siteIntervals.js";

const RUNS = 3000;
/** If each interval holds with 95 %, odds of 8·10⁻⁷ that an answer stays below it by chance. */
const LEAST = 0.93;

const asked = Number(process.argv[2] ?? RUNS);
const rows: string[] = [];
let failed = false;
for (const [page, answers] of Object.entries(SITE_INTERVALS))
  for (const [name, held] of await countHeld(answers, asked)) {
    const share = held / asked;
    if (share < LEAST) failed = true;
    rows.push(`| ${page} | ${name} | ${(100 * share).toFixed(1)} % |${share < LEAST ? " too few |" : ""}`);
    console.log(rows.at(-1));
  }

if (asked === RUNS)
  writeFileSync(
    "research/notes/site-intervals.md",
    `# Intervals on the pages of the site

Each number that a page shows beside "95 %", over ${RUNS.toLocaleString("en")} seeds of the noise, by the code that runs in the page's Worker. An interval must hold the truth in at least ${100 * LEAST} % of the runs; by chance, one that holds with 95 % stays below with odds of 8·10⁻⁷. Percentiles, and intervals of data that nothing is assumed about, hold more often than they promise.

\`\`\`sh
npm run web -- intervals
\`\`\`

| page | answer | held the truth |
|---|---|---|
${rows.join("\n")}

What "the truth" is: for the noise on sums and for means of the devices that of the values clamped to θ, for events of people that of the events within the limit of their person and day, as the page says; else that of the values themselves. The devices are 4,000 with ε = 2; the lab's percentiles are those of 1,600 values with ε = 1, because one timeline of a million values takes a second.
`,
  );
process.exitCode = failed ? 1 : 0;
