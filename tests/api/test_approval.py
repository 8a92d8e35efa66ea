"""Rules about who approves, as a service has them, and decisions that editors sign themselves."""

from __future__ import annotations

import json
from pathlib import Path

from api.settings import Settings
from bridge.base import Base
from certificates.keys import SigningKey
from kernel.access import Principal, Role
from kernel.changes import Assert
from tests.api.console import run
from tests.api.routes.test_log import a_file
from tests.api.serving import FRUGAL, served
from tests.bridge.writing import DOUBTED, EDITOR, PARIS, SetClock, living, write

STRICT = Settings(self_approval=False, approvals=2, signed_approvals=True)


def test_settings_make_the_rules() -> None:
    assert Settings().verdict_policy.digest() == Settings(approvals=1).verdict_policy.digest()
    assert STRICT.verdict_policy.approval.describe() == {
        "every": [{"noSelfApproval": True}, {"approvals": 2}, {"signedByEditor": True}]
    }


def ids(base: Base) -> set[str]:
    return {each.principal.id for each in base.ledger.principals()}  # type: ignore[attr-defined]


def test_editors_sign_what_they_decide(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with Base.open(data, host=SetClock(), policy=STRICT.verdict_policy) as base, served(base, FRUGAL) as running:
        held = write(base, Assert(living(PARIS), confidence=DOUBTED), by=EDITOR)
        assert held.certificate is not None
        for name in ("one", "two"):
            own_key = SigningKey.generate()
            own_key.save(tmp_path / f"{name}.key")
            public = a_file(tmp_path, f"{name}.txt", own_key.public.multibase)
            known = ids(base)
            token = a_file(tmp_path, f"{name}.token", running.token(Role.EDITOR))
            token.chmod(0o600)
            (identifier,) = ids(base) - known
            assert run("token", "key", identifier, "--data", data, "--key", public).status == 0
            asked = ("decide", str(held.certificate), "approve", "--url", running.url, "--token-file", token)
            unsigned = run(*asked)
            assert (unsigned.status, "own key" in unsigned.errors) == (1, True), unsigned
            ended = run(*asked, "--sign-with", tmp_path / f"{name}.key")
            assert ended.status == (2 if name == "one" else 0), ended
        reader = running.client(Role.READER)
        decisions = reader.get(f"/certificates/{held.certificate}").json()["decisions"]
        own = [each["record"].get("editorKey") for each in decisions]
        assert own == [(tmp_path / f"{name}.txt").read_text() for name in ("one", "two")] + [None]
        key = a_file(tmp_path, "key.txt", base.key.public.multibase)
        record = decisions[0]["record"]
        said = run("verify", a_file(tmp_path, "decision.json", json.dumps(record)), "--key", key)
        assert (said.status, f"signed by the editor with {own[0]}" in said.output) == (0, True), said
        recheck = a_file(tmp_path, "recheck.json", json.dumps(decisions[2]["record"]))
        assert "re-checked" in run("verify", recheck, "--key", key).output
        for change in ({"editor": "somebody"}, {"editorKey": own[1]}, {"decision": "reject"}):
            forged = a_file(tmp_path, "forged.json", json.dumps(record | change))
            assert run("verify", forged, "--key", key).status == 1
    assert run("audit", "--data", data).status == 0


def test_a_signature_that_is_none_is_told(tmp_path: Path) -> None:
    with Base.open(None, host=SetClock()) as base, served(base) as running:
        held = write(base, Assert(living(PARIS), confidence=DOUBTED), by=EDITOR)
        editor = running.client_of(Principal("ed", Role.EDITOR))
        for signature in ("!", 7, "AAAA"):
            body = {"decision": "approve", "signature": signature}
            answer = editor.post(f"/certificates/{held.certificate}/decision", json=body)
            assert (answer.status_code, answer.json()["where"]) == (400, "/signature"), answer.text
