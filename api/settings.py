"""Settings: what an operator may choose, on the command line, in the environment (`MUNIMENT_…`) or in a file.

Rules
-----
* The command line goes before the environment, that before the file that `MUNIMENT_CONFIG` names, and that before the
  defaults.
* A variable with our prefix that no setting has is an error, and so is a key of the file; both name the nearest one: a
  misspelt limit must not pass for one that is set.
* Settings are checked whole before anything starts, and do not change afterwards.

Example
-------
::

    settings = read_settings(port=9000)      # the data in ./data, or where MUNIMENT_DATA says
    base = Base.open(settings.data, policy=settings.verdict_policy)
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from limits import parse
from pydantic import BaseModel, ConfigDict, Field, JsonValue, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from api.callers.access_log import AccessLogged
from api.callers.manifest import Manifest, Mode
from api.callers.oidc_settings import OidcSettings, require_graph
from api.callers.outbound import listed_url
from api.callers.roles import RoleName
from api.errors import InvalidSetting
from api.suggestions import did_you_mean
from api.wording import in_words
from bridge.replicas.limits import NO_LIMITS, Limits, PoolSize
from certificates.dids import did_web
from certificates.errors import InvalidValue, UnreadableKey
from certificates.keys import SigningKey
from kernel.access import ANONYMOUS, Principal, Role
from kernel.entailment.table import Regime
from kernel.policy.approval import ANY_EDITOR, Approvals, Every, NoSelfApproval, SignedByEditor
from kernel.policy.verdicts import DEFAULT_POLICY, UnsafeAutoApprove
from kernel.terms import Iri
from kernel.writing.branches import Bounds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernel.policy.approval import ApprovalRule
    from kernel.writing.judging import VerdictPolicy

PREFIX: Final = "MUNIMENT_"

_ORIGIN: Final = re.compile(r"https?://(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?")
"""As browsers write it (RFC 6454, section 6.2): in small letters, with no path."""

CONFIG: Final = "MUNIMENT_CONFIG"
"""The variable that names a file of settings."""

SECRET: Final = "signing_key"  # noqa: S105 - its name
"""The setting that is never shown, and in no file."""

_OF_OTHERS: Final = frozenset({CONFIG, "MUNIMENT_REQUIRE", "MUNIMENT_URL", "MUNIMENT_TOKEN_FILE"})
"""Read apart from the settings, or by the test suite and by the commands that ask a service; inherited by services."""


class PolicyName(StrEnum):
    """The policies that come with Muniment."""

    DEFAULT = "default"
    UNSAFE_AUTO_APPROVE = "unsafe-auto-approve"


class DefaultGraph(StrEnum):
    """What SPARQL takes for the default graph."""

    UNION = "union"
    STRICT = "strict"


class Offered(StrEnum):
    """By which rules something may be asked to follow: as far as `rdfs`, as `owl-rl`, which has those too, or none."""

    NONE = "none"
    RDFS = "rdfs"
    OWL_RL = "owl-rl"

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """The regimes."""
        return {Offered.NONE: (), Offered.RDFS: (Regime.RDFS,), Offered.OWL_RL: (Regime.RDFS, Regime.OWL_RL)}[self]


class CallerClass(StrEnum):
    """Whom limits of rate are for: roles, and those who have none."""

    ANONYMOUS = "anonymous"
    READER = "reader"
    WRITER = "writer"
    EDITOR = "editor"
    ADMINISTRATOR = "administrator"


class RoleLimits(BaseModel):
    """What a query of a role may take; None: what all may."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    seconds: float | None = Field(None, gt=0)
    memory: int | None = Field(None, ge=16 * 2**20)
    result: int | None = Field(None, ge=1024)


class LogLevel(StrEnum):
    """From which severity on events are logged."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class LogFormat(StrEnum):
    """What lines of the log are."""

    TEXT = "text"
    JSON = "json"


_AS_ALL: Final = RoleLimits()


class Settings(BaseSettings):
    """Everything that can be set. Made by `read_settings`."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="forbid", frozen=True)

    data: Path = Field(Path("data"), description="the folder in which the base lies")
    host: str = Field("127.0.0.1", min_length=1, description="the address to listen on")
    port: int = Field(8350, ge=0, le=65535, description="the port to listen on; 0: any that is free")
    connections: int = Field(1_000, ge=1, description="how many connections may be open at a time")
    policy: PolicyName = Field(PolicyName.DEFAULT, description="from findings to verdicts")
    confidence: Decimal = Field(
        Decimal("0.5"), ge=0, le=1, description="assertions that are less sure than this are held for review"
    )
    self_approval: bool = Field(True, description="whether editors may approve changes that they asked for themselves")
    approvals: int = Field(1, ge=1, le=9, description="how many editors it takes to approve a change that waits")
    signed_approvals: bool = Field(
        False, description="whether approvals have to be signed with the editor's own registered key"
    )
    body_limit: int = Field(16 * 2**20, ge=1024, description="the largest body taken, in bytes")
    query_workers: int = Field(4, ge=1, le=256, description="how many queries are answered at the same time")
    query_spares: int = Field(1, ge=0, le=16, description="how many workers are kept warm beyond those that are busy")
    query_queue: int = Field(256, ge=0, description="how many queries may wait for a worker")
    query_patience: float = Field(10.0, gt=0, description="how many seconds a query may wait for a worker")
    query_seconds: float = Field(30.0, gt=0, description="how many seconds a query may take")
    query_memory: int = Field(2**30, ge=16 * 2**20, description="how much memory a query may take, in bytes")
    query_result: int = Field(256 * 2**20, ge=1024, description="the largest answer to a query, in bytes")
    query_limits: Annotated[dict[RoleName, RoleLimits], NoDecode] = Field(
        {}, description='limits of single roles, as JSON: {"reader": {"seconds": 5, "memory": 1e8, "result": 1e7}}'
    )
    rate_limits: Annotated[dict[CallerClass, str], NoDecode] = Field(
        {}, description='how often each caller may ask, as JSON: {"anonymous": "60/minute", "reader": "1000/minute"}'
    )
    failed_tokens: str = Field("60/minute", description="how often an address may come with a token that nobody knows")
    export_seconds: float = Field(600.0, gt=0, description="how many seconds reading an export may take")
    default_graph: DefaultGraph = Field(
        DefaultGraph.UNION,
        description="the default graph of SPARQL: the union of what the caller may read, or strictly m:default",
    )
    entailment: Offered = Field(
        Offered.OWL_RL, description="by which rules queries may ask what follows: up to rdfs, up to owl-rl, or none"
    )
    cors_origins: Annotated[tuple[str, ...], NoDecode] = Field(
        (),
        description="origins whose scripts browsers let read answers, separated by commas, or `*`; none by default",
    )
    anonymous_graphs: Annotated[tuple[str, ...], NoDecode] = Field(
        (),
        description="graphs that are read without a token, separated by spaces, or `*` for all; none by default",
    )
    oidc: Annotated[OidcSettings | None, NoDecode] = Field(
        None, description="an issuer whose JSON Web Tokens are taken, as JSON or a table: docs/operating.md"
    )
    bases: Annotated[dict[str, dict[str, JsonValue]], NoDecode] = Field(
        {}, description='bases served under /b/NAME, as JSON or tables: {"one": {"data": "./one"}}'
    )
    what_if_branches: int = Field(8, ge=0, le=1_000, description="how many branches of /what-if a caller may hold")
    what_if_changes: int = Field(1_000, ge=1, le=100_000, description="how many changes a branch may have")
    what_if_seconds: int = Field(
        3_600, ge=1, le=7 * 86_400, description="how many seconds a branch is held since its last plan came"
    )
    mode: Mode = Field(
        Mode.STANDARD,
        description="standard, bounded by a manifest, or unrestricted: no limits on queries and rates",
    )
    manifest: Path | None = Field(None, description="what a bounded service has, and nothing else: a reviewed file")
    access_log: AccessLogged = Field(
        AccessLogged.NOTHING,
        description="what is kept of who reads what: nothing, requests, or queries, with their text",
    )
    access_log_bytes: int = Field(16 * 2**20, ge=4_096, description="the largest file of the access log, in bytes")
    access_log_files: int = Field(9, ge=1, le=1_000, description="how many older files of the access log are kept")
    outbound: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="beginnings of URLs that LOAD and SERVICE may ask, separated by commas; none by default"
    )
    purge_second_person: bool = Field(
        False, description="whether a purge waits until another administrator has approved it"
    )
    log_level: LogLevel = Field(LogLevel.INFO, description="from which severity on events are logged")
    log_format: LogFormat = Field(LogFormat.TEXT, description="whether lines of the log are text, or JSON objects")
    public_url: str | None = Field(
        None, description="the https URL at which the base is public: it signs as `did:web` of that; none by default"
    )
    signing_key_file: Path | None = Field(
        None, description="the file of the key that the base signs with, its owner's alone; by default in its folder"
    )
    signing_key: SecretStr | None = Field(
        None, description="that key itself, PKCS #8 in PEM or its seed, by the environment alone; never shown"
    )
    metrics_token_file: Path | None = Field(
        None, description="a file that holds the token by which /metrics may be asked, beside administrators' ones"
    )

    @field_validator("data", "manifest", "signing_key_file", "metrics_token_file", mode="before")
    @classmethod
    def _is_named(cls, value: object) -> object:
        """What is empty would be the working directory: a variable was not set."""
        if value == "":
            raise ValueError("it is empty: leave it out, or name a place; . is the folder that one is in")
        return value

    @field_validator("public_url")
    @classmethod
    def _read_public_url(cls, value: str | None) -> str | None:
        try:
            return None if value is None or not did_web(value) else value
        except InvalidValue as error:
            raise ValueError(f"{error.message}: {error.remedy}") from None

    @field_validator("query_limits", "oidc", "rate_limits", "bases", mode="before")
    @classmethod
    def _read_json(cls, value: object) -> object:
        try:
            return json.loads(value) if isinstance(value, str) else value
        except ValueError as error:
            raise ValueError(f"it is not JSON: {error}") from error

    @field_validator("outbound", mode="before")
    @classmethod
    def _read_outbound(cls, value: object) -> object:
        urls = value.split(",") if isinstance(value, str) else value
        if not isinstance(urls, list | tuple):
            return value
        urls = tuple(str(each).strip() for each in urls if str(each).strip())
        for each in urls:
            listed_url(each)
        return urls

    @field_validator("rate_limits", "failed_tokens")
    @classmethod
    def _read_rates(cls, value: str | dict[CallerClass, str]) -> str | dict[CallerClass, str]:
        for each in value.values() if isinstance(value, dict) else (value,):
            try:
                parse(each)
            except ValueError as error:
                raise ValueError(f"{each[:80]!r} is no rate: write a number and a time, as 100/minute") from error
        return value

    @field_validator("cors_origins", mode="before")
    @classmethod
    def _read_origins(cls, value: object) -> object:
        origins = value.split(",") if isinstance(value, str) else value
        if not isinstance(origins, list | tuple):
            return value
        origins = tuple(str(each).strip() for each in origins if str(each).strip())
        for each in origins:
            if each != "*" and not _ORIGIN.fullmatch(each):
                raise ValueError(
                    f"{each[:80]!r} is no origin: write scheme, host and port alone, as https://example.org"
                )
        if "*" in origins and len(origins) > 1:
            raise ValueError("`*` stands for all origins: name no other beside it")
        return origins

    @field_validator("anonymous_graphs", mode="before")
    @classmethod
    def _read_graphs(cls, value: object) -> object:
        graphs = value.split() if isinstance(value, str) else value
        if not isinstance(graphs, list | tuple):
            return value
        for each in map(str, graphs):
            if each != "*":
                require_graph(each)
        if "*" in graphs and len(graphs) > 1:
            raise ValueError("`*` stands for all graphs: name no other beside it")
        return graphs

    @property
    def anonymous(self) -> Principal | None:
        """Who has sent no token; None: nobody is let in without."""
        if not self.anonymous_graphs:
            return None
        graphs = None if self.anonymous_graphs == ("*",) else frozenset(map(Iri, self.anonymous_graphs))
        return Principal(ANONYMOUS, Role.READER, graphs)

    @property
    def rates(self) -> dict[CallerClass, str]:
        """How often each caller may ask, in this mode."""
        return {} if self.mode is Mode.UNRESTRICTED else self.rate_limits

    def limits_of(self, role: Role) -> Limits:
        """What a query of a caller of the role may take, in this mode."""
        if self.mode is Mode.UNRESTRICTED:
            return NO_LIMITS
        own = self.query_limits.get(RoleName(role.name.lower()), _AS_ALL)
        return Limits(
            self.query_seconds if own.seconds is None else own.seconds,
            self.query_memory if own.memory is None else own.memory,
            self.query_result if own.result is None else own.result,
        )

    @property
    def branch_bounds(self) -> Bounds:
        """How much is held as branches."""
        return Bounds(self.what_if_branches, self.what_if_changes, self.body_limit, self.what_if_seconds)

    @property
    def pool_size(self) -> PoolSize:
        """How many queries are answered at a time."""
        return PoolSize(self.query_workers, self.query_spares, self.query_queue, self.query_patience)

    def read_manifest(self) -> Manifest | None:
        """What a bounded service has; None: everything. Raises `InvalidSetting`."""
        if self.mode is Mode.BOUNDED and self.manifest is not None:
            return Manifest.read(self.manifest)
        if self.mode is Mode.BOUNDED or self.manifest is not None:
            raise InvalidSetting(
                "a manifest and the mode `bounded` go together", remedy="give both, or none of them", where="manifest"
            )
        return None

    @property
    def issuer(self) -> str | None:
        """The name under which the base signs; None: that of its key."""
        return None if self.public_url is None else did_web(self.public_url)

    @property
    def given_key(self) -> SigningKey | Path | None:
        """The key that the base signs with, or its file; None: it lies in the folder. Raises `InvalidSetting`."""
        if self.signing_key is not None and self.signing_key_file is not None:
            raise InvalidSetting(
                "the signing key is given twice", remedy="give it, or its file", where=f"{PREFIX}SIGNING_KEY"
            )
        if self.signing_key is None:
            return self.signing_key_file
        try:
            return SigningKey.from_text(self.signing_key.get_secret_value())
        except UnreadableKey as error:
            raise InvalidSetting(
                f"what is there {error.message}", remedy=error.remedy, where=f"{PREFIX}SIGNING_KEY"
            ) from None

    @property
    def verdict_policy(self) -> VerdictPolicy:
        """The policy object that is meant."""
        if self.policy is PolicyName.UNSAFE_AUTO_APPROVE:
            return UnsafeAutoApprove()
        confidence = format(self.confidence.normalize(), "f")
        return replace(DEFAULT_POLICY, confidence=confidence, approval=self._approval)

    @property
    def _approval(self) -> ApprovalRule:
        rules: list[ApprovalRule] = []
        if not self.self_approval:
            rules.append(NoSelfApproval())
        if self.approvals > 1:
            rules.append(Approvals(self.approvals))
        if self.signed_approvals:
            rules.append(SignedByEditor())
        return Every(tuple(rules)) if rules else ANY_EDITOR


@dataclass(frozen=True, slots=True)
class Sourced:
    """Settings, and where those come from that are not defaults: by name, a variable or a file."""

    settings: Settings
    origins: Mapping[str, str]


def read_settings(**given: object) -> Settings:
    """The settings of this process.

    Args:
        given: settings that the command line has, by name; None for one that it has not.

    Raises:
        InvalidSetting: an unknown variable with our prefix or key of the file, or a value that cannot be used; names
            it.
    """
    return sourced_settings(**given).settings


def sourced_settings(**given: object) -> Sourced:
    """The same, with where each comes from."""
    refuse_unknown_variables()
    on_line = {name: value for name, value in given.items() if value is not None}
    file = os.environ.get(CONFIG)
    in_file = {} if file is None else _read_file(Path(file))
    in_environment = {name for name in Settings.model_fields if PREFIX + name.upper() in os.environ}
    used = {name: value for name, value in in_file.items() if name not in in_environment | on_line.keys()}
    origins = (
        dict.fromkeys(used, file or "")
        | {name: PREFIX + name.upper() for name in in_environment}
        | dict.fromkeys(on_line, "the command line")
    )
    try:
        return Sourced(Settings.model_validate(used | on_line), origins)
    except ValidationError as error:
        raise _refused(error, origins) from error


def _read_file(path: Path) -> dict[str, object]:
    """The settings that a file has (TOML 1.0). Raises `InvalidSetting`."""
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidSetting(
            f"{path} cannot be read: {error.strerror}", remedy="name a file of settings, or none", where=CONFIG
        ) from error
    except ValueError as error:
        raise InvalidSetting(f"it is no TOML: {error}", remedy="correct it", where=str(path)) from error
    for name in values:
        if name not in Settings.model_fields:
            remedy = did_you_mean(name, Settings.model_fields)
            raise InvalidSetting(f"there is no setting {name!r:.80}", remedy=remedy, where=str(path))
    if SECRET in values:
        raise InvalidSetting(
            "a file of settings is no place for a key",
            remedy="name its own file with signing_key_file, or give it by the environment",
            where=str(path),
        )
    return values


def refuse_unknown_variables() -> None:
    """Nothing, if each variable with our prefix is one that is read; they are in capitals. Raises `InvalidSetting`."""
    known = _OF_OTHERS | {PREFIX + name.upper() for name in Settings.model_fields}
    for name in sorted(os.environ):
        if name.upper().startswith(PREFIX) and name not in known:
            raise InvalidSetting(
                "there is no such setting", remedy=did_you_mean(name, known, prefix=PREFIX), where=name
            )


def _refused(error: ValidationError, origins: Mapping[str, str]) -> InvalidSetting:
    name, *within = map(str, error.errors(include_url=False)[0]["loc"])
    origin = origins.get(name, "")
    return InvalidSetting(
        f"the setting {'.'.join((name, *within))} cannot be used: {in_words(error)}",
        remedy="correct it, or leave it out for its default",
        where=origin if origin == os.environ.get(CONFIG) else PREFIX + name.upper(),
    )
