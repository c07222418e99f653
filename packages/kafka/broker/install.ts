/** Programs that tests and examples need, from the system's packages (Debian and its relatives). */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Installs Debian packages, as root or with a sudo that asks for no password. Says so on standard error. Processes that
 * need packages at the same time wait for each other: apt-get refuses to update its lists twice at once.
 */
export async function installPackages(...names: string[]): Promise<void> {
  if (spawnSync("apt-get", ["--version"]).status !== 0) return;
  const sudo = process.getuid?.() === 0 ? [] : ["sudo", "-n"];
  if (sudo.length > 0 && spawnSync("sudo", ["-n", "true"]).status !== 0) return;
  const aptGet = "DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300";
  const script = `${aptGet} update && ${aptGet} install -y --no-install-recommends ${names.join(" ")} >/dev/null`;
  const [command, ...args] = [...sudo, "flock", join(tmpdir(), "brume-apt-get.lock"), "sh", "-c", script];
  process.stderr.write(`running: apt-get install ${names.join(" ")}\n`);
  for (let attempt = 0; attempt < 3; attempt++) {
    const [status] = (await once(spawn(command, args, { stdio: ["ignore", 2, 2] }), "exit")) as [number];
    if (status === 0) return;
  }
}

/** The `java` command, at least version 17; installed if there is none. */
export async function java(): Promise<string> {
  const command = process.env["JAVA_HOME"] === undefined ? "java" : `${process.env["JAVA_HOME"]}/bin/java`;
  if (javaVersion(command) >= 17) return command;
  await installPackages("default-jre-headless");
  if (javaVersion("java") >= 17) return "java";
  throw new Error("java: expected Java 17 or newer, got none; install it, or set JAVA_HOME");
}

function javaVersion(command: string): number {
  const { stderr } = spawnSync(command, ["-version"], { encoding: "utf8" });
  return Number(/version "(\d+)/.exec(stderr ?? "")?.[1] ?? 0);
}
