"""Runs all systems on the same data, one after another, and prints the table. See docs/benchmarks.md.

    python main.py ENGINE WORK CHUNKS [SYSTEM...]
"""

import importlib.util
import json
import shutil
import statistics
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

from generate import main as generate
from systems import SYSTEMS

HERE = Path(__file__).parent
OURS = "mainstem"
QUERIES = 200
# Seconds for one phase of one system, and for everything. Beyond 100,000 chunks only a phase has a limit, in proportion.
PHASE, ALL = 200, 700
PIP_NAMES = {"chroma": "chromadb", "qdrant-edge": "qdrant-edge-py"}


def main(engine, work, chunks, wanted):
    work = Path(work)
    data = work / f"data-{chunks}"
    say(f"making {chunks} chunks")
    generate(data, chunks, QUERIES, HERE / "../../../../shared/data")
    names = [name for name in wanted if name == OURS or installed(name)]
    results = {name: run(name, engine, data, work / f"store-{name}", chunks) for name in names}
    results = {name: result for name, result in results.items() if result}
    shutil.rmtree(data)
    (work / f"results-{chunks}.json").write_text(json.dumps(results))
    table(results, chunks)
    if OURS in results:
        limits(results, chunks, work)


def installed(name):
    if importlib.util.find_spec(SYSTEMS[name].package):
        return True
    say(f"{name} is not installed and is left out")
    return False


def run(name, engine, data, store, chunks):
    """Fills a store, and queries it from a fresh process."""
    shutil.rmtree(store, ignore_errors=True)
    own = [engine] if name == OURS else [sys.executable, HERE / "measure.py", name]
    result = {}
    try:
        for phase in ["ingest", "query"]:
            say(f"{name}: {phase}")
            left = max(1, min(PHASE, ALL - (time.monotonic() - START)))
            patience = left if chunks <= 100_000 else PHASE * chunks / 100_000
            done = subprocess.run(
                [*own, phase, data, store], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=patience
            )
            if done.returncode:
                say(f"{name} failed: {done.stderr.strip().splitlines()[-1:] or done.returncode}")
                return None
            result |= json.loads(done.stdout.strip().splitlines()[-1])
            if phase == "ingest":
                result["disk"] = sum(file.stat().st_size for file in Path(store).rglob("*") if file.is_file())
    except subprocess.TimeoutExpired:
        say(f"{name}: stopped after {patience:.0f} s")
        return None
    finally:
        shutil.rmtree(store, ignore_errors=True)
    return result


START = time.monotonic()


def say(what):
    print(f"[{time.monotonic() - START:5.0f} s] {what}", flush=True)


def p50(result, kind):
    return statistics.median(result[kind]) if kind in result else None


def p99(result, kind):
    return sorted(result[kind])[int(0.99 * len(result[kind]))] if kind in result else None


def mega(kilobytes):
    return kilobytes / 1024


# What is shown: name, how to get it, whether less is better.
ROWS = [
    ("ingest, chunks/s", lambda r: r["chunks"] / r["seconds"], False),
    ("open, ms", lambda r: r["open_ms"], True),
    ("open and first answer, ms", lambda r: r["first_ms"], True),
    # Ours by reciprocal rank and nothing more, as the others do it; theirs is one and the same.
    ("hybrid alike p50, ms", lambda r: p50(r, "alike_ms") or p50(r, "hybrid_ms"), True),
    ("hybrid default p50, ms", lambda r: p50(r, "hybrid_ms"), True),
    ("hybrid default p99, ms", lambda r: p99(r, "hybrid_ms"), True),
    ("vector only p50, ms", lambda r: p50(r, "dense_ms"), True),
    ("words only p50, ms", lambda r: p50(r, "words_ms"), True),
    ("hybrid, 1 % filter p50, ms", lambda r: p50(r, "filtered_ms"), True),
    ("recall@10 by vector", lambda r: r["recall"], False),
    ("memory, all, MB", lambda r: mega(r["memory"]["all"]), True),
    ("memory, not of files, MB", lambda r: mega(r["memory"]["own"]), True),
    ("disk, MB", lambda r: r["disk"] / 1e6, True),
]


def table(results, chunks):
    print(f"\n{chunks} chunks x 384, {QUERIES} queries, one at a time")
    print(f"{'':<28}" + "".join(f"{name:>14}" for name in results) + f"{'best peer':>14}{'we are':>10}")
    for name, get, less in ROWS:
        values = {system: get(result) for system, result in results.items()}
        peers = [value for system, value in values.items() if system != OURS and value is not None]
        best = (min if less else max)(peers, default=None)
        line = "".join(f"{shown(value):>14}" for value in values.values()) + f"{shown(best):>14}"
        ours = values.get(OURS)
        print(f"{name:<28}{line}" + (f"{(best / ours if less else ours / best):>9.2f}x" if best and ours else ""))
    for name, result in results.items():
        if name != OURS:
            found = f", {result['filtered_found']:.1f} found behind the filter" if result["filtered_found"] < 9.9 else ""
            knob = f"recall reached at {result['knob']}{found}"
            print(f"{name} {version(PIP_NAMES.get(name, name))}: {SYSTEMS[name].notes}; {knob}")
    strays = {name: result["strays"] for name, result in results.items() if result["strays"]}
    if strays:
        print(f"found although the filter forbids it: {strays}")


def shown(value):
    if value is None:
        return "-"
    return f"{value:.3f}" if value < 10 else f"{value:.1f}" if value < 1000 else f"{value:.0f}"


def limits(results, chunks, work):
    """What we hold ourselves to."""
    ours = results[OURS]
    peers = [result for name, result in results.items() if name != OURS]
    fair = [result for result in peers if result["recall"] >= 0.99 and "hybrid_ms" in result]
    hybrid, filtered = p50(ours, "hybrid_ms"), p50(ours, "filtered_ms")
    large = chunks >= 1_000_000
    least = 0.95 if large else 0.99
    checks = [
        (f"hybrid p50 <= {10 if large else 3} ms", hybrid <= (10 if large else 3), f"{hybrid:.2f} ms"),
        (f"recall@10 >= {least}", ours["recall"] >= least, f"{ours['recall']:.4f}"),
        ("open < 100 ms", ours["open_ms"] < 100, f"{ours['open_ms']:.1f} ms"),
        ("1 % filter faster than none", filtered < hybrid, f"{filtered:.2f} against {hybrid:.2f} ms"),
    ]
    if not large:
        resident = mega(ours["memory"]["all"])
        own = f"{resident:.0f} MB, of which {mega(ours['memory']['own']):.0f} are not pages of files"
        checks.append(("resident memory < 150 MB", resident < 150, own))
    if fair:
        best = min(p50(result, "hybrid_ms") for result in fair)
        times = best / p50(ours, "alike_ms")
        default = f"the default, which does more, {best / hybrid:.2f}x"
        checks.append(("hybrid alike >= 2x faster than the best", times >= 2, f"{times:.2f}x; {default}"))
    if peers:
        rate = ours["chunks"] / ours["seconds"] * min(result["seconds"] / result["chunks"] for result in peers)
        checks.append(("ingest >= 3x the fastest", rate >= 3, f"{rate:.2f}x"))
    small = work / "results-100000.json"
    if large and small.exists():
        before = json.loads(small.read_text()).get(OURS)
        growth = hybrid / p50(before, "hybrid_ms") if before else 0
        checks.append(("cost(1M) <= 12x cost(100k)", 0 < growth <= 12, f"{growth:.1f}x"))
    print()
    for what, held, value in checks:
        print(f"{'holds ' if held else 'FAILS '} {what:<36}{value}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:] or [OURS, *SYSTEMS])
