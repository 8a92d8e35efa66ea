"""Purges among writes, against a model that is nothing but a list of what was said.

Rules
-----
* The model keeps who said what from which source, and what was purged since when. Whatever the base ever recorded is
  what the model took and no purge covers; what it refuses is what a purge covers.
* After every step nothing that is covered is in a store; in the end the base is sound, and is what its ledger says.
* That holds for the stores that are made anew as well, whatever is written, purged, or lifted and written again while
  they are made; and a round ends no purge but those that came before it.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias
from uuid import UUID

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bridge.auditing.audit import audit
from bridge.base import Base
from bridge.purging.eraser import Eraser, pending
from bridge.stores.pair import OxigraphStores
from bridge.stores.successor import Successor
from kernel.changes import Assert, Retract
from kernel.errors import NotFound, NothingToPurge, NothingToRetract, WasPurged
from kernel.purging.targets import Target, TargetKind
from kernel.terms import Iri, Statement
from kernel.vocabulary import DEFAULT_GRAPH
from tests.bridge.purging import bytes_of, everything, fact_of, purge, sound, tell
from tests.bridge.writing import ADMINISTRATOR, PATIENCE, SetClock, write

NODES = [Iri(f"urn:node:{name}") for name in "abc"]
GRAPHS = [DEFAULT_GRAPH, Iri("urn:graph:one"), Iri("urn:graph:two")]
EPISODES = [None, Iri("urn:episode:x"), Iri("urn:episode:y")]
SAYS = Iri("urn:says")

Said: TypeAlias = tuple[Statement, Iri | None]
Steps: TypeAlias = list[tuple[str, object, Iri | None]]

statements = st.builds(
    Statement, st.sampled_from(NODES), st.just(SAYS), st.sampled_from(NODES), st.sampled_from(GRAPHS)
)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("say"), statements, st.sampled_from(EPISODES)),
        st.tuples(st.just("retract"), statements, st.none()),
        st.tuples(st.just("statement"), statements, st.none()),
        st.tuples(st.just("node"), st.sampled_from(NODES), st.none()),
        st.tuples(st.just("episode"), st.sampled_from(EPISODES[1:]), st.none()),
        st.tuples(st.just("graph"), st.sampled_from(GRAPHS[1:]), st.none()),
        st.tuples(st.just("restore"), st.none(), st.none()),
    ),
    max_size=14,
)


@dataclass
class Model:
    """What was said and is not purged, and what may not be said any more; of each purge what it stands for."""

    said: list[Said] = field(default_factory=list)
    stones: list[tuple[str, object]] = field(default_factory=list)

    def covers(self, statement: Statement, episode: Iri | None) -> bool:
        """Whether it may not be said."""
        return any(
            covered(kind, value, statement) or (kind == "episode" and value == episode) for kind, value in self.stones
        )

    def recorded(self) -> set[Statement]:
        """What there are facts of."""
        return {statement for statement, _ in self.said}

    def purge(self, kind: str, value: object) -> None:
        """Takes what goes; of an episode whatever nothing else speaks for."""
        if kind == "episode":
            self.said = [(statement, episode) for statement, episode in self.said if episode != value]
        else:
            self.said = [each for each in self.said if not covered(kind, value, each[0])]
        self.stones.append((kind, value))


def covered(kind: str, value: object, statement: Statement) -> bool:
    """Whether a statement belongs to what is purged."""
    if kind == "node":
        return value in (statement.subject, statement.object)
    if kind == "graph":
        return value == statement.graph
    return kind == "statement" and value == statement


def target_of(base: Base, kind: str, value: object) -> Target:
    if isinstance(value, Statement):
        return fact_of(base, value)
    assert isinstance(value, Iri)
    return Target(TargetKind(kind), value)


def step(base: Base, model: Model, purges: list[UUID], kind: str, value: object, episode: Iri | None) -> None:
    if kind == "say":
        assert isinstance(value, Statement)
        if model.covers(value, episode):
            with pytest.raises(WasPurged):
                tell(base, Assert(value), episode=episode)
        else:
            tell(base, Assert(value), episode=episode)
            model.said.append((value, episode))
    elif kind == "retract":
        assert isinstance(value, Statement)
        with suppress(NothingToRetract):
            write(base, Retract(value))
    elif kind == "restore":
        if model.stones:
            model.stones.pop()
            base.purges.restore(purges.pop(), "again", ADMINISTRATOR).result(PATIENCE)
    else:
        try:
            record = purge(base, target_of(base, kind, value))
        except (NothingToPurge, NotFound, StopIteration):
            return
        purges.append(record.id)
        model.purge(kind, value)


class Play:
    """Takes steps, and looks after each."""

    def __init__(self, base: Base) -> None:
        self._base = base
        self.model = Model()
        self._purges: list[UUID] = []

    def take(self, taken: Steps) -> None:
        for kind, value, episode in taken:
            step(self._base, self.model, self._purges, kind, value, episode)
            with self._base.ledger.reading() as view:
                held = {fact.statement for graph in GRAPHS for fact in view.facts_ever(graph=graph)}
            assert held == self.model.recorded()
            self.look(everything(self._base))

    def look(self, said: bytes) -> None:
        """Nothing that may not be said is."""
        named = [value for _, value in self.model.stones if isinstance(value, Iri)]
        assert not any(f"{value.value}>".encode() in said for value in named)


def play(base: Base, taken: Steps) -> None:
    Play(base).take(taken)
    sound(base)


ONE = Statement(NODES[0], SAYS, NODES[1], DEFAULT_GRAPH)
X, Y = EPISODES[1:]


@settings(max_examples=15)
@given(steps)
@example([("say", ONE, None), ("say", ONE, X), ("episode", X, None)])
@example([("say", ONE, X), ("retract", ONE, None), ("say", ONE, None), ("episode", X, None)])
@example([("say", ONE, X), ("say", ONE, Y), ("episode", X, None), ("episode", Y, None)])
def test_what_is_held_is_what_was_said_and_is_not_purged(taken: Steps) -> None:
    with Base.open(None, host=SetClock()) as base:
        play(base, taken)


@pytest.mark.fuzz
@settings(max_examples=300)
@given(steps)
def test_what_was_purged_at_random_is_erased_and_all_else_proved(taken: Steps) -> None:
    with TemporaryDirectory() as folder:
        with Base.open(Path(folder) / "base", host=SetClock()) as base:
            play(base, taken)
        assert audit(Path(folder) / "base").faults == ()


def make_anew(folder: Path, before: Steps, amid: Steps, late: Steps) -> None:
    """Steps before a round, between the two times that the new stores are brought up, and before they are served."""
    with Base.open(folder, host=SetClock()) as base, pytest.MonkeyPatch.context() as patch:
        eraser, played = base.purges.eraser, Play(base)
        patch.setattr(eraser, "wake", lambda: None)
        optimize, made = OxigraphStores.optimize, Eraser._made

        def overtaken(fresh: OxigraphStores) -> None:
            optimize(fresh)
            played.take(amid)

        def overtaken_again(each: Eraser, successor: Successor) -> list[UUID]:
            ended = made(each, successor)
            played.take(late)
            return ended

        patch.setattr(OxigraphStores, "optimize", overtaken)
        patch.setattr(Eraser, "_made", overtaken_again)
        played.take(before)
        with base.ledger.reading() as view:
            there = pending(view)
        assert eraser._make_anew() == there
        sound(base)
        played.look(everything(base))
        patch.undo()
        eraser.wake()
        base.purges.settled()
        with base.ledger.reading() as view:
            assert pending(view) == []
        sound(base)
    played.look(bytes_of(folder))


NODE = NODES[1]


@settings(max_examples=3)
@given(steps, steps, steps)
@example([("say", ONE, None)], [("node", NODE, None), ("restore", None, None), ("say", ONE, None)], [])
@example([("say", ONE, None)], [("statement", ONE, None)], [("restore", None, None), ("say", ONE, X)])
@example([("say", ONE, X), ("say", ONE, Y)], [("episode", X, None)], [("node", NODE, None)])
def test_what_happens_while_stores_are_made_anew_is_in_them(before: Steps, amid: Steps, late: Steps) -> None:
    with TemporaryDirectory() as folder:
        make_anew(Path(folder) / "base", before, amid, late)


@pytest.mark.fuzz
@settings(max_examples=300)
@given(steps, steps, steps)
def test_whatever_happens_at_random_while_stores_are_made_anew_is_in_them(
    before: Steps, amid: Steps, late: Steps
) -> None:
    with TemporaryDirectory() as folder:
        make_anew(Path(folder) / "base", before, amid, late)
