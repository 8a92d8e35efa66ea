"""The closure of a set of statements under rules, kept up as statements come and go.

Rules
-----
* A step of a rule is found when the last of its premises comes in: each statement that is new is held against all that
  is there by then, itself included, and what follows is new in its turn. Where much comes at once, only statements of
  the vocabulary are held against the rest, since no step does without one.
* What is inferred keeps the step by which it was found first. Its premises were there before it, so no statement speaks
  for itself, not even round a ring; and these steps are its proof.
* When statements go, everything goes for which there was a step with one of them among its premises, and so on. What of
  that another step leads to, from what is left, then comes back, with what follows (delete and rederive: Gupta, Mumick
  and Subrahmanian, SIGMOD 1993). A statement that is asserted stays, whatever else led to it.
* A rule that says `false` gives *inconsistencies*. Each is known by its premises, and is gone with any of them.
* It is bounded: what has more than `most` consequences is given up.

Example
-------
>>> from kernel.entailment.table import RDFS, TYPE, Regime
>>> closure = Closure(Regime.RDFS)
>>> closure.change(add=[("<urn:C>", f"<{RDFS}subClassOf>", "<urn:D>"), ("<urn:a>", TYPE, "<urn:C>")]).added
[('<urn:a>', '<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>', '<urn:D>')]
>>> len(closure.change(remove=[("<urn:a>", TYPE, "<urn:C>")]).removed), len(closure.inferred)
(1, 0)
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from kernel.entailment.index import Index
from kernel.entailment.joins import Matcher
from kernel.entailment.table import AUXILIARY

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kernel.entailment.index import Triple
    from kernel.entailment.joins import Step, Ways
    from kernel.entailment.table import Regime

MOST: Final = 10_000_000
"""Statements that are inferred, auxiliary ones included, and inconsistencies."""


class TooMuchFollowsError(Exception):
    """More follows than a closure may have."""


@dataclass(frozen=True, slots=True)
class Changed:
    """What a change came to: statements that follow since, or follow no more, and inconsistencies that came and went.

    A statement that was inferred and is asserted now counts as removed, and the other way round.
    """

    added: list[Triple] = field(default_factory=list)
    removed: list[Triple] = field(default_factory=list)
    arisen: list[Step] = field(default_factory=list)
    settled: list[Step] = field(default_factory=list)


class Closure:
    """What is asserted, and what follows from it.

    Args:
        regime: by which rules.
        most: how much may follow.
    """

    def __init__(self, regime: Regime, *, most: int = MOST) -> None:
        self._rules = matcher(regime)
        self._index = Index()
        self._steps: dict[Triple, Step] = {}
        self._leaps = Index()
        self._false: dict[frozenset[Triple], Step] = {}
        self._false_by: dict[Triple, set[frozenset[Triple]]] = {}
        self._most = most
        self._ways: Ways = {}
        self._trivial: frozenset[Triple] = frozenset()
        before = _Kept(self._steps, self._false)
        for step in self._rules.axioms:
            if step.conclusion is not None:
                self._infer(step.conclusion, step, before)
                self._follow([step.conclusion], before)
        self._trivial = frozenset(self._steps)

    @property
    def inferred(self) -> Inferred:
        """What follows and is not asserted, without auxiliaries, and without what follows from nothing."""
        return Inferred(self._steps, self._trivial)

    @property
    def inconsistencies(self) -> list[Step]:
        """What cannot be, and is."""
        return list(self._false.values())

    def step(self, triple: Triple) -> Step | None:
        """By which step it was inferred; None: it is asserted, or does not follow."""
        return self._steps.get(triple)

    def is_vocabulary(self, triple: Triple) -> bool:
        """Whether a statement is one of those without which no rule applies."""
        return self._rules.is_vocabulary(triple)

    def __contains__(self, triple: Triple) -> bool:
        return triple in self._index

    def change(self, add: Iterable[Triple] = (), remove: Iterable[Triple] = ()) -> Changed:
        """Has statements go that are asserted, and others come; those that are both stay.

        Raises:
            TooMuchFollowsError: what is there then is of no use any more.
        """
        coming = dict.fromkeys(add)
        before = _Kept(self._steps, self._false)
        self._remove([each for each in dict.fromkeys(remove) if each not in coming and self._is_asserted(each)], before)
        self._assert([each for each in coming if not self._is_asserted(each)], before)
        return before.changed(self._trivial)

    def _is_asserted(self, triple: Triple) -> bool:
        return triple in self._index and triple not in self._steps

    # --- what comes ---------------------------------------------------------------------------------------------------

    def _assert(self, coming: list[Triple], before: _Kept) -> None:
        new = [each for each in coming if each not in self._index]
        for each in coming:
            if each in self._steps:
                before.note(each)
                self._forget(each)
        for each in new:
            self._put(each)
        # Where there was nothing before, every step has a premise of the vocabulary among what is new.
        alone = len(new) + len(self._trivial) == len(self._index)
        self._follow([each for each in new if not alone or self._rules.is_vocabulary(each)], before)

    def _follow(self, new: Iterable[Triple], before: _Kept) -> None:
        """Infers whatever follows from statements that are in the index by now."""
        waiting = deque(new)
        while waiting:
            for step in list(self._rules.from_premise(waiting.popleft(), self._index, self._leaps, self._ways)):
                if step.conclusion is None:
                    self._contradict(step, before)
                elif step.conclusion not in self._index:
                    self._infer(step.conclusion, step, before)
                    waiting.append(step.conclusion)

    def _put(self, triple: Triple) -> None:
        self._index.add(triple)
        if self._ways and self._rules.is_vocabulary(triple):
            self._ways.clear()

    def _infer(self, triple: Triple, step: Step, before: _Kept) -> None:
        before.note(triple)
        self._put(triple)
        self._steps[triple] = step
        if step.rule.stride is not None:
            self._leaps.add(triple)
        self._bound()

    def _forget(self, triple: Triple) -> None:
        self._leaps.remove(triple)
        del self._steps[triple]

    def _contradict(self, step: Step, before: _Kept) -> None:
        key = frozenset(step.premises)
        if key not in self._false:
            before.note_false(key)
            self._false[key] = step
            for each in key:
                self._false_by.setdefault(each, set()).add(key)
            self._bound()

    def _bound(self) -> None:
        if len(self._steps) + len(self._false) > self._most:
            raise TooMuchFollowsError(f"more than {self._most:,} statements follow")

    # --- what goes ----------------------------------------------------------------------------------------------------

    def _remove(self, going: list[Triple], before: _Kept) -> None:
        gone = dict.fromkeys(going)
        waiting = deque(going)
        while waiting:
            for step in self._rules.from_premise(waiting.popleft(), self._index, self._leaps, self._ways):
                if step.conclusion is not None and step.conclusion in self._steps and step.conclusion not in gone:
                    gone[step.conclusion] = None
                    waiting.append(step.conclusion)
        for each in gone:
            self._drop(each, before)
        for each in gone:
            if (
                each not in self._index
                and (found := self._rules.to_conclusion(each, self._index, self._leaps)) is not None
            ):
                self._infer(each, found, before)
                self._follow([each], before)

    def _drop(self, triple: Triple, before: _Kept) -> None:
        self._index.remove(triple)
        if self._ways and self._rules.is_vocabulary(triple):
            self._ways.clear()
        if triple in self._steps:
            before.note(triple)
            self._forget(triple)
        for key in self._false_by.pop(triple, ()):
            before.note_false(key)
            del self._false[key]
            for other in key:
                if other != triple and key in (there := self._false_by.get(other, set())):
                    there.discard(key)
                    if not there:
                        del self._false_by[other]


class Inferred:
    """Statements that are inferred, without the auxiliaries among them, and others."""

    def __init__(self, steps: Mapping[Triple, Step], without: frozenset[Triple]) -> None:
        self._steps, self._without = steps, without

    def __iter__(self) -> Iterator[Triple]:
        return (each for each in self._steps if each[1][0] != AUXILIARY and each not in self._without)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class _Kept:
    """What was inferred before, as far as it was touched."""

    def __init__(self, steps: dict[Triple, Step], false: dict[frozenset[Triple], Step]) -> None:
        self._steps, self._false = steps, false
        self._was: dict[Triple, bool] = {}
        self._was_false: dict[frozenset[Triple], Step | None] = {}

    def note(self, triple: Triple) -> None:
        """To be called before it changes whether a statement is inferred."""
        self._was.setdefault(triple, triple in self._steps)

    def note_false(self, key: frozenset[Triple]) -> None:
        """The same of an inconsistency."""
        self._was_false.setdefault(key, self._false.get(key))

    def changed(self, without: frozenset[Triple]) -> Changed:
        """What is different now, some statements left aside."""
        shown = [each for each in self._was if each[1][0] != AUXILIARY and each not in without]
        now_false = {key: self._false.get(key) for key in self._was_false}
        return Changed(
            [each for each in shown if not self._was[each] and each in self._steps],
            [each for each in shown if self._was[each] and each not in self._steps],
            [step for key, step in now_false.items() if step is not None and self._was_false[key] is None],
            [step for key, step in self._was_false.items() if step is not None and now_false[key] is None],
        )


@lru_cache(maxsize=2)
def matcher(regime: Regime) -> Matcher:
    """The rules of a regime, made ready."""
    return Matcher(regime.rules)
