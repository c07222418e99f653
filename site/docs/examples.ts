/**
 * Code blocks of the guides that a browser can run: each becomes a Worker of its own, because the pages' policy lets
 * nothing run that is not a file of the site.
 */
import { build } from "esbuild";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Modules that an example may import, and their source files. */
const LIBRARY: Record<string, string> = { brume: "src/index.ts", "brume-research": "research/index.ts" };

export interface Example {
  readonly key: string;
  readonly code: string;
}

/** Blocks in JavaScript that import nothing but the library and print something. */
export function runnable(markdown: string): Example[] {
  const blocks = [...markdown.matchAll(/^```(?:js|ts)\n([\s\S]*?)^```$/gm)].map((match) => match[1]!);
  return blocks
    .filter((code) => {
      const imports = [...code.matchAll(/from "([^"]+)"/g)].map((match) => match[1]!);
      return imports.length > 0 && imports.every((name) => name in LIBRARY) && code.includes("console.log");
    })
    .map((code) => ({ key: keyOf(code), code }));
}

/** FNV-1a of the code without white space; docs.js computes the same from what the page shows. */
export function keyOf(code: string): string {
  let hash = 0x811c9dc5;
  for (const char of code.replace(/\s/g, "")) hash = Math.imul(hash ^ char.codePointAt(0)!, 0x01000193);
  return (hash >>> 0).toString(16);
}

/** Says what it prints instead of printing it. */
const LISTEN = `console.log = (...words) => postMessage(words.map((word) => typeof word === "string" ? word : JSON.stringify(word)).join(" "));
console.table = (rows) => console.log(rows);
`;

/** Writes KEY.js for every example of the README and docs/; gives back the keys. */
export async function bundleExamples(out: string): Promise<string[]> {
  const pages = [
    "README.md",
    ...readdirSync("docs")
      .filter((name) => name.endsWith(".md"))
      .map((name) => join("docs", name)),
  ];
  const examples = pages.flatMap((page) => runnable(readFileSync(page, "utf8")));
  for (const { key, code } of examples)
    await build({
      stdin: { contents: LISTEN + code, resolveDir: ".", loader: "ts" },
      alias: Object.fromEntries(Object.entries(LIBRARY).map(([name, path]) => [name, `./${path}`])),
      bundle: true,
      minify: true,
      format: "esm",
      target: "es2022",
      outfile: join(out, `${key}.js`),
      logLevel: "error",
    });
  return examples.map(({ key }) => key);
}
