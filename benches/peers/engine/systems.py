"""The other systems, each with its best documented settings. Why these settings: docs/benchmarks.md.

A system fills a folder from the data (`ingest`, which returns what made it durable and searchable), and opens it (`open`). An open one
answers one query at a time with the numbers of ten chunks, and their texts are read as well: `hybrid`, `dense`, `words` and
`filtered`. `knobs` are the settings of its approximate index, cheapest first; the first that reaches the recall wanted is used.
"""

from pathlib import Path

K = 10
CANDIDATES = 100


class LanceDB:
    package = "lancedb"
    # (ef, refine factor); nothing is a scan of all vectors, which is exact.
    knobs = [(50, 2), (100, 2), (200, 3), (400, 5), None]
    notes = "table, IVF_HNSW_SQ in one partition, FTS index, BTREE on the group; add, then build the indexes, optimize"

    @classmethod
    def ingest(cls, data, folder):
        import lancedb
        import pyarrow as pa

        table = None
        db = lancedb.connect(folder)
        for first, texts, vectors, groups in data.blocks(50_000):
            flat = pa.array(vectors.reshape(-1))
            batch = pa.table({
                "id": pa.array(range(first, first + len(texts)), pa.int64()),
                "text": texts,
                "group": pa.array(groups),
                "vector": pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1]),
            })
            if table is None:
                table = db.create_table("chunks", batch)
            else:
                table.add(batch)
        cls.index(table)

    @staticmethod
    def index(table):
        from lancedb.index import FTS, BTree, HnswSq

        table.create_index("vector", config=HnswSq(distance_type="cosine", num_partitions=1, m=20, ef_construction=200))
        table.create_index("text", config=FTS(with_position=False))
        table.create_index("group", config=BTree())
        table.optimize()

    def __init__(self, folder, _data):
        import lancedb
        from lancedb.rerankers import RRFReranker

        self.table = lancedb.connect(folder).open_table("chunks")
        self.reranker = RRFReranker()
        self.knob = self.knobs[0]

    def tuned(self, search, limit=K):
        if self.knob is None:
            return search.bypass_vector_index()
        ef, refine = self.knob
        # It refuses an ef that is less than what it has to bring.
        return search.ef(max(ef, limit * refine)).refine_factor(refine)

    def rows(self, search, limit=K):
        return search.select(["id", "text"]).limit(limit).to_arrow()["id"].to_pylist()[:K]

    def hybrid(self, text, vector, group=None):
        search = self.table.search(query_type="hybrid").vector(vector).text(text).distance_type("cosine")
        if group is not None:
            search = search.where(f"`group` = {group}", prefilter=True)
        # Each side brings as many candidates as the limit says; the reranker orders them, the first ten are read.
        search = self.tuned(search, CANDIDATES).rerank(self.reranker)
        return search.limit(CANDIDATES).to_arrow()["id"].to_pylist()[:K]

    def dense(self, vector):
        search = self.table.search(vector, query_type="vector").distance_type("cosine")
        return self.rows(self.tuned(search))

    def words(self, text):
        return self.rows(self.table.search(text, query_type="fts"))

    def filtered(self, text, vector, group):
        return self.hybrid(text, vector, group)


class Chroma:
    package = "chromadb"
    knobs = [50, 100, 200, 400, 800]
    notes = "persistent client, HNSW (M 16, construction 200); SQLite and the index files; local Chroma ranks by vector alone"

    @classmethod
    def ingest(cls, data, folder):
        client = cls.client(folder)
        config = {"hnsw": {"space": "cosine", "max_neighbors": 16, "ef_construction": 200, "sync_threshold": 50_000}}
        chunks = client.create_collection("chunks", configuration=config, embedding_function=None)
        for first, texts, vectors, groups in data.blocks(5_000):
            chunks.add(
                ids=[str(row) for row in range(first, first + len(texts))],
                embeddings=vectors,
                documents=texts,
                metadatas=[{"group": int(group)} for group in groups],
            )

    @staticmethod
    def client(folder):
        import chromadb

        return chromadb.PersistentClient(folder, settings=chromadb.Settings(anonymized_telemetry=False))

    def __init__(self, folder, _data):
        self.chunks = self.client(folder).get_collection("chunks", embedding_function=None)
        self._knob = None

    @property
    def knob(self):
        return self._knob

    @knob.setter
    def knob(self, ef):
        if ef != self._knob:
            self._knob = ef
            self.chunks.modify(configuration={"hnsw": {"ef_search": ef}})

    def ask(self, vector, **where):
        found = self.chunks.query(query_embeddings=[vector], n_results=K, include=["documents", "distances"], **where)
        return [int(row) for row in found["ids"][0]]

    hybrid = words = None

    def dense(self, vector):
        return self.ask(vector)

    def filtered(self, _text, vector, group):
        return self.ask(vector, where={"group": group})


class Qdrant:
    package = "qdrant_edge"
    knobs = [64, 128, 256, 512]
    notes = "Qdrant Edge shard, HNSW (m 16, construction 200), BM25 sparse vectors with IDF, keyword index; optimize, flush"

    @staticmethod
    def config():
        from qdrant_edge import (
            Distance, EdgeConfig, EdgeOptimizersConfig, EdgeSparseVectorParams, EdgeVectorParams, HnswIndexConfig, Modifier,
        )

        return EdgeConfig(
            vectors={"dense": EdgeVectorParams(size=384, distance=Distance.Cosine)},
            sparse_vectors={"words": EdgeSparseVectorParams(modifier=Modifier.Idf)},
            hnsw_config=HnswIndexConfig(m=16, ef_construct=200, full_scan_threshold=1_000),
            optimizers=EdgeOptimizersConfig(default_segment_number=1, indexing_threshold=1_000),
        )

    @staticmethod
    def bm25():
        from qdrant_edge import Bm25, Bm25Config

        return Bm25(Bm25Config(avg_len=90.0))

    @classmethod
    def ingest(cls, data, folder):
        from qdrant_edge import EdgeShard, PayloadSchemaType, Point, UpdateOperation

        Path(folder).mkdir(parents=True, exist_ok=True)
        shard = EdgeShard.create(folder, cls.config())
        shard.update(UpdateOperation.create_field_index("group", PayloadSchemaType.Integer))
        model = cls.bm25()
        for first, texts, vectors, groups in data.blocks(5_000):
            points = [
                Point(first + at, {"dense": vector.tolist(), "words": model.embed_document(text)}, {"text": text, "group": int(group)})
                for at, (text, vector, group) in enumerate(zip(texts, vectors, groups))
            ]
            shard.update(UpdateOperation.upsert_points(points))
        shard.optimize()
        shard.flush()
        shard.close()

    def __init__(self, folder, _data):
        from qdrant_edge import EdgeShard

        self.shard = EdgeShard.load(folder)
        self.model = self.bm25()
        self.knob = self.knobs[0]

    def side(self, name, vector, group):
        from qdrant_edge import Prefetch, Query, SearchParams

        params = SearchParams(hnsw_ef=self.knob) if name == "dense" else None
        return Prefetch(limit=CANDIDATES, query=Query.Nearest(vector, name), params=params, filter=self.only(group))

    @staticmethod
    def only(group):
        from qdrant_edge import FieldCondition, Filter, MatchValue

        return None if group is None else Filter(must=[FieldCondition(key="group", match=MatchValue(group))])

    def ask(self, **request):
        from qdrant_edge import QueryRequest

        return [point.id for point in self.shard.query(QueryRequest(limit=K, with_payload=True, **request))]

    def hybrid(self, text, vector, group=None):
        from qdrant_edge import Fusion

        sides = [self.side("dense", vector.tolist(), group), self.side("words", self.model.embed_query(text), group)]
        return self.ask(prefetches=sides, query=Fusion.Rrf(k=60))

    def dense(self, vector):
        from qdrant_edge import Query, SearchParams

        return self.ask(query=Query.Nearest(vector.tolist(), "dense"), params=SearchParams(hnsw_ef=self.knob))

    def words(self, text):
        from qdrant_edge import Query

        return self.ask(query=Query.Nearest(self.model.embed_query(text), "words"))

    def filtered(self, text, vector, group):
        return self.hybrid(text, vector, group)


# The vectors of texts, for a system that asks for them by text.
VECTORS = {}


def vectors_of(texts):
    import numpy as np

    return np.stack([VECTORS[text] for text in texts])


class Txtai:
    package = "txtai"
    knobs = [6, 12, 24, 48, 96, 192]
    notes = "hybrid with content: faiss IVF flat, its own BM25, SQLite; index, then save"

    @staticmethod
    def embeddings():
        import os

        from txtai import Embeddings

        # The settings are saved with the index, and so the function is given by name.
        os.environ["ALLOW_RESOLVE_TRANSFORM"] = "True"
        return Embeddings(
            hybrid=True, content=True, method="external", transform="systems.vectors_of", faiss={"nprobe": 6}
        )

    @classmethod
    def ingest(cls, data, folder):
        for _, texts, vectors, _ in data.blocks(50_000):
            VECTORS.update(zip(texts, vectors))
        embeddings = cls.embeddings()
        embeddings.index(cls.rows(data))
        embeddings.save(folder)

    @staticmethod
    def rows(data):
        for first, texts, _, groups in data.blocks(5_000):
            for at, (text, group) in enumerate(zip(texts, groups)):
                yield first + at, {"text": text, "grp": int(group)}, None

    def __init__(self, folder, data):
        VECTORS.update(zip(data.queries, data.query_vectors))
        self.index = self.embeddings()
        self.index.load(folder)
        self.knob = self.knobs[0]

    @property
    def knob(self):
        return self._knob

    @knob.setter
    def knob(self, nprobe):
        self._knob = nprobe
        self.index.ann.config["faiss"] = {"nprobe": nprobe}

    def hybrid(self, text, _vector):
        return self.ids(self.index.search(text, K))

    # The two sides by themselves: a search of a hybrid index always runs both. They read no texts.
    def dense(self, vector):
        return [row for row, _ in self.index.ann.search(vector.reshape(1, -1), K)[0]]

    def words(self, text):
        return [row for row, _ in self.index.scoring.search(text, K)]

    def filtered(self, text, _vector, group):
        sql = "select id, text, score from txtai where similar(:text, 3000) and grp = :group"
        return self.ids(self.index.search(sql, K, parameters={"text": text, "group": group}))

    @staticmethod
    def ids(found):
        return [int(row["id"]) for row in found]


SYSTEMS = {"qdrant-edge": Qdrant, "lancedb": LanceDB, "txtai": Txtai, "chroma": Chroma}
