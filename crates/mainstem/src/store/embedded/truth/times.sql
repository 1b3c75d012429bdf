-- The time of a document is when it was written, or else when it was last changed. Any version reads a store with or without this index, so that it
-- makes no format of its own; stores from before have one over the first of the two times alone.

CREATE INDEX documents_by_when ON documents (source, ifnull(created_ms, updated_ms));
DROP INDEX IF EXISTS documents_by_time;
