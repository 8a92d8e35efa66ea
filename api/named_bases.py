"""Settings of several bases in one process: what each has of its own, and what all share.

Rules
-----
* A base has a name, of small letters, digits and dashes, and a table of settings, of which `data` has to be there.
* Who is let in is each base's own, and inherited by none: open graphs, an issuer, a token for metrics. So is its key.
  What a base does not say of other things, it has as the process has it; its public URL is where it is below that of
  the process.
* The workers for queries are shared out: each base has as many as the others, and one at least, unless it says how
  many. So all bases together take no more than one alone would, and none waits for another's queries.
* Where to listen, and how to log, is the process's. Two bases do not lie in one folder.

Example
-------
>>> from api.settings import Settings
>>> shared = Settings(bases={"one": {"data": "a"}, "two": {"data": "b", "query_workers": 3}}, anonymous_graphs="*")
>>> one, two = settings_of_bases(shared, alone=True).values()
>>> str(one.data), one.query_workers, one.anonymous_graphs, two.query_workers
('a', 2, (), 3)
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pydantic import ValidationError

from api.errors import InvalidSetting
from api.http.paths import BASES
from api.settings import SECRET, Settings
from api.suggestions import did_you_mean
from api.wording import in_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from api.settings import Sourced

_NAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_OWN: Final = (
    "data", "anonymous_graphs", "oidc", "metrics_token_file", "manifest", "public_url", "signing_key",
    "signing_key_file",
)  # fmt: skip
"""What no base has from the process."""

_OF_PROCESS: Final = frozenset({"host", "port", "connections", "log_level", "log_format", "bases"})


def settings_of_bases(shared: Settings, *, alone: bool) -> dict[str, Settings]:
    """The settings of each base that has a name.

    Args:
        shared: those of the process.
        alone: whether no other base is served at the root.

    Raises:
        InvalidSetting: a name, a key or a value that cannot be used; two bases in one folder.
    """
    among = len(shared.bases) + (not alone)
    made = {name: _settings_of(name, given, shared, among) for name, given in shared.bases.items()}
    folders = [each.data.resolve() for each in made.values()] + ([] if alone else [shared.data.resolve()])
    if len(set(folders)) < len(folders):
        raise InvalidSetting("two bases lie in one folder", remedy="give each a folder of its own", where="bases")
    return made


def is_alone(sourced: Sourced) -> bool:
    """Whether bases are served under their names only: there are some, and nothing says where one at the root lies."""
    return bool(sourced.settings.bases) and "data" not in sourced.origins


def _settings_of(name: str, given: Mapping[str, object], shared: Settings, among: int) -> Settings:
    place = f"bases.{name[:80]}"
    if not _NAME.fullmatch(name):
        raise InvalidSetting(
            f"{name[:80]!r} is no name of a base", remedy="use up to 63 small letters, digits and dashes", where="bases"
        )
    for key in given:
        if key in _OF_PROCESS or key not in Settings.model_fields:
            remedy = "set it for the whole process" if key in _OF_PROCESS else did_you_mean(key, Settings.model_fields)
            raise InvalidSetting(f"a base has no setting {key[:80]!r}", remedy=remedy, where=place)
    if "data" not in given:
        raise InvalidSetting("the base has no folder", remedy="give its `data`", where=place)
    inherited = {each: getattr(shared, each) for each in Settings.model_fields if each not in _OWN}
    nobody = {each: Settings.model_fields[each].default for each in _OWN}
    share: dict[str, object] = {
        "bases": {},
        "query_workers": max(1, shared.query_workers // among),
        "query_spares": shared.query_spares // among,
    }
    if shared.public_url is not None:
        share["public_url"] = f"{shared.public_url.rstrip('/')}{BASES}{name}"
    if SECRET in given:
        raise InvalidSetting("a key stands in no table", remedy="name its file with signing_key_file", where=place)
    try:
        return Settings.model_validate(inherited | nobody | share | dict(given))
    except ValidationError as error:
        within = ".".join(map(str, error.errors(include_url=False)[0]["loc"]))
        raise InvalidSetting(
            f"the setting {within} cannot be used: {in_words(error)}", remedy="correct it, or leave it out", where=place
        ) from error
