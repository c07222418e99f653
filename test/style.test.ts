/** Rules of the code that a reader relies on: files bear the name of what they export, a word has one meaning, comments stand alone. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { expect, test } from "vitest";

const FOLDERS = ["src", "assembly", ...readdirSync("packages").map((name) => `packages/${name}/src`)];

const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".d.ts"))
    .map((path) => `${folder}/${path}`);

const FILES = FOLDERS.flatMap(filesOf);
const textOf = (file: string): string => readFileSync(file, "utf8");
const nameOf = (file: string): string => basename(file, ".ts");

/** Classes that a text exports, but for errors, and the names of everything that it exports. */
function exportsOf(text: string): { classes: string[]; all: string[] } {
  const found = [
    ...text.matchAll(
      /^export (?:abstract |async )?(class|function\*?|const|let|interface|type|enum) (\w+)(.*)$/gm,
    ),
  ];
  const isClass = ([, kind, , rest]: RegExpMatchArray): boolean =>
    kind === "class" && !/extends (\w*Error|Refusal|BadRequest)\b/.test(rest!);
  return { classes: found.filter(isClass).map(([, , name]) => name!), all: found.map(([, , name]) => name!) };
}

/** Whether a file that exports classes exports something of its own name. */
function isNamed(file: string, text: string): boolean {
  const { classes, all } = exportsOf(text);
  const own = nameOf(file).toLowerCase();
  return classes.length === 0 || all.some((name) => name.toLowerCase() === own);
}

/** Cores have the names of the kernels in assembly/; encoder and decoder are one idea. */
const isKernel = (file: string): boolean =>
  /^src\/core\/(js|wasm)\//.test(file) &&
  (existsSync(`assembly/${basename(file)}`) || nameOf(file) === "instance");

test("a file with a class bears the name of one of its exports", () => {
  const wrong = FILES.filter((file) => file !== "src/snapshot/codec.ts" && !isKernel(file)).filter(
    (file) => !isNamed(file, textOf(file)),
  );
  expect(wrong).toEqual([]);
});

/** Names that mean the same in every folder that has one. */
const ROLES = new Set([
  ...["answer", "budget", "device", "forest", "history", "holdout", "index", "intake", "node", "options"],
  ...["plan", "release", "reporter", "statement", "threshold", "worker"],
]);

function namedTwice(files: readonly string[]): string[] {
  const names = files.map(nameOf);
  return [...new Set(names.filter((name, i) => names.indexOf(name) !== i))].filter(
    (name) => !ROLES.has(name),
  );
}

test("the same file name twice only where two folders have the same role", () => {
  // A kernel, its twin and the table that it reads share a name.
  const own = FILES.filter((file) => !/^(assembly|src\/core)\//.test(file));
  for (const folder of FOLDERS)
    expect(namedTwice(own.filter((file) => file.startsWith(`${folder}/`)))).toEqual([]);
});

/** Words that had a second meaning, or a standard term beside them. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/\b[sS]tretch(es)?\b|[a-z]Stretch/, "epoch: trees with one θ; span: of time"],
  [/\b(re|un)?[sS]eal(s|ed|er|ing)?\b|\bseal(?!Every)[A-Z]/, "encrypt, cipher, snapshot"],
  [/\b[pP]erturber\b/, "forest"],
  [/\bClasses\b/, "ThresholdCounts"],
  [/\b(hold(s|ing)?|held) back\b|[hH]eld[bB]ack|[hH]olds?Back/, "deferred; held is for the hold-out"],
  [/\bStages assembly\b/, "Calls assembly"],
  [/\b[A-Z]+_PARTS\b|\b(node|first)Parts\b/, "share of ε"],
  [/\b[sS]tag(ed|ing)\b/, "copied, put; a stage is a line of the statement"],
  [/\b[bB]locks of candidates\b/, "chunks of candidates"],
];

const oldWords = (text: string): string[] =>
  WORDS.filter(([word]) => word.test(text)).map(([word, better]) => `${word.source}: ${better}`);

test("a word has one meaning", () => {
  for (const file of FILES) expect({ file, words: oldWords(textOf(file)) }).toEqual({ file, words: [] });
  for (const file of filesOf("test").map((path) => path.replace("test/", "")))
    expect({ file, words: oldWords(file) }).toEqual({ file, words: [] });
});

/** Comments that need their neighbours to be understood. The question that a bench asks does not. */
const leaning = (text: string): string[] =>
  [
    ...text.matchAll(
      /\/\*\*\s*(?:\n\s*\*\s*)?(?!What (?:do|does|is) [^.:;]*\?)((?:The same|Of|What|Its|And|Then|That)\b.*)/g,
    ),
  ].map(([, begin]) => begin!);

/** Every folder of code. */
const CODE = ["src", "assembly", "packages", "research", "site", "test", "bench", "scripts", "examples"];

/** TypeScript and JavaScript of a folder, without what is installed or built. */
const codeOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => /\.[jt]s$/.test(path) && !/(^|\/)(build|dist|node_modules)\//.test(path))
    .map((path) => `${folder}/${path}`);

test("a doc comment stands alone", () => {
  // The texts that the test of this test finds fault with are no comments.
  const files = CODE.flatMap(codeOf).filter((file) => file !== "test/style.test.ts");
  expect(files.length).toBeGreaterThan(1000);
  for (const file of files) expect({ file, comments: leaning(textOf(file)) }).toEqual({ file, comments: [] });
});

test("what these rules are for is noticed", () => {
  expect(isNamed("src/stream/noise.ts", "export class Forest {\n")).toBe(false);
  expect(isNamed("src/stream/noise.ts", "export class NoiseError extends RangeError {\n")).toBe(true);
  expect(namedTwice(["src/a/blocks.ts", "src/b/blocks.ts", "src/a/options.ts", "src/b/options.ts"])).toEqual([
    "blocks",
  ]);
  expect(oldWords("readonly stretch: Stretch; // sealed, held back, COUNT_PARTS").length).toBe(4);
  expect(oldWords("sealEvery: 256, others are held out in chunks")).toEqual([]);
  expect(leaning("/** The same in slices. */\n/**\n * What it is.\n */\n/** Offers. */")).toEqual([
    "The same in slices. */",
    "What it is.",
  ]);
  expect(leaning("/** What does a tree cost? */\n/** What is timed. Does it wait? */")).toEqual([
    "What is timed. Does it wait? */",
  ]);
  expect(FILES.length).toBeGreaterThan(300);
});
