/** A static server on 127.0.0.1 for browser tests, with the response headers a test asks for. */
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";

const TYPES: Record<string, string> = {
  ".css": "text/css",
  ".csv": "text/csv",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".map": "application/json",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

export interface Site {
  /** Folder served under each path prefix, the longest matching one: `{ "/": "site/dist" }`. */
  readonly folders?: Record<string, string>;
  /** Text served at a path, such as a page made up by a test; comes before folders. */
  readonly files?: Record<string, string>;
  /** Sent with every answer, such as a Content-Security-Policy. */
  readonly headers?: Record<string, string>;
}

export interface Server extends AsyncDisposable {
  /** `http://127.0.0.1:port/` */
  readonly url: string;
  close(): Promise<void>;
}

export async function serve({ folders = {}, files = {}, headers = {} }: Site): Promise<Server> {
  const prefixes = Object.keys(folders).sort((a, b) => b.length - a.length);

  const content = async (path: string): Promise<string | Buffer | undefined> => {
    if (files[path] !== undefined) return files[path];
    const prefix = prefixes.find((candidate) => path.startsWith(candidate));
    if (prefix === undefined) return path === "/favicon.ico" ? "" : undefined;
    const within = normalize(`/${path.slice(prefix.length)}`); // never above the folder
    return readFile(join(folders[prefix]!, within)).catch(() => (path === "/favicon.ico" ? "" : undefined));
  };

  const server = createServer((request, response) => {
    const { pathname, search } = new URL(request.url!, "http://127.0.0.1");
    const path = decodeURIComponent(pathname.endsWith("/") ? `${pathname}index.html` : pathname);
    void content(path).then(async (body) => {
      if (body === undefined && extname(path) === "" && (await content(`${path}/index.html`)) !== undefined) {
        // As static hosts do: a folder's address ends with a slash.
        response.writeHead(301, { location: `${pathname}/${search}` }).end();
        return;
      }
      const type = TYPES[extname(path)] ?? "application/octet-stream";
      response.writeHead(body === undefined ? 404 : 200, { "content-type": type, ...headers });
      response.end(body);
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));

  const close = () =>
    new Promise<void>((closed) => {
      server.close(() => closed());
      server.closeAllConnections();
    });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, close, [Symbol.asyncDispose]: close };
}
