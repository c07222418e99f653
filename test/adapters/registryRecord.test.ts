/** Records for the public registry of deployments: its fields, filled from statements, and marks where the operator writes. */
import { expect, test } from "vitest";
import { recordOfStatement } from "../../src/adapters/registryRecord.js";
import { aggregator, privateCounter, privateHistogram, privateStream } from "../../src/index.js";

/** The fields of a record of tier 3 in September 2026. */
const FIELDS = {
  basic: [
    ...["name", "data_curators", "intended_use", "data_product_type", "data_product_region", "description"],
    ...["publication_date", "data_product_sector"],
  ],
  dp_variant: ["variant_name", "data_domain", "unprotected_quantities"],
  privacy_loss: ["privacy_unit", "privacy_unit_details", "privacy_parameters", "privacy_parameters_details"],
  deployment_model: [
    ...["model_name", "model_name_details", "actors", "release_type", "release_type_details"],
    ...["data_source_type", "access_type", "access_type_details"],
  ],
  accounting: ["post_processing", "composition"],
  implementation: ["preprocessing_and_hyperparameter_tuning", "mechanisms", "justification"],
  administrative: ["sources", "registry_authors"],
};

const statements = {
  values: privateStream({ epsilon: 0.5, max: 100, threshold: 20, maxRange: 256 }).statement(),
  events: privateStream({ epsilon: 1, every: "1h", max: 100, threshold: 20 }).statement(),
  buckets: privateHistogram({ epsilon: 1, every: "1h", edges: [1, 2] }).statement(),
  "different people": privateCounter({ epsilon: 1, of: "people", over: "1mo" }).statement(),
  people: privateCounter({ epsilon: 2, every: "1h", zone: "Europe/Berlin", perPerson: 5 }).statement(),
  reports: aggregator({ epsilon: 2, max: 100, threshold: 25 }).statement(),
  paper: aggregator({ epsilon: 2, max: 100, maxRange: 256, variant: "paper" }).statement(),
};

/** Texts at the ends of a record. */
const texts = (value: unknown): string[] =>
  typeof value === "object" && value !== null ? Object.values(value).flatMap(texts) : [String(value)];

test.each(Object.entries(statements))("%s: every field of the registry, none beside them", (_, statement) => {
  const { deployment, ...head } = recordOfStatement(statement);
  expect(head).toEqual({ url_slug: expect.stringMatching(/^TO ADD/) as string, status: "Draft", tier: 3 });
  expect(
    Object.fromEntries(Object.entries(deployment).map(([part, own]) => [part, Object.keys(own)])),
  ).toEqual(FIELDS);
  for (const text of texts(deployment)) {
    expect(text.trim()).not.toBe("");
    expect(text).not.toMatch(/undefined|null|NaN|\[object/);
  }
});

test("what is known is filled in, what is not is marked", () => {
  const of = (name: keyof typeof statements) => recordOfStatement(statements[name]).deployment;
  expect(of("values")["privacy_loss"]).toMatchObject({
    privacy_unit: "Event-level",
    privacy_parameters: { epsilon: 0.5 },
  });
  expect(of("people")["privacy_loss"]).toMatchObject({
    privacy_unit: "User-day-level",
    privacy_parameters: { epsilon: 2 },
  });
  expect(of("people")["dp_variant"]).toMatchObject({ variant_name: "Pure DP" });
  expect(of("people")["implementation"]!["preprocessing_and_hyperparameter_tuning"]).toContain(
    "first 5 events",
  );
  expect(of("reports")["deployment_model"]).toMatchObject({ model_name: "Local" });
  expect(of("events")["deployment_model"]).toMatchObject({ model_name: "Central" });
  expect(of("events")["implementation"]!["mechanisms"]).toContain("Software: brume 0.");
  const marked = texts(recordOfStatement(statements.values)).filter((text) => text.includes("TO ADD: "));
  expect(marked).toHaveLength(15);
});

test("a release that is not private gets no record", () => {
  const seeded = privateCounter({ epsilon: 1, every: "1h", unsafeSeed: "test" });
  expect(() => recordOfStatement(seeded.statement())).toThrow("expected a private release");
});

test("bounds that are not 0 are those of the statement", () => {
  const values = recordOfStatement(
    privateStream({ epsilon: 1, min: -50, max: -20, threshold: -35, maxRange: 256 }).statement(),
  );
  expect(values.deployment["dp_variant"]).toMatchObject({
    data_domain: "Streams of numbers in [-50, -20], one position after the other.",
  });
  expect(texts(values).join()).toContain("rounded to -50 plus multiples of");
  const events = recordOfStatement(
    privateStream({ epsilon: 1, every: "1h", min: -20, max: 100, threshold: 20 }).statement(),
  );
  expect(texts(events).join()).toContain("Values below -20 are clamped to it.");
});

test("a record of single events promises nothing to people; one of people does, by the day", () => {
  const details = (statement: Parameters<typeof recordOfStatement>[0]) =>
    recordOfStatement(statement).deployment["privacy_loss"]!["privacy_parameters_details"];
  expect(details(statements.events)).toContain("a person is not protected as such");
  expect(details(statements.people)).toContain("n days of a person are protected at nε.");
});

test("every mechanism that reads the events is named", () => {
  const mechanisms = (statement: Parameters<typeof recordOfStatement>[0]) =>
    recordOfStatement(statement).deployment["implementation"]!["mechanisms"];
  expect(mechanisms(statements.people)).toContain("people beyond their limit: discrete Laplace, 1/32 of ε");
  const chosen = privateStream({ epsilon: 1, every: "1h", max: 100 }).statement();
  expect(mechanisms(chosen)).toContain("θ: permute-and-flip");
  const limit = { events: "choose", most: 9 } as const;
  const counter = privateCounter({ epsilon: 1, every: "1h", perPerson: limit }).statement();
  expect(mechanisms(counter)).toContain("The limit of a person: permute-and-flip");
});
