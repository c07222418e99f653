/** The lab's page: joins address, state, data and plot. */
import { bindControls } from "../look/controls.js";
import { beginPage } from "../look/page.js";
import { bindAddress, Store } from "../look/state.js";
import { DataChoice } from "./dataChoice.js";
import { Lab } from "./lab.js";
import { FIELDS } from "./state.js";

beginPage();
const store = new Store(FIELDS, location.search);
const choice = new DataChoice(store);
bindControls(document, store);
bindAddress(store);
new Lab(store, choice);
void choice.begin();
