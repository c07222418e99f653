/** The page for addresses that lead nowhere. */
import { beginPage } from "./look/page.js";

beginPage();
