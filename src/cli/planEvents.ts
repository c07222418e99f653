/** brume plan --every: what a release of events would cost, for several limits of a person's events. */
import { parseDuration, durationText } from "../events/duration.js";
import type { HistogramOptions } from "../events/histogramOptions.js";
import type { EventStreamOptions } from "../events/options.js";
import { type EventPlan, planEvents, solveEpsilon } from "../events/plan.js";
import { type Arguments, UsageError } from "./command.js";
import { metricOptions } from "./eventOptions.js";
import { table } from "./table.js";

interface Row {
  /** k, or null where people are not counted. */
  readonly perPerson: number | null;
  /** The smallest ε that meets the target, or the one that was given. */
  readonly epsilon: number | null;
  readonly plan: EventPlan | null;
}

export function planOfEvents(args: Arguments): void {
  const limits = args.numbers("per-person") ?? [null];
  const target = targetOf(args.text("target"));
  const range = args.text("range") ?? "1h";
  const rows = limits.map((limit) => rowOf(args, limit, target, range));
  process.stdout.write(args.has("json") ? `${JSON.stringify(rows, null, 2)}\n` : text(rows, range, target));
}

/** "1%" or "0.01". */
export function targetOf(asked: string | undefined): number | undefined {
  if (asked === undefined) return undefined;
  const value = asked.endsWith("%") ? Number(asked.slice(0, -1)) / 100 : Number(asked);
  if (!(value > 0 && value < 1))
    throw new UsageError(`--target: expected a share such as 1%, got "${asked}"`);
  return value;
}

function rowOf(args: Arguments, limit: number | null, target: number | undefined, range: string): Row {
  const given = target === undefined ? args.required("epsilon") : 1;
  const asked = metricOptions(args, given, limit) as EventStreamOptions | HistogramOptions;
  // Inside a block there is no estimate, so a block is not longer than the range whose error is asked for.
  const options = target === undefined ? asked : { finest: range, ...asked };
  const at = (epsilon: number) => planEvents({ ...options, epsilon }, [range]).errors[0];
  if (target !== undefined && at(1) === undefined)
    throw new UsageError(`--range: expected at least one tick and at most the longest range, got "${range}"`);
  const events =
    ((options.perTick ?? 1) * parseDuration("range", range)) / parseDuration("every", options.every);
  const errorAt = (epsilon: number): number => {
    const { rankError, standardError } = at(epsilon)!;
    return (rankError ?? standardError) / events;
  };
  const epsilon = target === undefined ? options.epsilon : solveEpsilon(target, errorAt);
  const ranges = [...new Set([range, "1h", "1d", "7d", "30d"])];
  const plan = epsilon === undefined ? null : planEvents({ ...options, epsilon }, ranges);
  return { perPerson: limit, epsilon: epsilon ?? null, plan };
}

const short = (x: number): string => String(Number(x.toPrecision(3)));

function text(rows: readonly Row[], range: string, target: number | undefined): string {
  const first = rows.find(({ plan }) => plan !== null)?.plan;
  const names = first?.errors.map((error) => error.range) ?? [];
  const head = ["events/person", "ε", "ε/event", "estimate every", ...names];
  const body = rows.map(({ perPerson, epsilon, plan }) => [
    perPerson === null ? "not limited" : String(perPerson),
    epsilon === null ? "none up to 64" : short(epsilon),
    ...(plan === null
      ? ["", "", ...names.map(() => "")]
      : [
          short(plan.epsilonPerEvent),
          plan.block,
          ...plan.errors.map(({ standardError, rankError }) => short(rankError ?? standardError)),
        ]),
  ]);
  const what =
    first?.errors[0]?.rankError === undefined ? first?.errorsOf : "number of events below the median";
  return [
    ...(target === undefined
      ? []
      : [
          `The smallest ε with an error of ${short(100 * target)} % in a range of ${durationText(parseDuration("range", range))}, if --per-tick is right:`,
          "",
        ]),
    `Noise (standard error of the ${what ?? "count"}), by the length of the range:`,
    table(head, body),
    "",
    "A larger limit loses fewer events of busy people and adds more noise. The limit is public: choose it without looking at the data.",
    "",
  ].join("\n");
}
