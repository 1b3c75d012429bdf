-- What runs say about pairs of documents.

CREATE TABLE link_runs (
    -- AUTOINCREMENT: of two runs, the one that was kept later has the greater number.
    number    INTEGER PRIMARY KEY AUTOINCREMENT,
    id        TEXT NOT NULL UNIQUE,
    made_at   TEXT NOT NULL,
    settings  TEXT NOT NULL,
    model     TEXT,
    sources   TEXT NOT NULL,
    documents INTEGER NOT NULL,
    edges     INTEGER NOT NULL DEFAULT 0,
    undone_at TEXT
) STRICT;

-- `a` is the document whose source and id come first. A run that was undone has no rows here.
--
-- Deferred: a document that is written anew is gone for a moment, and then there again under its number.
CREATE TABLE edges (
    a         INTEGER NOT NULL REFERENCES documents (number) DEFERRABLE INITIALLY DEFERRED,
    b         INTEGER NOT NULL REFERENCES documents (number) DEFERRABLE INITIALLY DEFERRED,
    run       INTEGER NOT NULL REFERENCES link_runs (number),
    score     REAL NOT NULL,
    -- How the content of the two began in hashes when the run looked: a link is stale when one of them is another now. Empty where it
    -- was another already when the run was kept.
    a_content BLOB NOT NULL,
    b_content BLOB NOT NULL,
    evidence  TEXT NOT NULL,
    PRIMARY KEY (a, b, run)
) STRICT, WITHOUT ROWID;

CREATE INDEX edges_by_b ON edges (b);
CREATE INDEX edges_by_run ON edges (run);
