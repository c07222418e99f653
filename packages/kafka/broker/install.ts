/** Programs that tests and examples need, from the system's packages (Debian and its relatives). */
import { spawnSync } from "node:child_process";

/** Installs Debian packages, as root or with a sudo that asks for no password. Says so on standard error. */
export function installPackages(...names: string[]): void {
  if (spawnSync("apt-get", ["--version"]).status !== 0) return;
  const isRoot = process.getuid?.() === 0;
  if (!isRoot && spawnSync("sudo", ["-n", "true"]).status !== 0) return;
  const aptGet = [...(isRoot ? [] : ["sudo", "-n"]), "apt-get", "-qq", "-o", "DPkg::Lock::Timeout=300"];
  for (const words of [["update"], ["install", "-y", "--no-install-recommends", ...names]]) {
    const [command, ...args] = [...aptGet, ...words];
    process.stderr.write(`running: ${[command, ...args].join(" ")}\n`);
    spawnSync(command!, args, {
      stdio: ["ignore", 2, 2],
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    });
  }
}

/** The `java` command, at least version 17; installed if there is none. */
export function java(): string {
  const command = process.env["JAVA_HOME"] === undefined ? "java" : `${process.env["JAVA_HOME"]}/bin/java`;
  if (javaVersion(command) >= 17) return command;
  installPackages("default-jre-headless");
  if (javaVersion("java") >= 17) return "java";
  throw new Error("java: expected Java 17 or newer, got none; install it, or set JAVA_HOME");
}

function javaVersion(command: string): number {
  const { stderr } = spawnSync(command, ["-version"], { encoding: "utf8" });
  return Number(/version "(\d+)/.exec(stderr ?? "")?.[1] ?? 0);
}
