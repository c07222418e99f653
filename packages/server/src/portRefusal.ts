import { Refusal } from "brume/node";

/** Why an address cannot be listened on, with the fields of the config that say which one it is. */
export function portRefusal(cause: unknown, field: string, host: string, port: number, other = ""): Error {
  const { code } = cause as { code?: string };
  const place = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  if (code === "EADDRINUSE")
    return new Refusal(
      `${field}.port: another program listens on ${place}; stop it, or set ${field}.port to another one${other}`,
      { cause },
    );
  if (code === "EACCES")
    return new Refusal(
      `${field}.port: this user may not listen on ${place}; set ${field}.port to one above 1023${other}`,
      { cause },
    );
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND")
    return new Refusal(`${field}.host: expected an address of this machine, got ${host}; correct it`, {
      cause,
    });
  return cause as Error;
}
