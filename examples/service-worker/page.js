await navigator.serviceWorker.register("./worker.js", { type: "module" });
await navigator.serviceWorker.ready;
if (!navigator.serviceWorker.controller)
  await new Promise((controlled) =>
    navigator.serviceWorker.addEventListener("controllerchange", controlled, { once: true }),
  );

for (let i = 0; i < 300; i++) await fetch(`./page.js?${i}`); // what your page fetches

const { requests, mean, error } = await (await fetch("./private-statistics")).json();
document.querySelector("#mean").textContent =
  `${mean.toFixed(1)} ms ± ${error.toFixed(1)} ms, over ${requests} requests`;
