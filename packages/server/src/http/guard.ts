/**
 * Keeps web pages away from a service on loopback. The browser of whoever runs it reaches it, and pages of any site can
 * make that browser send requests; with a name of their own that leads to 127.0.0.1 they could read the answers as well.
 * So a request names this machine (Host), and a page that sends it belongs to the service or to `cors` (Origin).
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { isIP } from "node:net";
import type { Config } from "../config/types.js";
import { frameworkError } from "./errors.js";

/** Whether only this machine reaches an address. */
export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));

export function guardLoopback(app: FastifyInstance, { listen = {}, cors = [] }: Config): void {
  if (!isLoopback(listen.host ?? "127.0.0.1")) return;
  const names = new Set(listen.names?.map((name) => name.toLowerCase()));
  app.addHook("onRequest", (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
    const host = request.headers.host?.toLowerCase() ?? "";
    const refused = !isOwnName(host, names) ? 421 : !isOwnOrigin(request, host) ? 403 : undefined;
    if (refused === undefined) return done();
    void reply.code(refused).send(frameworkError(refused));
  });

  /** A request without an Origin was not sent by a script. */
  function isOwnOrigin({ headers: { origin } }: FastifyRequest, host: string): boolean {
    if (origin === undefined || cors.includes("*") || cors.includes(origin)) return true;
    const page = /^https?:\/\/(.+)$/.exec(origin.toLowerCase())?.[1];
    return page !== undefined && (page === host || names.has(nameOf(page)));
  }
}

const isOwnName = (host: string, names: ReadonlySet<string>): boolean => {
  const name = nameOf(host);
  return isLoopback(name) || names.has(name);
};

/** A host without its port and brackets. */
const nameOf = (host: string): string => host.replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1");
