/** `brume serve` as a process of its own: the command line around it, without the build. Run as `node --import tsx served.ts CONFIG`. */
import { runCommand, shown } from "../src/cli.js";

try {
  await runCommand({ config: process.argv[2]!, check: false, init: false });
} catch (reason) {
  console.error(shown(reason) ?? reason);
  process.exitCode = 1;
}
