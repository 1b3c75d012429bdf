"""The server under load. See `run`.

    python main.py ENGINE MAINSTEM WORK CHUNKS SECONDS
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


def main(engine, mainstem, work, chunks, seconds):
    work = Path(work)
    data, store = work / f"load-{chunks}", work / "store-load"
    shutil.rmtree(store, ignore_errors=True)
    generate(data, chunks, QUERIES, HERE / "../../../shared/data")
    subprocess.run([engine, "ingest", data, store], check=True, stdout=subprocess.DEVNULL)
    library = json.loads(subprocess.run([engine, "query", data, store], check=True, capture_output=True, text=True).stdout.splitlines()[-1])
    bodies = work / "bodies.jsonl"
    write_bodies(data, bodies)
    server = start(mainstem, store)
    try:
        measure(server, bodies, statistics.median(library["hybrid_ms"]), data, seconds)
    finally:
        server.send_signal(signal.SIGTERM)
        code = server.wait(timeout=30)
        print(f"SIGTERM: exit {code}")
        shutil.rmtree(store, ignore_errors=True)
        shutil.rmtree(data, ignore_errors=True)


def write_bodies(data, file):
    vectors = np.fromfile(data / "query_vectors.f32", np.float32).reshape(-1, DIM)
    texts = (data / "queries.txt").read_text().splitlines()
    with file.open("w") as out:
        for text, vector in zip(texts, vectors):
            out.write(json.dumps({"query": text, "vector": [round(float(x), 5) for x in vector]}) + "\n")


def start(mainstem, store):
    command = [mainstem, "--store", store, "serve", "--address", f"127.0.0.1:{PORT}", "--log-level", "warn"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    server.stdout.readline()
    return server


def wrk(bodies, connections, seconds):
    command = ["wrk", "-t", str(min(2, connections)), "-c", str(connections), "-d", f"{seconds}s", "--timeout", "10s"]
    command += ["-s", HERE / "search.lua", f"http://127.0.0.1:{PORT}"]
    done = subprocess.run(command, env=os.environ | {"BODIES": str(bodies)}, check=True, capture_output=True, text=True)
    result = json.loads(done.stdout.strip().splitlines()[-1])
    return result | {"rate": result["ok"] / result["seconds"]}


def say(name, result, more=""):
    print(
        f"{name:34} {result['rate']:8.0f} answers/s   p50 {result['p50']:7.2f} ms   p99 {result['p99']:7.2f} ms"
        f"   503: {result['crowded']}   other: {result['other'] + result['errors']}{more}",
        flush=True,
    )


def measure(server, bodies, library, data, seconds):
    wrk(bodies, 1, 2)
    one = wrk(bodies, 1, min(10, seconds))
    say("1 connection", one, f"   library p50 {library:.2f} ms: HTTP adds {one['p50'] - library:.2f} ms")
    peak = max((wrk(bodies, connections, min(5, seconds)) for connections in (2, 4, 8, 16)), key=lambda one: one["rate"])
    say("best of 2, 4, 8 and 16 connections", peak)
    before = memory(server)
    many = wrk(bodies, 64, seconds)
    after = memory(server)
    say("64 connections", many, f"   p99/p50 {many['p99'] / many['p50']:.1f}   memory {before:.0f} -> {after:.0f} MB")
    beyond = wrk(bodies, 256, min(20, seconds))
    say("256 connections", beyond, f"   {100 * beyond['rate'] / peak['rate']:.0f} % of the best")
    calm = wrk(bodies, 2, min(10, seconds))
    say("2 connections", calm)
    writing = threading.Thread(target=write, args=(data,))
    writing.start()
    busy = wrk(bodies, 2, min(10, seconds))
    writing.join()
    say("2 connections while writing", busy, f"   p50 {busy['p50'] / calm['p50']:.1f} times that of before")


def write(data):
    texts = (data / "texts.txt").read_text().splitlines()[:20_000]
    vectors = np.fromfile(data / "vectors.f32", np.float32, count=len(texts) * DIM).reshape(-1, DIM)
    lines = []
    for row, (text, vector) in enumerate(zip(texts, vectors)):
        chunk = [round(float(x), 5) for x in vector]
        lines.append(json.dumps({"id": f"new-{row}", "text": text, "vector": chunk}))
    body = ("\n".join(lines) + "\n").encode()
    headers = {"content-type": "application/x-ndjson"}
    request = urllib.request.Request(f"http://127.0.0.1:{PORT}/v1/sources/new/documents?vectors_model=bench", body, headers, method="PUT")
    start = time.monotonic()
    answer = urllib.request.urlopen(request, timeout=300).read().decode().strip().splitlines()
    print(f"{'':34} wrote {len(lines)} documents in {time.monotonic() - start:.1f} s: {answer[-1]}", flush=True)


def memory(server):
    status = Path(f"/proc/{server.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
