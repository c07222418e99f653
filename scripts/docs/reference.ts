/**
 * Reference pages, one per function: options and answers from the types and their comments. "Default …" in a comment is the
 * column of defaults; a question mark in the type says that an option may be omitted.
 */
import ts from "typescript";

/** A page: what it is called, the function, and the types that its tables show. */
interface Page {
  readonly file: string;
  readonly title: string;
  /** Where the function is imported from. */
  readonly from: string;
  /** How it is called. */
  readonly call: string;
  readonly about: string;
  /** The types of the options, by the names that `src` exports. */
  readonly options: readonly string[];
  readonly methods?: string;
  readonly answers?: readonly string[];
  readonly more: readonly (readonly [title: string, page: string])[];
}

const EVENT_ANSWERS = ["EventAnswer", "Limited", "Clipped"];
const READ = ["Read an answer", "../read-an-answer.md"] as const;
const PEOPLE = ["Which keys? Which people?", "../people-and-keys.md"] as const;
const RESTARTS = ["Restarts and backups", "../restarts.md"] as const;
const DEVICES = ["Devices", "../devices.md"] as const;

export const PAGES: readonly Page[] = [
  {
    file: "private-counter",
    title: "privateCounter",
    from: "brume",
    call: 'privateCounter({ epsilon: 1, every: "1h" })',
    about: 'Counts events, or with `of: "people"` distinct people, per period of a time zone.',
    options: ["CounterOptions", "PerPerson", "HistoryOptions", "PeopleOptions"],
    methods: "Counter",
    answers: EVENT_ANSWERS,
    more: [READ, PEOPLE],
  },
  {
    file: "private-stream-of-events",
    title: "privateStream of events",
    from: "brume",
    call: 'privateStream({ epsilon: 1, every: "1h", max: 1000, of: "mean" })',
    about:
      "Sums, means or counts of events with a value, per period of a time zone. With `every` in the options a stream takes events.",
    options: ["EventStreamOptions", "PerPerson", "HistoryOptions"],
    methods: "EventStream",
    answers: EVENT_ANSWERS,
    more: [READ, PEOPLE],
  },
  {
    file: "private-histogram",
    title: "privateHistogram",
    from: "brume",
    call: 'privateHistogram({ epsilon: 1, every: "1h", edges: { min: 1, max: 60_000 } })',
    about: "Counts of buckets, percentiles (p50, p95, p99) and shares of values, per period of a time zone.",
    options: ["HistogramOptions", "EdgeRule", "PerPerson", "HistoryOptions"],
    methods: "Histogram",
    answers: ["HistogramAnswer", "HistogramQuery", "QuantileAnswer", "ShareAnswer"],
    more: [READ, PEOPLE],
  },
  {
    file: "private-stream-of-values",
    title: "privateStream of values",
    from: "brume",
    call: "privateStream({ epsilon: 1, max: 1000 })",
    about: "One private number per value, and sums over any range of positions (ToPS).",
    options: ["StreamOptions", "Tuning"],
    methods: "PrivateStream",
    answers: ["RangeAnswer", "RangeOptions", "Hidden"],
    more: [READ, ["Which function?", "../which-function.md"]],
  },
  {
    file: "open-stream",
    title: "openStream",
    from: "brume",
    call: 'await openStream({ name: "visits", store, key, epsilon: 1, max: 1000 })',
    about:
      "A stream, a counter or a histogram that survives restarts: it takes the options of the stream and those below.",
    options: ["Stored"],
    methods: "DurableStream",
    answers: ["StoreError"],
    more: [RESTARTS],
  },
  {
    file: "open-hub",
    title: "openHub",
    from: "brume",
    call: 'openHub({ store, key, metrics: { orders: { of: "count", epsilon: 1, every: "1h", keys } } })',
    about:
      "Many metrics and keys of events in one process with one store. A metric takes the options of its stream and `keys`.",
    options: ["EventHubOptions", "StreamMetric"],
    methods: "EventHub",
    answers: ["EventHubStats", "DroppedEvents"],
    more: [PEOPLE, RESTARTS],
  },
  {
    file: "open-hub-of-values",
    title: "openHub of values",
    from: "brume",
    call: "openHub({ store, key, epsilon: 1, max: 1000 })",
    about:
      "Many streams of values in one process, one per name. It takes the options of a value stream and those below.",
    options: ["HubOptions"],
    methods: "Hub",
    answers: ["HubProgress", "HubStats"],
    more: [["Many value streams in one process", "../value-hub.md"], RESTARTS],
  },
  {
    file: "open-worker-hub",
    title: "openWorkerHub",
    from: "brume/node",
    call: "openWorkerHub({ workers: 2, store, key, epsilon: 1, max: 1000 })",
    about: "A hub of value streams whose streams run on threads.",
    options: ["WorkerHubOptions"],
    methods: "WorkerHub",
    more: [["Many value streams in one process", "../value-hub.md"]],
  },
  {
    file: "rekey",
    title: "rekey",
    from: "brume/node",
    call: "await rekey({ store, from, to })",
    about:
      "Encrypts everything in a store with another key, and gives the number of snapshots that it encrypted.",
    options: ["RekeyOptions"],
    more: [RESTARTS],
  },
  {
    file: "open-odometer",
    title: "openOdometer",
    from: "brume",
    call: 'await openOdometer({ name: "budget", store, key, limit: 10 })',
    about: "Adds up ε over several releases of the same data, and refuses what goes above a limit.",
    options: ["OdometerOptions", "Budget", "Terms"],
    methods: "Odometer",
    answers: ["ApproximateSpending"],
    more: [["One budget for several releases", "../budget.md"]],
  },
  {
    file: "reporter",
    title: "reporter",
    from: "brume/reporter",
    call: "reporter({ epsilon: 1, max: 60_000, threshold })",
    about: "Makes reports on a device: the value never leaves it.",
    options: ["ReporterOptions"],
    methods: "Reporter",
    answers: ["Report"],
    more: [DEVICES],
  },
  {
    file: "aggregator",
    title: "aggregator",
    from: "brume",
    call: "aggregator({ epsilon: 1, max: 60_000, threshold: 15_000 })",
    about: "Counts reports of devices and answers means, sums, percentiles and histograms per day.",
    options: ["AggregatorOptions"],
    methods: "Aggregator",
    answers: ["LocalAnswer", "ClippedShare", "LocalTerms"],
    more: [DEVICES],
  },
  {
    file: "open-aggregator",
    title: "openAggregator",
    from: "brume",
    call: 'await openAggregator({ name: "load", store, key, epsilon: 1, max: 60_000 })',
    about: "An aggregator that survives restarts. Its answers are those of `aggregator`, as promises.",
    options: ["OpenAggregatorOptions"],
    methods: "DurableAggregator",
    more: [DEVICES, RESTARTS],
  },
  {
    file: "device",
    title: "device",
    from: "brume/device",
    call: 'device({ name: "load", epsilon: 1, max: 60_000, budget, terms: "/terms", url: "/reports" })',
    about: "A page that reports with a budget, which survives reloads, tabs and crashes.",
    options: ["DeviceOptions", "BudgetOptions"],
    methods: "Device",
    answers: ["DeviceStatement"],
    more: [DEVICES],
  },
  {
    file: "plan",
    title: "plan",
    from: "brume",
    call: 'plan({ epsilon: 1, every: "1h", of: "count" })',
    about:
      "Error and memory of a release from its options alone, before you have data. It takes the options of any stream.",
    options: [],
    answers: ["EventPlan", "PlannedError", "Plan"],
    more: [
      ["Choose ε", "../choose-epsilon.md"],
      ["How accurate?", "../accuracy.md"],
    ],
  },
];

const ENTRIES = ["src/index.ts", "src/node.ts", "src/reporter.ts", "src/device.ts"];

interface Member {
  readonly name: string;
  readonly type: string;
  readonly optional: boolean;
  readonly comment: string;
}

/** All names that the entries export, and their members. */
class Types {
  readonly #checker: ts.TypeChecker;
  readonly #symbols = new Map<string, ts.Symbol>();

  constructor() {
    const { config } = ts.readConfigFile("tsconfig.json", (path) => ts.sys.readFile(path)) as {
      config: { compilerOptions: object };
    };
    const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, ".");
    const program = ts.createProgram(ENTRIES, { ...options, noEmit: true });
    this.#checker = program.getTypeChecker();
    for (const entry of ENTRIES) {
      const module = this.#checker.getSymbolAtLocation(program.getSourceFile(entry)!)!;
      for (const symbol of this.#checker.getExportsOfModule(module)) {
        const own = symbol.flags & ts.SymbolFlags.Alias ? this.#checker.getAliasedSymbol(symbol) : symbol;
        this.#symbols.set(symbol.name, own);
      }
    }
  }

  membersOf(name: string): Member[] {
    const symbol = this.#symbols.get(name);
    if (symbol === undefined) throw new Error(`docs: no type is exported as "${name}"`);
    const type = this.#checker.getDeclaredTypeOfSymbol(symbol);
    return this.#checker
      .getPropertiesOfType(type)
      .filter((property) => isShown(property))
      .map((property) => ({
        name: property.name,
        type: this.#textOf(property),
        optional: (property.flags & ts.SymbolFlags.Optional) !== 0,
        comment: ts
          .displayPartsToString(property.getDocumentationComment(this.#checker))
          .replaceAll(/\s+/g, " "),
      }));
  }

  /** As it is written, since that names types instead of unfolding them. */
  #textOf(property: ts.Symbol): string {
    const declaration = property.declarations?.[0];
    if (declaration === undefined) return "";
    if (ts.isMethodSignature(declaration) || ts.isMethodDeclaration(declaration)) {
      const parameters = declaration.parameters.map((parameter) => {
        const rest = parameter.dotDotDotToken === undefined ? "" : "...";
        const optional = parameter.questionToken ?? parameter.initializer;
        return `${rest}${parameter.name.getText()}${optional === undefined ? "" : "?"}`;
      });
      return `(${parameters.join(", ")})`;
    }
    const { type } = declaration as ts.PropertySignature;
    return (
      type?.getText() ??
      this.#checker.typeToString(this.#checker.getTypeOfSymbolAtLocation(property, declaration))
    )
      .replaceAll(/\/\*\*[\s\S]*?\*\//g, "")
      .replaceAll(/\breadonly /g, "")
      .replaceAll(/\s+/g, " ")
      .replace(/^\| /, "");
  }
}

/** Public members: nothing of Error or of private fields. */
function isShown(property: ts.Symbol): boolean {
  const declaration = property.declarations?.[0];
  if (declaration === undefined || property.name.startsWith("__#") || property.name.startsWith("#"))
    return false;
  const { fileName } = declaration.getSourceFile();
  if (fileName.includes("node_modules")) return false;
  const flags = ts.getCombinedModifierFlags(declaration);
  return (flags & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected)) === 0;
}

const cell = (text: string): string => text.replaceAll("|", "\\|");
const code = (text: string): string => `\`${text}\``;

/** "… Default 65 536." → the default, and the rest of the comment. */
function defaultOf({ comment, optional }: Member): { readonly value: string; readonly rest: string } {
  const found = /(?:^|(?<=\. ))Default:? ((?:[^.]|\.(?! |$))+)\.?(?= |$)/.exec(comment);
  if (found === null) return { value: optional ? "" : "required", rest: comment };
  const rest = comment.replace(found[0], "").replaceAll(/\s+/g, " ").trim();
  return { value: found[1]!, rest };
}

function optionTable(members: readonly Member[]): string {
  const rows = members.map((member) => {
    const { value, rest } = defaultOf(member);
    return [code(member.name), code(cell(member.type)), cell(value), cell(rest)];
  });
  return table(["option", "type", "default", "meaning"], rows);
}
const fieldTable = (members: readonly Member[]): string =>
  table(
    ["field", "type", "meaning"],
    members.map((member) => [
      code(`${member.name}${member.optional ? "?" : ""}`),
      code(cell(member.type)),
      cell(member.comment),
    ]),
  );
const methodTable = (members: readonly Member[]): string =>
  table(
    ["call", "what it does"],
    members.map(({ name, type, comment }) => [
      code(cell(type.startsWith("(") && !type.includes("=>") ? name + type : name)),
      cell(comment),
    ]),
  );
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");

const WORDS: Readonly<Record<string, string>> = { Stored: "Options beside those of the stream" };
const words = (name: string): string => WORDS[name] ?? name;

function pageOf(page: Page, types: Types): string {
  const [first, ...others] = page.options;
  const parts = [
    `# ${page.title}`,
    "<!-- Written by `npm run docs` from the types; edit the comments there. -->",
    page.about,
    `\`\`\`ts\nimport { ${page.title.split(" ")[0]!} } from "${page.from}";\n\n${page.call};\n\`\`\``,
    ...(first === undefined ? [] : ["## Options", optionTable(types.membersOf(first))]),
    ...others.flatMap((name) => [`### ${words(name)}`, optionTable(types.membersOf(name))]),
    ...(page.methods === undefined ? [] : ["## Methods", methodTable(types.membersOf(page.methods))]),
    ...(page.answers === undefined ? [] : ["## Answers"]),
    ...(page.answers ?? []).flatMap((name) => [`### ${words(name)}`, fieldTable(types.membersOf(name))]),
    `Read on: ${page.more.map(([title, path]) => `[${title}](${path})`).join(" · ")}.`,
  ];
  return `${parts.join("\n\n")}\n`;
}

/** Path and text of every reference page. */
export function referencePages(): ReadonlyMap<string, string> {
  const types = new Types();
  return new Map(PAGES.map((page) => [`docs/reference/${page.file}.md`, pageOf(page, types)]));
}
