"""Stores that are compared in a process of their own: the audit is the same, and nothing is left of it."""

import os
import subprocess
from pathlib import Path

import pyoxigraph as ox
import pytest

from bridge.auditing import aside
from bridge.auditing import audit as auditing
from bridge.auditing.audit import audit
from tests.bridge.auditing.history import audit_ledger, places, tamper

RUBBISH = ox.Quad(*(ox.NamedNode(f"urn:{name}") for name in "spog"))


@pytest.fixture(autouse=True)
def every_ledger_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aside, "LARGE", 0)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})


def test_a_sound_base_is_counted_as_if_it_had_been_compared_here(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {path.name for path in base.iterdir()}
    with monkeypatch.context() as patched:
        patched.setattr(auditing, "look_at_stores", None)  # whatever is known of them came from the other process
        found = audit(base)
    monkeypatch.setattr(aside, "LARGE", 2**62)
    assert (found.sound, found.whole) == (True, True)
    assert found == audit(base)
    assert {path.name for path in base.iterdir()} == before


def test_what_differs_is_named_here(base: Path) -> None:
    tamper(base, "complete", add=RUBBISH)
    assert places(audit(base)) == {f"stores/complete {RUBBISH}"}


def test_nothing_is_compared_of_a_base_that_is_served(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "Popen", None)
    assert not audit_ledger(base).whole


def test_what_a_process_does_not_tell_is_found_out_here(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []

    def dies(process: subprocess.Popen[bytes]) -> None:
        process.kill()
        process.wait()
        started.append(process)

    monkeypatch.setattr(aside, "_outcome", dies)
    found = audit(base)
    assert (found.sound, found.whole, len(started)) == (True, True, 1)


def test_an_audit_that_breaks_off_takes_the_process_with_it(base: Path) -> None:
    before = {path.name for path in base.iterdir()}
    with pytest.raises(KeyboardInterrupt), aside.beside(base):
        raise KeyboardInterrupt
    assert {path.name for path in base.iterdir()} == before
