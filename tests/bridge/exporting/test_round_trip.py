"""What an export says, another base can be told: statements, valid times, precisions and spellings come back."""

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.base import Base
from bridge.documents.reader import read_document
from bridge.documents.records import read_records
from bridge.exporting.exporter import Exporter, ExportRequest, Format
from bridge.loading.options import LoadOptions
from bridge.loading.refusals import Refusals
from bridge.loading.session import Watch, stage_files
from bridge.reading.moments import NOW, Moment
from kernel.changes import Assert, Retract
from kernel.facts import Validity
from kernel.writing.loading import LoadRequest
from tests.bridge.exporting.drawing import WRITER, G, bases, canonicaliser, filled, known
from tests.bridge.writing import NOON, PATIENCE, write


def exported(base: Base, written: Format, *, records: bool) -> bytes:
    exporter = Exporter(base.ledger, base.key, base.host)
    with exporter.open(ExportRequest(WRITER, G, written, records, every_time=records), NOW) as export:
        return b"".join(export.chunks())


def sent(base: Base, document: bytes, written: Format) -> None:
    graph = G if written is Format.TURTLE else None
    asserted = read_document(document, written, graph=graph, canonicaliser=canonicaliser)
    changes = [
        Assert(item.statement, item.validity or Validity.always(), item.spelling, item.confidence)
        for item in read_records(asserted, canonicaliser)
    ]
    assert write(base, *changes, by=WRITER).head is not None


SUFFIXES = {Format.JSON_LD: "jsonld", Format.TURTLE: "ttl", Format.TRIG: "trig", Format.NQUADS: "nq"}


def loaded(base: Base, document: bytes, written: Format, folder: Path) -> None:
    path = folder / f"export.{SUFFIXES[written]}"
    path.write_bytes(document)
    options, refusals = LoadOptions(graph=G if written is Format.TURTLE else None, again=True), Refusals()
    staged = stage_files(base.ledger, [path], options, WRITER, Watch(refusals, lambda done, total: None))
    outcome = base.load(LoadRequest(staged.request, WRITER, lambda done: None)).result(PATIENCE)
    assert outcome.head is not None
    assert not refusals.total


@pytest.mark.parametrize("written", Format)
@settings(max_examples=25)
@given(changes=bases)
def test_a_file_with_annotations_is_loaded_with_its_times(
    written: Format, changes: list[Assert], tmp_path_factory: pytest.TempPathFactory
) -> None:
    with Base.open(None) as first, Base.open(None) as second:
        filled(first, changes)
        loaded(second, exported(first, written, records=True), written, tmp_path_factory.mktemp("exported"))
        assert known(second) == known(first)


@settings(max_examples=25)
@given(changes=bases, order=st.randoms(use_true_random=False))
def test_the_lines_of_a_file_with_annotations_may_stand_in_any_order(
    changes: list[Assert], order: random.Random, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with Base.open(None) as first, Base.open(None) as second:
        filled(first, changes)
        lines = exported(first, Format.NQUADS, records=True).splitlines(keepends=True)
        order.shuffle(lines)
        loaded(second, b"".join(lines), Format.NQUADS, tmp_path_factory.mktemp("exported"))
        assert known(second) == known(first)


@pytest.mark.parametrize("written", Format)
@settings(max_examples=25)
@given(changes=bases)
def test_a_base_with_its_times_comes_back_from_an_export_with_annotations(
    written: Format, changes: list[Assert]
) -> None:
    with Base.open(None) as first, Base.open(None) as second:
        filled(first, changes)
        sent(second, exported(first, written, records=True), written)
        assert known(second) == known(first)


@pytest.mark.parametrize("written", Format)
@settings(max_examples=15)
@given(changes=bases)
def test_what_is_true_now_comes_back_from_a_plain_export(written: Format, changes: list[Assert]) -> None:
    with Base.open(None) as first, Base.open(None) as second:
        filled(first, changes)
        sent(second, exported(first, written, records=False), written)
        now = {each.statement for each in known(first, every_time=False)}
        assert {each.statement for each in known(second)} == now


@pytest.mark.parametrize("records", [False, True])
@settings(max_examples=25)
@given(changes=bases, more=bases)
def test_what_was_exported_once_is_exported_again_as_of_then(
    records: bool, changes: list[Assert], more: list[Assert]
) -> None:
    with Base.open(None) as base:
        filled(base, changes)
        request = ExportRequest(WRITER, G, Format.NQUADS, records, every_time=records)
        before, head = lines(base, request, Moment(None, NOON)), base.reader.head()
        assert write(base, Retract(changes[0].statement), *more, by=WRITER).head is not None
        assert lines(base, request, Moment(head.instant, NOON)) == before
        assert lines(base, request, Moment(None, NOON)) != before or not records


def lines(base: Base, request: ExportRequest, moment: Moment) -> list[bytes]:
    with Exporter(base.ledger, base.key, base.host).open(request, moment) as export:
        return sorted(b"".join(export.chunks()).splitlines())
