/**
 * Keeps the pages of the site in this browser, so that they work offline and ask nobody for anything. Pages of the
 * documentation are many: each is kept when it is first read.
 */
const VERSION = "brume HASH";
const FILES = "FILES";

self.addEventListener("install", (event) => {
  event.waitUntil(
    caches
      .open(VERSION)
      .then((cache) => cache.addAll(FILES))
      .then(() => self.skipWaiting()),
  );
});

self.addEventListener("activate", (event) => {
  const old = (name) => name.startsWith("brume ") && name !== VERSION;
  event.waitUntil(
    caches
      .keys()
      .then((names) => Promise.all(names.filter(old).map((name) => caches.delete(name))))
      .then(() => self.clients.claim()),
  );
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || new URL(request.url).origin !== location.origin) return;
  event.respondWith(answer(request));
});

/** Answers a request from the cache, or else from the network. Settings in the address are ignored. */
async function answer(request) {
  const address = new URL(request.url);
  address.search = "";
  address.hash = "";
  if (request.mode === "navigate" && !/\/$|\.\w+$/.test(address.pathname)) {
    const { search, hash } = new URL(request.url);
    return Response.redirect(`${address.href}/${search}${hash}`);
  }
  const cache = await caches.open(VERSION);
  const kept = await cache.match(address.href);
  if (kept !== undefined) return kept;
  const fresh = await fetch(request);
  if (fresh.status === 200 && !fresh.redirected) await cache.put(address.href, fresh.clone());
  return fresh;
}
