"""What is shown of what follows, beside what others make of the same."""

from pathlib import Path

import pytest
from rich.console import Console

from bench import entailment
from bench.environments import Unavailable


def test_the_table_has_single_facts_and_whole_closures_that_agree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: object) -> Path:
        raise Unavailable("is not installed")

    monkeypatch.setattr(entailment, "SINGLE", 5)
    monkeypatch.setattr(entailment, "environment", missing)
    measured = entailment.entailment(tmp_path / "base", 200)
    assert (len(measured.comes), len(measured.goes)) == (5, 5)
    owlrl = measured.others["owlrl"]
    assert isinstance(owlrl, entailment.Whole), owlrl
    assert owlrl.statements == measured.ours.statements > 200
    console = Console(width=150, record=True)
    console.print(entailment.entailment_table(200, measured))
    assert "is not installed" in console.export_text()
