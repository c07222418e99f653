/** The public names that need Node: its streams, and stores on disk. `import { … } from "brume/node"`. */
export { eventMechanisms, registryRecord, type RegistryRecord } from "./adapters/registryRecord.js";
export { epsilonAdvice } from "./core/advice.js";
export { Refusal } from "./durable/refusal.js";
export { Turns } from "./durable/turns.js";
export { software, softwareText } from "./core/software.js";
export { budgetKey } from "./durable/budget/budgetKey.js";
export { composedEpsilon } from "./durable/budget/composition.js";
export { rekey, type RekeyOptions } from "./durable/rekey.js";
export { fileStore } from "./durable/stores/file.js";
export { type PostgresClient, postgresStore } from "./durable/stores/postgres.js";
export { type RedisClient, redisStore, type RedisStoreOptions } from "./durable/stores/redis.js";
export { type SqliteDatabase, type SqliteStatement, sqliteStore } from "./durable/stores/sqlite.js";
export { DAY, dayAt, HOUR, MINUTE } from "./events/days/calendar.js";
export { localPrecision } from "./local/precision.js";
export { durationText, parseDuration } from "./events/days/duration.js";
export { nodeTransform } from "./adapters/node.js";
export { openWorkerHub, type WorkerHub, type WorkerHubOptions } from "./durable/workers/workerHub.js";
