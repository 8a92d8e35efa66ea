"""Settings come from the command line and the environment, and nothing misspelt passes."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from api.commands.config import in_words
from api.errors import InvalidSetting
from api.settings import PolicyName, read_settings, sourced_settings
from bridge.replicas.limits import Limits
from kernel.access import Role
from kernel.policy.verdicts import DEFAULT_POLICY, UnsafeAutoApprove
from tests.api.console import run


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith("MUNIMENT_"):
            monkeypatch.delenv(name)


def test_there_are_defaults() -> None:
    settings = read_settings()
    assert (settings.data, settings.host, settings.port) == (Path("data"), "127.0.0.1", 8350)
    assert settings.body_limit == 16 * 2**20
    assert settings.verdict_policy.digest() == DEFAULT_POLICY.digest()


def test_the_environment_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUNIMENT_PORT", "9000")
    monkeypatch.setenv("MUNIMENT_DATA", "elsewhere")
    assert (read_settings().port, read_settings().data) == (9000, Path("elsewhere"))


def test_the_command_line_goes_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUNIMENT_PORT", "9000")
    assert read_settings(port=9001, data=None).port == 9001


def test_the_environment_has_its_say_where_the_command_line_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUNIMENT_PORT", "9000")
    assert read_settings(port=None).port == 9000


def test_a_misspelt_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUNIMENT_BODY_LIMT", "1")
    with pytest.raises(InvalidSetting) as caught:
        read_settings()
    assert caught.value.where == "MUNIMENT_BODY_LIMT"
    assert caught.value.remedy == "did you mean MUNIMENT_BODY_LIMIT?"


def test_a_variable_that_is_like_none_but_for_its_prefix_is_told_which_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MUNIMENT_FOO", "1")
    with pytest.raises(InvalidSetting) as caught:
        read_settings()
    assert caught.value.remedy.startswith("use one of MUNIMENT_")


def test_what_the_tests_themselves_need_is_no_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUNIMENT_REQUIRE", "node")
    assert read_settings().port == 8350


@pytest.mark.parametrize(
    ("name", "value"),
    [("PORT", "http"), ("PORT", "70000"), ("CONFIDENCE", "2"), ("POLICY", "none"), ("BODY_LIMIT", "0"), ("PORT", "")],
)
def test_a_value_that_cannot_be_used_is_named(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(f"MUNIMENT_{name}", value)
    with pytest.raises(InvalidSetting) as caught:
        read_settings()
    assert caught.value.where == f"MUNIMENT_{name}"


def test_the_confidence_is_part_of_the_policy() -> None:
    strict = read_settings(confidence="0.9").verdict_policy
    assert strict.confidence == "0.9"
    assert strict.digest() != DEFAULT_POLICY.digest()
    assert read_settings(confidence="0.50").verdict_policy.digest() == DEFAULT_POLICY.digest()


def test_the_unsafe_policy_has_to_be_named() -> None:
    assert isinstance(read_settings(policy=PolicyName.UNSAFE_AUTO_APPROVE).verdict_policy, UnsafeAutoApprove)


def test_limits_go_by_role(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUNIMENT_QUERY_SECONDS", "20")
    monkeypatch.setenv("MUNIMENT_QUERY_LIMITS", '{"reader": {"seconds": 5, "memory": 1e8}, "editor": {"result": 2000}}')
    settings = read_settings()
    every = Limits(20.0, settings.query_memory, settings.query_result)
    assert settings.limits_of(Role.READER) == replace(every, seconds=5.0, memory=100_000_000)
    assert settings.limits_of(Role.EDITOR) == replace(every, result=2000)
    assert settings.limits_of(Role.WRITER) == settings.limits_of(Role.ADMINISTRATOR) == every


@pytest.mark.parametrize(
    "limits",
    [
        "{",
        "[]",
        '{"raeder": {}}',
        '{"reader": {"secnds": 5}}',
        '{"reader": {"seconds": 0}}',
        '{"reader": {"memory": 1}}',
    ],
)
def test_limits_that_cannot_be_used_are_named(monkeypatch: pytest.MonkeyPatch, limits: str) -> None:
    monkeypatch.setenv("MUNIMENT_QUERY_LIMITS", limits)
    with pytest.raises(InvalidSetting) as caught:
        read_settings()
    assert caught.value.where == "MUNIMENT_QUERY_LIMITS"


# --- a file -----------------------------------------------------------------------------------------------------------


def a_file(monkeypatch: pytest.MonkeyPatch, folder: Path, text: str) -> Path:
    path = folder / "muniment.toml"
    path.write_text(text, encoding="utf-8")
    monkeypatch.setenv("MUNIMENT_CONFIG", str(path))
    return path


def test_a_file_goes_before_defaults_and_after_all_else(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    a_file(monkeypatch, tmp_path, 'port = 9000\nhost = "::1"\nbody_limit = 2048\n[query_limits.reader]\nseconds = 5\n')
    monkeypatch.setenv("MUNIMENT_HOST", "127.0.0.2")
    settings = read_settings(port=9001)
    assert (settings.port, settings.host, settings.body_limit) == (9001, "127.0.0.2", 2048)
    assert settings.limits_of(Role.READER).seconds == 5


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("prot = 9000", "prot"),
        ("port = 99999999", "port"),
        ("port = ", "TOML"),
        ("[service]\nport = 9000", "service"),
        ("query_limits = {king = {seconds = 1}}", "query_limits"),
    ],
)
def test_what_cannot_be_used_of_a_file_is_named_with_the_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, named: str
) -> None:
    path = a_file(monkeypatch, tmp_path, text)
    with pytest.raises(InvalidSetting, match=named) as caught:
        read_settings()
    assert caught.value.where == str(path)


def test_a_file_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MUNIMENT_CONFIG", str(tmp_path / "none.toml"))
    with pytest.raises(InvalidSetting, match=r"none\.toml"):
        read_settings()


def test_the_settings_in_force_are_told_with_their_origin_and_read_back(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = a_file(monkeypatch, tmp_path, 'query_seconds = 7.5\nconfidence = "0.25"\n')
    monkeypatch.setenv("MUNIMENT_PORT", "9000")
    monkeypatch.setenv("MUNIMENT_QUERY_LIMITS", '{"reader": {"seconds": 5}}')
    before = read_settings()
    told = "\n".join(in_words(sourced_settings()))
    lines = told.splitlines()
    assert lines[lines.index("port = 9000") - 1].endswith("; MUNIMENT_PORT")
    assert lines[lines.index("query_seconds = 7.5") - 1].endswith(f"; {path}")
    assert lines[lines.index('log_level = "info"') - 1].endswith("; the default")
    monkeypatch.delenv("MUNIMENT_PORT")
    monkeypatch.delenv("MUNIMENT_QUERY_LIMITS")
    path.write_text(told, encoding="utf-8")
    assert read_settings() == before


def test_the_command_prints_them(tmp_path: Path) -> None:
    (tmp_path / "muniment.toml").write_text("port = 9000\n", encoding="utf-8")
    ended = run("config", MUNIMENT_CONFIG=str(tmp_path / "muniment.toml"))
    assert (ended.status, "port = 9000" in ended.lines) == (0, True)
