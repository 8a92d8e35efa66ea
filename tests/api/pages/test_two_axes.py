"""Rectangles on both time axes: where they lie, and the pages that show them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.pages.apart import Plotted, Side
from api.pages.drawing import Drawn, Role
from api.pages.planes import MOST_KINDS, MOST_NAMED, MOST_STEPS, Planes, Rectangle, planes
from kernel.access import Role as Access
from kernel.time.instants import BEGINNING, DAY, FOREVER, Instant
from kernel.time.intervals import Interval
from tests.api.bodies import EX, change, request
from tests.api.pages.histories import FEW, MANY, write_few, write_many
from tests.api.pages.world import World, a_world

TIMELINE: Final = "/node/timeline?iri="
NOW: Final = Instant(1_000)


def fact(kind: int, start: int, end: int, recorded: int, until: int | None, family: int = 0) -> Plotted:
    role = Role.KEPT if until is None else Role.OLD
    box = Drawn(
        kind, f"kind {kind}", f"{start} to {end}", role, Interval(start, end), Instant(recorded), f"{start}-{end}"
    )
    return Plotted(kind, family, f"kind {kind}", box, None if until is None else Instant(until), f"/more/{kind}")


@st.composite
def plotted(draw: st.DrawFn) -> Plotted:
    start = draw(st.sampled_from([BEGINNING, *range(0, 900, 90)]))
    end = draw(st.sampled_from([FOREVER, *(each for each in range(90, 991, 90) if each > start)]))
    recorded = draw(st.integers(0, 8))
    until = draw(st.sampled_from([None, *range(recorded + 1, 10)]))
    return fact(draw(st.integers(0, 3)), start, end, recorded, until, draw(st.integers(0, 5)))


@given(st.lists(plotted(), max_size=60))
def test_no_name_lies_on_another_and_nothing_is_left_out(facts: list[Plotted]) -> None:
    drawing = planes(facts, [NOW])
    assert sum(len(plane.rectangles) for kind in drawing.kinds for plane in kind.planes) == len(facts)
    assert sum(kind.count for kind in drawing.kinds) == len(facts)
    assert sum(1 + len(plane.steps) for kind in drawing.kinds if not kind.small for plane in kind.planes) <= MOST_STEPS
    lowest = 0.0
    for kind in drawing.kinds:
        assert kind.y >= lowest
        assert (kind.more is not None) is kind.small
        for plane in kind.planes:
            assert plane.y >= lowest
            lowest = plane.y + plane.height
            for box in plane.rectangles:
                assert plane.y - 0.1 <= box.top < box.top + box.height <= lowest + 0.1
                assert (box.name is None) is kind.small
            assert not any(_overlap(a, b) for i, a in enumerate(plane.rectangles) for b in plane.rectangles[:i])
    assert drawing.bottom >= lowest


def _overlap(one: Rectangle, other: Rectangle) -> bool:
    (left, right), (others_left, others_right) = _reach(one), _reach(other)
    across = min(right, others_right) - max(left, others_left)
    up = min(one.top + one.height, other.top + other.height) - max(one.top, other.top)
    return across > 0.1 and up > 0.1


def _reach(box: Rectangle) -> tuple[float, float]:
    """From where to where it and its name stand."""
    ends = [box.extent.left, box.extent.left + box.extent.width]
    if box.name is not None:
        assert 0 <= box.name.left < box.name.left + box.name.width <= 100.01
        ends += [box.name.left, box.name.left + box.name.width]
    return min(ends), max(ends)


def test_what_was_recorded_later_lies_higher_and_what_is_believed_reaches_the_top() -> None:
    old, new = fact(0, 0, 100, 1, 2), fact(0, 0, 90, 2, None)
    (kind,) = planes([old, new], [NOW]).kinds
    (plane,) = kind.planes
    below, above = plane.rectangles
    assert above.top == plane.y
    assert below.top == above.top + above.height
    assert below.top + below.height == plane.y + plane.height
    assert plane.steps == (below.top,)


def test_versions_of_one_assertion_lie_above_each_other() -> None:
    """Although another plane would have had room for the older one."""
    facts = [
        fact(0, 0, 100, 1, None, 1),
        fact(0, 0, 90, 2, None, 2),
        fact(0, 200, 300, 1, 2, 3),
        fact(0, 0, 300, 2, None, 3),
    ]
    (kind,) = planes(facts, [NOW]).kinds
    assert [len(plane.rectangles) for plane in kind.planes] == [1, 1, 2]


def test_the_kinds_with_the_most_are_drawn_small() -> None:
    many = [fact(0, 0, 100, 1, None, number) for number in range(MOST_STEPS)]
    few = [fact(1, BEGINNING, FOREVER, 1, None)]
    small, named = planes([*many, *few], [NOW]).kinds
    assert (small.small, len(small.planes), small.more) == (True, MOST_STEPS, "/more/0")
    assert not any(plane.steps or plane.rectangles[0].name for plane in small.planes)
    assert small.planes[-1].y + small.planes[-1].height - small.planes[0].y < 500
    assert (named.small, named.more) == (False, None)
    assert named.planes[0].rectangles[0].name


@given(st.lists(plotted(), max_size=MOST_NAMED))
def test_as_many_as_a_page_has_are_all_named(facts: list[Plotted]) -> None:
    assert not any(kind.small for kind in planes(facts, [NOW]).kinds)


@pytest.mark.parametrize(
    ("start", "end", "name", "side", "whole"),
    [
        (0, 100, "a name", Side.WITHIN, True),
        (0, 3, "a name", Side.AFTER, True),
        (97, 100, "a name", Side.BEFORE, True),
        (0, 100, "a name that goes on and on and on", Side.WITHIN, True),
        (35, 55, "a name that goes on and on and on", Side.AFTER, False),
        (55, 60, "a name that goes on and on and on", Side.BEFORE, False),
    ],
)
def test_a_name_stands_where_it_can_be_read(start: int, end: int, name: str, side: Side, whole: bool) -> None:
    """Also where the picture is 328 pixels wide, and a letter nearly 8."""
    others = [fact(1, 0, 1, 1, None), fact(1, 99, 100, 1, None)]
    box = Drawn(0, "kind", name, Role.KEPT, Interval(start * DAY, end * DAY), Instant(1), "")
    drawn = Plotted(0, 0, "kind", box, None)
    (kind, _) = planes([drawn, *(replace(each, drawn=_days(each.drawn)) for each in others)], []).kinds
    shown = kind.planes[0].rectangles[0].name
    assert shown is not None
    assert (shown.side, shown.width * 3.28 >= 7 * len(name)) == (side, whole)


def _days(drawn: Drawn) -> Drawn:
    return replace(drawn, interval=Interval(drawn.interval.start * DAY, drawn.interval.end * DAY))


def test_a_plane_has_few_steps() -> None:
    """Facts that were recorded one after the other would make one for each."""
    facts = [fact(0, year * 365 * DAY, (year + 1) * 365 * DAY, year, None, year) for year in range(8)]
    facts = [replace(each, drawn=replace(each.drawn, label="")) for each in facts]
    (kind,) = planes(facts, [NOW]).kinds
    assert max(1 + len(plane.steps) for plane in kind.planes) == 3
    versions = [fact(0, 0, 90, number, number + 1, 0) for number in range(8)]
    (kind,) = planes(versions, [NOW]).kinds
    assert [1 + len(plane.steps) for plane in kind.planes] == [8]


def test_of_very_many_kinds_it_is_said_how_much_is_left_out() -> None:
    drawing: Planes = planes([fact(number, 0, 9, 1, None) for number in range(MOST_KINDS + 3)], [NOW])
    assert (len(drawing.kinds), drawing.left_out) == (MOST_KINDS, 3)
    assert planes([], [NOW]).kinds == ()


# --- the pages --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with a_world() as filled:
        write_few(filled)
        write_many(filled)
        yield filled


def test_a_few_facts_are_drawn_by_name_and_stand_in_a_table(world: World) -> None:
    browser = world.signed_in(Access.READER)
    text = browser.get(TIMELINE + quote(EX + FEW, safe="")).text
    assert "5 facts" in text
    assert text.count('<rect class="box') == 5
    assert text.count('<rect class="box old"') == 1
    assert "one by one" not in text
    assert text.count("<tr") == 6
    assert text.count(">ended</a>") == 1


def test_many_facts_are_drawn_small_and_one_by_one(world: World) -> None:
    browser = world.signed_in(Access.READER)
    whole = browser.get(TIMELINE + quote(EX + MANY, safe="")).text
    assert "500 facts" in whole
    assert whole.count('<rect class="box') == 500
    assert "1 to 100 of 500" in whole
    one = browser.get(
        f"{TIMELINE}{quote(EX + MANY, safe='')}&predicate={quote(EX + 'knows', safe='')}&from-fact=41"
    ).text
    assert one.count('<rect class="box') == 40
    assert 'class="box kept small"' in whole
    assert 'class="box kept small"' not in one
    assert one.count('<div class="label ') == 40, "each has its name"
    assert "41 to 80 of" in one


def test_a_timeline_is_as_it_was_known(world: World) -> None:
    browser = world.signed_in(Access.READER)
    first = world.server.writer.get(
        "/facts", params={"subject": EX + FEW, "valid-at": "any", "predicate": f"{EX}livesIn"}
    )
    recorded = min(each["recordedAt"] for each in first.json()["items"])
    text = browser.get(f"{TIMELINE}{quote(EX + FEW, safe='')}&as-of={recorded}").text
    assert "as known at" in text
    assert 1 <= text.count('<rect class="box') < 5


@pytest.mark.parametrize(
    ("query", "status"),
    [("", 400), ("iri=no%20iri", 400), (f"iri={EX}few&from-fact=9", 400), (f"iri={EX}few&valid-at=2001", 400)],
)
def test_what_cannot_be_drawn_is_said(world: World, query: str, status: int) -> None:
    assert world.signed_in(Access.READER).get(f"/node/timeline?{query}").status_code == status


def test_nobody_sees_what_is_in_a_graph_that_is_closed_to_them(world: World) -> None:
    world.server.writer.post("/changes", json=request(change("spy", "livesIn", "lair", graph=f"{EX}closed")))
    for path in (
        f"{TIMELINE}{quote(EX + 'spy', safe='')}",
        f"/compare?node={quote(EX + 'spy', safe='')}&from=2020-01-01",
    ):
        assert "lair" in world.signed_in(Access.READER).get(path).text
        held = world.signed_in(Access.READER, f"{EX}open").get(path)
        assert held.status_code == 200
        assert "lair" not in held.text


def test_moments_are_compared_on_a_page(world: World) -> None:
    browser = world.signed_in(Access.READER)
    form = browser.get("/compare").text
    assert 'name="from"' in form
    assert 'id="differs"' not in form
    node = quote(EX + FEW, safe="")
    body = browser.get(f"/compare?node={node}&from=2020-01-01&to=&at=2005&axis=as-of").text
    assert "2 gained, 0 lost, 0 corrected" in body
    assert body.count("<article") == 2
    assert 'aria-label="by this certificate: few lives in paris, from 2001 until 2010"' in body
    held = browser.get(f"/compare?node={node}&axis=valid-at&from=1999&to=2013").text
    assert "1 gained, 1 lost, 0 corrected" in held
    nothing = browser.get(f"/compare?node={node}&axis=valid-at&from=1990&to=1991").text
    assert "Nothing differs" in nothing
    assert browser.get(f"/compare?node={node}&from=2020").status_code == 400
    assert browser.get(f"/compare?node={node}&from=2020-01-01&since=1").status_code == 400


def test_a_certificate_leads_to_what_it_changed(world: World) -> None:
    browser = world.signed_in(Access.READER)
    page = browser.get(world.path("held")).text
    path = page.partition('<p>Before and after it: <a href="')[2].partition('"')[0].replace("&amp;", "&")
    assert "1 gained, 0 lost, 0 corrected" in browser.get(path).text, "one holds the office now"


def test_pages_of_what_differs_go_on(world: World) -> None:
    browser = world.signed_in(Access.READER)
    first = browser.get(f"/compare?node={quote(EX + MANY, safe='')}&axis=valid-at&from=1980&to=2000").text
    assert "1 to 40 of" in first
    following = first.partition('rel="next"')[0].rpartition('href="')[2].partition('"')[0].replace("&amp;", "&")
    assert "41 to 80 of" in browser.get(following).text
