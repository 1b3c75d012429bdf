"""The data that every system gets: texts, vectors, groups, queries, and what an exact search by vector finds.

    python generate.py FOLDER CHUNKS QUERIES [FOLDER OF MINILM VECTORS]

Vectors are of 384 dimensions and of unit length. Where MiniLM vectors of real texts are at hand (`*/corpus.minilm.f16.npy`), each
is one of those, moved along the difference of two others: clusters, common direction and spectrum stay those of the model.
Otherwise they are a mixture of Gaussians around centres that share a direction, with a falling spectrum.

Texts have 60 to 120 words of a Zipf vocabulary of 50,000, one in four from the topic of the text; one in a hundred is a copy of an
earlier one with a few words changed. A query is 3 to 8 words of a text, and that text's vector, moved.

    texts.txt            a text a line               groups.u8             0 to 99: the filter that lets 1 % pass
    vectors.f32          row by row                  exact.u32             the ten nearest of each query, best first
    queries.txt          a query a line              query_vectors.f32     row by row
"""

import sys
from pathlib import Path

import numpy as np

DIM = 384
WORDS = 50_000
TOPICS = 2_000
SEED = 20_260_101
BLOCK = 20_000
STOP_WORDS = "the of and to in is that for it as with was on be by this are at from or an not which have but".split()


def main(folder, chunks, queries, models=None):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(SEED)
    base, origin = base_vectors(models, rng)
    topics = rng.integers(0, TOPICS, len(base))
    vocabulary = np.array(make_words(rng), dtype=object)
    picked = np.sort(rng.choice(chunks, queries, replace=False))
    texts, vectors = write_corpus(folder, chunks, base, topics, vocabulary, picked, rng)
    rng.integers(0, 100, chunks, dtype=np.uint8).tofile(folder / "groups.u8")
    asked = unit(vectors + 0.25 * differences(base, queries, rng))
    asked.tofile(folder / "query_vectors.f32")
    lines = [" ".join(rng.choice(text.split(), rng.integers(3, 9), replace=False)) for text in texts]
    (folder / "queries.txt").write_text("\n".join(lines) + "\n")
    exact(folder, asked).tofile(folder / "exact.u32")
    print(f"{chunks} chunks and {queries} queries; vectors from {origin}")


def base_vectors(models, rng):
    files = sorted(Path(models).glob("*/corpus.minilm.f16.npy")) if models else []
    if files:
        vectors = np.concatenate([np.load(file) for file in files]).astype(np.float32)
        return unit(vectors), f"{len(vectors)} MiniLM vectors of {len(files)} collections"
    spectrum = (1 + np.arange(DIM)) ** -0.35
    centres = rng.standard_normal((TOPICS, DIM)) * spectrum
    shared = 0.5 * rng.standard_normal(DIM) * spectrum
    points = centres[rng.integers(0, TOPICS, 20_000)] + shared
    points += 0.8 * rng.standard_normal(points.shape) * spectrum
    rotation = np.linalg.qr(rng.standard_normal((DIM, DIM)))[0]
    return unit((points @ rotation).astype(np.float32)), f"a mixture of {TOPICS} Gaussians"


def unit(vectors):
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def differences(base, count, rng):
    return base[rng.integers(0, len(base), count)] - base[rng.integers(0, len(base), count)]


def make_words(rng):
    onsets = "b c d f g h j k l m n p r s t v w st tr pr br ch sh th pl gr".split()
    vowels = "a e i o u ea ou ai".split()
    codas = ["", "", "", "n", "r", "s", "t", "l", "nd", "ck"]
    endings = ["", "", "", "", "s", "ed", "ing", "er", "tion", "ly", "ment", "al"]
    words, seen = [], set()
    while len(words) < WORDS:
        count = rng.integers(1, 4)
        parts = [onsets[rng.integers(len(onsets))] + vowels[rng.integers(len(vowels))] for _ in range(count)]
        word = "".join(parts) + codas[rng.integers(len(codas))] + endings[rng.integers(len(endings))]
        if len(word) > 2 and word not in seen:
            seen.add(word)
            words.append(word)
    # Frequent words are short ones, and the most frequent say nothing: every system has an opinion about those.
    words.sort(key=lambda word: len(word) + 3 * rng.random())
    return STOP_WORDS + words[: WORDS - len(STOP_WORDS)]


def write_corpus(folder, chunks, base, topics, vocabulary, picked, rng):
    """Writes texts and vectors block by block; gives back those that the queries are made of."""
    weights = 1.0 / (2.7 + np.arange(WORDS))
    cumulated = np.cumsum(weights) / weights.sum()
    texts, vectors = [], []
    with open(folder / "texts.txt", "w") as text_file, open(folder / "vectors.f32", "wb") as vector_file:
        for start in range(0, chunks, BLOCK):
            count = min(BLOCK, chunks - start)
            of = rng.integers(0, len(base), count)
            block = unit(base[of] + 0.45 * differences(base, count, rng))
            block.tofile(vector_file)
            lines = make_texts(topics[of], cumulated, vocabulary, rng)
            text_file.write("\n".join(lines) + "\n")
            here = picked[(picked >= start) & (picked < start + count)] - start
            texts += [lines[i] for i in here]
            vectors.append(block[here])
    return texts, np.concatenate(vectors)


def make_texts(topics, cumulated, vocabulary, rng):
    lengths = rng.integers(60, 121, len(topics))
    total = int(lengths.sum())
    words = np.searchsorted(cumulated, rng.random(total))
    # Each topic has 60 words of its own, somewhere behind the most frequent ones.
    topical = rng.random(total) < 0.25
    own = 200 + (np.repeat(topics, lengths) * 7919 + rng.integers(0, 60, total) * 104_729) % (WORDS - 200)
    words = vocabulary[np.where(topical, own, words)]
    ends = np.cumsum(lengths)
    lines = [" ".join(words[end - length : end]) for end, length in zip(ends, lengths)]
    for i in range(100, len(lines), 100):
        copy = lines[i - 50].split()
        for _ in range(rng.integers(0, 4)):
            copy[rng.integers(len(copy))] = vocabulary[rng.integers(WORDS)]
        lines[i] = " ".join(copy)
    return lines


def exact(folder, asked):
    rows = np.memmap(folder / "vectors.f32", np.float32, "r").reshape(-1, DIM)
    best = np.full((len(asked), 10), -2.0, np.float32)
    ids = np.zeros((len(asked), 10), np.uint32)
    for start in range(0, len(rows), 50_000):
        scores = asked @ rows[start : start + 50_000].T
        found = np.argpartition(-scores, min(10, scores.shape[1] - 1), axis=1)[:, :10]
        together = np.concatenate([best, np.take_along_axis(scores, found, 1)], 1)
        both = np.concatenate([ids, (found + start).astype(np.uint32)], 1)
        order = np.argsort(-together, axis=1, kind="stable")[:, :10]
        best, ids = np.take_along_axis(together, order, 1), np.take_along_axis(both, order, 1)
    return ids


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:5])
