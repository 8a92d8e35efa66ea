r"""JSON-LD 1.1 bodies as triples, with nothing left out in silence.

Rules
-----
* PyLD expands, with all its contexts, which are to be in the document itself: nothing is fetched, from anywhere, nor by
  `@import` or a relative reference.
* Expansion drops what it does not know; here that is an error that names it. So are terms that no context defines, also
  within scoped contexts, and what `jsonld_source` and `jsonld_triples` refuse. A term that a context maps
  to null is left out, because the document says so.
* Expansion writes language tags in lower case; they are handed to it as text that has no lower case.

Example
-------
>>> from bridge.documents.skolem import Skolem
>>> document = b'{"@context": {"name": "urn:name"}, "@id": "urn:a", "name": {"@value": "x", "@language": "en-GB"}}'
>>> [(s.value, p.value, o.n3, g) for s, p, o, g in read_jsonld(document, Skolem())]
[('urn:a', 'urn:name', '"x"@en-GB', None)]
>>> read_jsonld(b'{"@id": "urn:a", "nmae": "x"}', Skolem())
Traceback (most recent call last):
kernel.errors.InvalidDocument: /nmae: no context defines the term 'nmae' (define it in @context, or take it out)
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Final, NoReturn

from pyld import jsonld
from pyld.context_resolver import ContextResolver

from bridge.documents.json_text import Json, parse_json
from bridge.documents.jsonld_source import Source
from bridge.documents.jsonld_triples import RELATIVE, Conversion, Expanded, Triple
from kernel.errors import InvalidDocument

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernel.terms import Iri

_TAG_WITH_CAPITALS: Final = re.compile(r"(?=.*[A-Z])[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*")
_NAMED: Final = 5
"""How many undefined terms an error names."""


def read_jsonld(data: bytes, skolem: Callable[[str], Iri]) -> list[Triple]:
    """The triples of a JSON-LD document.

    Args:
        data: the document, in UTF-8.
        skolem: the names of its blank nodes.

    Raises:
        InvalidDocument: it is no JSON-LD, refers to a context elsewhere, or has something in it that would be dropped.
        InvalidTerm: a term that RDF does not allow, or a number that would lose digits.
    """
    return triples_of(parse_json(data), skolem)


def triples_of(document: Json, skolem: Callable[[str], Iri]) -> list[Triple]:
    """The same for a document that is parsed already. Raises as `read_jsonld` does."""
    if not isinstance(document, dict | list):
        raise InvalidDocument("JSON-LD is an object or an array", remedy="send a JSON-LD document")
    source = Source(document)
    source.check(document, "", top=True)
    conversion = Conversion(skolem)
    for each in _expand(_handed(document), source):
        conversion.node(each, None)
    return conversion.triples


class _Verbatim(str):
    """Text that looks like a language tag with capitals, and keeps them: the way past expansion's `lower()`."""

    __slots__ = ()

    def lower(self) -> str:
        return self

    def __deepcopy__(self, memo: object) -> str:
        return self


def _handed(value: Json, *, context: bool = False) -> object:
    """The document as it is handed to expansion."""
    if isinstance(value, dict):
        return {_text(name): _handed(each, context=context or name == "@context") for name, each in value.items()}
    if isinstance(value, list):
        return [_handed(each, context=context) for each in value]
    if isinstance(value, Decimal) and context:
        return float(value)
    return _text(value) if isinstance(value, str) else value


def _text(text: str) -> str:
    return _Verbatim(text) if _TAG_WITH_CAPITALS.fullmatch(text) else text


def _expand(document: object, source: Source) -> list[Expanded]:
    dropped: list[str | None] = []
    options = {
        "base": RELATIVE,
        "documentLoader": _nothing_is_fetched,
        "contextResolver": ContextResolver({}, _nothing_is_fetched),  # the library's own keeps what others have fetched
        "keepFreeFloatingNodes": True,
    }
    failure: InvalidDocument | None = None
    expanded: list[Expanded] = []
    try:
        expanded = jsonld.expand(document, options, on_property_dropped=dropped.append)
    except jsonld.JsonLdError as error:
        failure = _unexpandable(error)
    except (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError):
        # What is ill-formed here and there fails in the library as it comes.
        failure = InvalidDocument("this is not JSON-LD 1.1", remedy="check it against the grammar")
    undefined = [name for name in dict.fromkeys(dropped) if name is not None]
    if undefined:
        raise _undefined(undefined, source)
    if failure is not None:
        raise failure
    return expanded


def _nothing_is_fetched(url: str, _options: object = None) -> NoReturn:
    raise InvalidDocument(
        f"the context {url.removeprefix(RELATIVE)!r} is not in the document, and nothing is fetched here",
        remedy="put the context itself into the document",
    )


def _unexpandable(error: BaseException) -> InvalidDocument:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, InvalidDocument):
            return cause
        cause = cause.__cause__
    message = str(error.args[0]) if error.args else "it cannot be expanded"
    code = getattr(error, "code", None)
    return InvalidDocument(f"this is not JSON-LD 1.1: {code or message}", remedy=message if code else "correct it")


def _undefined(names: list[str], source: Source) -> InvalidDocument:
    shown = ", ".join(repr(str(name)) for name in names[:_NAMED])
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    several, them = ("s", "them") if len(names) > 1 else ("", "it")
    return InvalidDocument(
        f"no context defines the term{several} {shown}{more}",
        remedy=f"define {them} in @context, or take {them} out",
        where=source.places.get(names[0]),
    )
