"""The words that everything in `m:rules` shares, and what their values mean.

Rules
-----
* A node of `m:rules` is read from all terms that it has, by predicate (`Terms`).
* `m:mode` says how grave it is where something does not fit: `m:Refuse` is a violation, `m:Review` a warning, and
  `m:Warn` is only told. `m:acrossGraphs` is a boolean.

Example
-------
>>> MODES[Iri(M + "Review")].value
'warning'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from certificates.findings import Severity
from kernel.terms import RDF, XSD, Iri, Literal, Term
from kernel.vocabulary import M

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Terms: TypeAlias = "Mapping[Iri, list[Term]]"

RDF_TYPE: Final = Iri(RDF + "type")
PREDICATE: Final = Iri(M + "predicate")
CLASS: Final = Iri(M + "class")
APPLIES_TO: Final = Iri(M + "appliesTo")
MODE: Final = Iri(M + "mode")
ACROSS: Final = Iri(M + "acrossGraphs")

MODES: Final[Mapping[Term, Severity]] = {
    Iri(M + "Refuse"): Severity.VIOLATION,
    Iri(M + "Review"): Severity.WARNING,
    Iri(M + "Warn"): Severity.INFO,
}
BOOLEANS: Final[Mapping[Term, bool]] = {
    Literal(text, XSD + "boolean"): text in {"true", "1"} for text in ("true", "false", "1", "0")
}


def short(words: Iterable[Iri]) -> str:
    """Words of the vocabulary as they are written."""
    return ", ".join(f"m:{word.value.removeprefix(M)}" for word in words)


def strange(terms: Terms, known: tuple[Iri, ...]) -> str | None:
    """The first word of the vocabulary that is not among those known; None: all are."""
    return next((term.n3 for term in terms if term.value.startswith(M) and term not in known), None)


def iris(terms: Iterable[Term]) -> frozenset[Iri]:
    """Those that are IRIs."""
    return frozenset(term for term in terms if isinstance(term, Iri))
