/** Packages that are installed beside this one. Each has an entry `cli` with the work of one or more commands. */
import { MissingPackage } from "./command.js";

/** Loads the entry `cli` of a package. If it is not installed, the error says in one line how to install it. */
export async function loadBeside<Entry>(name: string): Promise<Entry> {
  try {
    return (await import(/* @vite-ignore */ `${name}/cli`)) as Entry; // no literal: no bundler may look for it
  } catch (cause) {
    if ((cause as { code?: string }).code !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw new MissingPackage(`expected the package ${name}, got none; run: npm install ${name}`);
  }
}
