"""What is signed of an export: the lines that a processor of JSON-LD reads out of it.

Rules
-----
* The lines are canonical N-Quads (RDFC-1.0, section 5), sorted by code points, each once.
* They are as the libraries that verify read the document, which is not always as it is written: language tags in lower
  case, and an xsd:double in the form that its value has as a number. So the signature covers the value of a double, not
  its spelling; where the value itself would be lost (INF, NaN, -0, more digits than are kept), nothing is signed.
* Nor is anything that libraries sort or escape in different ways: some sort by UTF-16 code units, and do not escape
  U+FFFE and U+FFFF.

Example
-------
>>> object_text(Literal("1e0", DOUBLE))
'"1.0E0"^^<http://www.w3.org/2001/XMLSchema#double>'
>>> object_text(Literal("colour", language="en-GB"))
'"colour"@en-gb'
"""

from __future__ import annotations

import math
import re
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import TYPE_CHECKING, Final

from bridge.documents.triple_terms import TRIPLE_TERM
from bridge.exporting.nodes import directed
from bridge.exporting.record import SUPPORTS, evidence_record, fact_node, fact_record
from kernel.errors import CannotSign
from kernel.terms import RDF, XSD, Iri, Literal, Term, TripleTerm

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bridge.exporting.facts import Told

DOUBLE: Final = XSD + "double"

_REIFIED: Final = tuple(Iri(RDF + name) for name in ("subject", "predicate", "object"))
_NONCHARACTER: Final = re.compile(r"(?<!\\)(?:\\\\)*\\uFFF[EF]")
_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_KEPT: Final = Context(prec=16, rounding=ROUND_HALF_UP)
"""The digits of a double that libraries print."""


class Lines:
    """The lines of a canonical form, gathered within a limit of bytes."""

    def __init__(self, limit: int | None) -> None:
        self._lines: set[str] = set()
        self._left = limit

    def __len__(self) -> int:
        return len(self._lines)

    def add(self, lines: Iterable[str]) -> None:
        """Adds lines. Raises `CannotSign` beyond the limit."""
        for line in lines:
            if line not in self._lines:
                self._lines.add(line)
                self._count(line)

    def canonical(self) -> bytes:
        """The lines in order. Raises `CannotSign` where libraries order or write them in different ways."""
        ordered = sorted(self._lines)
        if any(not line.isascii() for line in ordered):
            in_units = sorted(self._lines, key=lambda line: line.encode("utf-16-be"))
            if in_units != ordered:
                raise _differ("two statements differ first in characters that verifiers sort in different ways")
        if any(map(_NONCHARACTER.search, ordered)):
            raise _differ("a literal holds U+FFFE or U+FFFF, which verifiers write in different ways")
        return "\n".join([*ordered, ""]).encode()

    def _count(self, line: str) -> None:
        if self._left is not None:
            self._left -= len(line) + 1
            if self._left < 0:
                raise CannotSign(
                    "the graph is too large to be signed: whoever verifies it has to hold and sort all of it",
                    remedy="leave signed=true out, or annotations=true",
                    where="signed",
                )


def fact_lines(told: Told, graph: str, *, records: bool) -> Iterator[str]:
    """The lines that a processor of JSON-LD reads out of what is written for a fact."""
    statement, value = told.fact.statement, object_text(told.object)
    if told.holds:
        yield f"{statement.subject.n3} {statement.predicate.n3} {value} {graph} ."
    if not records:
        return
    fact = fact_node(told.fact.id)
    for name, part in zip(_REIFIED, (statement.subject.n3, statement.predicate.n3, value), strict=True):
        yield f"{fact.n3} {name.n3} {part} {graph} ."
    for predicate, said in fact_record(told):
        yield f"{fact.n3} {predicate.n3} {said.n3} {graph} ."
    for item in told.evidence:
        node = fact_node(item.content.id).n3
        for predicate, said in [(SUPPORTS, fact), *evidence_record(item)]:
            yield f"{node} {predicate.n3} {said.n3} {graph} ."


def object_text(term: Term) -> str:
    """A term as processors of JSON-LD 1.1 read it; raises `CannotSign` where they would lose some of it."""
    if isinstance(term, TripleTerm):
        return Literal(term.n3, TRIPLE_TERM).n3
    if isinstance(term, Literal) and term.direction is not None:
        return directed(term).n3
    if isinstance(term, Literal) and term.language is not None:
        return Literal(term.lexical, language=term.language.lower()).n3
    return _double(term).n3 if isinstance(term, Literal) and term.datatype == DOUBLE else term.n3


def _double(literal: Literal) -> Literal:
    value = float(literal.lexical) if _NUMBER.fullmatch(literal.lexical) else math.nan
    if not math.isfinite(value) or (value == 0 and math.copysign(1, value) < 0):
        raise _differ(f"verifiers lose the xsd:double {literal.lexical[:40]!r}")
    sign, digits, exponent = _KEPT.create_decimal(Decimal(value)).as_tuple()
    text = "".join(map(str, digits)).rstrip("0") or "0"
    power = 0 if text == "0" else len(digits) - 1 + int(exponent)
    printed = f"{'-' * sign}{text[0]}.{text[1:] or '0'}E{power}"
    if float(printed) != value:
        raise _differ(f"verifiers lose digits of the xsd:double {literal.lexical[:40]!r}")
    return Literal(printed, DOUBLE)


def _differ(message: str) -> CannotSign:
    return CannotSign(message, remedy="leave signed=true out", where="signed")
