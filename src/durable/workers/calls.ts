/** Calls to the other side of a message port: a number for each, and a promise that its answer settles. */
import { type AnswerMessage, type AskMessage, receiveError, sendError } from "./messages.js";

interface Pending {
  readonly resolve: (answer: never) => void;
  readonly reject: (reason: Error) => void;
}

export class Calls {
  readonly #pending = new Map<number, Pending>();
  #last = 0;

  /** @param send posts the message that has this number */
  call<T>(send: (id: number) => void): Promise<T> {
    const id = ++this.#last;
    return new Promise<T>((resolve, reject) => {
      send(id); // if it throws, nobody answers
      this.#pending.set(id, { resolve, reject });
    });
  }

  settle({ id, answer, error }: AnswerMessage): void {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (error !== undefined) pending?.reject(receiveError(error));
    else pending?.resolve(answer as never);
  }

  /** The other side is gone. */
  rejectAll(reason: Error): void {
    for (const { reject } of this.#pending.values()) reject(reason);
    this.#pending.clear();
  }
}

/** Answers a question of the other side with what `act` gives, or with its error. */
export async function answerWith(
  { id }: AskMessage,
  act: () => Promise<unknown>,
  post: (message: AnswerMessage) => void,
): Promise<void> {
  try {
    const answer = await act();
    post({ kind: "answer", id, answer });
  } catch (error) {
    post({ kind: "answer", id, error: sendError(error) });
  }
}
