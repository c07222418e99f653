/** The service as a function from Request to Response: for frameworks that speak the web's own types. */
import type { FastifyInstance } from "fastify";
import { Readable } from "node:stream";
import { brumePlugin } from "./http/app.js";
import { emptyServer, makeLogger } from "./http/server.js";
import type { Service } from "./service.js";

export interface Handler {
  (request: Request): Promise<Response>;
  /** Ends open streams; the service itself is stopped by its own `stop`. */
  close(): Promise<void>;
}

/** All routes, checks and limits of the server, without a port. Bodies are bounded before they are read. */
export async function makeHandler(service: Service): Promise<Handler> {
  const app = emptyServer(service, makeLogger(service.config.log));
  await app.register(brumePlugin, { service });
  await app.ready();
  const handle = (request: Request): Promise<Response> => answer(app, request, service.limits.body);
  return Object.assign(handle, { close: async () => void (await app.close()) });
}

async function answer(app: FastifyInstance, request: Request, most: number): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const body = await bodyOf(request, most);
  const response = await app.inject({
    method: request.method as "GET",
    url: pathname + search,
    headers: Object.fromEntries(request.headers),
    ...(body === undefined ? {} : { payload: body }),
    payloadAsStream: true,
  });
  const headers = new Headers();
  for (const [name, value] of Object.entries(response.headers))
    for (const one of [value].flat()) if (one !== undefined) headers.append(name, String(one));
  const empty = [101, 204, 205, 304].includes(response.statusCode);
  const stream = Readable.toWeb(response.stream()) as ReadableStream<Uint8Array>;
  return new Response(empty ? null : stream, { status: response.statusCode, headers });
}

/** At most one byte more than is allowed: the routes then answer 413. */
async function bodyOf(request: Request, most: number): Promise<Buffer | undefined> {
  if (request.body === null) return undefined;
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of request.body as unknown as AsyncIterable<Uint8Array>) {
    parts.push(part);
    length += part.length;
    if (length > most) break;
  }
  return Buffer.concat(parts).subarray(0, most + 1);
}
