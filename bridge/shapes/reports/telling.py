"""What reports say of one result besides its own terms: how grave it is, what it says, how its shape is called.

Rules
-----
* A severity that is none of SHACL's own three counts as a violation.
* A shape without a name is called after the nearest shape with one that refers to it.
* A violation that a waiver covers is a warning, and says by which waiver, until when and why.

Example
-------
::

    telling = Telling(shapes.document)
    telling.severity(result), telling.message(result), telling.name(result.shape)
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from bridge.shapes.messages import cause_of, message_of, own_messages
from bridge.shapes.vocabulary import SH, is_blank, sh
from certificates.findings import Severity
from kernel.terms import Iri, Literal
from kernel.vocabulary import GENID

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterable, Iterator

    from bridge.shapes.document import ShapesDocument
    from bridge.shapes.results import Result
    from bridge.shapes.waivers import Waiver
    from bridge.shapes.wellformed import Problem

LANGUAGE: Final = "en"
"""Of the messages that are ours."""

_SEVERITIES: Final = {sh("Warning"): Severity.WARNING, sh("Info"): Severity.INFO}
_COMPONENT: Final = "ConstraintComponent"
_NAMELESS: Final = "a shape without a name"
_UNNAMED: Final = "a node without a name"
_UNSEEN: Final = re.compile(rf"<{re.escape(GENID)}[^>]*>")


class Telling:
    """Tells of results.

    Args:
        document: the shapes graph that they are of.
        waiver: the waiver that covers a result, if one does.
    """

    def __init__(self, document: ShapesDocument, waiver: Callable[[Result], Waiver | None] = lambda _: None) -> None:
        self.document = document
        self.waiver = waiver
        self._above: dict[Iri, Iri] = {}
        for subject, _, value in document:
            if isinstance(value, Iri) and is_blank(value):
                self._above.setdefault(value, subject)

    def severity(self, result: Result) -> Severity:
        """How grave a result is."""
        asked = self.asked_severity(result)
        return Severity.WARNING if asked is Severity.VIOLATION and self.waiver(result) is not None else asked

    def asked_severity(self, result: Result) -> Severity:
        """How grave it is by its shape, whatever is waived."""
        return Severity.VIOLATION if result.severity is None else _SEVERITIES.get(result.severity, Severity.VIOLATION)

    def result_severity(self, result: Result) -> Iri:
        """The same as SHACL has it: a severity of the shape's own, or one of the three (SHACL section 2.1.4)."""
        if self.severity(result) is not self.asked_severity(result):
            return sh("Warning")
        return result.severity or sh("Violation")

    def counted(self, results: Iterable[Result], counts: Counter[Severity]) -> Iterator[Result]:
        """The results, each counted by its severity as it passes."""
        for result in results:
            counts[self.severity(result)] += 1
            yield result

    def message(self, result: Result) -> str:
        """What a result says, on one line."""
        waiver, message = self.waiver(result), message_of(self.document, result)
        return message if waiver is None else f"{message}; {waiver.told}"

    def messages(self, result: Result) -> list[Literal]:
        """The same as SHACL has it: the shape's own messages, or ours; and that of the waiver, if one covers it."""
        own = own_messages(self.document, result) or [Literal(message_of(self.document, result), language=LANGUAGE)]
        waiver = self.waiver(result)
        return own if waiver is None else [*own, Literal(waiver.told, language=LANGUAGE)]

    def cause(self, result: Result) -> str:
        """What was asked for, in the shape's own words or in ours; the same for every result of the same cause."""
        return cause_of(self.document, result)

    def name(self, node: Iri) -> str:
        """The name of a node of the shapes graph, or of the nearest one above that has a name."""
        above: set[Iri] = set()
        while is_blank(node) and node not in above and node in self._above:
            above.add(node)
            node = self._above[node]
        return _NAMELESS if is_blank(node) else node.value

    def place(self, node: Iri) -> str:
        """Where a node stands in the shapes graph, for somebody who has the document and knows no ids of ours."""
        if not is_blank(node):
            return node.n3
        paths = [path.n3 for path in self.document.nodes(node, sh("path")) if not is_blank(path)]
        what = f"a property shape for {paths[0]}" if paths else _UNNAMED
        name = self.name(node)
        return what if name == _NAMELESS else f"{what}, of <{name}>"

    def reason(self, problem: Problem) -> str:
        """What is wrong with the shapes graph, without ids that nobody has seen."""
        return _UNSEEN.sub(_UNNAMED, problem.reason)


def component_name(component: Iri) -> str:
    """The short name of a constraint component."""
    return component.value.removeprefix(SH).removesuffix(_COMPONENT)
