/** The Worker that reads a visitor's file. Nothing of it leaves the browser. */
import { type Column, type FileShape, inspect, readColumn } from "../data/files.js";
import type { FromFile, ToFile } from "./protocol.js";

let file: File | undefined;
let shape: FileShape | undefined;

addEventListener("message", ({ data }: MessageEvent<ToFile>) => {
  const work = data.type === "open" ? openFile(data.file) : read(data.column);
  work.catch((error: unknown) => send({ type: "failed", message: (error as Error).message }));
});

async function openFile(opened: File): Promise<void> {
  file = opened;
  shape = await inspect(opened);
  const numeric = shape.columns.filter((column) => column.numeric);
  const chosen =
    numeric.find((column) => !/time|date|stamp|year|index|^id$/i.test(column.name)) ?? numeric[0]!;
  send({ type: "shape", shape, chosen });
  await read(chosen);
}

async function read(column: Column): Promise<void> {
  const { values, skipped, cut } = await readColumn(file!, shape!, column, (share) =>
    send({ type: "progress", share }),
  );
  const largest = values.reduce((a, b) => Math.max(a, b), 0);
  send({ type: "values", values, skipped, cut, largest }, [values.buffer]);
}

function send(message: FromFile, transfer: Transferable[] = []): void {
  postMessage(message, { transfer });
}
