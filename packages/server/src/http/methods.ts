/** Answers for paths that are not there: 404, or 405 where another method is. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { frameworkError } from "./errors.js";

/** Call it before routes are added. */
export function answerUnknown(app: FastifyInstance): void {
  const methods = new Map<string, Set<string>>();
  app.addHook("onRoute", ({ url, method }) => {
    const known = methods.get(url) ?? new Set();
    for (const one of [method].flat()) known.add(one);
    methods.set(url, known);
  });
  const allowed = (path: string): string[] =>
    [...methods].flatMap(([pattern, known]) => (fits(pattern, path) ? [...known] : []));
  app.setNotFoundHandler((_, reply) => reply.code(404).send(frameworkError(404)));
  // Before a body is read: what it should be is not known.
  app.addHook("onRequest", (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
    const unknown = request.is404 || request.routeOptions.url?.endsWith("*") === true; // a star: files
    const others = unknown ? allowed(request.url.split("?", 1)[0]!) : [];
    // With the same method the path was refused for its length.
    if (others.length === 0 || others.includes(request.method)) return done();
    void reply.code(405).header("allow", others.join(", ")).send(frameworkError(405));
  });
}

/** "/v1/local/:metric" fits "/v1/local/pageload". A pattern with a star, as files have, fits nothing here. */
function fits(pattern: string, path: string): boolean {
  const [wanted, given] = [pattern.split("/"), path.split("/")];
  return (
    wanted.length === given.length && wanted.every((part, i) => part.startsWith(":") || part === given[i])
  );
}
