"""A diff as a document: JSON-LD with the facts and certificates, or an RDF Patch to be applied.

Rules
-----
* A document is made as it is read, entry by entry.
* JSON-LD has each fact as exports with annotations have it (`bridge.exporting.jsonld`), its graph besides, and an entry
  for each thing that differs. Nodes keep their Skolem IRIs, by which they can be asked for.
* An RDF Patch (https://afs.github.io/rdf-delta/rdf-patch.html) is one transaction: `D` for what is to be taken away,
  `A` for what is to be added. Applied to what held at the first moment it gives what holds at the second, of what was
  compared. A statement that was restated, for another interval, is in neither.
* Plain text is for people at a terminal: a line an entry, `+` for what was gained, `-` for what was lost, and for what
  was corrected `~`, with what took its place on the next line; each with its certificates.
* The id of a patch is the same whenever the same is compared for a caller who reads the same.

Example
-------
::

    H id <urn:uuid:6b0e…> .
    TX .
    D <urn:ada> <urn:lives> <urn:rome> <urn:g> .
    A <urn:ada> <urn:lives> <urn:oslo> <urn:g> .
    TC .
"""

from __future__ import annotations

import json
from contextlib import closing
from enum import StrEnum
from typing import TYPE_CHECKING, Final
from uuid import uuid5

from bridge.diffing.comparing import Kind
from bridge.exporting.chunks import chunks
from bridge.exporting.exporter import Export
from bridge.exporting.facts import Told
from bridge.exporting.jsonld import RECORD_CONTEXT, record_object
from bridge.exporting.nodes import KEPT
from bridge.exporting.record import DATE_TIME
from bridge.exporting.submitted import submitted_object
from certificates.ids import urn
from kernel.time.instants import BEGINNING, FOREVER, Instant, print_instant
from kernel.vocabulary import M

if TYPE_CHECKING:
    from collections.abc import Iterator
    from uuid import UUID

    from bridge.diffing.comparing import Diff, Entry, Side
    from bridge.reading.facts import FoundFact
    from kernel.facts import Fact


class DiffFormat(StrEnum):
    """The formats of documents, by media type."""

    JSON_LD = "application/ld+json"
    PATCH = "application/rdf-patch"
    TEXT = "text/plain"


_CONTEXT: Final[dict[str, object]] = {
    **RECORD_CONTEXT,
    **{name: M + name for name in ("Diff", *(kind.capitalize() for kind in Kind))},
    **{name: M + name for name in ("from", "to", "change", "before", "after")},
    **{name: {"@id": M + name, "@type": "@id"} for name in ("graph", "because", "supersededBy")},
    **{name: {"@id": M + name, "@type": DATE_TIME} for name in ("asOf", "validAt", "supersededAt")},
}


def document(diff: Diff, form: DiffFormat, base: UUID) -> Export:
    """The document, to be read; closing it closes the diff.

    Args:
        diff: open.
        form: how it is written.
        base: the base's own id.
    """
    second = diff.asked.sides.second
    bodies = {
        DiffFormat.JSON_LD: lambda: jsonld(diff),
        DiffFormat.PATCH: lambda: rdf_patch(diff, base),
        DiffFormat.TEXT: lambda: plain(diff),
    }
    body = diff.opened.enter_context(closing(chunks(bodies[form]())))
    return Export(body, second.head, second.valid_at, diff.opened)


def rdf_patch(diff: Diff, base: UUID) -> Iterator[str]:
    """The diff as an RDF Patch, in pieces."""
    yield f"H id <{urn(_id(diff, base))}> .\nTX .\n"
    for entry in diff.entries():
        before, after = (None if each is None else each.fact.statement for each in (entry.before, entry.after))
        if before == after:
            continue
        for code, said in (("D", before), ("A", after)):
            if said is not None:
                parts = (said.subject, said.predicate, said.object, said.graph)
                yield f"{code} {' '.join(part.n3 for part in parts)} .\n"
    yield "TC .\n"


def plain(diff: Diff) -> Iterator[str]:
    """The diff as lines of text, in pieces."""
    counts = diff.counts
    yield f"{counts.gained} gained, {counts.lost} lost, {counts.corrected} corrected\n"
    for entry in diff.entries():
        because = " ".join(map(urn, entry.certificates))
        signs = {Kind.GAINED: (" ", "+"), Kind.LOST: ("-", " "), Kind.CORRECTED: ("~", " ")}[entry.kind]
        lines = [
            f"{sign} {_line(found.fact)}"
            for sign, found in zip(signs, (entry.before, entry.after), strict=True)
            if found is not None
        ]
        yield f"{chr(10).join(lines)}  {because}\n"


def _line(fact: Fact) -> str:
    said, interval = fact.statement, fact.interval
    start = "" if interval.start == BEGINNING else print_instant(Instant(interval.start))
    end = "" if interval.end == FOREVER else print_instant(Instant(interval.end))
    parts = (said.subject, said.predicate, said.object, said.graph)
    return f"{' '.join(part.n3 for part in parts)}  [{start}, {end})"


def jsonld(diff: Diff) -> Iterator[str]:
    """The diff as JSON-LD, in pieces."""
    sides = diff.asked.sides
    heading = {"@context": _CONTEXT, "@type": "Diff", "from": _side(sides.first), "to": _side(sides.second)}
    yield f'{json.dumps(heading, separators=(",", ":"), ensure_ascii=False)[:-1]},\n"change":['
    between = "\n"
    for entry in diff.entries():
        yield between + _entry(entry)
        between = ",\n"
    yield "\n]}\n"


def _side(side: Side) -> dict[str, str]:
    return {"asOf": print_instant(side.as_of), "validAt": print_instant(side.valid_at)}


def _entry(entry: Entry) -> str:
    facts = {"before": entry.before, "after": entry.after}
    members = [f'"@type":"{entry.kind.capitalize()}"']
    members += [f'"{name}":{_fact(found)}' for name, found in facts.items() if found is not None]
    because = ",".join(f'"{urn(each)}"' for each in entry.certificates)
    return f'{{{",".join(members)},"because":[{because}]}}'


def _fact(found: FoundFact) -> str:
    fact = found.fact
    told = Told(fact, submitted_object(fact, found.evidence), found.evidence, holds=True)
    more = {"graph": fact.statement.graph.value}
    if fact.superseded is not None:
        more |= {
            "supersededAt": print_instant(fact.superseded.at),
            "supersededBy": urn(fact.superseded.certificate),
        }
    return f"{record_object(told, KEPT)[:-1]},{json.dumps(more, ensure_ascii=False)[1:]}"


def _id(diff: Diff, base: UUID) -> UUID:
    asked, sides = diff.asked, diff.asked.sides
    who = asked.principal
    readable = "all" if who.graphs is None else sorted(each.value for each in who.graphs)
    granted = sorted(grant.graph.value for grant in who.grants)
    return uuid5(base, repr((sides.first, sides.second, asked.graph, asked.node, readable, granted, who.governs)))
