/** The lab's page: joins address, state, data and plot. */
import { bindControls } from "../look/controls.js";
import { beginPage, breathe } from "../look/page.js";
import { bindAddress, Store } from "../look/state.js";
import { DataChoice } from "./dataChoice.js";
import { Lab } from "./lab.js";
import { FIELDS } from "./state.js";

await breathe();
beginPage();
const store = new Store(FIELDS, location.search);
const choice = new DataChoice(store);
bindControls(document, store);
bindAddress(store);
await breathe();
new Lab(store, choice);
await breathe();
void choice.begin();
