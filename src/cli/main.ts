#!/usr/bin/env node
import { chooseCore } from "../index.js";

console.log(`brume: ${chooseCore().name} core`);
