"""Ours at any pair of times, over HTTP: the same base, served, asked with `as-of` and `valid-at`.

Example
-------
::

    python -m bench.ours_times_http DIRECTORY FACTS EXCHANGE
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from urllib.parse import urlencode

from bench import times
from bench.exchange import Exchange
from bench.ours_http import OK, OursHttp
from bench.serving import serve


class OursTimesHttp(OursHttp):
    """A server whose base has the facts of two times."""

    def __init__(self, directory: Path, facts: int, exchange: Exchange) -> None:
        super().__init__(directory, facts, exchange)
        self._heads = json.loads((exchange.base / "heads.json").read_text(encoding="utf-8"))

    def look_up(self, number: int) -> int:
        """One `GET /sparql`, answered in JSON."""
        wanted = times.look_up(number, self.facts)
        as_of = f"head:{self._heads[wanted.step - 1]}"
        path = "/sparql?" + urlencode({"query": wanted.text, "as-of": as_of, "valid-at": wanted.valid_at})
        headers = {**self._headers, "Accept": "application/sparql-results+json"}
        status, answer = self._ask("GET", path, None, headers)
        if status != OK:
            raise RuntimeError(f"{status}: {answer.decode()}")
        return answer.count(f'"{wanted.value}"'.encode())


if __name__ == "__main__":
    serve(lambda: OursTimesHttp(Path(sys.argv[1]), int(sys.argv[2]), Exchange(Path(sys.argv[3]))))
