/** `brume serve` as a process of its own: the command line around it, bundled by the tests that run it. */
import { runCommand, shown } from "../src/cli.js";

try {
  await runCommand({ config: process.argv[2]!, check: false, init: false });
} catch (reason) {
  console.error(shown(reason) ?? reason);
  process.exitCode = 1;
}
