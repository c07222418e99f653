/**
 * Everything that a release does but the publishing: builds and packs the four packages, checks the tarballs, and writes
 * build/release with the tarballs, the compiled kernels, an SBOM, all hashes, and how to build the same bytes again.
 * `npm run release:check [-- --tag v0.1.0]`
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { publint } from "publint";
import { formatMessage } from "publint/utils";

const OUT = "build/release";
/** Bytes of a tarball, at most. */
const BUDGETS: Readonly<Record<string, number>> = {
  brume: 720_000,
  "brume-research": 300_000,
  "brume-server": 400_000,
  "brume-kafka": 200_000,
};

const { tag } = parseArgs({ options: { tag: { type: "string" } } }).values;
const run = (command: string, ...args: string[]): string =>
  execFileSync(command, args, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: 2 ** 27,
    env: { ...process.env, npm_config_ignore_scripts: "true" },
  });
const fail = (message: string): never => {
  console.error(`release:check: ${message}`);
  process.exit(1);
};
const step = (message: string): void => console.log(`✓ ${message}`);

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly repository?: object;
  readonly homepage?: string;
  readonly bugs?: object;
}
const folders = [".", "research", "packages/server", "packages/kafka"];
const manifests = folders.map(
  (folder) => JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest,
);

const versions = new Set(manifests.map(({ version }) => version));
if (versions.size > 1)
  fail(`versions: expected the same in all packages, got ${[...versions].join(" and ")}`);
const version = manifests[0]!.version;
if (tag !== undefined && tag !== `v${version}`) fail(`--tag: expected v${version}, got ${tag}`);
const section = `## ${tag === undefined ? "Unreleased" : version}`;
if (!readFileSync("CHANGELOG.md", "utf8").includes(`${section}\n`))
  fail(`CHANGELOG.md: expected a section "${section}"`);
step(`version ${version}${tag === undefined ? "" : `, tag ${tag}`}`);

const homeless = manifests.filter(({ repository, homepage, bugs }) => !repository || !homepage || !bugs);
if (homeless.length > 0) {
  const names = homeless.map(({ name }) => name).join(", ");
  const message = `repository, homepage, bugs: expected all three in package.json of ${names}; without them npm refuses provenance, and links of the README lead nowhere`;
  if (tag !== undefined) fail(message);
  console.log(`! ${message}`);
}

rmSync(OUT, { recursive: true, force: true });
mkdirSync(OUT, { recursive: true });
run("npm", "run", "--silent", "build");
for (const module of ["noise.wasm", "data.wasm"]) copyFileSync(`build/${module}`, join(OUT, module));
step("built");

for (const [i, folder] of folders.entries()) {
  const { name } = manifests[i]!;
  const [packed] = JSON.parse(
    run("npm", "pack", "--json", "--ignore-scripts", "--pack-destination", OUT, `./${folder}`),
  ) as [{ filename: string }];
  const tarball = join(OUT, packed.filename);
  const bytes = statSync(tarball).size;
  if (bytes > BUDGETS[name]!)
    fail(`${packed.filename}: expected at most ${BUDGETS[name]} bytes, got ${bytes}`);
  const { messages, pkg } = await publint({
    strict: true,
    pack: { tarball: new Uint8Array(readFileSync(tarball)).buffer },
  });
  if (messages.length > 0)
    fail(`publint: ${messages.map((message) => formatMessage(message, pkg)).join("\n")}`);
  run("npx", "--no-install", "attw", tarball, "--profile", "esm-only", "--format", "json");
  step(
    `${packed.filename}: ${bytes} of ${BUDGETS[name]} bytes; publint and arethetypeswrong have nothing to say`,
  );
}

writeFileSync(
  join(OUT, "sbom.cdx.json"),
  run("npm", "sbom", "--sbom-format", "cyclonedx", "--sbom-type", "library", "--omit", "dev"),
);
step("sbom.cdx.json: what the packages depend on, as CycloneDX");

const commit = run("git", "rev-parse", "HEAD").trim();
writeFileSync(
  join(OUT, "REBUILD.md"),
  `# How to build the same bytes

Version ${version}, commit ${commit}, Node ${process.versions.node}.

    git clone REPOSITORY && cd brume && git checkout ${commit}
    npm ci && npm run release:check
    cd build/release && sha256sum --check SHA256SUMS

The build depends on the lock file and on no time, path or environment: a test builds it in another folder and compares all files (\`test/package/reproducible.test.ts\`).
`,
);
const sums = readdirSync(OUT)
  .filter((name) => name.endsWith(".tgz") || name.endsWith(".wasm"))
  .map(
    (name) =>
      `${createHash("sha256")
        .update(readFileSync(join(OUT, name)))
        .digest("hex")}  ${name}\n`,
  );
writeFileSync(join(OUT, "SHA256SUMS"), sums.join(""));
process.stdout.write(sums.join(""));
step(`${OUT}: ready to publish`);
