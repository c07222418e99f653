/** Secrets: from an environment variable or a file, never from the config itself. No message holds one. */
import { Refusal } from "brume/node";
import { readFileSync, statSync } from "node:fs";
import type { Secret } from "./types.js";

export function readSecret(path: string, secret: Secret): string {
  const text = "env" in secret ? process.env[secret.env] : readFile(path, secret.file);
  const place = "env" in secret ? `in the environment variable ${secret.env}` : "in its file";
  if (text === undefined || text.trim() === "")
    throw new Refusal(`${path}: expected a secret ${place}, got none; set it`);
  return text.trim();
}

function readFile(path: string, file: string): string {
  try {
    checkMode(path, file);
    return readFileSync(file, "utf8");
  } catch (cause) {
    if (cause instanceof Refusal) throw cause;
    // Without the name: it may be the secret itself, written there by mistake.
    throw new Refusal(
      `${path}: cannot read the file that it names, from the folder ${process.cwd()}; create it, or let this user read it`,
      { cause },
    );
  }
}

/**
 * Refuses a secret that other users of the machine may change, or read. A mounted secret belongs to another user and is
 * readable to all of its container, so reading is refused only if the file is this user's own.
 */
function checkMode(path: string, file: string): void {
  const user = process.getuid?.();
  if (user === undefined) return; // Windows has no such modes
  const { mode, uid } = statSync(file);
  const others =
    (mode & 0o022) !== 0 ? "write to" : (mode & 0o044) !== 0 && uid === user ? "read" : undefined;
  if (others !== undefined)
    throw new Refusal(
      `${path}: expected a file that only this user may read, got mode 0${(mode & 0o777).toString(8)}, so that others may ${others} ${file}; run: chmod 600 ${file}`,
    );
}

/** The key of the state: 32 bytes. */
export function readKey(secret: Secret): Uint8Array {
  const text = readSecret("key", secret);
  const bytes = /^[0-9a-fA-F]{64}$/.test(text) ? Buffer.from(text, "hex") : Buffer.from(text, "base64");
  if (bytes.length !== 32)
    throw new Refusal(
      `key: expected 32 bytes in base64 or hex, got ${bytes.length}; make one with: openssl rand -base64 32`,
    );
  return new Uint8Array(bytes);
}

const LEAST_TOKEN = 16;

export function readToken(path: string, secret: Secret | undefined): string | undefined {
  if (secret === undefined) return undefined;
  const token = readSecret(path, secret);
  if (token.length < LEAST_TOKEN)
    throw new Refusal(
      `${path}: expected at least ${LEAST_TOKEN} characters; make one with: openssl rand -hex 24`,
    );
  return token;
}
