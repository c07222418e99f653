/** Brume as a service. The public names. */
export { checkConfig, loadConfig } from "./config/load.js";
export type { Config, MetricConfig, MetricType, Secret } from "./config/types.js";
export { brumePlugin, type PluginOptions } from "./http/app.js";
export { type Handler, makeHandler } from "./handler.js";
export { makeLogger, makeServer } from "./http/server.js";
export { importLog, type EventFields, type ImportOptions, type Log } from "./import/importLog.js";
export type { LogEvent } from "./import/timeOrder.js";
export { Refusal } from "brume/node";
export type { ServiceOptions } from "./openService.js";
export { Service } from "./service.js";
export type { ServiceStatement } from "./statement.js";
