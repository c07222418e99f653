/**
 * Writes the parts of the documents that follow from the code:
 *
 *     npm run docs
 *
 * tables of errors and odds, what recipes print, reference pages from the types, two pictures, and llms.txt.
 * A page names a part between two comments. test/docs/written.slow.test.ts compares all of it with what is there.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { format, resolveConfig } from "prettier";
import { errorPicture } from "./docs/errorPicture.js";
import { llmsText } from "./docs/llms.js";
import { recipeParts } from "./docs/recipes.js";
import { referencePages } from "./docs/reference.js";
import { sizePicture, speedTable } from "./docs/speeds.js";
import { tables } from "./docs/tables.js";

type Parts = Readonly<Record<string, string>>;

/** A page with every part that it names written anew. */
export const withParts = (page: string, parts: Parts): string =>
  page.replace(
    /(<!-- npm run docs: (\S+) -->)[\s\S]*?(<!-- end -->)/g,
    (_, head: string, name: string, end: string) => {
      const part = parts[name];
      if (part === undefined) throw new Error(`docs: no part is called "${name}"`);
      return `${head}\n\n${part}\n\n${end}`;
    },
  );

/** Tables and outcomes, by the names that pages call them. */
export const parts = (): Parts => ({ ...tables(), speeds: speedTable(), ...recipeParts() });

/** Path and text of everything that is written. */
export async function writtenFiles(known: Parts): Promise<ReadonlyMap<string, string>> {
  const pages = readdirSync("docs")
    .filter((name) => name.endsWith(".md"))
    .map((name) => join("docs", name));
  const files = new Map<string, string>([
    ...pages.map((path): [string, string] => [path, withParts(readFileSync(path, "utf8"), known)]),
    ...referencePages(),
  ]);
  for (const [path, text] of files)
    files.set(path, await format(text, { ...(await resolveConfig(path)), filepath: path }));
  const llms = llmsText(
    (path) => path,
    (path) => files.get(path)!,
  );
  return files
    .set("docs/figures/error.svg", errorPicture())
    .set("docs/figures/size.svg", sizePicture())
    .set("llms.txt", llms);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href)
  for (const [path, text] of await writtenFiles(parts())) writeFileSync(path, text);
