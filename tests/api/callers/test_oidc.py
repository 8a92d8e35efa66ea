"""Callers whom an issuer vouches for, with keys that a server of the tests gives, or a file."""

import asyncio
import hmac
import json
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Final, TypeAlias
from warnings import catch_warnings

import pytest
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256
from joserfc import jwt
from joserfc.errors import SecurityWarning
from joserfc.jwk import ECKey, RSAKey

from api.callers.jwks import FRESH, KEPT, PAUSE, IssuerKeys, IssuerUnavailable
from api.callers.oidc import Issuer
from api.callers.oidc_settings import OidcSettings
from api.errors import InvalidSetting
from api.settings import read_settings
from bridge.base import Base
from kernel.access import Role
from kernel.time.instants import SECOND, Instant
from tests.api.bodies import change, request
from tests.api.console import run
from tests.api.serving import FRUGAL, Served, served

ISSUER: Final = "https://login.example.org/"
AUDIENCE: Final = "muniment"
G1, G2 = "urn:g1", "urn:g2"

RSA: Final = RSAKey.generate_key(2048, {"kid": "rsa", "use": "sig"})
ELLIPTIC: Final = ECKey.generate_key("P-256", {"kid": "elliptic"})
OTHERS: Final = ECKey.generate_key("P-256", {"kid": "elliptic"})
with catch_warnings(action="ignore", category=SecurityWarning):
    SHORT: Final = RSAKey.generate_key(1024, {"kid": "short"})

Signing: TypeAlias = RSAKey | ECKey


@dataclass(slots=True)
class KeyServer:
    """Gives sets of keys, and counts how often."""

    url: str = ""
    keys: list[Any] = field(default_factory=list)
    status: int = 200
    asked: int = 0

    def document(self) -> bytes:
        return json.dumps({"keys": [each if isinstance(each, dict) else public(each) for each in self.keys]}).encode()


def public(key: RSAKey | ECKey) -> dict[str, Any]:
    return dict(key.as_dict(private=False))


@contextmanager
def key_server(*keys: RSAKey | ECKey | dict[str, Any]) -> Iterator[KeyServer]:
    given = KeyServer(keys=list(keys))

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            given.asked += 1
            self.send_response(given.status)
            self.send_header("Location", "/elsewhere")
            self.end_headers()
            self.wfile.write(given.document())

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        given.url = f"http://127.0.0.1:{listening.server_port}/keys"
        thread = Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield given
        finally:
            listening.shutdown()
            thread.join()


def configured(jwks: str, **more: object) -> OidcSettings:
    grants = [
        {"claim": "groups", "has": "readers", "role": "reader"},
        {"claim": "groups", "has": "editors", "role": "editor", "graphs": [G1]},
        {"claim": ["realm", "roles"], "has": "two", "role": "writer", "graphs": [G2]},
        {"claim": "scope", "has": "kg:write", "role": "writer", "graphs": [G1]},
    ]
    known = {"issuer": ISSUER, "audience": AUDIENCE, "jwks": jwks, "grants": grants}
    return OidcSettings.model_validate(known | more)


@pytest.fixture(scope="module")
def keys() -> Iterator[KeyServer]:
    shared = {"kty": "oct", "k": "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3I", "kid": "shared"}
    encrypting = public(OTHERS) | {"kid": "encrypting", "use": "enc"}
    with key_server(RSA, ELLIPTIC, SHORT, shared, encrypting, {"kty": "nonsense"}) as given:
        yield given


@pytest.fixture(scope="module")
def server(keys: KeyServer) -> Iterator[Served]:
    settings = FRUGAL.model_copy(update={"oidc": configured(keys.url), "failed_tokens": "10000/minute"})
    with Base.open(None) as base, served(base, settings) as running:
        body = request(*(change(graph[-2:], "in", graph[-2:], graph=graph) for graph in (G1, G2)))
        assert running.writer.post("/changes", json=body).status_code == 201
        yield running


def now(server: Served) -> int:
    return server.base.host.now() // SECOND


def claims(server: Served, **more: object) -> dict[str, Any]:
    """Claims that count; None takes one away."""
    made = {"iss": ISSUER, "aud": AUDIENCE, "sub": "ada", "exp": now(server) + 600, "groups": ["readers"]} | more
    return {name: value for name, value in made.items() if value is not None}


def signed(told: dict[str, Any], key: Signing = ELLIPTIC, alg: str = "ES256", **header: object) -> str:
    kid = {} if "kid" in header else {"kid": key.kid}
    whole = {name: value for name, value in {"alg": alg, **kid, **header}.items() if value is not None}
    return jwt.encode(whole, told, key, algorithms=[alg])


def shared_secret(told: dict[str, Any], secret: bytes, kid: str) -> str:
    """Signed with what is known to everybody, as if it were a secret; the library would not."""
    text = unsigned({"alg": "HS256", "kid": kid}, told).rstrip(".")
    return f"{text}.{urlsafe_b64encode(hmac.digest(secret, text.encode(), 'sha256')).decode().rstrip('=')}"


def unsigned(header: object, told: object, signature: str = "") -> str:
    parts = (urlsafe_b64encode(json.dumps(each).encode()).decode().rstrip("=") for each in (header, told))
    return ".".join([*parts, signature])


def status(server: Served, token: str) -> int:
    return server.client_with(token).get("/certificates").status_code


def test_a_token_of_the_issuer_lets_its_bearer_in(server: Served) -> None:
    for token in (signed(claims(server)), signed(claims(server, aud=["other", AUDIENCE]), RSA, "RS256")):
        assert status(server, token) == 200


def test_grants_that_fit_count_together(server: Served) -> None:
    told = claims(server, groups=["editors", "more"], realm={"roles": ["two"]}, sub="ada lovelace")
    client = server.client_with(signed(told))
    statuses = [
        client.post("/changes", json=request(change("n", "in", "n", graph=graph))).status_code
        for graph in (G1, G2, "urn:g3")
    ]
    assert statuses == [201, 201, 403]
    newest = client.get("/certificates").json()["items"][0]
    assert newest["principal"] == f"{ISSUER}#ada%20lovelace"
    written = server.client_with(signed(claims(server, groups=None, scope="openid kg:write")))
    assert written.post("/changes", json=request(change("m", "in", "m", graph=G1))).status_code == 201
    assert written.get("/facts", params={"graph": G2}).json()["items"] == []


def test_whoever_has_no_role_here_is_told_so(server: Served) -> None:
    for groups in (None, [], "readers!", ["reader"], {"readers": True}, 1):
        answer = server.client_with(signed(claims(server, groups=groups))).get("/certificates")
        assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")
        assert "no role here" in answer.json()["detail"]


@pytest.mark.parametrize(
    "more",
    [
        {"exp": None},
        {"exp": -31},
        {"exp": "soon"},
        {"nbf": 40},
        {"iss": "https://login.example.org"},
        {"iss": [ISSUER]},
        {"iss": None},
        {"aud": "other"},
        {"aud": None},
        {"aud": ["other"]},
        {"sub": None},
        {"sub": ""},
        {"sub": "a\nb"},
        {"sub": "é"},
        {"sub": "x" * 256},
        {"sub": 7},
    ],
)
def test_claims_that_do_not_count_let_nobody_in(server: Served, more: dict[str, Any]) -> None:
    timed = {
        name: now(server) + value if name in ("exp", "nbf") and isinstance(value, int) else value
        for name, value in more.items()
    }
    answer = server.client_with(signed(claims(server, **timed))).get("/certificates")
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")
    unknown = server.client_with("unknown").get("/certificates").json()
    assert answer.json() | {"requestId": ""} == unknown | {"requestId": ""}  # and that is all that is learnt


def test_clocks_may_differ_by_the_leeway(server: Served) -> None:
    assert status(server, signed(claims(server, exp=now(server) - 20))) == 200
    assert status(server, signed(claims(server, nbf=now(server) + 20))) == 200


def test_signatures_that_do_not_count_let_nobody_in(server: Served) -> None:
    told = claims(server)
    pem = RSA.as_pem(private=False)
    good = signed(told)
    head, _, signature = good.split(".")
    forged = {
        "none": unsigned({"alg": "none"}, told),
        "none with a key": unsigned({"alg": "none", "kid": "elliptic"}, told),
        "None": unsigned({"alg": "None", "kid": "elliptic"}, told, signature),
        "the public key as a shared secret": shared_secret(told, pem, "rsa"),
        "a shared secret": shared_secret(told, b"secret-secret-secret-secret-secr", "shared"),
        "another's key": signed(told, OTHERS),
        "a key for encrypting": signed(told, OTHERS, kid="encrypting"),
        "a short key": signed(told, SHORT, "RS256"),
        "an algorithm that is not configured": signed(told, RSA, "RS512"),
        "another key's algorithm": signed(told, ELLIPTIC, kid="rsa"),
        "no key, where there are several": signed(told, kid=None),
        "a key that nobody has": signed(told, OTHERS, kid="nobody"),
        "its own key": signed(told, OTHERS, kid="mine", jwk=public(OTHERS)),
        "other claims": f"{head}.{unsigned({}, told | {'groups': ['editors']}).split('.')[1]}.{signature}",
        "no signature": good.rpartition(".")[0] + ".",
        "no JSON": "a.b.c",
        "no object": unsigned(["kid"], told, signature),
        "nested without end": urlsafe_b64encode(b"[" * 9_000).decode() + ".a.b",
        "a key that is no text": unsigned({"alg": "ES256", "kid": ["elliptic"]}, told, signature),
        "no claims": signed(told)[:0] + unsigned({"alg": "ES256", "kid": "elliptic"}, [], signature),
        "too long": signed(claims(server, more="x" * 20_000)),
    }
    assert {why: status(server, token) for why, token in forged.items()} == dict.fromkeys(forged, 401)
    assert status(server, good) == 200


def test_what_a_token_calls_critical_and_nobody_knows_refuses_it(server: Served) -> None:
    for more, expected in (({}, 200), ({"unknown": 1}, 200), ({"crit": ["unknown"], "unknown": 1}, 401)):
        text = unsigned({"alg": "RS256", "kid": "rsa", **more}, claims(server)).rstrip(".")
        assert RSA.private_key is not None
        signature = RSA.private_key.sign(text.encode(), PKCS1v15(), SHA256())
        assert status(server, f"{text}.{urlsafe_b64encode(signature).decode().rstrip('=')}") == expected


def test_nothing_is_asked_of_where_a_token_says_its_keys_are(server: Served) -> None:
    with key_server(OTHERS) as elsewhere:
        for name in ("jku", "x5u"):
            assert status(server, signed(claims(server), OTHERS, kid="mine", **{name: elsewhere.url})) == 401
        assert elsewhere.asked == 0


def test_tokens_that_were_made_here_work_beside(server: Served) -> None:
    assert server.client(Role.READER).get("/certificates").status_code == 200
    assert status(server, "mnt_unknown") == 401


def test_without_an_issuer_no_such_token_counts(shared: Served) -> None:
    assert status(shared, signed(claims(shared))) == 401


def test_keys_may_be_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    file.write_text(json.dumps({"keys": [public(ELLIPTIC)]}))
    settings = FRUGAL.model_copy(update={"oidc": configured(str(file))})
    with Base.open(None) as base, served(base, settings) as server:
        assert status(server, signed(claims(server))) == 200
        assert status(server, signed(claims(server), kid=None)) == 200  # the only one there is
        assert status(server, signed(claims(server), OTHERS, kid=None)) == 401


def test_without_keys_nobody_is_let_in_and_the_service_says_why_it_cannot_tell() -> None:
    with key_server(ELLIPTIC) as keys:
        keys.status = 500
        settings = FRUGAL.model_copy(update={"oidc": configured(keys.url)})
        with Base.open(None) as base, served(base, settings) as server:
            answer = server.client_with(signed(claims(server))).get("/certificates")
            assert (answer.status_code, answer.json()["code"]) == (503, "issuer-unavailable")
            assert keys.url not in answer.text
            assert server.client(Role.READER).get("/certificates").status_code == 200


# --- when keys are read -----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Clock:
    seconds: float = 0.0

    def __call__(self) -> float:
        return self.seconds


def test_keys_are_read_again_for_a_new_name_but_not_each_time() -> None:
    clock = Clock()

    async def scenario(keys: KeyServer) -> None:
        read = IssuerKeys(keys.url, clock)
        for _ in range(3):
            assert await read.named("elliptic") is not None
        assert await read.named("rsa") is None
        assert keys.asked == 1  # so soon after the first time nothing is asked, whatever tokens name
        keys.keys.append(RSA)
        clock.seconds += PAUSE
        found = await asyncio.gather(*(read.named("rsa") for _ in range(10)))
        assert None not in found
        for number in range(20):
            assert await read.named(f"unknown {number}") is None
        assert keys.asked == 2
        keys.keys[:] = [RSA]
        clock.seconds += FRESH + 1
        assert await read.named("elliptic") is None  # a key that was withdrawn
        assert keys.asked == 3

    with key_server(ELLIPTIC) as keys:
        asyncio.run(scenario(keys))


@pytest.mark.parametrize("broken", ["status", "redirect", "content", "nothing", "length"])
def test_keys_that_were_read_are_good_for_a_while_when_they_cannot_be_read_again(broken: str) -> None:
    clock = Clock()

    async def scenario(keys: KeyServer) -> None:
        read = IssuerKeys(keys.url, clock)
        assert await read.named("elliptic") is not None
        keys.status = {"status": 503, "redirect": 302}.get(broken, 200)
        keys.keys[:] = {"content": ["x"], "nothing": [], "length": ["x" * 2**21]}.get(broken, keys.keys)
        if broken in ("content", "length"):
            keys.keys[:] = [{"kty": each} for each in keys.keys]
        clock.seconds = KEPT
        assert await read.named("elliptic") is not None
        assert keys.asked == 2
        clock.seconds = KEPT + 1
        with pytest.raises(IssuerUnavailable):
            await read.named("elliptic")

    with key_server(ELLIPTIC) as keys:
        asyncio.run(scenario(keys))


# --- settings ---------------------------------------------------------------------------------------------------------

_GOOD: Final[dict[str, Any]] = {
    "issuer": ISSUER,
    "audience": AUDIENCE,
    "jwks": "https://login.example.org/keys",
    "grants": [{"role": "reader"}],
}


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ({"algorithms": ["HS256"]}, "HS256"),
        ({"algorithms": ["none"]}, "none"),
        ({"algorithms": []}, "algorithms"),
        ({"jwks": "http://login.example.org/keys"}, "http"),
        ({"jwks": "no/such/file"}, "no file"),
        ({"grants": []}, "grants"),
        ({"grants": [{"role": "king"}]}, "role"),
        ({"grants": [{"role": "reader", "claim": "groups"}]}, "has"),
        ({"grants": [{"role": "reader", "has": "x"}]}, "claim"),
        ({"grants": [{"role": "reader", "graphs": ["no iri"]}]}, "graph"),
        ({"issuer": "a b"}, "issuer"),
        ({"leeway": 3600}, "leeway"),
        ({"audiance": "x"}, "audiance"),
    ],
)
def test_what_an_issuer_cannot_be_is_an_error(
    more: dict[str, Any], named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MUNIMENT_OIDC", json.dumps(_GOOD))
    assert read_settings().oidc is not None
    monkeypatch.setenv("MUNIMENT_OIDC", json.dumps(_GOOD | more))
    with pytest.raises(InvalidSetting, match=named):
        read_settings()


def test_a_file_has_the_issuer_as_a_table_and_config_prints_it(tmp_path: Path) -> None:
    file = tmp_path / "muniment.toml"
    file.write_text(
        f'[oidc]\nissuer = "{ISSUER}"\naudience = "{AUDIENCE}"\njwks = "{_GOOD["jwks"]}"\n'
        '[[oidc.grants]]\nclaim = "groups"\nhas = "kg"\nrole = "editor"\ngraphs = ["urn:g1"]\n'
    )
    printed = run("config", MUNIMENT_CONFIG=str(file))
    assert printed.status == 0, printed.errors
    again = tmp_path / "again.toml"
    again.write_text(printed.output)
    assert run("config", MUNIMENT_CONFIG=str(again)).output.replace(str(again), str(file)) != ""
    line = next(line for line in printed.lines if line.startswith("oidc = "))
    assert line in run("config", MUNIMENT_CONFIG=str(again)).lines
    assert "# oidc is not set" in run("config").lines


def test_an_answer_is_no_longer_sent_once_the_token_has_expired(keys: KeyServer) -> None:
    """As `api.callers.welcome` asks it."""
    host = FixedHost(Instant(1_000 * SECOND))
    issuer = Issuer(configured(keys.url), host)
    told = {"iss": ISSUER, "aud": AUDIENCE, "sub": "ada", "exp": 1_100, "groups": ["readers"]}
    vouched = asyncio.run(issuer.vouched(signed(told).encode()))
    assert vouched is not None
    seen = []
    for second in (1_000, 1_129, 1_130):
        host.instant = Instant(second * SECOND)
        seen.append(issuer.still(vouched.until))
    assert seen == [True, True, False]


@dataclass(slots=True)
class FixedHost:
    """A host's clock that stands."""

    instant: Instant

    def now(self) -> Instant:
        return self.instant
