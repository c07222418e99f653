/** The Worker that reads a visitor's file. Nothing of it leaves the browser. */
import { readColumn, readLog } from "../data/read.js";
import { type FileShape, inspect } from "../data/shape.js";
import type { FromFile, ToFile } from "./protocol.js";

let file: File | undefined;
let shape: FileShape | undefined;

addEventListener("message", ({ data }: MessageEvent<ToFile>) => {
  work(data).catch((error: unknown) => send({ type: "failed", message: (error as Error).message }));
});

async function work(message: ToFile): Promise<void> {
  if (message.type === "open") {
    file = message.file;
    shape = await inspect(file);
    return send({ type: "shape", shape });
  }
  const onProgress = (share: number) => send({ type: "progress", share });
  if (message.type === "read log")
    return send({ type: "log", read: await readLog(file!, shape!, message.columns, onProgress) });
  const read = await readColumn(file!, shape!, message.column, message.time, onProgress);
  send({ type: "values", read }, [read.values.buffer]);
}

function send(message: FromFile, transfer: Transferable[] = []): void {
  postMessage(message, { transfer });
}
