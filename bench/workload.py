"""The facts that every contestant writes and reads.

Rules
-----
* A fact is subject, predicate, object, validFrom, validTo; all of them hold now. The number of a fact says all of it.
* `SEED` facts are there before anything is measured, five to a subject. `PLAIN` facts are written one by one, also five
  to a subject; no shape targets them, though shapes are in force. Each `AGED` fact is of a seeded subject and a
  predicate that the one shape in force targets, and conforms.
* Standard library only: this is imported in the peers' environments too.

Example
-------
>>> fact(Kind.SEED, 7).triple
'<http://bench.example/s1> <http://bench.example/p2> "value 7" .'
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

EX: Final = "http://bench.example/"
XSD: Final = "http://www.w3.org/2001/XMLSchema#"
RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
SH: Final = "http://www.w3.org/ns/shacl#"

VALID_FROM: Final = "2020-01-01T00:00:00Z"
VALID_TO: Final = "2200-01-01T00:00:00Z"

FACTS_A_SUBJECT: Final = 5


class Kind(StrEnum):
    """What a fact is for."""

    SEED = "seed"
    PLAIN = "plain"
    AGED = "aged"


@dataclass(frozen=True, slots=True)
class BenchFact:
    """A statement; its valid interval is the same for all.

    Args:
        subject: an IRI.
        predicate: an IRI.
        lexical: the object's lexical form.
        datatype: the object's datatype; None for a string.
    """

    subject: str
    predicate: str
    lexical: str
    datatype: str | None = None

    @property
    def object(self) -> str:
        """The object in N-Triples form."""
        return f'"{self.lexical}"' if self.datatype is None else f'"{self.lexical}"^^<{self.datatype}>'

    @property
    def triple(self) -> str:
        """The statement as an N-Triples line, without its line end."""
        return f"<{self.subject}> <{self.predicate}> {self.object} ."

    @property
    def annotated(self) -> str:
        """The statement with its valid interval, as RDF 1.2 Turtle has it."""
        validity = f'<{EX}validFrom> "{VALID_FROM}"^^<{XSD}dateTime> ; <{EX}validTo> "{VALID_TO}"^^<{XSD}dateTime>'
        return f"<{self.subject}> <{self.predicate}> {self.object} {{| {validity} |}} ."


def fact(kind: Kind, number: int) -> BenchFact:
    """The fact of that kind and number."""
    entity, slot = divmod(number, FACTS_A_SUBJECT)
    match kind:
        case Kind.SEED:
            return BenchFact(f"{EX}s{entity}", f"{EX}p{slot}", f"value {number}")
        case Kind.PLAIN:
            return BenchFact(f"{EX}w{entity}", f"{EX}p{slot}", f"value {number}")
        case Kind.AGED:
            return BenchFact(f"{EX}s{number}", f"{EX}age", str(number % 100), f"{XSD}integer")


def facts(kind: Kind, first: int, count: int) -> Iterator[BenchFact]:
    """A run of facts."""
    return (fact(kind, number) for number in range(first, first + count))


def query(wanted: BenchFact) -> str:
    """The look-up of a fact's object."""
    return f"SELECT ?o WHERE {{<{wanted.subject}> <{wanted.predicate}> ?o}}"


SHAPE: Final = (
    (f"{EX}AgeShape", f"{RDF}type", f"<{SH}NodeShape>"),
    (f"{EX}AgeShape", f"{SH}targetSubjectsOf", f"<{EX}age>"),
    (f"{EX}AgeShape", f"{SH}property", f"<{EX}AgeProperty>"),
    (f"{EX}AgeProperty", f"{SH}path", f"<{EX}age>"),
    (f"{EX}AgeProperty", f"{SH}datatype", f"<{XSD}integer>"),
    (f"{EX}AgeProperty", f"{SH}maxCount", f'"1"^^<{XSD}integer>'),
    (f"{EX}AgeProperty", f"{SH}minInclusive", f'"0"^^<{XSD}integer>'),
)
"""The shape in force, as (subject IRI, predicate IRI, object in N-Triples form): whoever has an age has one, and it is
an integer that is not negative."""

SHAPE_TEXT: Final = "".join(f"<{subject}> <{predicate}> {value} .\n" for subject, predicate, value in SHAPE)
"""The same in N-Triples."""

BROKEN: Final = BenchFact(f"{EX}s0", f"{EX}age", "old")
"""What the shape refuses: each contestant that validates must refuse it before it is measured."""
