"""A base under the name of its public URL, and with a key that is given to it."""

from base64 import b64encode
from pathlib import Path

import pytest

from api.settings import Settings
from bridge.auditing.audit import audit
from bridge.base import Base
from bridge.signing.keys import SIGNING_KEY, rotate
from certificates.keys import SigningKey
from kernel.access import Role
from kernel.errors import Conflict, DamagedBase
from tests.api.console import run
from tests.api.routes.test_log import a_file, write
from tests.api.serving import FRUGAL, served
from tests.bridge.writing import SetClock

URL = "https://kg.example.org"


def named(url: str | None) -> Settings:
    return FRUGAL.model_copy(update={"public_url": url})


@pytest.mark.parametrize(
    ("url", "path", "other"),
    [(URL, "/.well-known/did.json", "/did.json"), (f"{URL}/b/one", "/did.json", "/.well-known/did.json")],
)
def test_its_document_lies_where_it_is_looked_for(url: str, path: str, other: str) -> None:
    settings = named(url)
    with Base.open(None, issuer=settings.issuer) as base, served(base, settings) as running:
        written = write(running.writer, "ada")["certificate"]
        credential = running.writer.get(f"/certificates/{written}").json()["credential"]
        answer = running.client(None).get(path)
        assert (answer.status_code, answer.headers["content-type"]) == (200, "application/did+ld+json")
        document = answer.json()
        assert (credential["issuer"], document["id"]) == (settings.issuer, settings.issuer)
        assert credential["proof"]["verificationMethod"] == document["assertionMethod"][0]
        missing = running.client(None).get(other)
        assert (missing.status_code, missing.json()["where"]) == (404, "public_url")


def test_a_base_without_one_has_no_document() -> None:
    with Base.open(None) as base, served(base) as running:
        assert running.client(None).get("/.well-known/did.json").status_code == 404


def test_certificates_under_either_name_are_verified_and_audited(tmp_path: Path) -> None:
    data, clock, files = tmp_path / "data", SetClock(), []
    for number, issuer in enumerate((None, named(URL).issuer)):
        with Base.open(data, host=clock, issuer=issuer) as base, served(base) as running:
            written = write(running.writer, f"ada{number}")["certificate"]
            files.append(a_file(tmp_path, f"{number}.json", running.writer.get(f"/certificates/{written}").text))
            exported = running.client(Role.READER).get(
                "/exports/https%3A%2F%2Fw3id.org%2Fmuniment%23default", params={"signed": "true"}
            )
            files.append(a_file(tmp_path, f"export{number}.json", exported.text))
    key = a_file(tmp_path, "key.txt", SigningKey.load(data / SIGNING_KEY).public.multibase)
    stranger = a_file(tmp_path, "stranger.txt", SigningKey.generate().public.multibase)
    for file in files:
        assert run("verify", file, "--key", key).status == 0, file
        assert run("verify", file, "--key", stranger).status == 1, file
    assert "issuer      did:web:kg.example.org" in run("verify", files[2], "--key", key).output
    assert audit(data).faults == ()


@pytest.mark.parametrize("url", ["http://kg.example.org", "https://127.0.0.1", "kg.example.org"])
def test_a_url_that_makes_no_name_is_refused(url: str) -> None:
    ended = run("config", MUNIMENT_PUBLIC_URL=url)
    assert (ended.status, "public_url cannot be used" in ended.errors) == (1, True), ended


def test_bases_below_it_have_names_of_their_own() -> None:
    from api.named_bases import settings_of_bases  # noqa: PLC0415 - only here

    shared = Settings(public_url=URL, bases={"one": {"data": "a"}, "two": {"data": "b", "public_url": f"{URL}/two"}})
    one, two = settings_of_bases(shared, alone=True).values()
    assert (one.issuer, two.issuer) == ("did:web:kg.example.org:b:one", "did:web:kg.example.org:two")


# --- keys that are given ----------------------------------------------------------------------------------------------


def test_a_key_in_a_file_elsewhere_signs_and_is_rotated_there(tmp_path: Path) -> None:
    key = SigningKey.generate()
    key.save(tmp_path / "own.key")
    data, variables = tmp_path / "data", {"MUNIMENT_SIGNING_KEY_FILE": str(tmp_path / "own.key")}
    with Base.open(data, key=tmp_path / "own.key") as base:
        assert base.key == key
        assert base.keys.rotate().result(30).previous == key.public
        assert base.key == SigningKey.load(tmp_path / "own.key") != key
    assert not (data / SIGNING_KEY).exists()
    assert run("key", "--data", data, "--multibase", **variables).output.strip() == base.key.public.multibase
    assert run("key", "rotate", "--data", data, **variables).status == 0
    assert run("audit", "--data", data, **variables).status == 0
    assert run("audit", "--data", data).status == 1
    assert run("rebuild", "--data", data, "--into", tmp_path / "anew", "--check", **variables).status == 0
    assert "own.key is there" in run("doctor", "--data", data, **variables).output


def test_a_key_in_the_environment_signs_and_is_nowhere_else(tmp_path: Path) -> None:
    key = SigningKey.from_bytes(bytes(range(32)))
    data = tmp_path / "data"
    key.save(tmp_path / "pem")
    texts = ((tmp_path / "pem").read_text(), key.to_bytes().hex(), b64encode(key.to_bytes()).decode())
    for text in texts:
        given = Settings(signing_key=text).given_key
        assert given == key
        assert text not in repr(Settings(signing_key=text))
        with Base.open(data, key=given) as base:
            assert base.key == key
            with pytest.raises(Conflict, match="as it is"):
                base.keys.rotate().result(30)
        with pytest.raises(Conflict, match="as it is"):
            rotate(data, SetClock(), given)
        shown = run("config", MUNIMENT_SIGNING_KEY=text)
        assert (shown.status, text in shown.output) == (0, False)
        assert "# signing_key is set, and not shown" in shown.output
    for file in data.rglob("*"):
        assert not file.is_file() or key.to_bytes() not in file.read_bytes()
    with pytest.raises(DamagedBase, match="not the key"):
        Base.open(data, key=SigningKey.generate())
    with pytest.raises(DamagedBase):
        Base.open(data)


@pytest.mark.parametrize(
    "text", ["", "secret", "00" * 31, "-----BEGIN PRIVATE KEY-----\nsecret\n-----END PRIVATE KEY-----"]
)
def test_what_is_no_key_is_refused_and_not_quoted(tmp_path: Path, text: str) -> None:
    ended = run("key", "--data", tmp_path, MUNIMENT_SIGNING_KEY=text)
    assert ended.status != 0
    assert "secret" not in ended.errors + ended.output


def test_a_key_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    SigningKey.generate().save(tmp_path / "own.key")
    (tmp_path / "own.key").chmod(0o640)
    with pytest.raises(DamagedBase, match="0640"):
        Base.open(tmp_path / "data", key=tmp_path / "own.key")
    (tmp_path / "own.key").unlink()
    with pytest.raises(DamagedBase, match="cannot be read"):
        Base.open(tmp_path / "data", key=tmp_path / "own.key")


def test_a_file_of_settings_is_no_place_for_a_key(tmp_path: Path) -> None:
    config = a_file(tmp_path, "muniment.toml", 'signing_key = "00"\n')
    ended = run("config", MUNIMENT_CONFIG=str(config))
    assert (ended.status, "no place for a key" in ended.errors) == (1, True)
