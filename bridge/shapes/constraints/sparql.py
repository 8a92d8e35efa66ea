"""Constraints that are queries, and what their solutions say (SHACL sections 5.3.2 and 6.3).

Rules
-----
* Of a SELECT each solution is a fault: of `?value`, or at a node shape of the focus; at `?path`, if that is an IRI, or
  else at the shape's own path. An ASK is asked of each value, and answers false at a fault.
* What a fault says is `?message`, or else the constraint's own messages, in which `{?name}` and `{$name}` stand for
  what the solution, or a parameter, has.
* A query that gives no answer within its limits (`sparql.evaluation`) is at fault itself, wherever it was asked, and
  anew each time: what it would have said before is not known either.
* Solutions are in stored form; a value of the shape among them is shown as it was submitted.

Example
-------
>>> filled(Literal("{$this} has {?n} of {?m}"), {"this": Iri("urn:a"), "n": Literal("2")}).lexical
'<urn:a> has 2 of {?m}'
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Final

from bridge.shapes.constraints.checks import Check, Fault
from bridge.shapes.sparql.evaluation import Asking, QueryUnfinished
from bridge.shapes.sparql.text import THIS, VALUE
from bridge.shapes.vocabulary import is_blank
from bridge.sparql.scan import Form
from kernel.terms import Iri, Literal, Term

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bridge.shapes.data import Data, Nodes
    from bridge.shapes.document import ShapesDocument
    from bridge.shapes.sparql.declared import Constraint

_VARIABLE: Final = re.compile(r"\{[?$](\w+)\}")
_LONGEST: Final = 100
_UNANSWERED: Final = count(1)


def sparql_check(constraint: Constraint, document: ShapesDocument, *, on_property: bool) -> Check:
    """The check of a constraint that is a query.

    Args:
        constraint: of the shape.
        document: the shapes graph.
        on_property: whether the shape has a path.
    """
    asking = Asking(constraint, document)

    def ask(data: Data, focus: Term, values: Nodes) -> list[Fault]:
        asked = list(values)
        answers = asking.answers(data, focus, [{VALUE: value} for value in asked]) if asked else []
        return [
            _fault(constraint, {THIS: focus, VALUE: value}, value, values)
            for value, answer in zip(asked, answers, strict=True)
            if not answer
        ]

    def select(data: Data, focus: Term, values: Nodes) -> list[Fault]:
        [answer] = asking.answers(data, focus, [{}])
        solutions = answer if isinstance(answer, list) else []
        default = None if on_property else focus
        return [_fault(constraint, each, each.get(VALUE, default), values) for each in solutions]

    answered = ask if constraint.form is Form.ASK else select

    def check(data: Data, focus: Term, values: Nodes) -> list[Fault]:
        try:
            return sorted(answered(data, focus, values), key=_in_order)
        except QueryUnfinished as error:
            said = Literal(f"the query of the shape gave no answer: {error}", language="en")
            return [Fault(messages=(said,), unanswered=next(_UNANSWERED))]

    return check


def _fault(constraint: Constraint, solution: Mapping[str, Term], value: Term | None, values: Nodes) -> Fault:
    said, path = solution.get("message"), solution.get("path")
    messages: Sequence[Literal] = [said] if isinstance(said, Literal) else constraint.messages
    spelled = None if value is None else next(iter(values.get(value, ())), None)
    return Fault(
        value=value,
        spelled=spelled,
        path=path if isinstance(path, Iri) and not is_blank(path) else None,
        messages=tuple(filled(each, {**constraint.bound, **solution}) for each in messages),
    )


def filled(message: Literal, solution: Mapping[str, Term]) -> Literal:
    """A message with what its variables stand for; one that stands for nothing stays as it is."""

    def shown(match: re.Match[str]) -> str:
        term = solution.get(match[1])
        if term is None:
            return match[0]
        if is_blank(term):
            return "a node without a name"
        text = term.lexical if isinstance(term, Literal) else term.n3
        return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"

    return replace(message, lexical=_VARIABLE.sub(shown, message.lexical))


def _in_order(fault: Fault) -> tuple[str, ...]:
    texts = (each.n3 for each in fault.messages)
    return "" if fault.value is None else fault.value.n3, "" if fault.path is None else fault.path.value, *texts
