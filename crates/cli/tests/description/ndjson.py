"""Lines of JSON for schemathesis, which knows JSON alone: as they are, and of an answer the last line, which sums up."""

import json

import schemathesis

NDJSON = ("application/x-ndjson", "application/jsonl", "application/json-lines")


@schemathesis.serializer(*NDJSON)
def lines(ctx, value):
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")


@schemathesis.deserializer(*NDJSON)
def last_line(ctx, response):
    text = [json.loads(line) for line in response.content.splitlines() if line.strip()]
    return text[-1]
