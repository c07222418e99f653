/**
 * Publishes how values are distributed over any range of time, under differential privacy for one event, added or removed,
 * or for one person's day. Buckets are disjoint, so all of them together cost what one costs. There is no threshold: the first
 * period is published, unless k is to be chosen.
 */
import { MetricStream } from "./metricStream.js";
import type { EventInfo } from "./eventInfo.js";
import {
  blankHistogram,
  checkQuery,
  type Histogram,
  type HistogramAnswer,
  histogramAnswer,
  type HistogramQuery,
} from "./answer/histogramAnswers.js";
import type { Range } from "./answer/queries.js";

export class BucketedEvents extends MetricStream<HistogramAnswer, HistogramQuery> implements Histogram {
  get edges(): readonly number[] {
    return Array.from(this.metric.settings.buckets!.edges);
  }

  add(value: number, event?: EventInfo): void {
    this.take(value, event);
  }

  protected answer(range: Range, query: HistogramQuery): HistogramAnswer {
    return histogramAnswer(this.metric, this.release, range, query as Required<HistogramQuery>);
  }

  protected blank(answer: HistogramAnswer, range: Range): HistogramAnswer {
    return blankHistogram(answer, range);
  }

  protected events({ total }: HistogramAnswer): number {
    return total?.value ?? 0;
  }

  protected check(query: HistogramQuery): HistogramQuery {
    return checkQuery(query);
  }
}
