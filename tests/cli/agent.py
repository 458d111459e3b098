"""An agent with the tools of one `grader mcp` process, driven by the package's own client."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from anyio.from_thread import start_blocking_portal
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import CallToolResult, TextContent, Tool

from tests.cli.up import Up, command

CALL_SECONDS = 120.0


class Agent:
    """The client checks each answer against the tool's schema."""

    def __init__(self, portal: Callable[..., Any], client: Client) -> None:
        self._portal, self._client = portal, client
        self.news: list[tuple[float, str]] = []

    def __call__(self, tool: str, **arguments: object) -> dict[str, Any]:
        result = self._result(tool, arguments)
        assert not result.is_error, result
        assert text_of(result)
        assert isinstance(result.structured_content, dict)
        return result.structured_content

    def refused(self, tool: str, **arguments: object) -> str:
        result = self._result(tool, arguments)
        assert result.is_error
        return text_of(result)

    @property
    def tools(self) -> dict[str, Tool]:
        return {tool.name: tool for tool in self._portal(self._client.list_tools).tools}

    @property
    def instructions(self) -> str:
        return self._client.instructions or ""

    def _result(self, tool: str, arguments: dict[str, object]) -> CallToolResult:
        self.news.clear()
        result = self._portal(self._client.call_tool, tool, arguments, CALL_SECONDS, self._hear)
        assert isinstance(result, CallToolResult)
        return result

    async def _hear(self, progress: float, total: float | None, message: str | None) -> None:
        self.news.append((progress, message or ""))


def text_of(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


@contextmanager
def agent_of(up: Up) -> Iterator[Agent]:
    program, *args = command("mcp")
    with (up.folder / "mcp.log").open("w") as log, start_blocking_portal() as portal:
        server = StdioServerParameters(command=program, args=args, env=up.env, cwd=up.folder)
        client = Client(stdio_client(server, errlog=log))
        with portal.wrap_async_context_manager(client):
            yield Agent(portal.call, client)
    assert (up.folder / "mcp.log").read_text() == "", "it complained on stderr"
