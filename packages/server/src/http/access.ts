/** Who may do what: bearer tokens, compared in constant time. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { frameworkError } from "./errors.js";

/** The right that a route needs. */
export type Access = "write" | "read" | "metrics" | "public";

export type Tokens = Readonly<Partial<Record<Access, string>>>;

declare module "fastify" {
  interface FastifyContextConfig {
    /** Default: public. */
    access?: Access;
  }
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** A hook that lets a request through if its route needs no token, or if it has the right one. */
export function accessHook(tokens: Tokens) {
  const wanted = new Map(Object.entries(tokens).map(([access, token]) => [access, digest(token)]));
  return (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    const digested = wanted.get(request.routeOptions.config.access ?? "public");
    if (digested === undefined || timingSafeEqual(digested, digest(bearerOf(request)))) return done();
    void reply.code(401).header("www-authenticate", "Bearer").send(frameworkError(401));
  };
}

function bearerOf({ headers }: FastifyRequest): string {
  return /^Bearer (\S+)$/i.exec(headers.authorization ?? "")?.[1] ?? "";
}
