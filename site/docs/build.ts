/**
 * Builds /docs with TypeDoc: the guides of docs/ and the API reference in one site with one search.
 *
 * Why TypeDoc: it knows the API from the types, renders our Markdown as documents beside it, puts both into one search
 * index, and writes relative links only, so that the site works in any folder. VitePress needs to know its folder when
 * it is built, and brings a second Vite and a framework.
 */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import {
  Application,
  DocumentReflection,
  IndexEvent,
  KindRouter,
  PageEvent,
  type ProjectReflection,
  type Reflection,
  ReflectionGroup,
  Renderer,
} from "typedoc";
import { POLICY } from "../policy.js";
import { bundleExamples } from "./examples.js";
import { GROUPS, SEARCHED } from "./groups.js";

/** Entry points that users import, and their source files. */
const ENTRIES: Readonly<Record<string, string>> = {
  brume: "src/index.ts",
  "brume/node": "src/node.ts",
  "brume/reporter": "src/reporter.ts",
  "brume/device": "src/device.ts",
  "brume-research": "research/index.ts",
};
/** The names that TypeDoc gives them: paths without "index". */
const MODULES = new Map(
  Object.entries(ENTRIES).map(([name, path]) => [path.replace(/(\/index)?\.ts$/, ""), name]),
);

/** Folders of documents, and where their pages are. The address of a page is the name of its file, so that links live long. */
const FOLDERS: readonly (readonly [folder: string, address: string])[] = [
  ["docs", "documents"],
  ["docs/reference", "documents/reference"],
  ["research/notes", "documents/notes"],
  [".", "documents"],
];
const OF_THE_PROJECT = ["ARCHITECTURE", "CONTRIBUTING", "SECURITY", "CHANGELOG"];

/** Documents by title: TypeDoc does not say which file a document comes from. */
function filesByTitle(): ReadonlyMap<string, Page> {
  const found = new Map<string, Page>();
  for (const [folder, address] of FOLDERS)
    for (const file of readdirSync(folder).filter((name) => name.endsWith(".md"))) {
      const name = file.replace(/\.md$/, "");
      if (folder === "." && !OF_THE_PROJECT.includes(name)) continue;
      const title = titleOf(readFileSync(join(folder, file), "utf8"))!;
      if (found.has(title)) throw new Error(`docs: two pages are called "${title}"`);
      found.set(title, { folder, name, address: `${address}/${name}` });
    }
  return found;
}

interface Page {
  readonly folder: string;
  /** Name of the file, without ".md". */
  readonly name: string;
  readonly address: string;
}

/** A guide's title in lists and search; its address keeps the name of its file. */
const titleOf = (markdown: string): string | undefined => /^# (.+)$/m.exec(markdown)?.[1];

const textOf = (document: DocumentReflection): string => document.content.map((part) => part.text).join("");

class GuideRouter extends KindRouter {
  protected override getIdealBaseName(reflection: Reflection): string {
    const guide = reflection instanceof DocumentReflection ? guides.get(reflection) : undefined;
    return guide === undefined ? super.getIdealBaseName(reflection) : guide.address;
  }
}

const guides = new Map<DocumentReflection, Page>();

/** The lists of the documentation: groups of pages, then references, studies, and the project's own pages. */
function grouped(project: ProjectReflection): ReflectionGroup[] {
  const all = [...guides.entries()];
  const of = (title: string, take: (page: Page) => number | undefined): ReflectionGroup => {
    const group = new ReflectionGroup(title, project);
    const places = all.map(([document, page]) => [document, take(page)] as const);
    group.children = places
      .filter(([, place]) => place !== undefined)
      .sort(([, a], [, b]) => a! - b!)
      .map(([document]) => document);
    return group;
  };
  const listed = (folder: string, names: readonly string[]) => (page: Page) =>
    page.folder === folder && names.includes(page.name) ? names.indexOf(page.name) : undefined;
  const inFolder = (folder: string) => (page: Page) => (page.folder === folder ? 0 : undefined);
  const ours = GROUPS.map(({ title, pages }) => of(title, listed("docs", pages)));
  return [
    ...ours.slice(0, 3),
    of("Options and answers", inFolder("docs/reference")),
    ...ours.slice(3),
    of("Measurements", inFolder("research/notes")),
    of("The project", listed(".", OF_THE_PROJECT)),
  ];
}

/** @param out the folder, which is the site's own docs/ */
export async function buildDocs(out: string): Promise<void> {
  const app = await Application.bootstrap({
    name: "Brume",
    entryPoints: Object.values(ENTRIES),
    tsconfig: "site/docs/tsconfig.typedoc.json",
    readme: "README.md",
    projectDocuments: [
      ...["docs/*.md", "docs/reference/*.md", "research/notes/*.md"],
      ...OF_THE_PROJECT.map((name) => `${name}.md`),
    ],
    navigation: { includeGroups: true },
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
  app.renderer.on(IndexEvent.PREPARE_INDEX, (event: IndexEvent) => {
    event.searchFieldWeights["searched"] = 1000; // above the names of the API
    event.searchResults.forEach((reflection, i) => {
      const page = reflection instanceof DocumentReflection ? guides.get(reflection) : undefined;
      if (page?.folder === "docs") event.searchFields[i]!["searched"] = SEARCHED[page.name] ?? "";
      // A reader of "epsilon" asks for the page before functions that begin so, and for fields of that name last.
      if (page === undefined)
        reflection.relevanceBoost = reflection.parent?.parent?.parent === undefined ? 0.2 : 0.001;
    });
  });
  const project = await app.convert();
  if (project === undefined) throw new Error("docs: TypeDoc could not read the sources");
  for (const module of project.children ?? []) module.name = MODULES.get(module.name) ?? module.name;
  const files = filesByTitle();
  for (const document of project.documents ?? []) {
    document.name = titleOf(textOf(document)) ?? document.name;
    const page = files.get(document.name);
    if (page === undefined) throw new Error(`docs: no file has the title "${document.name}"`);
    guides.set(document, page);
  }
  project.groups = [
    ...grouped(project),
    ...(project.groups ?? []).filter(
      ({ children }) => !children.some((child) => guides.has(child as DocumentReflection)),
    ),
  ];
  await app.generateDocs(project, out);
  const keys = await bundleExamples(join(out, "examples"));
  writeAssets(join(out, "assets"), keys);
}

/** The pages of the site, as its header names them. */
const PAGES = {
  Story: "",
  Lab: "play/",
  Attack: "attack/",
  Devices: "devices/",
  Paper: "paper/",
  Docs: "docs/",
};

/** The site's header, the policy, our style, and no script inside the page. */
function inOurLook(html: string, url: string): string {
  const base = "../".repeat(url.split("/").length - 1);
  const root = `${base}../`;
  const links = Object.entries(PAGES)
    .map(([name, path]) => {
      const here = name === "Docs" ? ' aria-current="true"' : "";
      return `<a href="${root}${path}"${here}>${name}</a>`;
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
    .replace(/<pre>/g, '<pre tabindex="0">')
    .replaceAll('style="text-align:right"', 'class="brume-right"') // the policy forbids styles in attributes
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
