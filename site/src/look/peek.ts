/** "Peek, only you can": a button that lifts the mist over what is secret. */
import { byId } from "./dom.js";

/** @param onChange also hears the state at the beginning, which is the button's `aria-pressed` */
export function bindPeek(onChange: (fogged: boolean) => void): void {
  const button = byId("peek");
  const show = () => {
    const fogged = button.getAttribute("aria-pressed") !== "true";
    document.body.classList.toggle("fogged", fogged);
    onChange(fogged);
  };
  button.addEventListener("click", () => {
    button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
    show();
  });
  show();
}
