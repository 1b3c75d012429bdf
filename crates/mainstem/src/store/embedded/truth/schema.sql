-- The truth of an embedded store. Everything beside this file can be made anew from it.

CREATE TABLE meta (
    one              INTEGER PRIMARY KEY CHECK (one = 1),
    model_name       TEXT,
    model_dim        INTEGER,
    model_max_tokens INTEGER,
    -- Entries of the log up to here have been removed: an index that is further behind is rebuilt.
    log_floor        INTEGER NOT NULL DEFAULT 0,
    -- Which folder holds each index: a rebuild fills the next one and then switches.
    lexical          INTEGER NOT NULL DEFAULT 1,
    matrix           INTEGER NOT NULL DEFAULT 1
) STRICT;

INSERT INTO meta (one) VALUES (1);

CREATE TABLE sources (
    number     INTEGER PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE,
    kind       TEXT NOT NULL,
    settings   TEXT NOT NULL DEFAULT '{}',
    -- Counted along with every change, so that asking costs nothing.
    documents  INTEGER NOT NULL DEFAULT 0,
    chunks     INTEGER NOT NULL DEFAULT 0,
    vectors    INTEGER NOT NULL DEFAULT 0,
    written_at TEXT
) STRICT;

-- Times stand here twice: in milliseconds to compare, and as JSON in the form they came in.
CREATE TABLE documents (
    number     INTEGER PRIMARY KEY,
    source     INTEGER NOT NULL REFERENCES sources (number),
    id         TEXT NOT NULL,
    created_ms INTEGER,
    updated_ms INTEGER,
    readers    TEXT,
    embedded   INTEGER NOT NULL,
    content    BLOB NOT NULL,
    hash       BLOB NOT NULL,
    title      TEXT,
    url        TEXT,
    label      TEXT,
    created    TEXT,
    updated    TEXT,
    key        TEXT,
    written_at TEXT NOT NULL,
    metadata   TEXT NOT NULL,
    UNIQUE (source, id)
) STRICT;

-- Apart from the documents, so that a filter need not read past the texts.
CREATE TABLE texts (
    document INTEGER PRIMARY KEY REFERENCES documents (number) ON DELETE CASCADE,
    text     TEXT NOT NULL
) STRICT;

CREATE TABLE readers (
    document INTEGER NOT NULL REFERENCES documents (number) ON DELETE CASCADE,
    reader   TEXT NOT NULL,
    PRIMARY KEY (document, reader)
) STRICT, WITHOUT ROWID;

-- The metadata as filters see them: every value as text, and each element of a list.
CREATE TABLE facts (
    key      TEXT NOT NULL,
    value    TEXT NOT NULL,
    document INTEGER NOT NULL REFERENCES documents (number) ON DELETE CASCADE,
    PRIMARY KEY (key, value, document)
) STRICT, WITHOUT ROWID;

CREATE INDEX facts_by_document ON facts (document);

-- AUTOINCREMENT: the number of a chunk that is gone is never given to another.
CREATE TABLE chunks (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    document INTEGER NOT NULL REFERENCES documents (number) ON DELETE CASCADE,
    place    INTEGER NOT NULL,
    first    INTEGER NOT NULL,
    past     INTEGER NOT NULL,
    heading  TEXT,
    text     TEXT NOT NULL,
    UNIQUE (document, place)
) STRICT;

-- 32-bit floats, little-endian.
CREATE TABLE vectors (
    chunk  INTEGER PRIMARY KEY REFERENCES chunks (id) ON DELETE CASCADE,
    vector BLOB NOT NULL
) STRICT;

-- What the indexes have yet to take in: a chunk that came (1) or went (0).
CREATE TABLE log (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    chunk    INTEGER NOT NULL,
    came     INTEGER NOT NULL
) STRICT;
