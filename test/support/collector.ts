/** A server on 127.0.0.1 that devices report to: serves one page with the device's script, and keeps every batch that comes. */
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

export interface Batch {
  readonly id: string;
  readonly bytes: Buffer;
  readonly headers: IncomingHttpHeaders;
}

export interface Collector extends AsyncDisposable {
  /** `http://127.0.0.1:port/` */
  readonly url: string;
  /** Every batch that came, in order, whether or not it was acknowledged. */
  readonly batches: Batch[];
  /** How POST is answered from now on; "never" leaves it without an answer. */
  status: number | "never";
  /** The body that GET /terms answers. */
  terms: string;
  /** Resolves when `count` batches have come. */
  came(count: number): Promise<void>;
  close(): Promise<void>;
}

/** @param script the device's part, as text for a classic script tag and as a module */
export async function collect(script: {
  readonly classic: string;
  readonly module: string;
}): Promise<Collector> {
  const waiting = new Set<() => void>();
  const files: Record<string, readonly [type: string, text: string]> = {
    "/": ["text/html", '<!doctype html><title>page</title><script src="/device.iife.js"></script>'],
    "/empty": ["text/html", "<!doctype html><title>elsewhere</title>"],
    "/device.iife.js": ["text/javascript", script.classic],
    "/device.js": ["text/javascript", script.module],
    "/favicon.ico": ["image/x-icon", ""],
  };
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, "http://127.0.0.1");
    if (request.method !== "POST") {
      const [type, text] =
        pathname === "/terms" ? ["application/json", collector.terms] : (files[pathname] ?? []);
      response.writeHead(text === undefined ? 404 : 200, { "content-type": `${type}; charset=utf-8` });
      return response.end(text);
    }
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const id = searchParams.get("batch") ?? "";
      collector.batches.push({ id, bytes: Buffer.concat(parts), headers: request.headers });
      if (collector.status !== "never") response.writeHead(collector.status).end();
      for (const look of waiting) look();
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const close = () =>
    new Promise<void>((closed) => {
      server.close(() => closed());
      server.closeAllConnections();
    });
  const collector: Collector = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    batches: [],
    status: 204,
    terms: '{"threshold":60000}',
    came: (count) =>
      new Promise((resolve) => {
        const look = () => {
          if (collector.batches.length < count) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    close,
    [Symbol.asyncDispose]: close,
  };
  return collector;
}

/** Reports that a server counts if it counts every batch once, each as hexadecimal text. */
export function counted(batches: readonly Batch[]): string[] {
  const distinct = new Map<string, string>();
  for (const { id, bytes } of batches) {
    const text = bytes.toString("hex");
    if ((distinct.get(id) ?? text) !== text) throw new Error("a batch came twice with different reports");
    distinct.set(id, text);
  }
  return [...distinct.values()].flatMap((text) => text.match(/.{16}/g) ?? []);
}
