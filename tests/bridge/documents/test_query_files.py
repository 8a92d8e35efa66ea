"""Files of registered queries: headers as people and editors write them, and what is wrong with one, by its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from api.commands.queries import _read
from bridge.documents.queries import read_file
from kernel.errors import InvalidQuery

HEADER = "# owner: city-desk\n# contact: desk@city.example\n"
ASK = "ASK { ?s ?p ?o }\n"


def test_a_header_is_read_in_capitals_too_and_other_comments_are_free() -> None:
    query = read_file("a.rq", f"# Owner: city-desk\n# CONTACT: desk\n# Note: of 2019\n# what for? all\n{ASK}")
    assert (query.name, query.owner, query.contact, query.text) == ("a", "city-desk", "desk", ASK)


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "marked.rq"
    path.write_bytes(b"\xef\xbb\xbf" + (HEADER + ASK).replace("\n", "\r\n").encode())
    assert _read(path).owner == "city-desk"


@pytest.mark.parametrize(
    ("text", "where", "remedy"),
    [
        (ASK, "header", "# owner: …"),
        ("", "header", "# owner: …"),
        ("# owner: x\n" + ASK, "header", "# contact: …"),
        ("# Owner: x\n# owner: y\n" + ASK, "header", "once"),
        (HEADER + "# weight: ten\n" + ASK, "header: weight", "0 to 100"),
        (HEADER + f"# weight: {'9' * 5_000}\n" + ASK, "header: weight", "0 to 100"),
        (HEADER + "# graph: here\n" + ASK, "header: graph", "in full"),
        (HEADER + "# moment: soon\n" + ASK, "header: moment", "2024"),
        (HEADER + "# wieght: 1\n" + ASK, "line 3", "weight"),
        (HEADER, "query", "characters"),
    ],
)
def test_what_is_wrong_with_a_file_is_told_by_its_header(text: str, where: str, remedy: str) -> None:
    with pytest.raises(InvalidQuery) as told:
        read_file("a.rq", text)
    assert told.value.where == where
    assert remedy in told.value.remedy
