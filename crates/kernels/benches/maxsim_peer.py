"""The Python side of the MaxSim race: maxsim-cpu on the same shapes, one timed run per line of input.

Usage: maxsim_peer.py QUERY_TOKENS DIM DOCUMENTS TOKENS
Prints `ready VERSION`, then for each line read the seconds that one run took.
"""

import importlib.metadata
import sys
import time

import maxsim_cpu
import numpy


def unit_rows(random, *shape):
    rows = random.standard_normal(shape, dtype=numpy.float32)
    return rows / numpy.linalg.norm(rows, axis=-1, keepdims=True)


def main():
    query_tokens, dim, documents, tokens = map(int, sys.argv[1:])
    random = numpy.random.default_rng(7)
    query = unit_rows(random, query_tokens, dim)
    docs = unit_rows(random, documents, tokens, dim)
    maxsim_cpu.maxsim_scores(query, docs)
    print("ready", importlib.metadata.version("maxsim-cpu"), flush=True)
    for _ in sys.stdin:
        start = time.perf_counter()
        maxsim_cpu.maxsim_scores(query, docs)
        print(time.perf_counter() - start, flush=True)


main()
