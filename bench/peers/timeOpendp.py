"""What OpenDP takes through its Python binding: exact Laplace noise on integers, and a b-ary tree with consistency.

Prints one JSON object: milliseconds of processor time, the least of a few turns.
"""
import json
import sys
import time
from importlib.metadata import version

import opendp.prelude as dp

dp.enable_features("contrib")

SAMPLES = int(sys.argv[1])
LEAVES = int(sys.argv[2])
FANOUT = int(sys.argv[3])
SCALE = float(sys.argv[4])


def least(turns, work):
    times = []
    for _ in range(turns):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return 1000 * min(times)


vector = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
laplace = dp.m.make_laplace(*vector, scale=SCALE)
zeros = [0] * SAMPLES

tree = dp.t.make_b_ary_tree(*vector, leaf_count=LEAVES, branching_factor=FANOUT)
counts = [0] * LEAVES
consistent = dp.t.make_consistent_b_ary_tree(branching_factor=FANOUT)


def release_tree():
    nodes = tree(counts)
    noisy = laplace(nodes)
    consistent(noisy)


print(
    json.dumps(
        {
            "version": version("opendp"),
            "laplaceMs": least(3, lambda: laplace(zeros)),
            "treeMs": least(2, release_tree),
        }
    )
)
