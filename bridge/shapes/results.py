"""What an engine says of one shape at one focus, in the kernel's terms.

Example
-------
>>> from bridge.shapes.vocabulary import sh
>>> from kernel.terms import Iri
>>> result = Result(Iri("urn:shape"), Iri("urn:ann"), "<urn:name>", None, sh("MinCountConstraintComponent"), None)
>>> result.key[1].n3
'<urn:ann>'
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from kernel.terms import Iri, Literal, Term

ResultKey: TypeAlias = "tuple[Iri, Term, str | None, Term | None, Iri, Iri | None, int]"
"""What makes two results the same one: shape, focus, path, value, component, and the query if it is of one; one that
says that a query gave no answer is the same as no other."""


@dataclass(frozen=True, slots=True)
class Result:
    """One validation result (SHACL section 3.6.2).

    Args:
        shape: the source shape.
        focus: the focus node.
        path: the path as SPARQL writes it; None at a node shape.
        value: the value at fault in its stored form, if there is one.
        component: the constraint component.
        severity: the shape's severity; None for sh:Violation.
        spelled: the value as it was submitted.
        constraint: the value of sh:sparql that found it, if one did.
        messages: what the constraint says in words of its own; none: the shape's messages, or ours.
        unanswered: another number for each time that a query gave no answer; 0: it is what is found.
    """

    shape: Iri
    focus: Term
    path: str | None
    value: Term | None
    component: Iri
    severity: Iri | None
    spelled: Literal | None = field(default=None, compare=False)
    constraint: Iri | None = None
    messages: tuple[Literal, ...] = field(default=(), compare=False)
    unanswered: int = 0

    @property
    def key(self) -> ResultKey:
        """What makes it the same result as another."""
        return self.shape, self.focus, self.path, self.value, self.component, self.constraint, self.unanswered
