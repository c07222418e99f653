/**
 * Builds /docs with TypeDoc: the guides of docs/ and the API reference in one site with one search.
 *
 * Why TypeDoc: it knows the API from the types, renders our Markdown as documents beside it, puts both into one search
 * index, and writes relative links only, so that the site works in any folder. VitePress needs to know its folder when
 * it is built, and brings a second Vite and a framework.
 */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { Application, DocumentReflection, KindRouter, PageEvent, type Reflection, Renderer } from "typedoc";
import { POLICY } from "../policy.js";
import { bundleExamples } from "./examples.js";

/** What is used comes first, then how good it is, then why it is private. A guide that is not named here comes last. */
const READING_ORDER = [
  ...["events", "local", "service", "cluster", "snapshots"],
  ...["accuracy", "opponents", "performance", "quality"],
  ...["privacy", "limits", "noise", "noisy-max", "audit", "paper", "departures"],
];

/** A guide's title in lists and search; its address keeps the name of its file. */
const titleOf = (markdown: string): string | undefined => /^# (.+)$/m.exec(markdown)?.[1];

const textOf = (document: DocumentReflection): string => document.content.map((part) => part.text).join("");

/** The address of a guide is the name of its file, so that links to it live long. */
class GuideRouter extends KindRouter {
  protected override getIdealBaseName(reflection: Reflection): string {
    const guide = reflection instanceof DocumentReflection ? guides.get(reflection) : undefined;
    return guide === undefined ? super.getIdealBaseName(reflection) : `documents/${guide}`;
  }
}

/** File name of each guide, without ".md". */
const guides = new Map<DocumentReflection, string>();

/** @param out the folder, which is the site's own docs/ */
export async function buildDocs(out: string): Promise<void> {
  const app = await Application.bootstrap({
    name: "Brume",
    entryPoints: ["src/index.ts", "src/reporter.ts", "src/device.ts", "research/index.ts"],
    tsconfig: "tsconfig.build.json",
    readme: "README.md",
    projectDocuments: ["docs/*.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"],
    searchInDocuments: true,
    excludePrivate: true,
    skipErrorChecking: true, // the types are checked by their own command
    validation: false,
    disableGit: true,
    disableSources: true,
    sort: ["kind", "source-order"],
    visibilityFilters: {}, // they need style elements, which the policy forbids
    router: "guides",
    logLevel: "Warn",
  });
  app.renderer.defineRouter("guides", GuideRouter);
  app.renderer.on(Renderer.EVENT_END_PAGE, (page: PageEvent) => {
    if (page.contents) page.contents = inOurLook(page.contents, page.url);
  });
  const project = await app.convert();
  if (project === undefined) throw new Error("docs: TypeDoc could not read the sources");
  const place = (document: DocumentReflection) => {
    const at = READING_ORDER.indexOf(basename(document.name, ".md"));
    return at === -1 ? READING_ORDER.length : at;
  };
  for (const list of [project.documents, project.childrenIncludingDocuments])
    list?.sort((a, b) =>
      a instanceof DocumentReflection && b instanceof DocumentReflection ? place(a) - place(b) : 0,
    );
  for (const document of project.documents ?? []) {
    guides.set(document, basename(document.name, ".md"));
    document.name = titleOf(textOf(document)) ?? document.name;
  }
  await app.generateDocs(project, out);
  const keys = await bundleExamples(join(out, "examples"));
  writeAssets(join(out, "assets"), keys);
}

/** The site's header, the policy, our style, and no script inside the page. */
function inOurLook(html: string, url: string): string {
  const base = "../".repeat(url.split("/").length - 1);
  const root = `${base}../`;
  const links = ["Story", "Play", "Attack", "Devices", "Compare", "Docs"]
    .map((name) => {
      const here = name === "Docs" ? ' aria-current="true"' : "";
      return `<a href="${root}${name === "Story" ? "" : `${name.toLowerCase()}/`}"${here}>${name}</a>`;
    })
    .join("");
  const ownTitle = url === "index.html" || url.startsWith("documents/");
  return html
    .replace(
      "<head>",
      `<head><meta http-equiv="Content-Security-Policy" content="${POLICY.replaceAll('"', "&quot;")}"/>`,
    )
    .replace(
      "</head>",
      `<link rel="icon" href="${root}favicon.svg" type="image/svg+xml"/><link rel="stylesheet" href="${base}assets/brume.css"/><script defer src="${base}assets/brume.js"></script></head>`,
    )
    .replace(/<body><script>.*?<\/script>/s, ownTitle ? '<body class="brume-own-title">' : "<body>")
    .replace('<div class="col-content">', '<div class="col-content" role="main">')
    .replace(
      '<div class="col-sidebar">',
      '<div class="col-sidebar" role="complementary" aria-label="Contents">',
    )
    .replaceAll(`href="${base}media/index.html"`, `href="${root}"`) // the README links the story's source
    .replace(/<pre>/g, '<pre tabindex="0">')
    .replace(
      '<div id="tsd-toolbar-links">',
      `<nav class="brume-links" aria-label="Pages">${links}</nav><div id="tsd-toolbar-links">`,
    );
}

function writeAssets(assets: string, keys: readonly string[]): void {
  mkdirSync(assets, { recursive: true });
  const own = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");
  // Its one style element is for the filters, which are off.
  const main = join(assets, "main.js");
  writeFileSync(
    main,
    readFileSync(main, "utf8").replaceAll('createElement("style")', 'createElement("template")'),
  );
  const fonts = own("../src/look/fonts.css").replace(/@fontsource-variable\/manrope\/files\//g, "./");
  writeFileSync(join(assets, "brume.css"), fonts + own("../src/look/tokens.css") + own("./docs.css"));
  writeFileSync(join(assets, "brume.js"), own("./docs.js").replace('"EXAMPLES"', JSON.stringify(keys)));
  for (const path of fonts.match(/\.\/[\w-]+\.woff2/g) ?? [])
    copyFileSync(
      join("node_modules/@fontsource-variable/manrope/files", basename(path)),
      join(assets, basename(path)),
    );
}
