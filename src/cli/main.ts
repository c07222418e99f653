#!/usr/bin/env node
/** Where `brume` begins. The version is printed before anything else is loaded. */
import { readFileSync } from "node:fs";

if (process.argv[2] === "--version") {
  const manifest = readFileSync(new URL("../../../package.json", import.meta.url), "utf8");
  console.log((JSON.parse(manifest) as { version: string }).version);
} else {
  // A reader that stops early (head) is not an error.
  process.stdout.on("error", (reason: NodeJS.ErrnoException) =>
    process.exit(reason.code === "EPIPE" ? 0 : 1),
  );
  process.stderr.on("error", () => undefined); // words that nobody reads any more
  const { runCommand } = await import("./run.js");
  process.exitCode = await runCommand(process.argv.slice(2));
}
