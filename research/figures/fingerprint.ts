/**
 * A short name for the code that decides a result. Kept runs go by it as well as by their parameters: a folder made by
 * another version is never mixed with this one's runs.
 */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";

/** All that runs of figures, of the zoo and of the opponents import, and what makes their data. */
const STARTS = [
  ...["core", "snapshot", "stream", "local"].map((folder) => `src/${folder}/`),
  ...["systems/", "data/", "metrics.", "zoo/", "opponents/"].map((start) => `research/${start}`),
  ...["central", "local", "runJob", "jobStream"].map((name) => `research/figures/${name}.`),
];

/** @param root the folder that holds src/ and research/; in a bundle all code is beside this file */
export function codeFingerprint(root = new URL("../../", import.meta.url)): string {
  const hash = createHash("sha256");
  // These two and no other: beside the sources are node_modules, whose tens of thousands of names take seconds.
  const names = ["research/", "src/"].flatMap((folder) => {
    const place = new URL(folder, root);
    if (!existsSync(place)) return [];
    return readdirSync(place, { recursive: true, encoding: "utf8" }).map(
      (name) => folder + name.replaceAll("\\", "/"),
    );
  });
  const decides = names.filter(
    (name) => /(?<!\.d)\.[jt]s$/.test(name) && STARTS.some((start) => name.startsWith(start)),
  );
  const [files, base] = decides.length > 0 ? [decides, root] : bundled();
  for (const name of files.sort()) hash.update(name).update(readFileSync(new URL(name, base)));
  return hash.digest("hex").slice(0, 12);
}

/** All files of the bundle that this one is in. */
function bundled(): [string[], URL] {
  const place = new URL("./", import.meta.url);
  return [readdirSync(place).filter((name) => name.endsWith(".js")), place];
}
