"""A test that lacks what it needs skips with the remedy, or fails where the machine is meant to have it."""

from pathlib import Path

import pytest

from tests import requirements
from tests.requirements import INSIST, REQUIREMENTS, Requirement

MARKED = """
    import pytest
    from tests.requirements import require

    @pytest.mark.{name}
    def test_marked():
        assert require("{name}").exists()

    def test_unmarked():
        require("{name}")

    def test_that_needs_nothing():
        pass
"""

WHOLE_MODULE = """
    from tests.requirements import require

    FOLDER = require("{name}")

    def test_with_it():
        assert FOLDER.exists()
"""


@pytest.fixture
def bare(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A test folder on a machine that has none of the requirements and insists on none."""
    monkeypatch.setattr(requirements, "REPOSITORY", pytester.path / "repository")
    monkeypatch.setenv("PATH", str(pytester.path / "no-programs"))
    monkeypatch.delenv(INSIST, raising=False)
    pytester.makeini("[pytest]\naddopts = --strict-markers -rs\nmarkers =\n  " + "\n  ".join(REQUIREMENTS))
    pytester.makeconftest("from tests.conftest import pytest_configure, pytest_runtest_setup")
    return pytester


def furnish(folder: Path) -> None:
    """Give the machine everything: programs that are on PATH, packages that are installed, data that is beside."""
    programs = folder / "no-programs"
    programs.mkdir()
    for program in ("chromium", "chromedriver", "node", "strace"):
        (programs / program).touch(mode=0o755)
    (folder / "repository" / "tests" / "clients" / "node" / "node_modules").mkdir(parents=True)
    (folder / "shared").mkdir()


REMEDIES: dict[Requirement, str] = {
    "browser": "apt-get install chromium-driver",
    "node": "install Node.js",
    "shared": "w3c/rdf-tests at ad541a5f",
    "strace": "apt-get install strace",
}


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_skips_with_the_remedy(bare: pytest.Pytester, name: Requirement) -> None:
    bare.makepyfile(MARKED.format(name=name))
    result = bare.runpytest_inprocess()
    result.assert_outcomes(passed=1, skipped=2)
    result.stdout.fnmatch_lines(f"SKIPPED*needs {name}: *{REMEDIES[name]}*")


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_fails_where_insisted_on(bare: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, name: Requirement) -> None:
    monkeypatch.setenv(INSIST, f" {name} ,")
    bare.makepyfile(MARKED.format(name=name))
    result = bare.runpytest_inprocess()
    # The marked test is stopped before it begins, which pytest counts as an error.
    result.assert_outcomes(passed=1, failed=1, errors=1)
    result.stdout.fnmatch_lines(f"*{INSIST} names {name}, but *{REMEDIES[name]}*")


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_insisting_on_another_changes_nothing(
    bare: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, name: Requirement
) -> None:
    monkeypatch.setenv(INSIST, ",".join(other for other in REQUIREMENTS if other != name))
    bare.makepyfile(MARKED.format(name=name))
    bare.runpytest_inprocess().assert_outcomes(passed=1, skipped=2)


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_runs_where_it_is_there(bare: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, name: Requirement) -> None:
    monkeypatch.setenv(INSIST, name)
    furnish(bare.path)
    bare.makepyfile(MARKED.format(name=name))
    bare.runpytest_inprocess().assert_outcomes(passed=3)


def test_skips_a_whole_module(bare: pytest.Pytester) -> None:
    bare.makepyfile(WHOLE_MODULE.format(name="shared"))
    bare.runpytest_inprocess().assert_outcomes(skipped=1)


def test_fails_a_whole_module_where_insisted_on(bare: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(INSIST, "shared")
    bare.makepyfile(WHOLE_MODULE.format(name="shared"))
    bare.runpytest_inprocess().assert_outcomes(errors=1)


def test_node_without_its_packages_says_to_install_them(bare: pytest.Pytester) -> None:
    furnish(bare.path)
    (bare.path / "repository" / "tests" / "clients" / "node" / "node_modules").rmdir()
    bare.makepyfile(MARKED.format(name="node"))
    bare.runpytest_inprocess().stdout.fnmatch_lines("SKIPPED*run npm ci*")


def test_a_misspelt_requirement_is_refused(bare: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(INSIST, "browser,nodejs")
    bare.makepyfile("def test_that_needs_nothing():\n    pass")
    result = bare.runpytest_inprocess()
    assert result.ret is pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(f"*{INSIST} names nodejs; known are browser, node, shared, strace*")
