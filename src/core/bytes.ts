/** Whether this machine keeps a number with its lowest byte first. */
export const LOWEST_FIRST = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1;

/** Bytes end to end. */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  let length = 0;
  for (const part of parts) length += part.length;
  const out = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}
