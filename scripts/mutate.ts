/**
 * Mutation testing: changes one operator, number or condition at a time in a copy of the project, and sees whether
 * the tests of that file notice.
 *
 *     npm run mutate -- --mutants 120 [--seed 1] [--file src/core/tables/scale.ts]
 *
 * A mutant that no test notices survives, and is printed. Mutants are drawn at random, the same for the same seed.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import ts from "typescript";
import { Dice } from "./fuzz/dice.js";

/** What is mutated, and the tests that are expected to notice; the first are the quickest to. */
const SUBJECTS: Record<string, readonly string[]> = {
  "src/core/js/chacha.ts": ["core/chacha", "core/laplace"],
  "src/core/js/reader.ts": ["core/reader", "core/laplace"],
  "src/core/js/laplace.ts": ["core/laplace"],
  "src/core/js/forest.ts": ["core/forest"],
  "src/core/js/consistency.ts": ["core/consistency"],
  "src/core/js/threshold.ts": ["stream/threshold"],
  "src/core/js/blocks.ts": ["stream/threshold", "attacks/order"],
  "src/core/js/squareWave.ts": ["core/squareWave"],
  "src/core/js/ingest.ts": ["core/ingest"],
  "src/core/js/reports.ts": ["core/reports"],
  "src/core/tables/alias.ts": ["core/scale", "core/laplace"],
  "src/core/tables/fixedPoint.ts": ["core/scale", "core/laplace"],
  "src/core/tables/scale.ts": ["core/laplace", "core/scale"],
  "src/core/tables/selection.ts": ["stream/threshold"],
  "src/core/tables/coin.ts": ["core/reader", "core/laplace"],
  "src/core/tables/sectors.ts": ["core/reports", "local/mechanisms"],
  "src/core/tree.ts": ["core/forest", "core/consistency"],
  "src/core/random.ts": ["core/random", "core/chacha"],
  "src/core/checks.ts": ["core/checks", "stream/stream"],
  "src/stream/noise.ts": ["stream/stream"],
  "src/stream/blockPublisher.ts": ["stream/stream", "stream/ranges"],
  "src/stream/ranges.ts": ["stream/ranges", "stream/snapshot", "stream/coverage"],
  "src/stream/variance.ts": ["stream/variance", "stream/coverage"],
  "src/stream/levels.ts": ["stream/plan", "stream/stream"],
  "src/stream/options.ts": ["core/checks", "stream/stream"],
  "src/stream/threshold.ts": ["stream/stream", "stream/threshold"],
  "src/stream/warmStart.ts": ["stream/stream"],
  "src/stream/codec.ts": ["stream/snapshot"],
  "src/stream/snapshot.ts": ["stream/snapshot"],
  "src/local/report.ts": ["local/aggregator", "local/reporter"],
  "src/local/threshold.ts": ["local/threshold"],
  "src/durable/openStream.ts": ["durable/hub"],
  "src/durable/stores/file.ts": ["durable/hub"],
};

interface Mutant {
  readonly file: string;
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly before: string;
  readonly after: string;
}

const SWAPS: Record<string, string> = {
  "+": "-",
  "-": "+",
  "*": "/",
  "/": "*",
  "%": "*",
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "===": "!==",
  "!==": "===",
  "&&": "||",
  "||": "&&",
  "<<": ">>",
  ">>": "<<",
  ">>>": "<<",
  "&": "|",
  "|": "&",
  "^": "&",
  "+=": "-=",
  "-=": "+=",
};

/** Every mutant of one file: operators swapped, numbers off by one, conditions and negations turned round. */
function mutantsOf(file: string): Mutant[] {
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true);
  const found: Mutant[] = [];
  const add = (node: ts.Node, after: string) => {
    const [start, end] = [node.getStart(source), node.getEnd()];
    const line = source.getLineAndCharacterOfPosition(start).line + 1;
    found.push({ file, line, start, end, before: node.getText(source), after });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node)) return;
    if (ts.isBinaryExpression(node)) {
      const swap = SWAPS[node.operatorToken.getText(source)];
      if (swap !== undefined && !ts.isStringLiteralLike(node.left) && !ts.isTemplateExpression(node.left))
        add(node.operatorToken, swap);
    } else if (ts.isNumericLiteral(node)) add(node, `(${node.getText(source)} + 1)`);
    else if (ts.isBigIntLiteral(node)) add(node, `(${node.getText(source)} + 1n)`);
    else if (ts.isIfStatement(node)) add(node.expression, `!(${node.expression.getText(source)})`);
    else if (ts.isConditionalExpression(node)) add(node.condition, `!(${node.condition.getText(source)})`);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** Far above what the tests take: only a mutant that loops for ever gets there, and is noticed by that. */
const TIME_LIMIT_MS = 900_000;

/** Runs the tests on the copy; true if they fail or hang. */
function noticed(copy: string, tests: readonly string[]): boolean {
  const files = tests.map((name) => `test/${name}.test.ts`);
  const vitest = join("node_modules", "vitest", "vitest.mjs");
  const run = spawnSync(
    process.execPath,
    [vitest, "run", "--project", "source", "--bail", "1", "--reporter", "dot", ...files],
    { cwd: copy, stdio: "ignore", timeout: TIME_LIMIT_MS },
  );
  return run.status !== 0;
}

function main(): void {
  const { values } = parseArgs({
    options: {
      mutants: { type: "string", default: "120" },
      seed: { type: "string", default: "1" },
      file: { type: "string" },
    },
  });
  const files = Object.keys(SUBJECTS).filter((file) => values.file === undefined || file === values.file);
  const all = files.flatMap(mutantsOf);
  const dice = new Dice(Number(values.seed), 0);
  const chosen = Array.from({ length: Math.min(all.length, Number(values.mutants)) }, () =>
    all.splice(dice.below(all.length), 1),
  ).flat();

  const copy = mkdtempSync(join(tmpdir(), "brume-mutants-"));
  try {
    for (const part of [
      "src",
      "research",
      "scripts",
      "test",
      "package.json",
      "tsconfig.json",
      "vitest.config.ts",
      "assembly",
    ])
      cpSync(part, join(copy, part), { recursive: true });
    symlinkSync(resolve("node_modules"), join(copy, "node_modules"));
    const baseline = [...new Set(chosen.flatMap(({ file }) => SUBJECTS[file]!))];
    if (noticed(copy, baseline)) throw new Error("the tests fail without any mutant");
    let killed = 0;
    chosen.forEach(({ file, line, start, end, before, after }, i) => {
      const text = readFileSync(join(copy, file), "utf8");
      writeFileSync(join(copy, file), text.slice(0, start) + after + text.slice(end));
      const seen = noticed(copy, SUBJECTS[file]!);
      writeFileSync(join(copy, file), text);
      if (seen) killed++;
      else console.log(`survived: ${file}:${line}: ${before} → ${after}`);
      if ((i + 1) % 10 === 0) console.log(`${killed} of ${i + 1} noticed`);
    });
    console.log(`${killed} of ${chosen.length} mutants noticed (of ${all.length + chosen.length} there are)`);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

main();
