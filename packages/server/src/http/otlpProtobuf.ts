/**
 * OTLP's protobuf encoding, read by protobufjs from the .proto files that OpenTelemetry publishes (packages/server/proto).
 * A decoded request has the fields of its JSON form, so that both take the same way from there on.
 */
import { fileURLToPath } from "node:url";
import protobuf from "protobufjs";
import type { OtlpBody, OtlpMetric, Point } from "./otlp.js";

export const PROTOBUF = "application/x-protobuf";

/**
 * Bytes of a request, decompressed. A point may be as short as two bytes: this many decode in some 20 ms, and a whole
 * batch of points with a key and a person fits.
 */
export const MOST_PROTOBUF_BYTES = 1 << 18;

const root = new protobuf.Root();
root.resolvePath = (_, path) => fileURLToPath(new URL(`../../proto/${path}`, import.meta.url));
root.loadSync(["opentelemetry/proto/collector/metrics/v1/metrics_service.proto", "google/rpc/status.proto"]);
const SERVICE = "opentelemetry.proto.collector.metrics.v1";
const Request = root.lookupType(`${SERVICE}.ExportMetricsServiceRequest`);
const Response = root.lookupType(`${SERVICE}.ExportMetricsServiceResponse`);
const Status = root.lookupType("google.rpc.Status");

/** A message as protobufjs decodes it: `data` and `value` name the member of a oneof that is set. */
interface DecodedMetric extends Partial<Record<string, unknown>> {
  readonly name: string;
  readonly data?: string;
}
interface DecodedPoint {
  readonly attributes: Point["attributes"];
  readonly timeUnixNano: { toString(): string };
  readonly value?: "asInt" | "asDouble";
  readonly asInt?: { toString(): string };
  readonly asDouble?: number;
}
interface Points {
  readonly dataPoints?: readonly DecodedPoint[];
}

/** Decodes a request. Throws if the bytes are no message of that kind, or nest deeper than 100 levels. */
export function decodeMetrics(bytes: Uint8Array): OtlpBody {
  const { resourceMetrics = [] } = Request.decode(bytes) as unknown as {
    resourceMetrics?: readonly { scopeMetrics?: readonly { metrics?: readonly DecodedMetric[] }[] }[];
  };
  return {
    resourceMetrics: resourceMetrics.map(({ scopeMetrics = [] }) => ({
      scopeMetrics: scopeMetrics.map(({ metrics = [] }) => ({ metrics: metrics.map(metricOf) })),
    })),
  };
}

function metricOf({ name, data, ...kinds }: DecodedMetric): OtlpMetric {
  if (data === undefined) return { name };
  const kind = kinds[data] as Points & OtlpMetric["sum"];
  const dataPoints = (kind.dataPoints ?? []) as readonly DecodedPoint[];
  if (data === "gauge") return { name, gauge: { dataPoints: dataPoints.map(pointOf) } };
  if (data !== "sum") return { name, [data]: { dataPoints } };
  const { aggregationTemporality, isMonotonic } = kind;
  return {
    name,
    sum: { dataPoints: dataPoints.map(pointOf), aggregationTemporality, isMonotonic } as NonNullable<
      OtlpMetric["sum"]
    >,
  };
}

function pointOf({ attributes, timeUnixNano, value, asInt, asDouble }: DecodedPoint): Point {
  return {
    ...(attributes === undefined ? {} : { attributes }),
    timeUnixNano: timeUnixNano.toString(),
    ...(value === "asInt" ? { asInt: asInt!.toString() } : {}),
    ...(value === "asDouble" ? { asDouble: asDouble! } : {}),
  };
}

/** Encodes the answer to an export. */
export const encodeAnswer = (answer: object): Buffer =>
  Buffer.from(Response.encode(Response.fromObject(answer)).finish());

/** Encodes an error, as the protocol asks of answers to protobuf requests. */
export const encodeError = (message: string): Buffer => Buffer.from(Status.encode({ message }).finish());
