/** llms.txt: what this project is and where its documents are, for programs that read instead of people. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { GROUPS } from "../../site/docs/groups.js";
import { PAGES } from "./reference.js";

const HEAD = `# Brume

> Differentially private data streams for JavaScript and TypeScript: publish counts, sums, means, percentiles and unique visitors of sensitive events, each with an interval that holds for any data. ToPS: a trusted server adds noise. ToPL: devices add it themselves.

- Install: \`npm install brume\`; the service: \`npm install brume brume-server\`, then \`npx brume serve --init\`.
- Take \`privateCounter\` to count events or people, \`privateHistogram\` for percentiles, \`privateStream({ every })\` for sums and means, \`openHub\` for many keys and restarts.
- \`epsilon\`, \`max\`, \`threshold\`, \`keys\`, \`from\` and \`to\` are public: never compute them from the data.
- \`value\` is null if nothing was measured, and may be negative. Show \`low\` and \`high\` beside it.
- \`unsafeSeed\` is for tests: such a release is not private.
- A store error with \`code: "in-doubt"\` must not be retried.
`;

/** The first paragraph of a page, in one line and without links. */
function aboutOf(page: string): string {
  const text = page.split(/\n\n/).find((part) => /^[\p{L}`[]/u.test(part)) ?? "";
  const plain = text.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll(/[\s_]+/g, " ");
  return /^.*?[.?](?= |$)/.exec(plain)?.[0] ?? plain;
}

const fromDisk = (path: string): string => readFileSync(path, "utf8");

/**
 * @param place the address of a file of the repository
 * @param read the text of a page
 */
export function llmsText(place: (path: string) => string, read = fromDisk): string {
  const entry = (path: string): string => {
    const page = read(path);
    return `- [${/^# (.+)$/m.exec(page)![1]}](${place(path)}): ${aboutOf(page)}`;
  };
  const groups = GROUPS.map(({ title, pages }) => {
    const paths = pages.map((name) => `docs/${name}.md`).filter((path) => existsSync(path));
    return `## ${title}\n\n${paths.map(entry).join("\n")}\n`;
  });
  const reference = PAGES.map(({ file }) => entry(`docs/reference/${file}.md`)).join("\n");
  const tasks = readdirSync("examples/tasks").filter((name) => /\.(sh|json|html)$/.test(name));
  const examples = tasks.map((name) => `- [${name}](${place(`examples/tasks/${name}`)})`).join("\n");
  return [HEAD, ...groups, `## Reference\n\n${reference}\n`, `## Examples to copy\n\n${examples}\n`].join(
    "\n",
  );
}
