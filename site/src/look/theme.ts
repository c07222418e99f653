/** Light, dark, or as the system is: a button of the footer, remembered. */
import { byId } from "./dom.js";

const CHOICES = ["system", "light", "dark"] as const;
type Choice = (typeof CHOICES)[number];

export function bindTheme(): void {
  const button = byId("theme");
  let choice = remembered();
  const apply = () => {
    if (choice === "system") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = choice;
    button.textContent = `Colours: ${choice === "system" ? "as the system" : choice}`;
  };
  button.addEventListener("click", () => {
    choice = CHOICES[(CHOICES.indexOf(choice) + 1) % CHOICES.length]!;
    try {
      localStorage.setItem("theme", choice);
    } catch {
      // Storage may be forbidden; the choice then lasts as long as the page.
    }
    apply();
  });
  apply();
}

function remembered(): Choice {
  try {
    const stored = localStorage.getItem("theme");
    return CHOICES.find((choice) => choice === stored) ?? "system";
  } catch {
    return "system";
  }
}
