"""Hourly counts, means and 95th percentiles of events by OpenDP, for eventsVsOpendp.ts.

Reads one JSON object from standard input: values per hour (whole numbers), theta, epsilon, candidates, runs.
Writes one: the root mean squared error of counts, means and ranks of p95 against the truth, and seconds for one run.
"""

import json
import math
import sys
import time

import opendp.prelude as dp

dp.enable_features("contrib")
asked = json.load(sys.stdin)
hours, theta, epsilon = asked["hours"], asked["theta"], asked["epsilon"]
space = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()


def counter(budget):
    return space >> dp.t.then_count() >> dp.m.then_laplace(scale=1 / budget)


def summer(budget):
    return space >> dp.t.then_clamp((0, theta)) >> dp.t.then_sum() >> dp.m.then_laplace(scale=theta / budget)


def quantile(budget):
    def make(scale):
        return space >> dp.m.then_private_quantile(dp.max_divergence(), asked["candidates"], 0.95, scale)

    return make(dp.binary_search_param(make, d_in=1, d_out=budget, T=float))


measures = {"count": [counter(epsilon)], "mean": [summer(epsilon / 2), counter(epsilon / 2)], "p95": [quantile(epsilon)]}
ranked = [sorted(values) for values in hours]


def error(name, results, values, ordered):
    if name == "count":
        return results[0] - len(values)
    if name == "mean":
        truth = sum(min(value, theta) for value in values) / len(values)
        return results[0] / max(1, results[1]) - truth
    below = sum(1 for value in ordered if value < results[0])
    return below / len(ordered) - 0.95


answer = {}
for name, mechanisms in measures.items():
    squares, seconds = [], 0.0
    for _ in range(asked["runs"]):
        for values, ordered in zip(hours, ranked):
            start = time.perf_counter()
            results = [mechanism(values) for mechanism in mechanisms]
            seconds += time.perf_counter() - start
            squares.append(error(name, results, values, ordered) ** 2)
    answer[name] = {"error": math.sqrt(sum(squares) / len(squares)), "seconds": seconds / asked["runs"]}
print(json.dumps(answer))
