"""Keys that change while their base is served: nothing stops, and everything that was signed is verified."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote
from uuid import UUID

from bridge.auditing.audit import audit
from bridge.base import Base
from bridge.signing.keys import NEXT_KEY, SIGNING_KEY, key_history
from certificates.checkpoints import origin_of
from certificates.keys import SigningKey
from certificates.proof import verify
from kernel.access import Role
from tests.api.console import run
from tests.api.routes.test_log import a_file, text, write
from tests.api.serving import served

SINCE = "2020-01-01T00:00:00Z"


def test_a_served_base_rotates_and_revokes_amid_writes(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with Base.open(data) as base, served(base) as running:
        first, writer = base.key.public, running.client(Role.WRITER)
        administrator = running.client(Role.ADMINISTRATOR)
        with ThreadPoolExecutor(2) as pool:
            writing = pool.map(lambda number: write(writer, f"ada{number}"), range(30))
            notes = [text(writer, "/log/checkpoint")]
            rotations = []
            for _ in range(3):
                rotations.append(administrator.post("/keys/rotate"))
                notes.append(text(writer, "/log/checkpoint"))
            written = [each["certificate"] for each in writing]
        assert [each.status_code for each in rotations] == [200] * 3
        keys = key_history(base.ledger)
        assert [held.key.multibase for held in keys.keys] == [
            first.multibase, *(each.json()["key"] for each in rotations),
        ]  # fmt: skip
        assert base.key.public == keys.current == SigningKey.load(data / SIGNING_KEY).public
        for note in notes:
            keys.verify_checkpoint(note, origin_of(base.ledger.base_id()))
        with base.ledger.reading() as view:
            for certificate in written:
                record = view.certificate(UUID(certificate.removeprefix("urn:uuid:")))
                assert record is not None
                verify(record.document, keys.at(record.issued))
        revoked = administrator.post(f"/keys/{first.multibase}/revoke", json={"since": SINCE, "reason": "compromised"})
        assert (revoked.status_code, revoked.json()["since"]) == (200, SINCE)
        assert write(writer, "bob")["state"] == "applied"
    assert audit(data).faults == ()
    assert not (data / NEXT_KEY).exists()


def test_a_key_is_revoked_by_the_name_under_which_it_is_listed(tmp_path: Path) -> None:
    with Base.open(tmp_path / "data") as base, served(base) as running:
        administrator, first = running.client(Role.ADMINISTRATOR), base.key.public
        administrator.post("/keys/rotate")
        kid = next(each["kid"] for each in administrator.get("/keys").json()["keys"] if first.multibase in each["kid"])
        revoked = administrator.post(f"/keys/{quote(kid, safe='')}/revoke", json={"since": SINCE})
        assert (revoked.status_code, revoked.json()["key"]) == (200, first.multibase)
        assert administrator.post("/keys/did%3Akey%3Az6Mk%23/revoke", json={"since": SINCE}).status_code == 404


def test_only_administrators_of_the_base_change_keys(tmp_path: Path) -> None:
    with Base.open(tmp_path / "data") as base, served(base) as running:
        key = base.key.public.multibase
        for client in (
            running.client(Role.EDITOR),
            running.client(Role.ADMINISTRATOR, "https://example.org/g"),
        ):
            assert client.post("/keys/rotate").status_code == 403
            assert client.post(f"/keys/{key}/revoke", json={"since": SINCE}).status_code == 403
        assert running.client(None).post("/keys/rotate").status_code == 401
        assert base.key.public.multibase == key


def test_what_cannot_be_done_with_keys_is_told(tmp_path: Path) -> None:
    with Base.open(tmp_path / "data") as base, served(base) as running:
        administrator, key = running.client(Role.ADMINISTRATOR), base.key.public.multibase
        asked = f"/keys/{key}/revoke"
        for body, status, where in (
            ({"since": SINCE}, 409, key),
            ({"since": "9999-01-01T00:00:00Z"}, 409, key),
            ({}, 400, "/since"),
            ({"since": "yesterday"}, 400, "/since"),
            ({"since": SINCE, "reason": "boredom"}, 400, "/reason"),
            ({"since": SINCE, "why": "x"}, 400, "/why"),
        ):
            answer = administrator.post(asked, json=body)
            assert (answer.status_code, answer.json().get("where")) == (status, where), answer.text
        stranger = SigningKey.generate().public.multibase
        for unknown in (stranger, "z6Mk", "rotated"):
            assert administrator.post(f"/keys/{unknown}/revoke", json={"since": SINCE}).status_code == 404
        assert administrator.post("/keys/rotate", json={}).status_code == 400


def test_the_console_asks_the_service_and_the_folder_says_that_it_should(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with Base.open(data) as base, served(base) as running:
        old = base.key.public.multibase
        token = a_file(tmp_path, "token", running.token(Role.ADMINISTRATOR))
        token.chmod(0o600)
        refused = run("key", "rotate", "--data", data)
        assert (refused.status, "--url" in refused.errors) == (1, True)
        rotated = run("key", "rotate", "--url", running.url, "--token-file", token)
        assert (rotated.status, base.key.public.multibase in rotated.output) == (0, True), rotated
        revoked = run("key", "revoke", old, "--since", SINCE, "--url", running.url, "--token-file", token)
        assert (revoked.status, "revoked" in revoked.errors) == (0, True), revoked
