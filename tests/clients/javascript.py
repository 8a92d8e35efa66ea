"""Scripts of `tests/clients/node` that answer requests, one process for many."""

import json
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

from tests.requirements import require

Ask = Callable[[dict[str, object]], dict[str, Any]]
"""Sends one request to a script of tests/clients/node and gives its answer."""


def answering(script: str) -> Iterator[Ask]:
    """Runs a script until the iterator goes on."""
    folder = require("node")
    command = ["node", str(folder / script)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8") as node:
        assert node.stdin is not None
        assert node.stdout is not None
        requests, answers = node.stdin, node.stdout

        def ask(request: dict[str, object]) -> dict[str, Any]:
            requests.write(json.dumps(request) + "\n")
            requests.flush()
            answer: dict[str, Any] = json.loads(answers.readline())
            return answer

        yield ask
        requests.close()
        assert node.wait() == 0
