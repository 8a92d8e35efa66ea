"""Constraints on single values: value type, range, strings and enumerations (SHACL sections 4.1, 4.3, 4.4, 4.8.3).

Rules
-----
* Datatypes, lengths, patterns and languages judge every spelling of a literal; a range, too, so that what is ill-typed
  fails it. Enumerations go by the stored term.
* A blank node has no length and matches no pattern; a triple term is of none of the six kinds of node.
* Language ranges are matched by basic filtering (RFC 4647 section 3.3.1).

Example
-------
>>> from bridge.shapes.data import Data
>>> from kernel.terms import XSD
>>> check = in_range(Literal("0", XSD + "integer"), lambda order: order >= 0)
>>> [fault.value.lexical for fault in check(Data({}), Iri("urn:a"), {Literal("-1", XSD + "byte"): ()})]
['-1']
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bridge.shapes.constraints.checks import Check, each_form, each_value
from bridge.shapes.lexical import compare, read
from bridge.shapes.patterns import Pattern
from bridge.shapes.vocabulary import is_blank, sh
from kernel.terms import Iri, Literal, Term, TripleTerm

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from bridge.shapes.constraints.checks import Components, Parameters

_RANGES: Final[dict[str, Callable[[int], bool]]] = {
    "minExclusive": lambda order: order > 0,
    "minInclusive": lambda order: order >= 0,
    "maxExclusive": lambda order: order < 0,
    "maxInclusive": lambda order: order <= 0,
}


def value_checks(said: Parameters) -> Components:
    """The checks of single values that a shape asks for."""
    yield from _types(said)
    for name, holds in _RANGES.items():
        for limit in said.literals(sh(name)):
            yield _component(name), in_range(limit, holds)
    yield from _strings(said)
    for members in said.lists(sh("in")):
        yield "In", _among(frozenset(members))


def _types(said: Parameters) -> Components:
    for wanted in said.nodes(sh("class")):
        yield "Class", _of_class(wanted)
    for datatype in said.nodes(sh("datatype")):
        yield "Datatype", _of_datatype(datatype.value)
    for kind in said.nodes(sh("nodeKind")):
        yield "NodeKind", _of_kind(kind)


def _strings(said: Parameters) -> Components:
    for least in said.literals(sh("minLength")):
        yield "MinLength", _long(int(least.lexical), lambda length, limit: length >= limit)
    for most in said.literals(sh("maxLength")):
        yield "MaxLength", _long(int(most.lexical), lambda length, limit: length <= limit)
    flags = "".join(each.lexical for each in said.literals(sh("flags")))
    for pattern in said.literals(sh("pattern")):
        yield "Pattern", _matching(pattern.lexical, flags)
    for ranges in said.lists(sh("languageIn")):
        yield "LanguageIn", _in_languages([each.lexical for each in ranges if isinstance(each, Literal)])


def _component(name: str) -> str:
    return name[0].upper() + name[1:]


def _of_class(wanted: Iri) -> Check:
    return each_value(lambda data, value: data.is_instance(value, wanted))


def _of_datatype(datatype: str) -> Check:
    return each_form(
        lambda form: form.datatype == datatype and read(form.lexical, form.datatype).well_formed is not False
    )


def _of_kind(kind: Iri) -> Check:
    kinds = kind.value.removeprefix(sh("").value)

    def fits(_: object, value: Term) -> bool:
        match value:
            case Literal():
                return "Literal" in kinds
            case Iri():
                return ("BlankNode" if is_blank(value) else "IRI") in kinds
            case TripleTerm():
                return False

    return each_value(fits)


def in_range(limit: Literal, holds: Callable[[int], bool]) -> Check:
    """A check that literals compare with a limit as they should (SPARQL 1.1 section 17.3)."""
    bound = read(limit.lexical, limit.datatype)

    def fits(form: Literal) -> bool:
        order = compare(read(form.lexical, form.datatype), bound)
        return order is not None and holds(order)

    return each_form(fits)


def _long(limit: int, holds: Callable[[int, int], bool]) -> Check:
    return each_form(
        lambda form: holds(len(form.lexical), limit),
        lambda node: not is_blank(node) and holds(len(node.value), limit),
    )


def _matching(text: str, flags: str) -> Check:
    pattern = Pattern(text, flags)
    return each_form(
        lambda form: pattern.matches(form.lexical),
        lambda node: not is_blank(node) and pattern.matches(node.value),
    )


def _in_languages(ranges: Iterable[str]) -> Check:
    wanted = tuple(each.lower() for each in ranges)

    def fits(form: Literal) -> bool:
        language = (form.language or "").lower()
        return any(
            bool(language) if each == "*" else language == each or language.startswith(f"{each}-") for each in wanted
        )

    return each_form(fits)


def _among(members: frozenset[Term]) -> Check:
    return each_value(lambda _, value: value in members)
