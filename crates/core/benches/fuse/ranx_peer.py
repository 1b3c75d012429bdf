"""The Python side of the fusion race: ranx on the same lists.

Reads one line with the lists, as JSON: query, list, [id, score]. Prints `ready VERSION`. Then for each line read:
`run` prints the seconds that fusing all queries took, `show` prints the fused lists as JSON.
"""

import importlib.metadata
import json
import sys
import time

from ranx import Run, fuse


def runs_of(queries):
    lists = range(len(queries[0]))
    return [Run({f"q{at:06}": dict(query[number]) for at, query in enumerate(queries)}) for number in lists]


def main():
    runs = runs_of(json.loads(sys.stdin.readline()))
    fused = fuse(runs, norm=None, method="rrf", params={"k": 60})
    print("ready", importlib.metadata.version("ranx"), flush=True)
    for line in sys.stdin:
        if line.strip() == "show":
            print(json.dumps([list(docs.items()) for docs in fused.run.values()]), flush=True)
            continue
        start = time.perf_counter()
        fuse(runs, norm=None, method="rrf", params={"k": 60})
        print(time.perf_counter() - start, flush=True)


main()
