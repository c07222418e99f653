/** brume plan for events: what a release will show, before any data, beside plain noise on each question alone. */
import { DAY, HOUR, MINUTE } from "../events/days/calendar.js";
import { durationText, parseDuration, periodText } from "../events/days/duration.js";
import { resolveDiscover } from "../events/keys/keyDiscovery.js";
import type { PerPerson } from "../events/people/people.js";
import { type EventPlan, planEvents, type PlannedError, solveEpsilon } from "../events/plan.js";
import { SHARES, sharesOf } from "../events/shares.js";
import { type Arguments, UsageError } from "./command.js";
import { metricOptions, perPersonOf } from "./eventOptions.js";
import { type LimitLoss, limitLosses } from "./limitLoss.js";
import { table } from "./table.js";

interface Row {
  /** The limit of a person; null if people are not limited. */
  readonly perPerson: PerPerson | null;
  /** The smallest ε that meets the target, or the one that was given; null if none up to 64 meets it. */
  readonly epsilon: number | null;
  readonly plan: EventPlan | null;
  /** Events that the limit would drop from the file that was given. */
  readonly loss?: LimitLoss | undefined;
}

/** Events per millisecond. */
interface Rate {
  readonly text: string;
  readonly events: number;
}

export async function planOfEvents(args: Arguments): Promise<void> {
  const target = targetOf(args.text("target"));
  const rate = rateOf(args.text("rate"));
  if (target !== undefined && rate === undefined)
    throw new UsageError(
      "--rate: missing; expected with --target, such as 200/1h: events, as you guess them",
    );
  const limits = limitsOf(args.text("per-person"));
  const option = target === undefined ? (args.operands[0] === undefined ? undefined : "FILE") : "--target";
  if (option !== undefined && limits.some((limit) => limit?.events === "choose"))
    throw new UsageError(
      `--per-person: expected numbers with ${option}, got choose: errors of a k that is to be chosen are known per k alone`,
    );
  const planned = limits.map((limit) => rowOf(args, limit, target, rate));
  const [path] = args.operands;
  if (path !== undefined && args.text("per-person") === undefined)
    throw new UsageError("--per-person: missing; expected with FILE, the limits to try on it, such as 1,2,5");
  const losses = path === undefined ? [] : await limitLosses(args, path, limits);
  const rows = planned.map((row, i): Row => (losses[i] === undefined ? row : { ...row, loss: losses[i] }));
  process.stdout.write(
    args.has("json")
      ? `${JSON.stringify(rows, null, 2)}\n`
      : `${text(args, rows, target, rate).join("\n")}\n`,
  );
}

/** "1%" or "0.01". */
export function targetOf(asked: string | undefined): number | undefined {
  if (asked === undefined) return undefined;
  const value = asked.endsWith("%") ? Number(asked.slice(0, -1)) / 100 : Number(asked);
  if (!(value > 0 && value < 1))
    throw new UsageError(`--target: expected a share such as 1%, got "${asked}"`);
  return value;
}

/** "200/1h", "200/h" or "5/s". */
function rateOf(asked: string | undefined): Rate | undefined {
  if (asked === undefined) return undefined;
  const parts = /^(\d+(?:\.\d+)?)\/(\d*(?:ms|s|m|h|d))$/.exec(asked);
  if (parts === null)
    throw new UsageError(`--rate: expected events per period, such as 200/1h, got "${asked}"`);
  const length = parseDuration("rate", /^\d/.test(parts[2]!) ? parts[2]! : `1${parts[2]}`);
  return { text: `${parts[1]} events per ${periodText(length)}`, events: Number(parts[1]) / length };
}

/** "1,2,4" compares limits; anything with a colon is one limit. */
function limitsOf(asked: string | undefined): (PerPerson | undefined)[] {
  if (asked === undefined || asked.includes(":")) return [perPersonOf(asked)];
  return asked.split(",").map(perPersonOf);
}

function rowOf(
  args: Arguments,
  limit: PerPerson | undefined,
  target: number | undefined,
  rate: Rate | undefined,
): Row {
  const asks = args.text("ask")?.split(",");
  const every = args.text("every") ?? finestOf(asks!);
  const range = args.text("range") ?? "1h";
  const given = target === undefined ? args.required("epsilon") : 1;
  const asked = metricOptions(args, given, limit, every);
  const options =
    asks === undefined || args.text("levels") !== undefined
      ? asked
      : { ...asked, levels: recommended(asked, asks) };
  const ranges = [...new Set([...(asks ?? []), ...(target === undefined ? [] : [range]), "7d", "30d"])];
  const errorAt = (epsilon: number): number => {
    const found = planEvents({ ...options, epsilon }, [range]).errors.find(
      ({ period }) => period === durationText(parseDuration("range", range)),
    );
    if (found === undefined) throw new UsageError(`--range: expected a multiple of --every, got "${range}"`);
    return (found.rankError ?? found.standardError) / (rate!.events * parseDuration("range", range));
  };
  const epsilon = target === undefined ? given : solveEpsilon(target, errorAt);
  const plan = epsilon === undefined ? null : planEvents({ ...options, epsilon }, ranges);
  return { perPerson: limit ?? null, epsilon: epsilon ?? null, plan };
}

/** The shortest of the periods that are asked about. */
function finestOf(asks: readonly string[]): string {
  const finest = Math.min(...asks.map((ask) => parseDuration("ask", ask)));
  return durationText(Math.min(finest, DAY));
}

/**
 * The levels with the least error, compared with plain noise, of the period that they serve worst: of all sets from the
 * periods that are asked about, minutes, hours and days.
 */
function recommended(options: ReturnType<typeof metricOptions>, asks: readonly string[]): string[] {
  if ("over" in options)
    throw new UsageError("--ask: expected none with --of people; --every says in which period they count");
  const every = parseDuration("every", options.every);
  const lengths = asks.map((ask) => parseDuration("ask", ask));
  const bad = lengths.find((length) => length % every !== 0);
  if (bad !== undefined)
    throw new UsageError(`--ask: expected multiples of ${durationText(every)}, got ${durationText(bad)}`);
  const above = [...new Set([...lengths, MINUTE, HOUR, DAY])]
    .filter((length) => length > every && DAY % length === 0)
    .sort((a, b) => a - b);
  let [best, least] = [[every], Infinity];
  for (let set = 0; set < 2 ** above.length; set++) {
    const levels = [every, ...above.filter((_, i) => (set >> i) & 1)];
    if (levels.some((length, i) => i > 0 && length % levels[i - 1]! !== 0)) continue;
    const { errors } = planEvents({ ...options, levels }, asks);
    const worst = Math.max(
      ...lengths.map((length) => ratioOf(errors.find(({ period }) => period === durationText(length))!)),
    );
    if (worst < least - 1e-9 || (worst < least + 1e-9 && levels.length < best.length))
      [best, least] = [levels, worst];
  }
  return best.map(durationText);
}

const ratioOf = ({ standardError, plain }: PlannedError): number => standardError / plain;

const short = (x: number): string => String(Number(x.toPrecision(3)));

function text(
  args: Arguments,
  rows: readonly Row[],
  target: number | undefined,
  rate: Rate | undefined,
): string[] {
  const found = rows.find(({ plan }) => plan !== null)?.plan;
  const range = args.text("range") ?? "1h";
  const goal =
    target === undefined
      ? []
      : [`The smallest ε whose standard error is ${short(100 * target)} % of ${range} at ${rate!.text}.`];
  if (found === null || found === undefined)
    return [...goal, "There is none up to 64: take a longer --range, or fewer levels."];
  const isRecommended = args.text("ask") !== undefined && args.text("levels") === undefined;
  return [
    ...goal,
    `${isRecommended ? "Recommended: --levels" : "Levels"} ${found.levels.join(isRecommended ? "," : ", ")} (time zone ${found.zone}). The first number comes at most ${found.firstNumberAfter} after the start of a live stream.`,
    "",
    ...(rows.length === 1 ? single(rows[0]!, rate) : compared(rows)),
    ...lossNote(args, rows),
    ...chosenNote(rows),
    ...discoverNote(args, rows),
    ...fileNote(args),
  ];
}

/** One limit: every period, and plain noise on that question alone beside it. */
function single({ perPerson, epsilon, plan }: Row, rate: Rate | undefined): string[] {
  const { errors, errorsOf } = plan!;
  const isRank = errors[0]!.rankError !== undefined;
  const what = isRank
    ? `noise, in ${errorsOf}, and in events below the median (rank)`
    : `noise, in units of ${errorsOf}`;
  const isCount = errorsOf === "events";
  const isChosen = perPerson?.events === "choose";
  const isSum = perPerson?.sum !== undefined;
  const isPeople = errorsOf.startsWith("different people");
  // How much a person's sum is of an event's is not known, nor how many events a person has, nor k before it is chosen.
  const shown = isSum || isPeople || isChosen ? undefined : rate;
  const head = [
    ...["period", "standard error", "95 % ±", "plain noise"],
    ...(isRank ? ["rank"] : []),
    ...(shown === undefined
      ? []
      : [
          "expected events",
          isRank ? "95 % ± of a rank" : isCount ? "95 % ±" : "95 % ± of a mean, in % of θ",
        ]),
  ];
  const widthAt = (error: PlannedError, events: number): string => {
    const reach = isRank ? (error.reach * error.rankError!) / error.standardError : error.reach;
    return `${short((100 * reach) / events)} %`;
  };
  const body = errors.map((error) => {
    const events = shown === undefined ? 0 : shown.events * parseDuration("period", error.period);
    return [
      ...[error.period, short(error.standardError), short(error.reach), short(error.plain)],
      ...(isRank ? [short(error.rankError!)] : []),
      ...(shown === undefined ? [] : [short(events), widthAt(error, events)]),
    ];
  });
  const known = errors.find(({ period }) => period === "1h") ?? errors[0]!;
  return [
    `ε = ${short(epsilon!)}${isSum || isPeople ? "" : `, ${short(plan!.epsilonPerEvent)}${isChosen ? "/k" : ""} for one event`}: ${what}.`,
    table(head, body),
    ...(rate === undefined || !isCount
      ? []
      : [
          "",
          `With ${rate.text}, ${known.period} is known to ± ${widthAt(known, rate.events * parseDuration("period", known.period))}.`,
        ]),
  ];
}

/** Several limits: standard errors side by side. */
function compared(rows: readonly Row[]): string[] {
  const names = rows.find(({ plan }) => plan !== null)!.plan!.errors.map(({ period }) => period);
  const hasLoss = rows.some(({ loss }) => loss !== undefined);
  const body = rows.map(({ perPerson, epsilon, plan, loss }) => [
    perPerson?.events === undefined
      ? "not limited"
      : perPerson.events === "choose"
        ? "k, chosen: times k"
        : String(perPerson.events),
    epsilon === null ? "none up to 64" : short(epsilon),
    plan === null ? "" : short(plan.epsilonPerEvent),
    ...(plan?.errors.map(({ standardError, rankError }) => short(rankError ?? standardError)) ??
      names.map(() => "")),
    ...(hasLoss ? (loss === undefined ? ["", ""] : [share(loss.notCounted), share(loss.limitedDays)]) : []),
  ]);
  const lost = hasLoss ? ["not counted", "people's days limited"] : [];
  return [
    `Standard errors, by the length of the period:`,
    table(["events/person", "ε", "ε/event", ...names, ...lost], body),
    "",
    `A larger limit loses fewer events of busy people and adds more noise.${hasLoss ? "" : " The limit is public: choose it without looking at the data."}`,
  ];
}

const share = (part: number): string => `${short(100 * part)} %`;

/** Says what limits drop from a file, and what that costs. */
function lossNote({ operands: [path] }: Arguments, rows: readonly Row[]): string[] {
  if (path === undefined) return [];
  const [row] = rows;
  const what = row!.perPerson?.sum === undefined ? "events" : "the sum of all values";
  const alone =
    rows.length > 1 || row!.loss === undefined
      ? []
      : [
          `This limit does not count ${share(row!.loss.notCounted)} of ${what}, and meets ${share(row!.loss.limitedDays)} of people's days.`,
        ];
  return [
    "",
    ...alone,
    `Shares of ${path} are exact, so they are private: show them to nobody who may not see the file. A limit that was chosen by them tells a little about it: take an older file, or one like it.`,
  ];
}

/** Says what a k that is chosen privately costs. */
function chosenNote(rows: readonly Row[]): string[] {
  if (rows.every(({ perPerson }) => perPerson?.events !== "choose")) return [];
  return [
    "",
    "k, how many events of a person count, is chosen privately from the people of the first whole day. Its events have all of ε for that and are not published; later days have all of ε for their numbers. Errors are k times these.",
  ];
}

/** Says what votes for keys that nobody listed find and cost, for every ε of the table. */
function discoverNote(args: Arguments, rows: readonly Row[]): string[] {
  const delta = args.number("discover");
  if (delta === undefined) return [];
  if (args.text("per-person") === undefined && args.text("of") !== "people")
    throw new UsageError("--discover: expected with --per-person: votes are of people");
  const lines = [...new Set(rows.map(({ epsilon }) => epsilon))].flatMap((epsilon) => {
    if (epsilon === null) return [];
    const { rule, share } = resolveDiscover({ delta }, epsilon, "--discover");
    const { release } = sharesOf({ people: true, chosen: false });
    return [
      `With keys that nobody listed, ε = ${short(rule.epsilon)} of ${short(epsilon)} chooses them: a key is found on a day when about ${rule.k + 1} people vote for it, one that only one person used with probability δ = ${short(rule.delta)}. Errors are ${short(release / (release - share))} times these.`,
    ];
  });
  return ["", ...lines];
}

/** θ of a finished file takes a share of its own, where a live stream holds events out. */
function fileNote(args: Arguments): string[] {
  const chosen =
    args.text("edges") === undefined &&
    args.text("max") !== undefined &&
    args.text("threshold") === undefined;
  const limit = args.text("per-person");
  if (!chosen || limit?.startsWith("sum:") === true) return [];
  const parts = { people: limit !== undefined, chosen };
  const [live, finished] = [sharesOf(parts), sharesOf({ ...parts, finished: true })];
  return [
    "",
    `In a finished file θ takes ${finished.threshold}/${SHARES} of ε and nothing is held out: errors are ${short(live.release / finished.release)} times these.`,
  ];
}
