"""Calls tools as an agent does, with the official SDK, and prints what came back as one object of JSON.

    tools.py MODE CALLS http URL
    tools.py MODE CALLS stdio COMMAND [ARGUMENT...]

MODE is `auto` (the newest form of the protocol that both sides know) or `legacy` (with a handshake). CALLS is a list of
[tool, arguments].
"""

import asyncio
import json
import sys

from mcp import Client, MCPError, StdioServerParameters


async def call(client, name, arguments):
    try:
        result = await client.call_tool(name, arguments)
    except MCPError as error:
        return {"refused": str(error)}
    text = "".join(block.text for block in result.content if block.type == "text")
    return {"error": bool(result.is_error), "structured": result.structured_content, "text": text}


async def main(mode, calls, transport, *where):
    server = where[0] if transport == "http" else StdioServerParameters(command=where[0], args=list(where[1:]))
    async with Client(server, mode=mode) as client:
        tools = (await client.list_tools()).tools
        told = {
            "protocol": client.protocol_version,
            "instructions": client.instructions,
            "tools": [tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in tools],
            # The SDK holds each result against the schema that the tool promises.
            "calls": [await call(client, name, arguments) for name, arguments in calls],
        }
    print(json.dumps(told))


asyncio.run(main(sys.argv[1], json.loads(sys.argv[2]), *sys.argv[3:]))
