/** Runs commands at the same time, prints what each said when it is done, and fails if one did. */
import { Buffer } from "node:buffer";
import { spawn } from "node:child_process";

const run = (command) =>
  new Promise((done) => {
    const child = spawn(command, { shell: true, stdio: ["ignore", "pipe", "pipe"] });
    const said = [];
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => said.push(data));
    child.on("close", (code) => {
      process.stdout.write(`${command}: ${code === 0 ? "ok" : "failed"}\n`);
      if (code !== 0) process.stdout.write(Buffer.concat(said));
      done(code === 0);
    });
  });

const passed = await Promise.all(process.argv.slice(2).map(run));
process.exitCode = passed.every(Boolean) ? 0 : 1;
