/** Words for the system's errors on files. */
const WORDS: Readonly<Record<string, string>> = {
  ENOENT: "no such file or folder",
  ENOTDIR: "no such folder",
  EISDIR: "it is a folder",
  EEXIST: "a file of that name is there",
  EACCES: "not permitted",
  EPERM: "not permitted",
  EROFS: "the disk is read-only",
  ENOSPC: "the disk is full",
};

/** Did the system refuse something? */
export const isSystemError = (reason: unknown): reason is NodeJS.ErrnoException =>
  reason instanceof Error && "syscall" in reason && typeof (reason as { code?: unknown }).code === "string";

export function inWords(reason: unknown): string {
  const { code = "unknown" } = reason as { code?: string };
  return WORDS[code] ?? code;
}
