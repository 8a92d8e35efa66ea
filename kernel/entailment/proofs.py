"""The proof of what follows: rule by rule down to what is asserted.

Rules
-----
* A statement that follows has one step, whose premises follow or are asserted; that is its proof. Others may exist.
* Auxiliaries are not told. What they stand for is: the premises that they come from, in their place.
* A statement is proved once in a proof, at its first place; further on it is `again`, and only named.
* A proof is cut where it has more than so many steps: such a premise is `cut`.

Example
-------
>>> from kernel.entailment.closure import Closure
>>> from kernel.entailment.table import RDFS, TYPE, Regime
>>> closure = Closure(Regime.RDFS)
>>> _ = closure.change(add=[("<urn:C>", f"<{RDFS}subClassOf>", "<urn:D>"), ("<urn:a>", TYPE, "<urn:C>")])
>>> proof = proof_of(closure, ("<urn:a>", TYPE, "<urn:D>"), 10)
>>> proof["rule"], [each["rule"] for each in proof["premises"]]
('cax-sco', [None, None])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from kernel.entailment.table import AUXILIARY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kernel.entailment.closure import Closure
    from kernel.entailment.index import Triple
    from kernel.entailment.joins import Step


class Proof(TypedDict):
    """A proof.

    Members: the statement; the rule that it follows by, None where it is asserted; the proofs of its premises; and
    whether these are left out, as they stand at another place (`again`) or there are too many (`cut`).
    """

    statement: Triple
    rule: str | None
    premises: list[Proof]
    again: bool
    cut: bool


def proof_of(closure: Closure, triple: Triple, most: int) -> Proof | None:
    """The proof of a statement in at most so many steps; None: it does not hold."""
    return _Prover(closure, most).proof(triple) if triple in closure and triple[1][0] != AUXILIARY else None


def proof_of_step(closure: Closure, step: Step, most: int) -> list[Proof]:
    """The proofs of the premises of a step, as of an inconsistency."""
    prover = _Prover(closure, most)
    return [prover.proof(each) for each in prover.told(step)]


class _Prover:
    def __init__(self, closure: Closure, most: int) -> None:
        self._closure = closure
        self._left = most
        self._proved: set[Triple] = set()

    def proof(self, triple: Triple) -> Proof:
        step = self._closure.step(triple)
        found = Proof(statement=triple, rule=None, premises=[], again=False, cut=False)
        if step is None:
            return found
        found["rule"] = step.rule.name
        if triple in self._proved:
            found["again"] = bool(step.premises)
        elif self._left <= 0:
            found["cut"] = True
        else:
            self._proved.add(triple)
            self._left -= 1
            found["premises"] = [self.proof(each) for each in self.told(step)]
        return found

    def told(self, step: Step) -> Iterator[Triple]:
        """The premises of a step, those of auxiliaries in their place, each once."""
        seen: set[Triple] = set()
        waiting = list(reversed(step.premises))
        while waiting:
            each = waiting.pop()
            if each in seen:
                continue
            seen.add(each)
            inner = self._closure.step(each)
            if each[1][0] != AUXILIARY:
                yield each
            elif inner is not None:
                waiting += reversed(inner.premises)
