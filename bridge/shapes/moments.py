"""Instants that a shapes graph gives in words of the base.

Rules
-----
* An xsd:dateTime with a zone, or an xsd:date, which stands for its first instant, in UTC if it names no zone. What was
  submitted counts, not what a store makes of it.

Example
-------
::

    instant_of(document, shape, APPLIES_FROM, value)        # an instant, or what is wrong with the value
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kernel.errors import InvalidTime
from kernel.terms import XSD, Iri, Literal, Term
from kernel.time.precision import Precision
from kernel.time.timevalues import parse_time
from kernel.vocabulary import M

if TYPE_CHECKING:
    from bridge.shapes.document import ShapesDocument

_TAKEN: Final = "an xsd:dateTime with a zone, or an xsd:date"
_DATATYPES: Final = {Precision.INSTANT: XSD + "dateTime", Precision.DAY: XSD + "date"}


def instant_of(document: ShapesDocument, node: Iri, predicate: Iri, value: Term) -> int | str:
    """The instant that a value of a predicate stands for, in microseconds, or what is wrong with it."""
    name = f"m:{predicate.value.removeprefix(M)}"
    given = document.spelling((node, predicate, value)) or value
    if not isinstance(given, Literal) or given.datatype not in _DATATYPES.values():
        return f"{name} takes {_TAKEN}"
    try:
        time = parse_time(given.lexical, field=name)
    except InvalidTime as error:
        return f"{error.message}: {name} takes {_TAKEN}"
    if _DATATYPES.get(time.precision) != given.datatype:
        return f"{given.lexical!r} is no {given.datatype.replace(XSD, 'xsd:')}: {name} takes {_TAKEN}"
    return time.first
