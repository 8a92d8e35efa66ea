"""What the tests of time draw from: instants of the whole line, and texts of every form with what they say."""

from dataclasses import dataclass

from hypothesis import strategies as st

from kernel.time.gregorian import days_in_month
from kernel.time.instants import EARLIEST, LATEST, MAX_YEAR, Instant

instants = st.integers(EARLIEST, LATEST).map(Instant)

# Half of them near year 0, where signs and leap years go wrong.
years = st.one_of(st.integers(-130, 130), st.integers(1890, 2110), st.integers(1 - MAX_YEAR, MAX_YEAR - 1))


def written_offset(minutes: int) -> str:
    """An offset in minutes as XSD writes it, without the short form Z."""
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"


offsets = st.one_of(st.none(), st.just("Z"), st.integers(-840, 840).map(written_offset))


def written_year(year: int) -> str:
    """A year as XSD writes it, worked out by padding text."""
    return ("-" if year < 0 else "") + str(abs(year)).rjust(4, "0")


@dataclass(frozen=True)
class Written:
    """A text, and whether it has a zone of its own."""

    text: str
    zoned: bool


@st.composite
def dates(draw: st.DrawFn) -> tuple[int, int, int]:
    """Year, month and day of a date that exists."""
    year = draw(years)
    month = draw(st.integers(1, 12))
    return year, month, draw(st.integers(1, days_in_month(year, month)))


@st.composite
def date_times(draw: st.DrawFn) -> Written:
    """An xsd:dateTime, with up to six fractional digits, trailing zeros among them."""
    year, month, day = draw(dates())
    time = draw(
        st.one_of(
            st.just("24:00:00"),
            st.just("24:00:00.000"),
            st.times().map(lambda at: at.replace(microsecond=0).isoformat()),
            st.tuples(st.times(), st.from_regex(r"[0-9]{1,6}", fullmatch=True)).map(
                lambda pair: f"{pair[0].replace(microsecond=0).isoformat()}.{pair[1]}"
            ),
        )
    )
    offset = draw(offsets)
    return Written(f"{written_year(year)}-{month:02d}-{day:02d}T{time}{offset or ''}", offset is not None)


@st.composite
def calendar_values(draw: st.DrawFn) -> Written:
    """A date, a month, a year, a decade or a century."""
    year, month, day = draw(dates())
    written = written_year(year or draw(st.sampled_from((0, 1))))
    form = draw(st.sampled_from(("day", "month", "year", "decade", "century")))
    text = {
        "day": f"{written_year(year)}-{month:02d}-{day:02d}",
        "month": f"{written}-{month:02d}",
        "year": written,
        "decade": written[:-1] + "#",
        "century": written[:-2] + "##",
    }[form]
    offset = draw(offsets)
    return Written(text + (offset or ""), offset is not None)


def times() -> st.SearchStrategy[Written]:
    """A time of any precision."""
    unknown = st.sampled_from((Written("unknown", zoned=True), Written("####", zoned=True)))
    return st.one_of(date_times(), calendar_values(), calendar_values(), unknown)
