"""Times in words, and the geometry of drawings."""

from datetime import UTC, datetime
from unicodedata import category, name

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.pages.drawing import Drawn, Role, before_and_after, timeline
from api.pages.findings import message_in_parts
from api.pages.scale import Scale
from api.pages.terms import Names
from api.pages.times import in_words, phrase, span
from api.pages.visible import clipped, marked, visible
from kernel.terms import Iri
from kernel.time.instants import BEGINNING, EARLIEST, FOREVER, LATEST, Instant, parse_instant, print_instant
from kernel.time.intervals import Interval
from kernel.time.timevalues import EndKey, parse_time, valid_from, valid_through, valid_to

SIGNS = ("ARABIC", "SYRIAC", "KAITHI", "EGYPTIAN")
"""Format characters that are seen: signs before numbers and the like."""

INSTANTS = st.integers(EARLIEST, LATEST).map(Instant)
BOUNDS = st.one_of(st.just(BEGINNING), st.just(FOREVER), INSTANTS)


@pytest.mark.parametrize(
    ("spelled", "words", "machine"),
    [
        ("2005-11-22", "22 November 2005", "2005-11-22"),
        ("2005-11", "November 2005", "2005-11"),
        ("2005", "2005", "2005"),
        ("0476", "476 CE", "0476"),
        ("199#", "1990s", None),
        ("18##", "1800–1899", None),
        ("000#", "1 BCE–9 CE", None),
        ("-0043-03-15", "15 March 44 BCE", None),
        ("-0043", "44 BCE", None),
        ("0000", "1 BCE", None),
        ("-004#", "50–41 BCE", None),
        ("-000#", "10–2 BCE", None),
        ("-00##", "100–2 BCE", None),
        ("unknown", "an unknown time", None),
        ("2024-05-06T15:00:00Z", "6 May 2024, 15:00 UTC", "2024-05-06T15:00:00Z"),
        ("2024-05-06T15:00:07.25+02:00", "6 May 2024, 15:00:07.25 UTC+02:00", "2024-05-06T15:00:07.25+02:00"),
        ("2024-05-06+02:00", "6 May 2024 UTC+02:00", None),
    ],
)
def test_times_are_as_people_say_them_and_as_exact_as_they_were(spelled: str, words: str, machine: str | None) -> None:
    shown = in_words(spelled)
    assert (shown.text, shown.datetime, shown.exact) == (words, machine, spelled)


@given(st.integers(1, 4999), st.integers(1, 12), st.integers(1, 28))
def test_days_and_years_before_the_first_are_counted_as_people_count(bce: int, month: int, day: int) -> None:
    year = 1 - bce
    spelled = f"{'-' if year < 0 else ''}{abs(year):04d}-{month:02d}-{day:02d}"
    assert parse_time(spelled).precision.value == "day"
    assert in_words(spelled).text.endswith(f"{bce} BCE")
    assert in_words(spelled).text.startswith(f"{day} ")


@given(st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)))
def test_instants_agree_with_another_calendar(moment: datetime) -> None:
    spelled = print_instant(parse_instant(moment.replace(tzinfo=UTC).isoformat().replace("+00:00", "Z")))
    words = in_words(spelled).text
    assert words.startswith(f"{moment.day} {moment:%B} {moment.year}")
    assert f", {moment:%H:%M}" in words


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (None, None, "at all times"),
        ("2005", None, "since 2005"),
        (None, ("validTo", "2021-12-08"), "until 8 December 2021"),
        (None, ("validThrough", "199#"), "until the end of 1990s"),
        ("2005", ("validThrough", "2008-05-06T07:08:09Z"), "from 2005 until 6 May 2008, 07:08:09 UTC"),
        ("2005-11-22", ("validThrough", "2021-12-08"), "from 22 November 2005 until the end of 8 December 2021"),
        ("2005", ("validThrough", "2005"), "in 2005"),
        ("2005-11", ("validThrough", "2005-11"), "in November 2005"),
        ("-0043-03-15", ("validThrough", "-0043-03-15"), "on 15 March 44 BCE"),
        ("2005", ("validTo", "2006"), "from 2005 until 2006"),
    ],
)
def test_spans(start: str | None, end: tuple[EndKey, str] | None, expected: str) -> None:
    assert phrase(start, end) == expected


def test_a_span_is_spelled_as_it_was_submitted() -> None:
    assert span(valid_from("2005"), valid_through("2008")).phrase == "from 2005 until the end of 2008"
    assert (
        span(valid_from("2005-11-22"), valid_to("2021-12-08")).phrase == "from 22 November 2005 until 8 December 2021"
    )


@pytest.mark.parametrize(
    ("iri", "text", "linked"),
    [
        ("https://example.org/livesIn", "lives in", True),
        ("https://example.org/NaturalPerson", "NaturalPerson", True),
        ("http://www.w3.org/2000/01/rdf-schema#label", "label", True),
        ("http://www.w3.org/2004/02/skos/core#prefLabel", "skos:prefLabel", True),
        ("https://radio.example/1954", "radio.example/1954", True),
        ("urn:uuid:1", "urn:uuid:1", True),
        ("javascript:alert(1)", "javascript:alert(1)", False),
        ("data:text/html,x", "data:text/html,x", False),
        ("file:///etc/passwd", "file:///etc/passwd", False),
        ("JAVASCRIPT:x", "JAVASCRIPT:x", False),
    ],
)
def test_nodes_have_short_names_and_only_harmless_ones_link(iri: str, text: str, linked: bool) -> None:
    shown = Names({}).term(Iri(iri))
    assert (shown.text, shown.page is not None) == (text, linked)
    assert shown.exact == iri
    assert shown.web is None or shown.web.startswith("http")


@pytest.mark.parametrize("path", ["<urn:a>*", "<urn:a> / <urn:b>", "^<urn:a>", "(<urn:a> | <urn:b>)", "", "<no iri>"])
def test_a_path_that_is_no_term_is_shown_as_it_is(path: str) -> None:
    assert Names({}).n3(path).text == path


def test_a_message_keeps_what_only_looks_like_an_iri() -> None:
    parts = message_in_parts("a <urn:b> and <urn:c|d> since 2024-05-06T00:00:00Z", Names({}))
    assert [part if isinstance(part, str) else part.exact for part in parts] == [
        "a ", "urn:b", " and ", "<urn:c|d>", " since 6 May 2024",
    ]  # fmt: skip


# --- what is hidden, and what is long ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x00b\x1b\x7f\n\t", "a⟦U+0000⟧b⟦U+001B⟧⟦U+007F⟧\n\t"),
        ("abc\u202etxt.exe\u2066", "abc⟦U+202E⟧txt.exe⟦U+2066⟧"),
        ("pay\u200bpal\u00ad", "pay⟦U+200B⟧pal⟦U+00AD⟧"),
        ("\ufefftext\u2060\u2028", "⟦U+FEFF⟧text⟦U+2060⟧⟦U+2028⟧"),
        ("tag\U000e0041", "tag⟦U+E0041⟧"),
        ("a\u200db a\u200cb x\ufe0f", "a⟦U+200D⟧b a⟦U+200C⟧b x⟦U+FE0F⟧"),
        ("ا\u200cب", "ا⟦U+200C⟧ب"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("क्\u200dष", "क्\u200dष"),
        ("👩🏽\u200d💻 ❤\ufe0f 1\ufe0f\u20e3", "👩🏽\u200d💻 ❤\ufe0f 1\ufe0f\u20e3"),
        ("Größe, naïve, 東京, שלום", "Größe, naïve, 東京, שלום"),
    ],
)
def test_what_is_hidden_is_written_out_and_what_shapes_a_script_is_left(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_where_there_may_be_elements_the_character_is_named() -> None:
    assert marked("<\u202e>") == (
        '&lt;<span class="hidden-char" title="U+202E RIGHT-TO-LEFT OVERRIDE">U+202E</span>&gt;'
    )


@given(st.text())
def test_no_control_and_no_direction_is_left_hidden(text: str) -> None:
    """Unicode's categories as the oracle: what formats is left only where it joins letters or makes an emoji."""
    for shown in (visible(text), str(marked(text))):
        hidden = [each for each in shown if category(each) in ("Cc", "Cf") and each not in "\t\n\u200c\u200d"]
        assert all("\u0600" <= each <= "\u0605" or name(each).startswith(SIGNS) for each in hidden)


@given(st.text(), st.integers(2, 40))
def test_a_text_is_cut_after_a_word_and_says_so(text: str, most: int) -> None:
    cut = clipped(text, most)
    assert len(cut) <= most
    if len(text) <= most:
        assert cut == text
    else:
        assert cut.endswith("…")
        assert text.startswith(cut[:-1])


def test_names_are_not_cut_to_other_names() -> None:
    assert clipped("George VI of the House of Windsor", 28) == "George VI of the House of…"


# --- drawings ---------------------------------------------------------------------------------------------------------


@given(st.lists(BOUNDS, max_size=8), BOUNDS, BOUNDS)
def test_places_lie_within_the_drawing_and_keep_their_order(
    bounds: list[Instant], one: Instant, other: Instant
) -> None:
    scale = Scale.over([*bounds, one, other])
    first, last = sorted((one, other))
    assert 0 <= scale.place(first) <= scale.place(last) <= 100
    marks = [mark.place for mark in scale.marks]
    assert marks == sorted(set(marks))
    assert len(marks) <= 14


INTERVALS = st.tuples(BOUNDS, BOUNDS).filter(lambda pair: pair[0] < pair[1]).map(lambda pair: Interval(*pair))
DRAWN = st.builds(
    lambda key, role, interval, at: Drawn(key, "heading", "label", role, interval, at, "sentence"),
    st.integers(0, 1),
    st.sampled_from(Role),
    INTERVALS,
    st.integers(0, 5).map(Instant),
)


@given(st.lists(DRAWN, max_size=8))
def test_no_two_boxes_of_a_drawing_lie_on_one_another(facts: list[Drawn]) -> None:
    drawings = before_and_after(facts, Instant(9))
    assert sum(len(drawing.boxes) for drawing in drawings) <= len(facts)
    for drawing in drawings:
        assert len(drawing.sentences) == len(drawing.boxes)
        for number, box in enumerate(drawing.boxes):
            assert 0 <= box.top < box.top + box.height <= drawing.bottom
            for other in drawing.boxes[:number]:
                across = min(box.extent.left + box.extent.width, other.extent.left + other.extent.width) - max(
                    box.extent.left, other.extent.left
                )
                up = min(box.top + box.height, other.top + other.height) - max(box.top, other.top)
                assert up <= 0 or across <= 0.7, "but for what is too short to be seen otherwise"


@given(st.lists(DRAWN, max_size=60), INSTANTS)
def test_a_timeline_has_a_lane_a_fact_up_to_a_bound(facts: list[Drawn], now: Instant) -> None:
    drawing = timeline(facts, now)
    assert len(drawing.boxes) == min(len(facts), 40)
    assert len({box.top for box in drawing.boxes}) == len(drawing.boxes)
    assert drawing.bottom <= 40 * 40 + 6
