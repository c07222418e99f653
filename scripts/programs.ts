/**
 * Programs of the repository by npm script and subject: `npm run bench` runs the one without a subject, `npm run bench -- web`
 * the one of that name (run.ts). CONTRIBUTING.md lists them all; test/scripts.test.ts compares.
 */
export interface Program {
  readonly file: string;
  /** How it runs: by tsx, by Vite, or bundled first, if it is timed or starts threads and processes of itself. */
  readonly by?: "vite" | { readonly bundle: string };
  /** Needed beside the kernels: the whole build, or the dashboard of the service. */
  readonly needs?: "build" | "dashboard";
  /** It answers `--help` itself. */
  readonly help?: true;
}

/** Beside packages/server/node_modules, whose packages it imports. */
const load = (name: string): Program => ({
  file: `packages/server/load/${name}.ts`,
  by: { bundle: `packages/server/build/load/${name}.mjs` },
});

export const PROGRAMS: Readonly<Record<string, Readonly<Record<string, Program>>>> = {
  bench: {
    "": { file: "bench/main.ts", help: true },
    against: { file: "bench/against.ts" },
    peers: { file: "bench/peers/main.ts" },
    web: { file: "bench/web.ts" },
    kafka: { file: "packages/kafka/bench/main.ts" },
  },
  measure: {
    local: { file: "research/localAccuracy/main.ts", by: { bundle: "build/localAccuracy.js" } },
    timing: { file: "scripts/timing.ts" },
    "first-number": { file: "scripts/firstNumber.ts", needs: "build" },
    "service-load": load("main"),
    "service-memory": load("memory"),
    "service-keys": load("keys"),
    "service-start": load("start"),
  },
  fuzz: {
    "": { file: "scripts/fuzz.ts", by: { bundle: "build/fuzz.js" } },
    service: { file: "packages/server/fuzz/main.ts" },
    chaos: { file: "packages/kafka/chaos/main.ts" },
  },
  example: {
    devices: { file: "examples/devices.ts" },
    pages: { file: "examples/page-views.ts" },
    service: { file: "packages/server/example/main.ts", needs: "dashboard" },
    kafka: { file: "packages/kafka/example/main.ts" },
  },
  web: {
    "": { file: "site/vite.config.ts", by: "vite" },
    build: { file: "site/build.ts" },
    pictures: { file: "scripts/sitePictures.ts" },
    card: { file: "scripts/siteCard.ts" },
    paper: { file: "scripts/sitePaper.ts" },
    intervals: { file: "scripts/siteIntervals.ts" },
    speed: { file: "scripts/siteSpeed.ts" },
  },
  docs: {
    "": { file: "scripts/docs.ts" },
    picture: { file: "scripts/readmePicture.ts" },
  },
  golden: { "": { file: "scripts/golden.ts" } },
  mutate: { "": { file: "scripts/mutate.ts" } },
  evidence: { "": { file: "scripts/evidence.ts", help: true } },
};
