"""The proof of what follows: rule by rule down to what is asserted.

Rules
-----
* A statement that follows has one step, whose premises follow or are asserted; that is its proof. Others may exist.
* A proof is a list. The statement asked for comes first, each statement stands in it once, and premises are places.
* Auxiliaries are not told. What they stand for is: the premises that they come from, in their place. Nor is it told
  that a literal is of its datatype, which nothing says.
* A proof is cut where it has about so many statements: the premises of what stands there last are left out.

Example
-------
>>> from kernel.entailment.closure import Closure
>>> from kernel.entailment.table import RDFS, TYPE, Regime
>>> closure = Closure(Regime.RDFS)
>>> _ = closure.change(add=[("<urn:C>", f"<{RDFS}subClassOf>", "<urn:D>"), ("<urn:a>", TYPE, "<urn:C>")])
>>> [(each["rule"], each["premises"]) for each in proof_of(closure, ("<urn:a>", TYPE, "<urn:D>"), 10)]
[('cax-sco', [1, 2]), (None, []), (None, [])]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from kernel.entailment.table import AUXILIARY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kernel.entailment.closure import Closure
    from kernel.entailment.index import Triple
    from kernel.entailment.joins import Step


class Proved(TypedDict):
    """A statement of a proof: the rule that it follows by, None where it is asserted; the places of its premises."""

    statement: Triple
    rule: str | None
    premises: list[int]
    cut: bool


def proof_of(closure: Closure, triple: Triple, most: int) -> list[Proved]:
    """The proof of a statement, in about so many at most; empty: it does not hold."""
    if triple not in closure or triple[1][0] == AUXILIARY:
        return []
    places, found = {triple: 0}, list[Proved]()
    waiting = [triple]
    for each in waiting:  # and what is appended meanwhile
        step = closure.step(each)
        cut = step is not None and bool(step.premises) and len(waiting) >= most
        premises = [] if step is None or cut else [*told_of(closure, step)]
        for premise in premises:
            if premise not in places:
                places[premise] = len(waiting)
                waiting.append(premise)
        name = None if step is None else step.rule.name
        found.append(Proved(statement=each, rule=name, premises=[places[premise] for premise in premises], cut=cut))
    return found


def told_of(closure: Closure, step: Step) -> Iterator[Triple]:
    """The premises of a step as they are told: those of auxiliaries in their place, each once."""
    seen: set[Triple] = set()
    waiting = [*reversed(step.premises)]
    while waiting:
        each = waiting.pop()
        if each in seen or each[0][0] == '"':
            continue
        seen.add(each)
        inner = closure.step(each)
        if each[1][0] != AUXILIARY:
            yield each
        elif inner is not None:
            waiting += reversed(inner.premises)
