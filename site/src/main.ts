/** Joins address, state, tabs and views. */
import { byId } from "./look/dom.js";
import { readState, type State, Store, writeState } from "./state.js";
import { DataChoice } from "./views/data.js";
import { LiveView } from "./views/live.js";

const store = new Store(readState(location.search));
const choice = new DataChoice(store);
new LiveView(store, choice);
/** The other views are fetched when they are first looked at. */
const others: Partial<Record<State["view"], () => Promise<unknown>>> = {
  devices: () => import("./views/devices.js").then(({ DevicesView }) => new DevicesView(store, choice)),
  compare: () => import("./views/compare.js").then(({ CompareView }) => new CompareView(store, choice)),
};
bindTabs();
bindAddress();

/** One view at a time; arrow keys move between tabs. */
function bindTabs(): void {
  const tabs = [...document.querySelectorAll<HTMLButtonElement>("[role=tab]")];
  const show = ({ view }: State) => {
    void others[view]?.();
    delete others[view];
    for (const tab of tabs) {
      const selected = tab.dataset["view"] === view;
      tab.setAttribute("aria-selected", String(selected));
      tab.tabIndex = selected ? 0 : -1;
      byId(tab.getAttribute("aria-controls")!).hidden = !selected;
    }
  };
  for (const [i, tab] of tabs.entries()) {
    tab.addEventListener("click", () => store.set({ view: tab.dataset["view"] as State["view"] }));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: tabs.length - 1 }[event.key];
      if (step === undefined) return;
      const next = tabs[(i + step) % tabs.length]!;
      next.focus();
      next.click();
    });
  }
  store.subscribe(show);
  show(store.state);
}

/** The address follows the state, at most a few times a second: browsers refuse more. */
function bindAddress(): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  store.subscribe(() => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const query = writeState(store.state);
      history.replaceState(null, "", query === "" ? location.pathname : `?${query}`);
    }, 200);
  });
}
