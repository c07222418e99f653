/** A port whose n-th call fails: before it does anything, or after it has done all of it, with its answer lost. */
import type { Membership, Port, TransactionalWriter } from "../../src/port.js";
import { type Countdown, Fault } from "../../../../test/support/faults.js";

export type When = "before" | "after";

/** Milliseconds after which the group notices that a member has gone without a word. */
const SESSION = 20;

export function failingPort(port: Port, fault: Countdown, when: When): Port {
  const call = async <T>(act: () => Promise<T>, undo?: (result: T) => void): Promise<T> => {
    const strikes = fault.strikes();
    if (strikes && when === "before") throw new Fault("injected");
    const result = await act();
    if (!strikes) return result;
    undo?.(result);
    throw new Fault("injected");
  };
  const timeOut = (membership: Membership) => setTimeout(() => void membership.leave(), SESSION);
  const failingWriter = (writer: TransactionalWriter): TransactionalWriter => ({
    write: (writes) => call(() => writer.write(writes)),
    commit: () => call(() => writer.commit()),
    close: () => call(() => writer.close()),
  });
  const failingMembership = (membership: Membership): Membership => ({
    leave: () =>
      call(() => membership.leave()).catch((error: unknown) => {
        timeOut(membership);
        throw error;
      }),
  });
  return {
    describe: (topics) => call(() => port.describe(topics)),
    create: (topics) => call(() => port.create(topics)),
    bounds: (topic, partition) => call(() => port.bounds(topic, partition)),
    fetch: (options) => call(() => port.fetch(options)),
    writer: async (id) => failingWriter(await call(() => port.writer(id))),
    send: (writes) => call(() => port.send(writes)),
    join: async (options) => failingMembership(await call(() => port.join(options), timeOut)),
    close: () => call(() => port.close()),
  };
}
