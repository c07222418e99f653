/**
 * StatsD over UDP: `latency:12|ms|#key:shop-3,person:p7`, one per line. Nothing answers a datagram, so nothing is
 * promised: invalid lines are dropped, and so are datagrams with more events than a request may have, and everything
 * while the service cannot take events.
 */
import { createSocket, type Socket } from "node:dgram";
import { checkEvents, type RawEvent } from "./http/events.js";
import { portRefusal } from "./portRefusal.js";
import type { Service } from "./service.js";
import { type CheckedEvent, eventCount } from "./submission.js";

/** name:value|type, then fields that begin with @ (a rate), # (tags) or others, which are not used. */
const LINE =
  /^([A-Za-z_][A-Za-z0-9_.-]{0,63}):(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\|(c|ms|h|d|g)((?:\|[^|]*)*)$/;
/** A count of more than this in one line is a mistake. */
const MOST_AT_ONCE = 10_000;

/** The event of a line; undefined if it has no sense. A counter's value says how many events there are. */
export function parseLine(line: string): { readonly event: RawEvent; readonly times: number } | undefined {
  const [, metric, value, type, rest] = LINE.exec(line) ?? [];
  if (metric === undefined) return undefined;
  const tags = rest!.split("|").find((field) => field.startsWith("#")) ?? "#";
  const tag = (name: string): string | undefined =>
    tags
      .slice(1)
      .split(",")
      .find((pair) => pair.startsWith(`${name}:`))
      ?.slice(name.length + 1);
  const [key, person] = [tag("key"), tag("person")];
  const counts = type === "c";
  const times = counts ? Number(value) : 1;
  if (!Number.isInteger(times) || times < 1 || times > MOST_AT_ONCE || person === "") return undefined;
  return {
    event: {
      metric,
      ...(counts ? {} : { value: Number(value) }),
      ...(key === undefined ? {} : { key }),
      ...(person === undefined ? {} : { person }),
    },
    times,
  };
}

export class StatsdServer {
  readonly #socket: Socket;

  private constructor(socket: Socket) {
    this.#socket = socket;
  }

  static async open(service: Service, host: string, port: number): Promise<StatsdServer> {
    const socket = createSocket(host.includes(":") ? "udp6" : "udp4");
    const take = (line: string): readonly CheckedEvent[] => {
      const parsed = parseLine(line.trim());
      if (parsed === undefined) return [];
      try {
        const [event] = checkEvents((name) => service.metric(name), [parsed.event]);
        return [{ ...event!, count: parsed.times }];
      } catch {
        return []; // nobody to tell
      }
    };
    socket.on("message", (message) => {
      const lines = message.toString().split("\n", service.limits.batch + 1);
      if (lines.length > service.limits.batch) return;
      const events = lines.flatMap(take);
      const count = eventCount(events);
      if (count > 0 && count <= service.limits.batch) service.submit(events).catch(() => undefined);
    });
    await new Promise<void>((resolve, reject) => {
      socket.once("error", reject);
      socket.bind(port, host, resolve);
    }).catch((cause: unknown) => {
      throw portRefusal(cause, "statsd", host, port);
    });
    return new StatsdServer(socket);
  }

  get port(): number {
    return this.#socket.address().port;
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#socket.close(() => resolve()));
  }
}
