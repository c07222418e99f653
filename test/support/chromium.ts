/** A Chromium to test in: the one that is there, or one from the system's packages. There is no test without it. */
import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { installPackages } from "../../packages/kafka/broker/install.js";

const NAMES = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome"];

const MAC = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

/** The browser binary: `BRUME_CHROMIUM`, else one on this machine, else a fresh installation. */
export async function chromiumPath(): Promise<string> {
  const wanted = process.env["BRUME_CHROMIUM"];
  if (wanted !== undefined) {
    if (executable(wanted)) return wanted;
    throw new Error(`BRUME_CHROMIUM: expected an executable file, got ${wanted}`);
  }
  return find() ?? (await install());
}

/** A headless browser with a profile of its own that talks to nobody but the pages under test. */
export function launch(executablePath: string): Promise<Browser> {
  return chromium.launch({
    executablePath,
    headless: true,
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

/** Errors and stray requests of a page; tests expect both to stay empty. */
export interface Watched {
  readonly page: Page;
  /** Errors on the console or thrown, as text. */
  readonly errors: string[];
  /** Addresses outside the page's origin that it asked for; none is reached. */
  readonly strayRequests: string[];
}

/** Opens `url` in a context of its own and watches it. `prepare` has the page before it loads. */
export async function open(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
  prepare: (page: Page) => Promise<unknown> = () => Promise.resolve(),
): Promise<Watched> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const errors: string[] = [];
  const strayRequests: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(`${message.location().url}: ${message.text()}`);
  });
  page.on("pageerror", (error) => errors.push(String(error)));
  await context.route(
    (address) => address.origin !== new URL(url).origin && /^(https?|wss?):$/.test(address.protocol),
    (route) => {
      strayRequests.push(route.request().url());
      return route.abort();
    },
  );
  await prepare(page);
  await page.goto(url);
  return { page, errors, strayRequests };
}

function find(): string | undefined {
  const onPath = (process.env["PATH"] ?? "").split(delimiter);
  const folders = [...new Set([...onPath, "/usr/bin", "/usr/local/bin", "/snap/bin"])];
  const candidates = folders.flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return [...candidates, ...MAC, chromium.executablePath()].find(executable);
}

/** Installs a browser from the system's packages, or playwright's own build where that gives none. */
async function install(): Promise<string> {
  const ways = [
    () => installPackages("chromium"),
    () => Promise.resolve(void spawnSync(process.execPath, ownBuild(), { stdio: ["ignore", 2, 2] })),
  ];
  for (const way of ways) {
    await way();
    const found = find();
    if (found !== undefined && spawnSync(found, ["--version"]).status === 0) return found;
  }
  throw new Error(
    "Chromium: the browser tests need one, none was found, and it could not be installed. " +
      "Install Chromium or Chrome, or set BRUME_CHROMIUM to its executable.",
  );
}

/** The arguments with which Node installs playwright's own build. */
function ownBuild(): string[] {
  const home = dirname(createRequire(import.meta.url).resolve("playwright-core/package.json"));
  return [join(home, "cli.js"), "install", "chromium"];
}

function executable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
