/** Which files of src/ run while something is done, by the engine's own coverage. */
import { Session } from "node:inspector/promises";
import { fileURLToPath } from "node:url";
import { relative } from "node:path";

/** Files of src/ in which a named function is called while `run` runs: files of constants alone are not among them. */
export async function executedFiles(run: () => void | Promise<void>): Promise<string[]> {
  const session = new Session();
  session.connect();
  try {
    await session.post("Profiler.enable");
    await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
    await session.post("Profiler.takePreciseCoverage"); // what ran before does not count
    await run();
    const { result } = await session.post("Profiler.takePreciseCoverage");
    const files = result.flatMap(({ url, functions }) => {
      const called = functions.some(
        ({ functionName, ranges }) => functionName !== "" && ranges[0]!.count > 0,
      );
      const path = url.startsWith("file:") ? fileURLToPath(url) : url;
      return called ? [relative(process.cwd(), path)] : [];
    });
    return [...new Set(files)].filter((file) => file.startsWith("src/")).sort();
  } finally {
    session.disconnect();
  }
}
