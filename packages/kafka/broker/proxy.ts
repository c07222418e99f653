/** A TCP proxy on loopback whose connections can be cut, as a broken network cuts them: silently. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface Proxy {
  readonly address: string;
  /** From now on no byte passes, and no connection ends: neither side can tell. */
  cut(): void;
  /** Ends the connections that were cut; new ones work. */
  mend(): void;
  close(): Promise<void>;
}

/** @param port what is behind it, on loopback */
export async function startProxy(port: number): Promise<Proxy> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((client) => {
    const target = connect(port, "127.0.0.1");
    for (const [from, to] of [
      [client, target],
      [target, client],
    ] as const) {
      sockets.add(from);
      from.on("data", (bytes: Buffer) => {
        if (!isCut && !to.write(bytes)) from.pause();
      });
      to.on("drain", () => from.resume());
      from.on("error", () => undefined); // a broker that was killed; "close" follows
      from.on("close", () => {
        sockets.delete(from);
        if (!isCut) to.destroy();
      });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const end = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut: () => {
      isCut = true;
    },
    mend: () => {
      isCut = false;
      end();
    },
    close: async () => {
      end();
      server.close();
      await once(server, "close");
    },
  };
}
