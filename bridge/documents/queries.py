r"""Definitions of registered queries: in JSON, and as files of SPARQL with a header.

Rules
-----
* In JSON: `query`, `owner` and `contact`; `graphs`, `moment`, `weight` and `action` where they are not what they are by
  default: all graphs of data, "now", 1 and "review". Unknown members are errors.
* A file is the query, and before it lines such as `# owner: city-desk`, with the same words; `graph` may stand more
  than once, in capitals or not. Without `# name:` it has the name of its file. Other lines of comment are free; one
  that begins as a header does, in small letters, and is none, is an error.
* `moment` is an instant or a calendar value, which stands for its first instant; or "now".

Example
-------
>>> query = read_file("mayors.rq", "# owner: city-desk\n# contact: desk@city.example\n# weight: 5\nASK { ?s ?p ?o }\n")
>>> query.name, query.owner, query.weight, query.action.value, query.text
('mayors', 'city-desk', 5, 'review', 'ASK { ?s ?p ?o }\n')
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from bridge.documents.json_text import parse_json
from kernel.errors import InvalidDocument, InvalidQuery, InvalidTerm, InvalidTime, UnknownParameter
from kernel.queries import Action, RegisteredQuery
from kernel.terms import Iri
from kernel.time.instants import print_instant
from kernel.time.timevalues import parse_point

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bridge.documents.json_text import Json
    from kernel.time.instants import Instant

NOW: Final = "now"
SUFFIX: Final = ".rq"
_REQUIRED: Final = ("query", "owner", "contact")
_MEMBERS: Final = (*_REQUIRED, "graphs", "moment", "weight", "action")
_HEADER: Final = re.compile(r"#\s*([A-Za-z]+):[ \t]*(.*?)\s*")
_WEIGHT: Final = re.compile(r"[0-9]{1,3}")
_KEYS: Final = ("name", "owner", "contact", "graph", "moment", "weight", "action")


def read_definition(name: str, body: bytes) -> RegisteredQuery:
    """The query that a JSON object defines.

    Raises:
        InvalidDocument: it is no JSON object.
        UnknownParameter: a member that a definition has not.
        InvalidQuery: a member that is missing or cannot be used.
    """
    return _defined(name, parse_json(body), "")


def read_definitions(body: bytes) -> list[RegisteredQuery]:
    """The queries that a JSON object defines, by their names: `{"queries": {"mayors": {…}}}`. Raises the same."""
    members = parse_json(body)
    if not isinstance(members, dict) or members.keys() != {"queries"} or not isinstance(members["queries"], dict):
        raise InvalidDocument("no definitions of queries", remedy='send {"queries": {"a-name": {"query": …}, …}}')
    return [_defined(name, value, f"/queries/{name[:100]}") for name, value in members["queries"].items()]


def definition(query: RegisteredQuery) -> dict[str, object]:
    """The members that define a query, as JSON takes them."""
    return {
        "query": query.text,
        "owner": query.owner,
        "contact": query.contact,
        "graphs": [graph.value for graph in query.graphs],
        "moment": NOW if query.moment is None else print_instant(query.moment),
        "weight": query.weight,
        "action": query.action.value,
    }


def read_file(file: str, text: str) -> RegisteredQuery:
    """The query in a file.

    Args:
        file: its name.
        text: what is in it.

    Raises:
        InvalidQuery: a key that is missing, unknown, or stands twice; or a value that cannot be used.
    """
    keys, query = _headed(text)
    for key, values in keys.items():
        if key != "graph" and len(values) > 1:
            raise InvalidQuery(f"{key} is given {len(values)} times", remedy="give it once", where="header")
    for key in _REQUIRED[1:]:
        if key not in keys:
            raise InvalidQuery(f"no {key} is given", remedy=f"write `# {key}: …` before the query", where="header")
    members: dict[str, Json] = {key: values[0] for key, values in keys.items() if key not in {"graph", "name"}}
    if "weight" in keys and _WEIGHT.fullmatch(keys["weight"][0]):
        members["weight"] = int(keys["weight"][0])
    members |= {"query": query, "graphs": [*keys.get("graph", [])]}
    try:
        return _defined(keys.get("name", [file.removesuffix(SUFFIX)])[0], members, "")
    except InvalidQuery as error:
        member = (error.where or "").removeprefix("/").replace("graphs", "graph")
        error.where = f"header: {member}" if member in keys else member or None
        raise


def _headed(text: str) -> tuple[dict[str, list[str]], str]:
    """What the header of a file gives, by key, and the query after it."""
    keys: dict[str, list[str]] = {}
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines):
        if line.strip() and not line.lstrip().startswith("#"):
            return keys, "".join(lines[number:])
        match = _HEADER.fullmatch(line.strip())
        key = "" if match is None else match[1].lower()
        if match is not None and key in _KEYS:
            keys.setdefault(key, []).append(match[2])
        elif match is not None and match[1] == key:
            remedy = f"write {', '.join(_KEYS)}"
            raise InvalidQuery(f"a header has no {key!r}", remedy=remedy, where=f"line {number + 1}")
    return keys, ""


def _defined(name: str, members: Json, place: str) -> RegisteredQuery:
    if not isinstance(members, dict):
        raise InvalidDocument(
            "no JSON object", remedy='send {"query": …, "owner": …, "contact": …}', where=place or None
        )
    for member in members:
        if member not in _MEMBERS:
            raise UnknownParameter(
                "a registered query has no such member",
                remedy=f"give {', '.join(_MEMBERS)}",
                where=f"{place}/{member[:100]}",
            )
    for member in _REQUIRED:
        if member not in members:
            raise InvalidQuery(f"no {member} is given", remedy=f"give {', '.join(_REQUIRED)}", where=place or "/")
    try:
        return RegisteredQuery(
            name,
            _text(members, "query", place),
            _text(members, "owner", place),
            _text(members, "contact", place),
            graphs=_graphs(members.get("graphs", []), place),
            moment=_moment(members.get("moment", NOW), place),
            weight=_weight(members.get("weight", 1), place),
            action=_action(members.get("action", Action.REVIEW.value), place),
        )
    except InvalidQuery as error:
        if error.where is not None and not error.where.startswith("/"):
            error.where = f"{place}/{error.where}"
        raise


def _text(members: Mapping[str, Json], member: str, place: str) -> str:
    value = members[member]
    if not isinstance(value, str):
        raise InvalidQuery("it is no text", remedy="give a text", where=f"{place}/{member}")
    return value


def _graphs(value: Json, place: str) -> tuple[Iri, ...]:
    where = f"{place}/graphs"
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise InvalidQuery("no list of IRIs", remedy="give the IRIs of graphs, or none for all", where=where)
    try:
        return tuple(Iri(str(each)) for each in value)
    except InvalidTerm as error:
        raise InvalidQuery(error.message, remedy=error.remedy, where=where) from error


def _moment(value: Json, place: str) -> Instant | None:
    where = f"{place}/moment"
    if value == NOW:
        return None
    try:
        if isinstance(value, str):
            return parse_point(value, field=where)
    except InvalidTime as error:
        raise InvalidQuery(error.message, remedy=error.remedy, where=where) from error
    raise InvalidQuery("neither an instant nor now", remedy='write an instant, a day, a year, or "now"', where=where)


def _weight(value: Json, place: str) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise InvalidQuery("no whole number", remedy="give one from 0 to 100", where=f"{place}/weight")


def _action(value: Json, place: str) -> Action:
    if isinstance(value, str) and value in list(Action):
        return Action(value)
    raise InvalidQuery("no such action", remedy=f"write {', '.join(Action)}", where=f"{place}/action")
