/** Recomputes what a statement says of itself: shares of ε, scales of noise and standard errors must follow from its options. */
import type { AnyStatement } from "../adapters/registryRecord.js";
import { software, type Software } from "../core/software.js";
import { SHARED_COMPOSITION } from "../durable/hub/hub.js";
import { parseDuration } from "../events/days/duration.js";
import { overWord } from "../events/people/distinct.js";
import { discoveryRule } from "../events/keys/keyDiscovery.js";
import { SHARES } from "../events/shares.js";
import { type EventStatement, standardErrors, unitWords } from "../events/statement.js";
import { RANDOMNESS, type Statement } from "../stream/statement.js";
import { differences } from "./restate.js";

/** Something that was checked. */
export interface Check {
  readonly what: string;
  readonly holds: boolean;
}

const near = (a: number, b: number): boolean => Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b));

export function checkStatement(statement: AnyStatement): Check[] {
  const checks = [softwareCheck(statement), restated(statement)];
  try {
    return [...checks, ...numberChecks(statement)];
  } catch {
    // A field of another kind: `restated` says so.
    return checks.map((check, i) => (i === 1 ? { ...check, holds: false } : check));
  }
}

/** The build in words. */
const buildOf = ({ version, commit, noiseVersion }: Software): string =>
  `brume ${version}, ${commit === null ? "not built from a clean checkout" : `commit ${commit}`}, noise version ${noiseVersion}`;

const VERSION = /^\d+\.\d+\.\d+(-[\w.-]+)?$/;
const COMMIT = /^[\da-f]{40}$/;

/** Version and commit are the operator's word; a difference from this program is said, for the reader to take another one. */
function softwareCheck({ software: own }: AnyStatement): Check {
  const { version, commit, noiseVersion } = own;
  const isSame = version === software.version && commit === software.commit;
  return {
    what: `software: ${buildOf(own)} (this program: ${isSame ? "the same" : buildOf(software)})`,
    holds:
      own.name === software.name &&
      noiseVersion === software.noiseVersion &&
      VERSION.test(String(version)) &&
      (commit === null || COMMIT.test(String(commit))),
  };
}

/** Whether this program states the same of the options that the statement names. */
function restated(statement: AnyStatement): Check {
  const what = "every field follows from the options, in the words of this program";
  try {
    const fields = differences(statement);
    return {
      what: fields.length === 0 ? what : `${what}; not so: ${fields.join(", ")}`,
      holds: fields.length === 0,
    };
  } catch {
    return { what: `${what}; not so: no release has such options`, holds: false };
  }
}

function numberChecks(statement: AnyStatement): Check[] {
  return [
    ...("private" in statement
      ? [
          {
            what: "the noise came from no seed",
            holds: statement.private === true && statement.randomness === RANDOMNESS.secret,
          },
        ]
      : []),
    {
      what: `ε = ${statement.epsilon}, δ = ${statement.delta}`,
      holds: statement.epsilon > 0 && statement.delta === (discoveryOf(statement)?.delta ?? 0),
    },
    ...("every" in statement ? eventChecks(statement) : []),
    ...("stages" in statement && "blockLength" in statement ? valueChecks(statement) : []),
  ];
}

/** How votes make keys public, if they do: the only mechanism with δ > 0. */
const discoveryOf = (statement: AnyStatement): EventStatement["discovery"] =>
  "discovery" in statement ? statement.discovery : null;

function eventChecks(statement: EventStatement): Check[] {
  const { epsilon, shares, epsilonPerEvent, people, perPerson, levels, noiseScale, resolution } = statement;
  const sum = Object.values(shares as unknown as Record<string, number>).reduce((a, b) => a + b, 0);
  const limit = people?.keysPerPerson ?? perPerson?.events ?? 1;
  const unit = unitWords(
    people !== null || perPerson !== null,
    overWord(people?.over ?? "1d"),
    statement.zone,
  );
  const checks = [
    { what: `shares of ε sum to 1 (${sum}/${SHARES})`, holds: sum === SHARES },
    {
      what: `the unit follows from the limits: ${unit.unit}`,
      holds: Object.entries(unit).every(([field, words]) => statement[field as keyof typeof unit] === words),
    },
    ...discoveryChecks(statement),
    ...(epsilonPerEvent === null
      ? []
      : [
          {
            what: `one event has ε·${shares.release}/${SHARES}/${limit} for its sums`,
            holds: near(epsilonPerEvent, (epsilon * shares.release) / SHARES / limit),
          },
        ]),
  ];
  if (noiseScale === null || epsilonPerEvent === null) return checks;
  const moved = movedBy(statement);
  const grid = resolution ?? 1;
  // 1 − e^(−x) of a small x would lose its digits.
  const deviation = (grid * Math.sqrt(2 * Math.exp(-grid / noiseScale))) / -Math.expm1(-grid / noiseScale);
  const errors =
    people === null
      ? standardErrors(
          levels.map((level) => parseDuration("levels", level)),
          deviation,
        )
      : { [people.over]: deviation };
  return [
    ...checks,
    {
      what: `noise of scale ${noiseScale} covers ${levels.length} levels, each moved by ${moved} at most`,
      holds: noiseScale >= ((levels.length * moved) / epsilonPerEvent) * (1 - 1e-9),
    },
    {
      what: "standard errors follow from the noise",
      holds:
        statement.standardErrors !== null &&
        Object.entries(errors).every(([level, error]) =>
          near(error, statement.standardErrors![level] ?? NaN),
        ),
    },
  ];
}

/** δ is computed again from ε and k, in integers. */
function discoveryChecks({ discovery, epsilon, shares }: EventStatement): Check[] {
  if (discovery === null) return shares.discovery === 0 ? [] : [{ what: "votes find no keys", holds: false }];
  const { k, delta, cells } = discovery;
  const rule = discoveryRule(epsilon, shares.discovery, delta, cells);
  return [
    {
      what: `k = ${k} of ε·${shares.discovery}/${SHARES} has δ = ${delta}`,
      holds: rule.k === k && near(rule.delta, delta) && near(rule.epsilon, discovery.epsilon),
    },
  ];
}

/** The most that one event moves a sum by. */
function movedBy({ threshold, min, perPerson, system }: EventStatement): number {
  if (perPerson?.sum !== undefined) return perPerson.sum;
  if (threshold === null) return 1;
  const low = min ?? 0;
  return system.startsWith("means") ? threshold - low : Math.max(Math.abs(low), Math.abs(threshold));
}

function valueChecks(statement: Statement): Check[] {
  const { epsilon, min, threshold, resolution, noiseScale, levels, composition } = statement;
  // The first stage of a hub that shares θ reads values of the hub, which no stream gets.
  const stages = composition === SHARED_COMPOSITION ? statement.stages.slice(1) : statement.stages;
  // min + Θ·resolution is rounded, by far less than the grid.
  const moved = min === 0 ? threshold! : threshold! - min - resolution / 1024;
  // A θ that is refined has two releases: one of the first values, one of all others.
  const releases = stages.filter(({ stage }) => stage === "release").map((stage) => stage.epsilon);
  return [
    {
      what: "no value meets stages of more than ε together",
      holds: mostSpent(stages) <= epsilon * (1 + 1e-9),
    },
    ...(noiseScale === null || threshold === null || releases.length === 0
      ? []
      : [
          {
            what: `noise of scale ${noiseScale} covers ${levels} levels of values ${min === 0 ? "" : `from min = ${min} `}up to θ = ${threshold}, and no more`,
            holds:
              noiseScale >= ((levels * moved) / Math.max(...releases)) * (1 - 1e-9) &&
              noiseScale <= ((levels * (moved + resolution)) / Math.min(...releases)) * (1 + 1e-9),
          },
        ]),
  ];
}

/** ε of the stages that read the same values, at most. Those that read a named part of their values read disjoint parts. */
function mostSpent(stages: Statement["stages"]): number {
  const places = stages.map(({ values: [from] }) => from);
  const spent = (at: number): number => {
    const here = stages.filter(({ values: [from, to] }) => from <= at && at < (to ?? Infinity));
    const parts = here.filter(({ which }) => which !== undefined).map((stage) => stage.epsilon);
    return here.reduce(
      (sum, one) => sum + (one.which === undefined ? one.epsilon : 0),
      Math.max(0, ...parts),
    );
  };
  return Math.max(0, ...places.map(spent));
}
