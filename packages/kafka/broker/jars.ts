/** Kafka's jars: a pinned list with checksums, fetched once into a cache folder. */
import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, join } from "node:path";

import jars from "./jars.json" with { type: "json" };
import { mavenRepository } from "./maven.js";

export const KAFKA_VERSION = "4.3.1";
/** Downloads under way at the same time. */
const AT_ONCE = 8;

export function cacheFolder(): string {
  const base = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
  return process.env["BRUME_CACHE"] ?? join(base, "brume");
}

/** The folder with all jars; a checksum was compared for each before it got its name. */
export async function kafkaJars(): Promise<string> {
  const folder = join(cacheFolder(), `kafka-${KAFKA_VERSION}`);
  await mkdir(folder, { recursive: true });
  const missing = jars.filter(({ path }) => !existsSync(join(folder, basename(path))));
  if (missing.length === 0) return folder;
  const repository = await mavenRepository();
  const next = missing.values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const jar of next) await fetchJar(repository, jar, folder);
    }),
  );
  return folder;
}

/** A jar is written under a name of its own and renamed, so that two processes may fill one cache. */
async function fetchJar(repository: string, jar: (typeof jars)[number], folder: string): Promise<void> {
  const response = await fetch(`${repository}/${jar.path}`);
  if (!response.ok)
    throw new Error(`${jar.path}: expected status 200, got ${response.status}; is BRUME_MAVEN right?`);
  const bytes = new Uint8Array(await response.arrayBuffer());
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  if (sha256 !== jar.sha256)
    throw new Error(
      `${jar.path}: expected SHA-256 ${jar.sha256}, got ${sha256}; the file is not the pinned one`,
    );
  const partial = join(folder, `${randomUUID()}.part`);
  await writeFile(partial, bytes);
  await rename(partial, join(folder, basename(jar.path))).finally(() => rm(partial, { force: true }));
}
