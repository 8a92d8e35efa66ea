"""Triple terms in JSON-LD, which has none: literals of the datatype `m:tripleTerm`.

Rules
-----
* The literal is the triple term's N-Triples form (RDF 1.2 N-Triples, section 2.5). A blank node in it is the one of
  that label in the document around it.
* So exports write them, and so a JSON-LD document is read. In other formats the literal is a literal.

Example
-------
>>> read_triple_term("<<( _:b <urn:p> 'x' )>>")
Traceback (most recent call last):
kernel.errors.InvalidTerm: "<<( _:b <urn:p> 'x' )>>" is no triple term (write it as N-Triples has it, <<( … )>>)
>>> read_triple_term('<<( _:b <urn:p> "x" )>>')[0].subject
<BlankNode value=b>
"""

from __future__ import annotations

from typing import Final

import pyoxigraph as ox

from bridge.documents import turtle_text
from kernel.errors import InvalidTerm
from kernel.vocabulary import M

TRIPLE_TERM: Final = M + "tripleTerm"
"""The datatype of a triple term that is written as a literal."""

_SHOWN: Final = 80


def read_triple_term(text: str) -> tuple[ox.Triple, bool]:
    """The triple term of an N-Triples form, and whether its language tags are marked (`turtle_text`).

    Raises:
        InvalidTerm: it is none.
        InvalidDocument: it is nested too deep.
    """
    prepared, marked = turtle_text.prepared(f"<urn:s> <urn:p> {text} .\n".encode())
    try:
        quads = list(ox.parse(prepared, ox.RdfFormat.N_TRIPLES))
    except SyntaxError:
        quads = []
    if len(quads) == 1 and isinstance(quads[0].object, ox.Triple):
        return quads[0].object, marked
    shown = text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
    raise InvalidTerm(f"{shown!r} is no triple term", remedy="write it as N-Triples has it, <<( … )>>")
