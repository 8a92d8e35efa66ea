"""Entity tags by state: an answer that has not changed is not made again (RFC 9110, sections 8.8.3 and 13.1.2).

Rules
-----
* A tag stands for what was asked, what its caller may read, and the state of the base: head and clock. The same tag is
  the same answer; another tag may be the same answer too. So nothing is looked at but the state to say 304.
* Tags are weak: solutions may come in another order, and compressed.
* The tag of a graph as a whole says its state, and is strong: a write that sends it in `If-Match` is done only if
  nothing was written to the graph since, and nothing has begun or ended (section 13.1.1).
* Whoever keeps an answer asks again before each use (`no-cache`), and keeps it for one caller (`private`). An answer
  that changes by itself, of NOW, RAND, UUID, STRUUID or BNODE, has no tag, and is not kept (`no-store`).

Example
-------
>>> tag = entity_tag("ASK {}", 7)
>>> tag == entity_tag("ASK {}", 7), tag == entity_tag("ASK {}", 8), tag[:3]
(True, False, 'W/"')
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from starlette.responses import Response

from api.http.openapi import Answer
from bridge.updating.requiring import Required
from kernel.errors import InvalidParameter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request

    from api.http.moments import AskedMoment
    from bridge.reading.reader import Question
    from kernel.access import Principal
    from kernel.ports.heads import Head
    from kernel.terms import Iri
    from kernel.time.instants import Instant

CHANGING: Final = {"Cache-Control": "no-store"}
"""The headers of an answer that changes by itself."""

NONE_MATCH_HEADER: Final[dict[str, tuple[str, dict[str, object]]]] = {
    "If-None-Match": ("the `ETag` of an answer that is still there: if it is the same, 304", {"type": "string"}),
}
UNCHANGED: Final = {304: Answer("The answer that has the tag is still right", {}, {"ETag": "the tag"})}
"""What routes declare that have tags."""

MATCH_HEADER: Final[dict[str, tuple[str, dict[str, object]]]] = {
    "If-Match": (
        "the `ETag` of the graph as it was read, or `*` for one that is there: if it is another by now, 412",
        {"type": "string"},
    ),
    "If-None-Match": ("`*`: the graph is not to be there yet, else 412", {"type": "string"}),
}
_GRAPH_TAG: Final = re.compile(r'"([0-9]{1,18})-(-?[0-9]{1,20})-([0-9a-f]{12})-[0-9a-f]{12}"', re.ASCII)
_TAG: Final = re.compile(r'(?:W/)?"([^"]*)"')


def entity_tag(*parts: object) -> str:
    """A tag for the parts, each of which has a `repr` that tells it from others."""
    return f'W/"{sha256(repr(parts).encode()).hexdigest()[:32]}"'


def tag_of_query(question: Question, head: int | None, clock: Instant) -> str | None:
    """The tag of a query's answer; None for one that changes by itself.

    Args:
        question: what is asked, of which graphs.
        head: the head that it is answered at; of a moment in the past that which it is read at, for what was purged.
        clock: the clock that it is answered at, which says nothing of the past.
    """
    if question.volatile:
        return None
    dataset = question.dataset
    # The union of everything is known by its head: its list of graphs may be long.
    graphs = ("all" if dataset.union else dataset.default_graphs, dataset.named_graphs)
    what = (question.runnable, question.base, graphs, question.past)
    how = (question.form.media_type, question.restore)
    return entity_tag(what, how, head, clock if question.past is None else None)


def tag_of_url(request: Request, caller: Principal, media_type: str, head: Head, moment: AskedMoment) -> str:
    """The tag of what a URL gives a caller at a moment, which may stand elsewhere than in the URL."""
    scope = request.scope
    graphs = None if caller.graphs is None else sorted(graph.value for graph in caller.graphs)
    grants = sorted((grant.graph.value, grant.role) for grant in caller.grants)
    who = (caller.id, caller.role, graphs, grants)
    return entity_tag(scope["raw_path"], scope["query_string"], moment, who, media_type, head.position, head.clock)


def tagged(tag: str | None) -> dict[str, str]:
    """The headers of an answer with that tag, or with none."""
    return CHANGING if tag is None else {"ETag": tag, "Cache-Control": "private, no-cache"}


def tag_of_graph(graph: Iri, form: object, head: int | None, clock: Instant) -> str | None:
    """The tag of a graph at a state, by which a write of it can insist on that; None for an empty base."""
    return None if head is None else f'"{head}-{int(clock)}-{_short(graph.value)}-{_short(repr(form))}"'


def required_of(request: Request, graph: Iri) -> Required:
    """What a write of a graph insists on: `If-Match` and `If-None-Match`. Raises `InvalidParameter` for other tags."""
    match, none_match = (", ".join(request.headers.getlist(name)).strip() for name in ("if-match", "if-none-match"))
    if none_match not in ("", "*"):
        raise InvalidParameter("a write takes no tags there", remedy="write *, or use If-Match", where="If-None-Match")
    if match and none_match:
        raise InvalidParameter("they exclude each other", remedy="send one of them", where="If-None-Match")
    if not match or match == "*":
        return Required(there=True if match else False if none_match else None)
    states = [found for each in match.split(",") if (found := _GRAPH_TAG.fullmatch(each.strip())) is not None]
    ours = [found for found in states if found[3] == _short(graph.value)]
    return Required(tuple((int(found[1]), int(found[2])) for found in ours), there=True)


def _short(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:12]


def unchanged(request: Request, tag: str | None, headers: Mapping[str, str]) -> Response | None:
    """304, if the caller has the answer with that tag; else None. The headers may say how long it is kept."""
    if tag is None or not any(_same(each, tag) for each in request.headers.getlist("if-none-match")):
        return None
    return Response(None, 304, {**tagged(tag), **headers})


def _same(header: str, tag: str) -> bool:
    """Whether a list of tags has it, by weak comparison; `*` is any tag (RFC 9110, section 13.1.2)."""
    return header.strip() == "*" or tag.removeprefix("W/").strip('"') in _TAG.findall(header)
