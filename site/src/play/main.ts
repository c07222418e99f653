/** The lab's page: joins address, state, data and plots. */
import { bindControls } from "../look/controls.js";
import { byId, h } from "../look/dom.js";
import { beginPage, breathe } from "../look/page.js";
import { bindPeek } from "../look/peek.js";
import { addressOf, bindAddress, Store } from "../look/state.js";
import { DataChoice } from "./dataChoice.js";
import { EventLab } from "./eventLab.js";
import { Lab } from "./lab.js";
import { bindShare } from "./share.js";
import { FIELDS, ownZone } from "./state.js";
import { zoneOptions } from "./zoneWords.js";

const store = new Store(FIELDS, location.search);
byId("main").dataset["as"] = store.state.as;
await breathe();
beginPage();
const choice = new DataChoice(store);
byId("zone").replaceChildren(...zoneOptions(ownZone()).map(([value, name]) => h("option", { value }, name)));
bindControls(document, store);
bindAddress(store);
await breathe();
const lab = new Lab(store, choice);
const events = new EventLab(store, choice);
bindShare(
  () => addressOf(store),
  () => (store.state.as === "events" ? events : lab),
);
bindPeek((fogged) => {
  lab.fog(fogged);
  events.fog(fogged);
});
await breathe();
void choice.begin();
