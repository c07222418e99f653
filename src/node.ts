/** What needs Node: its streams, and stores on disk. `import { … } from "brume/node"`. */
export { fileStore } from "./keeping/stores/file.js";
export { type SqliteDatabase, type SqliteStatement, sqliteStore } from "./keeping/stores/sqlite.js";
export { brumeTransform } from "./streams/node.js";
