/** What needs Node: its streams, and stores on disk. `import { … } from "brume/node"`. */
export { rekey, type RekeyOptions } from "./durable/rekey.js";
export { fileStore } from "./durable/stores/file.js";
export { type SqliteDatabase, type SqliteStatement, sqliteStore } from "./durable/stores/sqlite.js";
export { nodeTransform } from "./adapters/node.js";
