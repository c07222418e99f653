/**
 * Where Maven Central is reached from this machine. No address is written in the project: it comes from
 * `BRUME_MAVEN`, from a mirror in Maven's settings, or from the Maven that is installed here.
 */
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { inflateRawSync } from "node:zlib";

import { installPackages } from "./install.js";

/** The file inside Maven's own jar that names its central repository. */
const SUPER_POM = "org/apache/maven/model/pom-4.0.0.xml";

export async function mavenRepository(): Promise<string> {
  const found = process.env["BRUME_MAVEN"] ?? mirrorOfCentral() ?? builtIntoMaven();
  if (found !== undefined) return found.replace(/\/+$/, "");
  await installPackages("libmaven3-core-java"); // has the jar that names the repository
  const installed = builtIntoMaven();
  if (installed !== undefined) return installed;
  throw new Error(
    "BRUME_MAVEN: expected the address of a Maven repository, got none, and no Maven is installed; " +
      "set BRUME_MAVEN to the repository that your machine uses",
  );
}

/** A mirror of central in the user's or the machine's settings. */
function mirrorOfCentral(): string | undefined {
  const files = [
    join(homedir(), ".m2/settings.xml"),
    ...mavenHomes().map((home) => join(home, "conf/settings.xml")),
  ];
  for (const file of files.filter((path) => existsSync(path))) {
    const xml = readFileSync(file, "utf8").replace(/<!--[\s\S]*?-->/g, "");
    for (const [, mirror] of xml.matchAll(/<mirror>([\s\S]*?)<\/mirror>/g)) {
      const of = tag(mirror!, "mirrorOf")?.split(",") ?? [];
      const takesCentral = of.some((name) => ["*", "central", "external:*"].includes(name.trim()));
      if (takesCentral && tag(mirror!, "blocked") !== "true") return tag(mirror!, "url");
    }
  }
  return undefined;
}

function builtIntoMaven(): string | undefined {
  const jars = [
    ...mavenHomes().map((home) => join(home, "lib/maven-model-builder-3.x.jar")),
    "/usr/share/java/maven-model-builder-3.x.jar",
  ];
  const jar = jars.find((path) => existsSync(path));
  return jar === undefined ? undefined : tag(unzip(readFileSync(jar), SUPER_POM), "url");
}

function mavenHomes(): string[] {
  const commands = (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, "mvn"));
  const found = commands
    .filter((path) => existsSync(path))
    .map((path) => dirname(dirname(realpathSync(path))));
  return [...new Set([process.env["MAVEN_HOME"], ...found].filter((home) => home !== undefined))];
}

function tag(xml: string, name: string): string | undefined {
  return new RegExp(`<${name}>\\s*([^<]*?)\\s*</${name}>`).exec(xml)?.[1];
}

/** One file of a zip archive, found through the directory at its end. */
function unzip(zip: Buffer, name: string): string {
  const end = zip.lastIndexOf(Buffer.from("PK\x05\x06", "latin1"));
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left--) {
    const [nameLength, extra, comment] = [28, 30, 32].map((field) => zip.readUInt16LE(at + field));
    if (zip.toString("latin1", at + 46, at + 46 + nameLength!) === name) {
      const [method, bytes, local] = [
        zip.readUInt16LE(at + 10),
        zip.readUInt32LE(at + 20),
        zip.readUInt32LE(at + 42),
      ];
      const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
      const data = zip.subarray(start, start + bytes);
      return (method === 0 ? data : inflateRawSync(data)).toString("utf8");
    }
    at += 46 + nameLength! + extra! + comment!;
  }
  throw new Error(`zip: expected the file ${name}, got an archive without it`);
}
