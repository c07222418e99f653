import { expect, test } from "vitest";
import { csvOf, type Panel } from "../../research/chart/panel.js";
import { makeScale, tickLabel } from "../../research/chart/scale.js";
import { svgOf } from "../../research/chart/svg.js";
import { openTags } from "../support/xml.js";

const panel: Panel = {
  title: "a < b & c",
  x: { label: "ε", log: true },
  y: { label: "MSE", log: true },
  series: [
    { name: "one", points: [0.01, 0.1].map((x) => ({ x, y: 1e4 / x, sd: 10 })) },
    {
      name: 'two "2"',
      look: "dashed",
      points: [
        { x: 0.01, y: 3 },
        { x: 0.1, y: 0 },
      ],
    },
  ],
  marks: [{ x: 0.05, label: "here" }],
};

test("ticks are round, within the axis, and at most seven", () => {
  for (const [values, log] of [
    [[0.01, 0.1], true],
    [[1e4, 1e20], true],
    [[3, 5], true],
    [[-17, 93], false],
    [[5, 5], false],
    [[0.2, 2], false],
  ] as const) {
    const { at, ticks } = makeScale(values, log);
    expect(ticks.length).toBeGreaterThanOrEqual(2);
    expect(ticks.length).toBeLessThanOrEqual(7);
    for (const place of [...ticks, ...values].map(at)) {
      expect(place).toBeGreaterThanOrEqual(0);
      expect(place).toBeLessThanOrEqual(1);
    }
  }
  expect([0, 0.05, 1500, 1e7, 2e-5].map(tickLabel)).toEqual(["0", "0.05", "1500", "10⁷", "2·10⁻⁵"]);
  expect([10 ** -5, 10 ** -4, 3 * 10 ** -6].map(tickLabel)).toEqual(["10⁻⁵", "10⁻⁴", "3·10⁻⁶"]);
});

test("a logarithmic axis has equal steps for equal factors", () => {
  const { at } = makeScale([1, 100], true);
  expect(at(100) - at(10)).toBeCloseTo(at(10) - at(1), 12);
});

test("the picture is well-formed and has every series, label and mark", () => {
  const svg = svgOf("a title", [panel, { ...panel, title: "second" }]);
  expect(openTags(svg)).toEqual([]);
  expect(svg).not.toMatch(/NaN|Infinity|undefined/);
  for (const text of ["a title", "a &lt; b &amp; c", "second", "ε", "MSE", "here"])
    expect(svg).toContain(text);
  expect(svg.match(/data-series="one"/g)).toHaveLength(2);
  expect(svg.match(/data-series="two &quot;2&quot;"/g)).toHaveLength(2);
});

test("a tag left open is seen", () => {
  expect(openTags("<svg><g><path/></svg>")).not.toEqual([]);
});

test("CSV has a row per point and quotes what needs it", () => {
  expect(csvOf([panel]).split("\n")).toEqual([
    "panel,series,x,y,sd",
    "a < b & c,one,0.01,1000000,10",
    "a < b & c,one,0.1,100000,10",
    'a < b & c,"two ""2""",0.01,3,',
    'a < b & c,"two ""2""",0.1,0,',
    "",
  ]);
});
