/** Tags still open at the end, or the first that closes another than the last one opened: empty for well-formed XML. */
export function openTags(xml: string): string[] {
  const open: string[] = [];
  for (const [, closing, name, empty] of xml.matchAll(
    /<(\/?)([a-z][a-z0-9]*)(?:\s+[a-z-]+="[^"<]*")*\s*(\/?)>|<[^>]*>/gi,
  )) {
    if (name === undefined) return ["?"];
    if (closing === "/") {
      if (open.pop() !== name) return [name];
    } else if (empty !== "/") open.push(name);
  }
  return open;
}
