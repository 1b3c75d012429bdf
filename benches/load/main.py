"""The server under load. See `run`.

    python main.py HTTP MAINSTEM WORK CHUNKS SECONDS
"""

import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "../peers/engine"))
from generate import main as generate  # noqa: E402

DIM = 384
QUERIES = 200
PORT = 7791
# Documents that are written while others search.
NEW = 20_000
# Searches at the same time that the server takes on, unless told otherwise. Four times as many connections are four times its capacity.
CAPACITY = 16


def main(http, mainstem, work, chunks, seconds):
    work = Path(work)
    data, store, bodies = work / f"load-{chunks}", work / "store-load", work / "bodies.jsonl"
    shutil.rmtree(store, ignore_errors=True)
    generate(data, chunks, QUERIES, HERE / "../../../shared/data")
    write_bodies(data, bodies)
    ingest(mainstem, store, data)
    verdicts = []
    try:
        verdicts += overhead(http, store, bodies)
        server = start(mainstem, store)
        try:
            verdicts += measure(server, bodies, data, seconds)
        finally:
            server.send_signal(signal.SIGTERM)
            code = server.wait(timeout=60)
        verdicts.append((code == 0, f"SIGTERM: exit {code}"))
    finally:
        shutil.rmtree(store, ignore_errors=True)
        shutil.rmtree(data, ignore_errors=True)
    print()
    for holds, what in verdicts:
        print(f"{'holds' if holds else 'FAILS':6} {what}")
    return 0 if all(holds for holds, _ in verdicts) else 1


def write_bodies(data, file):
    vectors = np.fromfile(data / "query_vectors.f32", np.float32).reshape(-1, DIM)
    texts = (data / "queries.txt").read_text().splitlines()
    with file.open("w") as out:
        for text, vector in zip(texts, vectors):
            out.write(json.dumps({"query": text, "vector": [round(float(x), 5) for x in vector]}) + "\n")


def ingest(mainstem, store, data):
    command = [mainstem, "--store", store, "ingest", "-", "--source", "bench", "--kind", "text", "--vectors-model", "bench", "--no-embed"]
    reader = subprocess.Popen(command, stdin=subprocess.PIPE)
    reader.stdin.writelines(documents(data))
    reader.stdin.close()
    if reader.wait() != 0:
        raise SystemExit("the documents were not taken in")


def documents(data, prefix="", most=None):
    texts = (data / "texts.txt").read_text().splitlines()[:most]
    vectors = np.fromfile(data / "vectors.f32", np.float32, count=len(texts) * DIM).reshape(-1, DIM)
    for row, (text, vector) in enumerate(zip(texts, vectors)):
        document = {"id": f"{prefix}{row}", "text": text, "vector": vector.astype(float).round(5).tolist()}
        yield json.dumps(document).encode() + b"\n"


def overhead(http, store, bodies):
    """What HTTP adds: calls of the library and requests in turns, in one process, on one store."""
    done = subprocess.run([http, store, bodies, "10"], check=True, capture_output=True, text=True)
    told = json.loads(done.stdout.strip().splitlines()[-1])
    print(f"{'library and HTTP in turns':34} p50 {told['library'][0]:.2f} and {told['http'][0]:.2f} ms   p99 {told['library'][1]:.2f} and {told['http'][1]:.2f} ms")
    return [(told["adds"] < 0.5, f"HTTP adds {told['adds']:.2f} ms to a search (p50), expected less than 0.5")]


def start(mainstem, store):
    command = [mainstem, "--store", store, "serve", "--address", f"127.0.0.1:{PORT}", "--no-config"]
    # Whatever is logged by default is written, too.
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    server.stdout.readline()
    return server


def wrk(bodies, connections, seconds):
    command = ["wrk", "-t", str(min(2, connections)), "-c", str(connections), "-d", f"{seconds}s", "--timeout", "10s"]
    command += ["-s", HERE / "search.lua", f"http://127.0.0.1:{PORT}"]
    done = subprocess.run(command, env=os.environ | {"BODIES": str(bodies)}, check=True, capture_output=True, text=True)
    result = json.loads(done.stdout.strip().splitlines()[-1])
    return result | {"rate": result["ok"] / result["seconds"], "wrong": result["other"] + result["errors"]}


def say(name, result, more=""):
    print(
        f"{name:34} {result['rate']:8.0f} answers/s   p50 {result['p50']:7.2f} ms   p99 {result['p99']:7.2f} ms"
        f"   503: {result['crowded']}   other: {result['wrong']}{more}",
        flush=True,
    )


def measure(server, bodies, data, seconds):
    short = max(1, min(5, seconds // 4))
    wrk(bodies, CAPACITY, short)
    say("1 connection", wrk(bodies, 1, short))
    rates = {connections: wrk(bodies, connections, short) for connections in (2, 4, 8, CAPACITY)}
    best = max(rates, key=lambda connections: rates[connections]["rate"])
    say(f"{best} connections, the best", rates[best])
    verdicts = long_load(server, bodies, seconds)
    verdicts += beyond(bodies, best, short)
    verdicts += while_writing(bodies, data, seconds)
    return verdicts


def long_load(server, bodies, seconds):
    """Four times the capacity for long. Memory is compared after a sixth of the time, when every thread has had work, and at the end."""
    samples, stop = [], threading.Event()

    def watch():
        while not stop.wait(0.5):
            samples.append(memory(server))

    watching = threading.Thread(target=watch)
    watching.start()
    many = wrk(bodies, 4 * CAPACITY, seconds)
    stop.set()
    watching.join()
    early, late = samples[len(samples) // 6], statistics.median(samples[-5:])
    ratio = many["p99"] / many["p50"]
    say(f"{4 * CAPACITY} connections, {seconds} s", many, f"   with refusals: p50 {many['all_p50']:.2f} ms, p99 {many['all_p99']:.2f} ms")
    return [
        (many["wrong"] == 0, f"{4 * CAPACITY} connections for {seconds} s: {many['wrong']} errors besides 503 with Retry-After"),
        (ratio < 10, f"p99 is {ratio:.1f} times p50, expected less than 10"),
        (late <= 1.1 * early, f"memory {samples[0]:.0f} MB at first, {early:.0f} MB after {seconds / 6:.0f} s, {late:.0f} MB at the end"),
    ]


def beyond(bodies, best, seconds):
    """Slices of the best load and of too much in turns, so that what else the machine does falls on both."""
    slices = {connections: [] for connections in (best, 4 * CAPACITY, 16 * CAPACITY)}
    for _ in range(4):
        for connections, results in slices.items():
            results.append(wrk(bodies, connections, seconds))
    peak, verdicts = statistics.median(one["rate"] for one in slices[best]), []
    for connections in (4 * CAPACITY, 16 * CAPACITY):
        middle = sorted(slices[connections], key=lambda one: one["rate"])[len(slices[connections]) // 2]
        say(f"{connections} connections", middle)
        share = 100 * statistics.median(one["rate"] for one in slices[connections]) / peak
        verdicts.append((share >= 80, f"{connections} connections: {share:.0f} % of the best rate, expected at least 80"))
    return verdicts


def while_writing(bodies, data, seconds):
    slice_seconds = max(1, min(10, seconds // 4))
    calm = wrk(bodies, 2, slice_seconds)
    say("2 connections", calm)
    new = list(documents(data, "new-", NEW))
    body, count = b"".join(new), len(new)
    busy, done = [], threading.Event()

    def search():
        while not done.is_set():
            busy.append(wrk(bodies, 2, 1))

    searching = threading.Thread(target=search)
    searching.start()
    time.sleep(0.5)
    begun = time.monotonic()
    answer = put(body)
    taken = time.monotonic() - begun
    done.set()
    searching.join()
    middle = sorted(busy, key=lambda one: one["p50"])[len(busy) // 2]
    ratio = middle["p50"] / calm["p50"]
    say("2 connections while writing", middle, f"   {count} documents in {taken:.1f} s")
    wrong = sum(one["wrong"] for one in busy)
    return [
        (answer["done"] and answer["stored"] == count, f"all of {count} documents are stored, {count / taken:.0f} a second"),
        (wrong == 0, f"{wrong} searches failed meanwhile"),
        (ratio < 5, f"searches took {ratio:.1f} times as long meanwhile (p50), expected less than 5"),
    ]


def put(body):
    headers = {"content-type": "application/x-ndjson"}
    url = f"http://127.0.0.1:{PORT}/v1/sources/new/documents?vectors_model=bench"
    request = urllib.request.Request(url, body, headers, method="PUT")
    return json.loads(urllib.request.urlopen(request, timeout=300).read().decode().strip().splitlines()[-1])


def memory(server):
    status = Path(f"/proc/{server.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4], int(sys.argv[4]), int(sys.argv[5])))
