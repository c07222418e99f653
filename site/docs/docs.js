/** In the documentation's pages: colours of the visitor's choice, and a button that runs an example. */
const KEYS = new Set("EXAMPLES");
const base = document.documentElement.dataset.base ?? "./";

try {
  const theme = localStorage.getItem("theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // No storage: as the system is.
}

/** FNV-1a of the code without white space. */
function keyOf(code) {
  let hash = 0x811c9dc5;
  for (const char of code.replace(/\s/g, "")) hash = Math.imul(hash ^ char.codePointAt(0), 0x01000193);
  return (hash >>> 0).toString(16);
}

for (const code of document.querySelectorAll("pre > code")) {
  const key = keyOf(code.textContent);
  if (!KEYS.has(key)) continue;
  const button = document.createElement("button");
  const output = document.createElement("output");
  button.type = "button";
  button.className = "brume-run";
  button.textContent = "Run it here";
  output.className = "brume-output";
  output.hidden = true;
  button.addEventListener("click", () => run(key, output));
  code.parentElement.after(button, output);
}

function run(key, output) {
  output.hidden = false;
  output.textContent = "Running…";
  let first = true;
  const worker = new Worker(`${base}examples/${key}.js`, { type: "module" });
  worker.addEventListener("message", ({ data }) => {
    output.textContent = first ? data : `${output.textContent}\n${data}`;
    first = false;
  });
  worker.addEventListener("error", (event) => {
    event.preventDefault();
    output.textContent = event.message || "The example could not be loaded. Try again.";
  });
}
