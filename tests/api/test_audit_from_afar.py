"""A stranger with a key and a token audits a service: what it serves is held against what it signed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from api.commands.remote.connection import fetching
from bridge.auditing.afar import audit_from_afar
from bridge.auditing.audit import Audit
from bridge.base import Base
from certificates.errors import CertificateError
from certificates.keys import SigningKey, VerifyingKey
from certificates.revocation import RevocationReason
from kernel.access import Role
from kernel.changes import Assert
from kernel.time.instants import DAY, Instant
from tests.api.console import run
from tests.api.routes.test_log import a_file, text
from tests.api.serving import Served, served
from tests.bridge.auditing.history import make
from tests.bridge.writing import NOON, PARIS, SetClock, living, person, write


class World:
    """A base of many certificates and three keys, which is served, with an older checkpoint of it."""

    def __init__(self, data: Path, running: Served, first: VerifyingKey, anchor: str) -> None:
        self.data, self.running, self.first, self.anchor = data, running, first, anchor
        self.token = running.token(Role.ADMINISTRATOR)

    def audit(self, token: str | None = None, anchor: str | None = None) -> Audit:
        with fetching(self.running.url, token or self.token) as fetch:
            return audit_from_afar(fetch, self.first, anchor)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    data, clock = tmp_path_factory.mktemp("afar") / "data", SetClock()
    make(data, clock=clock)
    with Base.open(data, host=clock) as base, served(base) as running:
        first = base.key.public
        anchor = text(running.writer, "/log/checkpoint")
        clock.move(DAY)
        base.keys.rotate().result(30)
        for number in range(12):
            write(base, Assert(living(PARIS, person(300 + number))))
        base.keys.rotate().result(30)
        base.keys.revoke(first, Instant(NOON + DAY), RevocationReason.SUPERSEDED).result(30)
        write(base, Assert(living(PARIS, person(299))))
        yield World(data, running, first, anchor)


def test_a_base_is_sound_from_afar_and_it_is_said_what_was_not_seen(world: World) -> None:
    found = world.audit(anchor=world.anchor)
    assert found.faults == ()
    assert found.counts.certificates > 30
    assert found.counts.events > 60
    assert found.counts.anchored is not None
    assert found.counts.by_commitment == 0
    assert [*found.notes] == ["facts, evidence, indexes and stores lie in the folder, and were not looked at"]


def test_the_command_says_so(world: World, tmp_path: Path) -> None:
    token = a_file(tmp_path, "token", world.token)
    token.chmod(0o600)
    key = a_file(tmp_path, "key.txt", world.first.multibase)
    asked = ("audit", "--url", world.running.url, "--token-file", token)
    ended = run(*asked, "--key", key, "--checkpoint", a_file(tmp_path, "anchor.txt", world.anchor))
    assert (ended.status, ended.lines[-1]) == (0, "sound, as far as can be told from afar"), ended
    assert "facts" not in ended.value("items")
    assert run(*asked).status == 2
    stranger = a_file(tmp_path, "stranger.txt", SigningKey.generate().public.multibase)
    assert run(*asked, "--key", stranger).status == 2


def test_a_token_for_some_graphs_sees_less_and_is_told(world: World) -> None:
    found = world.audit(world.running.token(Role.READER, "http://example.org/other"))
    assert found.sound
    assert (found.counts.events, found.counts.certificates) == (0, 0)
    assert any("may read every graph" in note for note in found.notes)
    reader = world.audit(world.running.token(Role.READER))
    assert reader.sound
    assert any("not for this token" in note for note in reader.notes)
    assert any("state digest" in note for note in reader.notes)


LIES = [
    ("/log/tile/entries/", b'"verdict":"review"', b'"verdict":"clear"', "events"),
    ("/log/tile/entries/", b'"event":"stale"', b'"event":"stalf"', "events"),
    ("/log/tile/0/", b"\x00", b"\x01", "checkpoint"),
    ("/certificates/", b'"issuedAt":"20', b'"issuedAt":"21', "certificate"),
    ("/certificates/", b'"salt":"', b'"salt":"00', "certificate"),
    ("/certificates/", b'"leaf":"', b'"leaf":"00', "certificate"),
    ("/certificates/", b"example.org/person/301", b"example.org/person/302", "certificate"),
    ("/certificates/", b'"editor":"', b'"editor":"x', "certificate"),
    ("/certificates/", b'"kind":"recheck","record":{', b'"kind":"recheck","record":{"x":1,', "certificate"),
    ("/certificates/", b'"op":"supersede"', b'"op":"record"', "certificate"),
]


@pytest.mark.parametrize(("path", "said", "lie", "place"), LIES)
def test_whatever_a_service_lies_about_is_named(world: World, path: str, said: bytes, lie: bytes, place: str) -> None:
    told: list[bool] = []

    def fetch(asked: str, parameters: Mapping[str, str]) -> bytes | None:
        data = honest(asked, parameters)
        if data is None or not asked.startswith(path):
            return data
        lied = data.replace(said, lie)
        told.append(lied != data)
        return lied

    with fetching(world.running.url, world.token) as honest:
        found = audit_from_afar(fetch, world.first)
    assert any(told)
    assert any(fault.place.startswith(place) for fault in found.faults), found.faults[:3]


def test_another_history_is_known_by_a_checkpoint(world: World, tmp_path: Path) -> None:
    clock = SetClock()
    make(tmp_path / "other", clock=clock)
    with Base.open(tmp_path / "other", host=clock) as base, served(base) as running:
        anchor = text(running.writer, "/log/checkpoint")
        with pytest.raises(CertificateError):
            World(tmp_path, running, world.first, "").audit()
    assert [fault.place for fault in world.audit(anchor=anchor).faults] == ["checkpoint"]


def test_what_is_served_is_no_more_than_text(world: World) -> None:
    """A service that answers nonsense is told so, and nothing else happens."""

    def nonsense(path: str, parameters: Mapping[str, str]) -> bytes | None:
        good = honest(path, parameters)
        if path.startswith("/certificates"):
            return json.dumps({"credential": 7}).encode() if path[-1] in "02468ace" else b"[" * 100_000
        return b"\\xff" * 40 if "entries" in path else good

    with fetching(world.running.url, world.token) as honest:
        found = audit_from_afar(nonsense, world.first)
    assert not found.sound
