/** Starts every page: applies the visitor's colours and registers the service worker that makes it work offline. */
import { byId } from "./dom.js";
import { bindTheme } from "./theme.js";

/** The way from this page to the site's root: "./" or "../". */
const root = document.documentElement.dataset["root"] ?? "./";

export function beginPage(): void {
  bindTheme();
  if (import.meta.env.PROD && "serviceWorker" in navigator) void workOffline();
}

/** Lets the browser paint and hear the visitor before a page goes on with its start. */
export const breathe = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

async function workOffline(): Promise<void> {
  try {
    await navigator.serviceWorker.register(new URL(`${root}sw.js`, location.href));
    await navigator.serviceWorker.ready;
    byId("offline-note").textContent = "Works offline, with the documents that you have read.";
  } catch {
    // No storage, or no service workers here: the site works as long as it is reachable.
  }
}
