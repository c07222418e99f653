import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { brume, expected, file, flags, folder, lines, MAIN, numbers, values } from "./brume.js";

describe("brume release", () => {
  test.each([
    ["standard input", ["-"], lines],
    ["a file", [file("plain.txt", lines)], ""],
    ["a file without a last newline, with CRLF", [file("crlf.txt", values.join("\r\n"))], ""],
    ["gzip", [file("plain.txt.gz", gzipSync(lines))], ""],
    [
      "CSV by name",
      [
        file("a.csv", `time,"fare, $"\n${values.map((v, i) => `${i},"${v}"`).join("\n")}`),
        "--column",
        "fare, $",
      ],
      "",
    ],
    [
      "CSV by number, no header",
      [file("b.csv", values.map((v, i) => `${i},${v}`).join("\n")), "--column", "2"],
      "",
    ],
    ["CSV, gzip, its only column", [file("c.csv.gz", gzipSync(`fare\n${lines}`))], ""],
    [
      "NDJSON",
      [file("d.ndjson", values.map((v) => JSON.stringify({ fare: v })).join("\n")), "--column", "fare"],
      "",
    ],
    [
      "a format by hand",
      ["-", "--input-format", "ndjson", "--column", "x"],
      values.map((v) => `{"x":${v}}`).join("\n"),
    ],
  ])("reads %s", async (_, args, input) => {
    const { code, out, err } = await brume(["release", ...args, ...flags], input);
    expect(code).toBe(0);
    expect(numbers(out)).toEqual(expected);
    expect(err).toContain("NOT PRIVATE");
  });

  test("reads other delimiters and inner fields", async () => {
    const tabs = values.map((v, i) => `${i}\t${v}`).join("\n");
    const tsv = await brume(
      ["release", "-", ...flags, "--input-format", "csv", "--delimiter", "tab", "--column", "2"],
      tabs,
    );
    expect(numbers(tsv.out)).toEqual(expected);
    const inner = values.map((v) => `{"trip":{"fare":"${v}"}}`).join("\n");
    const json = await brume(
      ["release", "-", ...flags, "--input-format", "ndjson", "--column", "trip.fare"],
      inner,
    );
    expect(numbers(json.out)).toEqual(expected);
  });

  describe("writes", () => {
    const input = file(
      "formats.csv",
      `day,"who, where",fare\n${values.map((v, i) => `d${i},"a ""b"", ${i}",${v}`).join("\n")}\n`,
    );
    const release = (...args: string[]) => brume(["release", input, "--column", "fare", ...flags, ...args]);

    test("doubles", async () => {
      const path = join(folder, "out.f64");
      await release("--format", "f64", "--out", path);
      const bytes = readFileSync(path);
      expect(Array.from({ length: bytes.length / 8 }, (_, i) => bytes.readDoubleLE(8 * i))).toEqual(expected);
    });

    test("CSV with columns that were named, after a warning", async () => {
      const { out, err } = await release("--format", "csv", "--carry", "day,who, where");
      expect(err).toContain("--carry"); // a name with a comma cannot be named: it is refused, not guessed
      expect(out).toBe("");
      const carried = await release("--format", "csv", "--carry", "day");
      expect(carried.err).toContain(
        "Warning: the columns day are copied to the output without any protection",
      );
      const rows = carried.out.trimEnd().split("\n");
      expect(rows[0]).toBe("day,published");
      expect(rows.slice(1)).toEqual(expected.map((number, i) => `d${128 + i},${number}`));
      const quoted = await release("--format", "csv", "--carry", "2");
      expect(quoted.out.split("\n")[1]).toBe(`"a ""b"", 128",${expected[0]}`);
    });

    test("no column that was not named", async () => {
      const { out } = await release("--format", "csv");
      expect(out.trimEnd().split("\n")).toEqual(["published", ...expected.map(String)]);
    });

    test("gzip, by the file's name or by a switch", async () => {
      const path = join(folder, "out.txt.gz");
      await release("--out", path);
      expect(numbers(gunzipSync(readFileSync(path)).toString())).toEqual(expected);
      const out = await new Promise<Buffer>((resolve) => {
        const child = spawn(process.execPath, [
          MAIN,
          "release",
          input,
          "--column",
          "fare",
          ...flags,
          "--gzip",
        ]);
        const parts: Buffer[] = [];
        child.stdout.on("data", (part: Buffer) => parts.push(part));
        child.once("close", () => resolve(Buffer.concat(parts)));
      });
      expect(numbers(gunzipSync(out).toString())).toEqual(expected);
    });

    test.each([
      [["--format", "xml"], "--format: expected plain, csv, f64"],
      [["--carry", "day"], "--carry: expected CSV in and --format csv out"],
      [["--format", "csv", "--carry", "night"], "--carry: expected a name in the header"],
    ])("refuses %j", async (args, message) => {
      const { code, err } = await release(...args);
      expect(code).toBe(2);
      expect(err).toContain(message);
    });
  });

  test("publishes live: a pipe gets its numbers before the input ends", async () => {
    const child = spawn(process.execPath, [MAIN, "release", "-", ...flags]);
    child.stdin.write(lines);
    const first = await new Promise<string>((resolve) =>
      child.stdout.once("data", (data: Buffer) => resolve(data.toString())),
    );
    expect(Number(first.split("\n")[0])).toBe(expected[0]);
    child.stdin.end();
    await new Promise((resolve) => child.once("close", resolve));
  });

  test("--out is complete, --statement is read by brume explain", async () => {
    const [out, statement] = [join(folder, "out.txt"), join(folder, "statement.json")];
    const { code } = await brume([
      "release",
      file("in.txt", lines),
      ...flags,
      "--out",
      out,
      "--statement",
      statement,
    ]);
    expect(code).toBe(0);
    expect(numbers(readFileSync(out, "utf8"))).toEqual(expected);
    const told = await brume(["explain", statement]);
    expect(told.out).toContain("NOT PRIVATE");
    expect(told.out).toContain("values above θ to θ");
    const record = await brume(["statement", statement, "--registry"]);
    expect(record.code).toBe(2);
    expect(record.err).toContain("expected a private release, got one that was made from a seed");
  });

  test.each([
    ["letters", "1\n2\nsecret-7x\n", [], "line 3: expected a finite number"],
    ["an empty line", "1\n\n3\n", [], "line 2: expected a finite number"],
    ["infinity", "1\n1e999\n", [], "line 2: expected a finite number"],
    [
      "a CSV cell",
      "a,b\n1,2\n3,secret-7x\n",
      ["--input-format", "csv", "--column", "b"],
      "line 3: expected a finite number in column 2",
    ],
    [
      "CSV with an open quote",
      'a\n1\n"2\n',
      ["--input-format", "csv"],
      "expected valid CSV, got a quote that is never closed",
    ],
    [
      "a JSON field",
      '{"x":1}\n{"x":"secret-7x"}\n',
      ["--input-format", "ndjson", "--column", "x"],
      'line 2: field "x" is not a number',
    ],
    [
      "no such JSON field",
      '{"x":1}\n',
      ["--input-format", "ndjson", "--column", "y"],
      'line 1: there is no field "y"',
    ],
    [
      "no JSON",
      "secret-7x\n",
      ["--input-format", "ndjson", "--column", "y"],
      "line 1: expected a JSON object",
    ],
  ])("names a bad line by number and reason, never by its value: %s", async (_, input, args, message) => {
    const out = join(folder, "half.txt");
    const { code, err } = await brume(
      ["release", "-", ...args, "--epsilon", "1", "--max", "9", "--threshold", "2", "--out", out],
      input,
    );
    expect(code).toBe(1);
    expect(err).toContain(message);
    expect(err).not.toContain("secret");
    expect(readdirSync(folder).filter((name) => name.startsWith("half"))).toEqual([]);
  });

  test.each([
    ["damaged gzip", file("bad.gz", gzipSync(lines).subarray(0, 60)), "damaged gzip (Z_BUF_ERROR)"],
    [
      "damaged gzip of CSV",
      file("bad.csv.gz", gzipSync(lines).subarray(0, 60)),
      "damaged gzip (Z_BUF_ERROR)",
    ],
    ["no such file", join(folder, "none.txt"), "no such file or folder"],
    ["no such CSV file", join(folder, "none.csv"), "no such file or folder"],
    ["a folder", folder, "it is a folder"],
    ["an empty file", file("empty.txt", ""), "expected at least one number, got none"],
  ])("what cannot be read is one line, exit code 1: %s", async (_, path, message) => {
    expect(await brume(["release", path, ...flags])).toEqual({
      code: 1,
      out: "",
      err: `brume release: ${path}: ${message}\n`,
    });
  });

  test.each([
    ["--out", join(folder, "none/x.txt"), "no such file or folder"],
    ["--statement", join(folder, "none/x.json"), "no such file or folder"],
    ["--out", folder, "it is a folder"],
  ])("what cannot be written is known before the first number: %s %s", async (option, path, message) => {
    const whole = option === "--out" ? [] : ["--out", join(folder, "half.txt")];
    expect(await brume(["release", "-", ...flags, ...whole, option, path], lines)).toEqual({
      code: 1,
      out: "",
      err: `brume release: ${option}: cannot write ${path}: ${message}\n`,
    });
    expect(readdirSync(folder).filter((name) => name.startsWith("half"))).toEqual([]);
  });

  test("a reader that stops early is no error, and leaves no half file", async () => {
    const long = file("long.txt", lines.repeat(500));
    const statement = join(folder, "half.json");
    const child = spawn(process.execPath, [MAIN, "release", long, ...flags, "--statement", statement]);
    let err = "";
    child.stderr.on("data", (data: Buffer) => (err += data.toString()));
    child.stdout.once("data", () => child.stdout.destroy());
    expect(await new Promise((resolve) => child.once("close", resolve))).toBe(0);
    expect(err).toBe("");
    expect(readdirSync(folder).filter((name) => name.startsWith("half"))).toEqual([]);
  });

  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("%s ends a live stream with its statement, and leaves no half file", async (signal, code) => {
    const interrupted = async (args: string[], output: "stdout" | "stderr") => {
      const child = spawn(process.execPath, [MAIN, "release", "-", ...flags, ...args]);
      let err = "";
      child.stderr.on("data", (data: Buffer) => (err += data.toString()));
      child.stdin.write(lines);
      if (output === "stdout") await new Promise((resolve) => child.stdout.once("data", resolve));
      else while (!readdirSync(folder).some((name) => name.startsWith("half"))) await setTimeout(10);
      child.kill(signal);
      expect(await new Promise((resolve) => child.once("close", resolve))).toBe(code);
      return err;
    };
    expect(await interrupted([], "stdout")).toContain("NOT PRIVATE");
    expect(await interrupted(["--out", join(folder, "half.txt")], "stderr")).toBe("");
    expect(readdirSync(folder).filter((name) => name.startsWith("half"))).toEqual([]);
  });

  test.each([
    [["release", "--max", "5"], "--epsilon: missing; expected a number"],
    [["release", "--epsilon", "x", "--max", "5"], '--epsilon: expected a number, got "x"'],
    [["release", "--epsilon", "0", "--max", "5"], "--epsilon: expected a finite number above 0, got 0"],
    [["release", "--epsilon", "-1", "--max", "5"], "--epsilon: expected a finite number above 0, got -1"],
    [["release", "--epsilon", "--max", "5"], "--epsilon: expected E after it, got --max"],
    [["release", "--epsilon"], "--epsilon: expected E after it, got nothing"],
    [["plan", "--epsilon", "1", "--max", "9", "--max-range", "3"], "--max-range: expected a whole number"],
    [["plan", "--epsilon", "1", "--max", "9", "--json=3"], "--json: a switch, expected no value"],
    [["release", "--epsilom", "1"], "unknown option --epsilom; did you mean --epsilon?"],
    [["release", "a.txt", "b.txt"], 'expected [FILE|-], got "b.txt" as well'],
    [["plan", "a.txt"], 'expected options only, got "a.txt" as well'],
    [["ldp"], "expected brume ldp simulate"],
    [["release", "--epsilon", "1", "--max", "5", "--smoother", "newest"], "--smoother: expected shrunk"],
    [
      ["release", "--epsilon", "1", "--max", "5", "--input-format", "xml"],
      "--input-format: expected plain, csv, ndjson, fimi, parquet",
    ],
    [["publish"], 'unknown command "publish"'],
    [["explain"], "FILE.json: missing"],
    [["statement", "--registry"], "FILE.json: missing"],
    [["statement", "package.json"], "--registry: missing"],
  ])("called wrongly, exit code 2: %j", async (args, message) => {
    const { code, err } = await brume(args);
    expect(code).toBe(2);
    expect(err).toContain(message);
  });

  test("values below zero, with --min: as the library has them", async () => {
    const below = values.map((value) => value - 60);
    const bounds = ["--min", "-60", "--max", "40"];
    const { code, out, err } = await brume(
      ["release", "-", ...flags.filter((flag) => flag !== "--max" && flag !== "100"), ...bounds],
      `${below.join("\n")}\n`,
    );
    expect([code, numbers(out)]).toEqual([0, expected.map((number) => number - 60)]);
    expect(numbers(out).some((number) => number < 0)).toBe(true);
    expect(err).toContain("rounded to -60 plus multiples of");
    const plan = await brume(["plan", "--epsilon", "1", ...bounds]);
    expect(plan.out).toContain("·(θ − min).");
  });

  test("says so when everything went into the hold-out", async () => {
    const { code, out, err } = await brume(["release", "-", "--epsilon", "1", "--max", "9"], "1\n2\n");
    expect([code, out]).toEqual([3, ""]);
    expect(err).toContain("nothing is published: all 2 values went into the hold-out");
    expect(err).toContain("Give --threshold T");
  });
});
