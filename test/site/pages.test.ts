/** Story, attack, devices and comparison: each control acts, and each number is the library's. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { cap, day, everyValue, guess, helplineDays } from "../../site/src/story/questions.js";
import { cover } from "../../site/src/story/treeView.js";
import { amount, percent } from "../../site/src/look/format.js";
import { type Row, rowOf } from "../../site/src/paper/runner.js";
import { budgets, FIELDS, FROZEN_METHODS } from "../../site/src/paper/state.js";
import { Trials } from "../../site/src/paper/trials.js";
import { METHODS } from "../../site/src/paper/methods.js";
import { evaluate } from "../../research/evaluate.js";
import { UNIT_TITLES } from "../../research/opponents/list.js";
import { system, type SystemOptions } from "../../research/systems/index.js";
import { exampleStream } from "../../src/cli/example.js";
import { downloaded, sharedBrowser, textOf, visit, WITHOUT_WASM } from "./visit.js";

const browser = sharedBrowser();

test("the story: seven steps, each with a control and a number that the library gives", async () => {
  await visit(
    browser(),
    "",
    async (page) => {
      const enter = (step: number) =>
        page
          .locator(`.step[data-step="${step}"]`)
          .evaluate((element) => element.scrollIntoView({ block: "center" }));
      const { sum, truth } = day(0.1);
      await textOf(page, "#day-say", new RegExp(percent(Math.abs(sum - truth) / truth)));
      await enter(0);
      const over = page.locator("#view-day .u-over");
      const { width } = (await over.boundingBox())!;
      const click = () => over.click({ position: { x: 0.5 * width, y: 50 } });
      await click();
      await textOf(page, "#gap-answer", /^Right\. They left at \d\d:\d\d/);
      await page.locator("input[name=shown][value=private]").check({ force: true });
      await textOf(page, "#stage-note", /^Published instead/);
      expect(await page.locator("#gap-answer").textContent()).toBe(""); // what was said of the raw readings is gone
      await click();
      const found = guess(0.1);
      await textOf(page, "#gap-answer", new RegExp(`In ${found.right} of 20 releases.*within an hour`));
      await enter(1);
      await textOf(page, "#length-say", /2\sd 20\sh: standard error [\d,.]+\skWh\. Brume, .*: [\d,.]+\skWh/);
      await page.locator("#length").fill("16");
      await textOf(page, "#length-say", /45\sd 12\sh/);
      await enter(2);
      await textOf(page, "#cap-say", /Too much noise/);
      await page.click("#cap-choice");
      await textOf(page, "#cap-say", new RegExp(`The library chose ${amount(cap(0.1).chosen)} W`));
      await enter(3);
      await textOf(page, "#tree-say", new RegExp(`^10 blocks: ${cover(3, 13).length} nodes instead of 10`));
      await enter(4);
      await page.locator("#slide").fill("100");
      await textOf(page, "#stage-note", /They agree/);
      await enter(5);
      await page.locator("input[name=smoother][value=mean]").check({ force: true });
      await textOf(page, "#smooth-say", /A prediction is off by [\d,.]+\sW/);
      await enter(6);
      await textOf(page, "#story-code", /epsilon: 0\.1,/);
      await textOf(page, "#result-card", /Used in seven weeks: [\d,.]+\skWh/);
      await page.click("#story-peek");
      expect(await page.locator("#story-peek").getAttribute("aria-pressed")).toBe("true");
    },
    { reducedMotion: "reduce" },
  );
});

test("the first picture: secret and published, by one ε; the install line is copied", async () => {
  await visit(
    browser(),
    "",
    async (page) => {
      const { off, reach } = helplineDays(0.1);
      await textOf(page, "#first-say", new RegExp(`1\\.11 times.*${percent(off)} off.*± ${percent(reach)}`));
      await page.locator("#first-epsilon").focus();
      await page.keyboard.press("End");
      await textOf(page, "#first-value", /^ε = 2$/);
      await textOf(page, "#first-say", new RegExp(`${percent(helplineDays(2).off)} off`));
      expect(await page.locator("#epsilon").inputValue()).toBe("2"); // the story has the same one
      await page.click("#install-copy");
      await textOf(page, "#install-status", /^Copied/);
    },
    { permissions: ["clipboard-write"], reducedMotion: "reduce" },
  );
});

test("the story tells how often the absence is found: at ε = 2 nearly always, at ε = 0.1 as without any numbers", () => {
  // Seeds are fixed: 20 releases each.
  const [strong, weak] = [guess(0.1), guess(2)];
  expect(strong.blind).toBeCloseTo(0.276, 3);
  expect(Math.abs(strong.right - strong.releases * strong.blind)).toBeLessThan(3);
  expect(weak.right).toBeGreaterThan(14);
});

test("the story's first step: ranges of whole blocks alone have an answer of Brume", () => {
  const points = everyValue(0.1);
  expect(points.map(({ ours }) => ours !== undefined)).toEqual(points.map(({ length }) => length >= 256));
});

test("the fewest nodes of a range: by hand", () => {
  expect(cover(0, 16)).toEqual([20]);
  expect(cover(4, 8)).toEqual([17]);
  expect(cover(3, 9)).toEqual([3, 8, 17]);
});

test("the attack: ten rounds by keys, each leaves a dot; all right on raw values; the textbook breaks; the machine's bound", async () => {
  await visit(browser(), "attack/?epsilon=1", async (page) => {
    await textOf(page, "#round", /Round 1 of 10/);
    for (let i = 0; i < 10; i++) await page.keyboard.press(i % 2 ? "a" : "B");
    await textOf(
      page,
      "#round",
      /You got \d+ of 10\. On average nobody gets more than 73\s% of private rounds/,
    );
    expect(await page.locator("#seen .dot").count()).toBe(10);
    await page.keyboard.press("a"); // the game is over
    expect(await page.locator("#seen .dot").count()).toBe(10);
    await page.click("#watch");
    await textOf(page, "#round", /^200 more rounds .*: \d+\s% right\. 73\s% is the most/);
    expect(await page.locator("#seen .dot").count()).toBe(210);
    await page.locator("input[name=seen][value=raw]").check({ force: true });
    for (let i = 0; i < 10; i++) {
      const [sum, b] = await Promise.all(
        [".seen-sum", ".law-name-1"].map((at) => page.locator(`#seen ${at}`).textContent()),
      );
      await page.click(b!.endsWith(` ${sum}`) ? "#guess-1" : "#guess-0");
    }
    await textOf(page, "#round", /You got 10 of 10/);
    await page.locator("#epsilon").press("a"); // typing is no guess
    await page.click("#break-go");
    await textOf(
      page,
      "#break-say",
      /^Textbook noise promised ε = 1; these runs show ε ≥ [45](\.\d+)?, .*Against Brume the attack finds nothing\.$/,
    );
    await textOf(page, "#break-brume", /one world only0\s%/);
    await page.selectOption("#fault", "float");
    await page.click("#machine-go");
    await textOf(page, "#machine-say", /runs show ε ≥ [\d.]+, and ε = 1 is promised\. The promise is broken/);
    await page.click("#machine-stop");
    await page.selectOption("#fault", "none");
    expect(await page.locator("#machine-say").textContent()).toBe("");
    await page.click("#machine-go");
    await textOf(page, "#machine-say", /That is within the promise/);
    await page.click("#machine-stop");
  });
});

test("the devices: one says what it sends, the histogram forms, percentiles get intervals, scrub and replay", async () => {
  await visit(
    browser(),
    "devices/?devices=4000&epsilon=4",
    async (page) => {
      await textOf(page, "#scrub-note", /^4,000 reports$/);
      await page.locator("#crowd").click({ position: { x: 20, y: 20 } });
      await textOf(page, "#device-say", /^Device \d+: true [\d,.]+ → sent −?[\d,]+\./);
      await page.locator("#scrub:enabled").waitFor();
      const rows = await page.locator("#percentiles tbody tr").allTextContents();
      expect(rows).toHaveLength(5);
      for (const row of rows) expect(row).toMatch(/ to /);
      await page.locator("#scrub").fill("0");
      await textOf(page, "#scrub-note", /^333 reports$/);
      await page.click("#replay");
      await textOf(page, "#scrub-note", /^4,000 reports$/);
    },
    { reducedMotion: "reduce", policy: WITHOUT_WASM },
  );
});

test("the paper's page: frozen results first, which the same code gives again; the button runs them", async () => {
  const { runs, rows } = JSON.parse(readFileSync("site/src/paper/frozen.json", "utf8")) as {
    runs: number;
    rows: Omit<Row, "seconds">[];
  };
  expect(runs).toBe(100);
  expect(rows.map(({ method, epsilon }) => `${method} ${epsilon}`)).toEqual(
    FROZEN_METHODS.flatMap((method) =>
      budgets(FIELDS.epsilons.initial)!.map((epsilon) => `${method} ${epsilon}`),
    ),
  );
  for (const { theta } of rows) expect(theta).toBeLessThanOrEqual(1000); // the public maximum
  // 20 of the runs, with seeds of their own, lie by the frozen mean: within 6 standard errors of both, odds below 10⁻⁷.
  const trials = new Trials(
    { max: 1000, holdout: 2 ** 16, maxRange: 2 ** 20, queries: 200, seed: "other" },
    exampleStream("brume"),
  );
  const fresh = Array.from({ length: 20 }, (_, run) => trials.once({ method: "tops", epsilon: 0.1, run }));
  const again = rowOf(
    "tops",
    0.1,
    fresh.map(({ result }) => result),
    fresh[0]!.mean,
  );
  const frozen = rows.find(({ method, epsilon }) => method === "tops" && epsilon === 0.1)!;
  expect(Math.abs(again.relative - frozen.relative)).toBeLessThan(
    3 * Math.hypot(again.relativeError, frozen.relativeError),
  );
  await visit(browser(), "paper/", async (page) => {
    await textOf(page, "#compare-status", /^Frozen: 100 runs of each, made by npm run web -- paper\.$/);
    expect(await page.locator("#results tbody tr[data-method]").count()).toBe(rows.length);
    await page.click("#compare-run");
    await textOf(page, "#compare-status", /^\d+ of 180 runs$/);
    await page.click("#compare-stop");
  });
});

test("PAK's θ is never above the public maximum, where it would only add noise", () => {
  const trials = new Trials(
    { max: 1000, holdout: 4096, maxRange: 2 ** 14, queries: 50, seed: "cap" },
    exampleStream("brume"),
  );
  const { result } = trials.once({ method: "pak", epsilon: 0.1, run: 0 });
  expect(result.theta).toBe(1000);
});

test("the comparison runs by itself, is that of the lab in Node, sorts, joins, and is cleared with its settings", async () => {
  await visit(browser(), "paper/?methods=tops,flat&epsilons=0.1%201&repeat=2&queries=50", async (page) => {
    await textOf(page, "#compare-status", /^8 runs done\.$/);
    const [head, ...rows] = (await downloaded(page, "#compare-csv")).toString().trimEnd().split("\n");
    expect(head).toBe("method,epsilon,runs,relative,mse,mae,theta_median,seconds_median,unit");
    const { results } = evaluate({
      data: exampleStream("brume"),
      max: 1000,
      epsilons: [0.1, 1],
      methods: ["tops", "flat"],
      repeat: 2,
      queries: 50,
      seed: "brume",
      tile: true,
      variant: "default",
    });
    expect(rows.map((row) => row.split(",")[4])).toEqual(results.map(({ mse }) => String(mse.mean)));
    await page.getByRole("button", { name: "Relative error" }).click();
    const order = await page
      .locator("#results tbody tr")
      .evaluateAll((all) => all.map((row) => row.getAttribute("data-method")));
    expect(order.at(-1)).toBe("flat");
    await page.locator("#results tbody tr[data-method]").first().hover();
    expect(await page.locator("#comparison [data-curve].joined").count()).toBe(1);
    await page.fill("#epsilons", "0.1, 99");
    await textOf(page, "#compare-error", /^Privacy budgets: expected numbers from 0\.001 to 10/);
    expect(await page.locator("#results tbody tr").count()).toBe(0);
  });
});

test("opponents: every unit of privacy has its own curves and its own ranking; our θ where ε is for one value", async () => {
  const methods = "tops,k-ary,square-root,bd,fast";
  await visit(browser(), `paper/?methods=${methods}&epsilons=1&repeat=2&queries=20`, async (page) => {
    await textOf(page, "#compare-status", /^10 runs done\.$/);
    expect(
      await page.locator("#comparison figure").evaluateAll((all) => all.map((one) => one.dataset["unit"])),
    ).toEqual(["event", "event-delta", "window", "user"]);
    for (const heading of ["Relative error", "Method"]) {
      await page.getByRole("button", { name: heading }).click();
      const rows = await page
        .locator("#results tbody tr")
        .evaluateAll((all) => all.map((row) => row.getAttribute("data-method") ?? row.textContent));
      expect(new Set(rows.slice(1, 3))).toEqual(new Set(["tops", "k-ary"]));
      expect(rows.filter((row) => !methods.includes(row))).toEqual(Object.values(UNIT_TITLES));
    }
    const cells = (await downloaded(page, "#compare-csv")).toString().trimEnd().split("\n").slice(1);
    const theta = (key: string) => Number(cells.find((cell) => cell.startsWith(`${key},`))!.split(",")[6]);
    expect(theta("k-ary")).toBeLessThan(1000);
    expect(theta("bd")).toBe(1000); // a hold-out is not private in this unit
  });
});

test("the unit of a method is what its statement says", () => {
  for (const { system: method, unit, variant } of Object.values(METHODS)) {
    const shared = { epsilon: 1, max: 100, holdout: 64, maxRange: 256, unsafeSeed: "unit" };
    const { delta, definition } = system({ ...shared, method, variant } as SystemOptions).statement();
    expect([method, unit === "event-delta"]).toEqual([method, delta > 0]);
    expect([method, unit === "window"]).toEqual([method, definition.startsWith("w-event")]);
    expect([method, unit === "user"]).toEqual([method, definition.startsWith("user-level")]);
  }
});

test("lists of ε: commas, spaces, semicolons", () => {
  expect(budgets("0.1, 1")).toEqual([0.1, 1]);
  expect(budgets(" 1 0.1;5 ")).toEqual([0.1, 1, 5]);
  expect(budgets("0.1, x")).toBeUndefined();
  expect(budgets("")).toBeUndefined();
});
