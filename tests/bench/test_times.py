"""The facts of two times: every look-up has the one answer that a plain reading of the steps gives."""

import doctest

from bench import times

FACTS = 2_000


def believed(step: int) -> list[times.TimedFact]:
    """What is recorded after a step, one after the other."""
    steps: list[list[tuple[times.TimedFact | None, times.TimedFact]]] = []
    for load in range(times.LOADS):
        if load == times.BEFORE:
            steps += [list(times.corrected(FACTS, group)) for group in range(times.CORRECTIONS)]
        steps.append([(None, fact) for fact in times.loaded(FACTS, load)])
    assert len(steps) == times.STEPS
    held: dict[times.TimedFact, None] = {}
    for gone, come in (each for changes in steps[:step] for each in changes):
        if gone is not None:
            del held[gone]
        held[come] = None
    return list(held)


def test_the_example_holds() -> None:
    assert doctest.testmod(times).failed == 0


def test_a_look_up_has_one_answer() -> None:
    after = {step: believed(step) for step in range(1, times.STEPS + 1)}
    mended = 0
    for number in range(300):
        wanted = times.look_up(number, FACTS)
        there = [
            fact.value
            for fact in after[wanted.step]
            if fact.subject == times.iri(wanted.subject) and fact.valid_from <= wanted.valid_at < fact.valid_to
        ]
        assert there == [wanted.value]
        mended += wanted.value.startswith("mended")
    assert 0 < mended < 300
