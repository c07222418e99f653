/**
 * Times every request of the page and answers ./private-statistics from the private stream alone.
 * Put brume.js (dist/browser/brume.js of the package) beside this file. A browser may stop a service worker at any
 * time; the next one starts a stream of its own, on new values and with new noise, which costs no more privacy.
 */
import { privateStream } from "./brume.js";

const publisher = privateStream({ epsilon: 1, max: 1000, threshold: 250, maxRange: 4096 }); // milliseconds

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("fetch", (event) => {
  const asked = new URL(event.request.url).pathname.endsWith("/private-statistics");
  event.respondWith(asked ? statistics() : timed(event.request));
});

async function timed(request) {
  const start = performance.now();
  const response = await fetch(request);
  publisher.push(performance.now() - start);
  return response;
}

function statistics() {
  const requests = publisher.length;
  const all = publisher.range(0, requests);
  return Response.json({ requests, mean: all.mean, error: (all.high - all.low) / 2 / requests });
}
