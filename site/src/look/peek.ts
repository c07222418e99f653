/** "Peek, only you can": buttons that lift the mist over what is secret. */

/** @param onChange also hears the state at the beginning, which is the first button's `aria-pressed` */
export function bindPeek(onChange: (fogged: boolean) => void): void {
  const buttons = document.querySelectorAll("[data-peek]");
  let fogged = buttons[0]!.getAttribute("aria-pressed") !== "true";
  const show = () => {
    for (const button of buttons) button.setAttribute("aria-pressed", String(!fogged));
    document.body.classList.toggle("fogged", fogged);
    onChange(fogged);
  };
  for (const button of buttons)
    button.addEventListener("click", () => {
      fogged = !fogged;
      show();
    });
  show();
}
