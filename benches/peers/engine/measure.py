"""One phase of one system, in a process of its own; prints a line of JSON.

    python measure.py SYSTEM ingest|query DATA STORE
"""

import json
import sys
import time
from pathlib import Path

import numpy as np

from systems import SYSTEMS

DIM = 384
WARM = 20
# The recall that a system has to reach, and how long one kind of query may be measured.
RECALL = 0.99
SECONDS = 10


class Data:
    def __init__(self, folder):
        self.folder = Path(folder)
        self.queries = (self.folder / "queries.txt").read_text().splitlines()
        self.query_vectors = np.fromfile(self.folder / "query_vectors.f32", np.float32).reshape(-1, DIM)
        self.exact = np.fromfile(self.folder / "exact.u32", np.uint32).reshape(-1, 10)

    def groups(self):
        return np.fromfile(self.folder / "groups.u8", np.uint8)

    def load(self):
        """Reads the corpus, before the clock starts."""
        self.texts = (self.folder / "texts.txt").read_text().splitlines()
        self.vectors = np.fromfile(self.folder / "vectors.f32", np.float32).reshape(-1, DIM)

    def blocks(self, size):
        groups = self.groups().astype(np.int64)
        for first in range(0, len(groups), size):
            here = slice(first, first + size)
            yield first, self.texts[here], self.vectors[here], groups[here]


def ingest(system, data, store):
    data.load()
    start = time.perf_counter()
    system.ingest(data, store)
    return {"seconds": time.perf_counter() - start, "chunks": len(data.groups())}


def query(system, data, store):
    imported = memory()
    start = time.perf_counter()
    opened = system(store, data)
    open_ms = 1e3 * (time.perf_counter() - start)
    ask = opened.hybrid or (lambda _text, vector: opened.dense(vector))
    ask(data.queries[0], data.query_vectors[0])
    first_ms = 1e3 * (time.perf_counter() - start)
    pairs = list(zip(data.queries, data.query_vectors))
    out = {"open_ms": open_ms, "first_ms": first_ms, "import_memory": imported}
    out["knob"] = tune(opened, data)
    found = []
    out["dense_ms"] = times([lambda v=v: opened.dense(v) for _, v in pairs], found)
    out["recall"] = recall(found, data.exact)
    if opened.hybrid:
        out["hybrid_ms"] = times([lambda t=t, v=v: opened.hybrid(t, v) for t, v in pairs])
    if opened.words:
        out["words_ms"] = times([lambda t=t: opened.words(t) for t, _ in pairs])
    found, groups = [], data.groups()
    asks = [lambda t=t, v=v, g=at % 100: opened.filtered(t, v, g) for at, (t, v) in enumerate(pairs)]
    out["filtered_ms"] = times(asks, found)
    out["strays"] = sum(groups[row] != at % 100 for at, rows in enumerate(found) for row in rows).item()
    out["filtered_found"] = sum(map(len, found)) / len(found)
    out["memory"] = memory()
    return out


def tune(opened, data):
    """Takes the first setting that finds enough, cheapest first."""
    for knob in opened.knobs:
        opened.knob = knob
        if recall([opened.dense(vector) for vector in data.query_vectors], data.exact) >= RECALL:
            break
    return str(opened.knob)


def recall(found, exact):
    hits = sum(len(set(rows) & set(right.tolist())) for rows, right in zip(found, exact))
    return hits / (10 * len(found))


def times(asks, found=None):
    for ask in asks[:WARM]:
        ask()
    taken = []
    begin = time.perf_counter()
    for ask in asks:
        start = time.perf_counter()
        rows = ask()
        taken.append(1e3 * (time.perf_counter() - start))
        if found is not None:
            found.append(rows)
        if time.perf_counter() - begin > SECONDS:
            break
    return taken


def memory():
    """Kilobytes in memory: all of them, and those that are not pages of files."""
    lines = dict(line.split(":", 1) for line in open("/proc/self/status"))
    return {"all": int(lines["VmRSS"].split()[0]), "own": int(lines["RssAnon"].split()[0])}


if __name__ == "__main__":
    name, phase, folder, store = sys.argv[1:5]
    system = SYSTEMS[name]
    __import__(system.package)
    print(json.dumps({"ingest": ingest, "query": query}[phase](system, Data(folder), store)))
