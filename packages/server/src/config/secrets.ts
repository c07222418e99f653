/** Secrets: from an environment variable or a file, never from the config itself. No message holds one. */
import { readFileSync } from "node:fs";
import { Refusal } from "../refusal.js";
import type { Secret } from "./types.js";

export function readSecret(path: string, secret: Secret): string {
  const text = "env" in secret ? process.env[secret.env] : readFile(path, secret.file);
  const place = "env" in secret ? `in the environment variable ${secret.env}` : `in the file ${secret.file}`;
  if (text === undefined || text.trim() === "")
    throw new Refusal(`${path}: expected a secret ${place}, got none; set it`);
  return text.trim();
}

function readFile(path: string, file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new Refusal(`${path}: cannot read the file ${file}; create it, or let this user read it`, {
      cause,
    });
  }
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
