"""Purging from the pages: looked at, confirmed, decided on by a second person, restored; by administrators alone."""

from collections.abc import Iterator

import httpx2
import pytest

from bridge.base import Base
from certificates.receipt import verify
from kernel.access import Role
from tests.api.bodies import EX, change
from tests.api.pages.world import Page, World
from tests.api.serving import FRUGAL, served


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    """A base without anything in it; each test has a subject of its own."""
    with Base.open(None) as base, served(base) as server:
        yield World(server)


@pytest.fixture(scope="module")
def admin(world: World) -> httpx2.Client:
    return world.signed_in(Role.ADMINISTRATOR)


def tell(world: World, name: str, value: str = "xyzzy") -> None:
    world.ask(name, change(name, "says", {"@value": value}))


def looked_at(client: httpx2.Client, name: str, **more: str) -> httpx2.Response:
    """What would go of a node, as the first form is answered."""
    form = Page.of(client.get("/purging")).forms[-1]
    return client.post("/purging", data={**form, "kind": "node", "target": EX + name, **more})


def confirmed(client: httpx2.Client, answer: httpx2.Response, reason: str = "its subject asked") -> httpx2.Response:
    assert answer.status_code == 200, answer.text
    return client.post("/purging", data={**Page.of(answer).forms[-1], "reason": reason})


def purged(client: httpx2.Client, name: str) -> str:
    """The page of a purge that was carried out."""
    answer = confirmed(client, looked_at(client, name))
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


def believed(world: World, name: str) -> int:
    return len(world.server.writer.get("/facts", params={"subject": EX + name}).json()["items"])


def test_it_is_looked_at_confirmed_and_told(world: World, admin: httpx2.Client) -> None:
    tell(world, "ada", "xyzzy one")
    answer = looked_at(admin, "ada", reason="first thoughts")
    page = Page.of(answer)
    assert "Purge this node?" in page.text
    assert "1 fact 2 items of plans" in page.text
    assert "first thoughts" in page.text
    assert "xyzzy" not in answer.text
    assert believed(world, "ada") == 1, "looking does nothing"
    done = confirmed(admin, answer)
    assert (done.status_code, believed(world, "ada")) == (303, 0)
    path = done.headers["location"]
    first = Page.of(admin.get(path))
    assert "Nothing of it is answered any more" in first.text
    world.server.base.purges.settled()
    page = Page.of(admin.get(path))
    assert "Nothing of it is answered any more" not in page.text
    assert "complete" in page.text
    assert "backups, delivered exports" in page.text
    assert "ada" not in page.text
    kept = admin.get(page.links["Keep the receipt"])
    assert (kept.headers["content-type"], "attachment" in kept.headers["content-disposition"]) == (
        "application/vc",
        True,
    )
    assert verify(kept.content, world.server.base.key.public).facts == 1
    assert page.links["its certificate"] == path.replace("purging", "queue")
    certificate = Page.of(admin.get(page.links["its certificate"]))
    assert (certificate.links["the page of the purge"], "No change" in certificate.text) == (path, False)
    assert f'href="{path}"' in admin.get("/purging").text


def test_what_stays_is_told_and_a_reason_that_quotes_it_is_not_taken(world: World, admin: httpx2.Client) -> None:
    tell(world, "mia", "xyzzy eight")
    tell(world, "ned", f"as {EX}mia has it")
    answer = looked_at(admin, "mia")
    assert "Something quotes it that stays: literals of other statements." in Page.of(answer).text
    refused = confirmed(admin, answer, reason=f"{EX}mia asks")
    assert refused.status_code == 400
    assert "The reason quotes what is purged" in Page.of(refused).text
    assert believed(world, "mia") == 1


def test_what_has_changed_meanwhile_is_looked_at_again(world: World, admin: httpx2.Client) -> None:
    tell(world, "bob")
    form = Page.of(looked_at(admin, "bob")).forms[-1]
    world.ask("more", change("bob", "knows", "cyd"))
    answer = admin.post("/purging", data={**form, "reason": "why not"})
    page = Page.of(answer)
    assert (answer.status_code, believed(world, "bob")) == (409, 2)
    assert "Nothing was purged: something has changed since you looked" in page.text
    assert "2 facts" in page.text
    assert "why not" in page.text
    assert confirmed(admin, looked_at(admin, "bob")).status_code == 303
    assert believed(world, "bob") == 0


@pytest.mark.parametrize(
    ("fields", "status", "said"),
    [
        ({"kind": "node", "target": EX + "nobody"}, 422, "Nothing is held of this, and nothing quotes it"),
        ({"kind": "node", "target": "no iri"}, 400, "is not an absolute IRI"),
        ({"kind": "fact", "target": EX + "no-id"}, 400, "It is no id"),
        ({"kind": "graph", "target": "https://w3id.org/muniment#shapes"}, 422, "is reserved"),
        ({"kind": "node"}, 400, "Nothing says what is to go"),
        ({"kind": "node", "target": EX + "dan", "digest": "0" * 64}, 400, "Nobody would know why"),
    ],
)
def test_what_cannot_be_purged_is_told_and_what_was_written_stays(
    world: World, admin: httpx2.Client, fields: dict[str, str], status: int, said: str
) -> None:
    if fields.get("target") == EX + "dan":
        tell(world, "dan")
    form = Page.of(admin.get("/purging")).forms[-1]
    answer = admin.post("/purging", data={**form, "kind": "", "target": "", **fields})
    assert (answer.status_code, said in Page.of(answer).text) == (status, True), Page.of(answer).text
    assert Page.of(answer).forms[-1]["target"] == fields.get("target", "")


def test_others_are_told_that_it_takes_an_administrator_and_nothing_else(world: World, admin: httpx2.Client) -> None:
    tell(world, "eve")
    path = purged(admin, "eve")
    clients = (world.signed_in(Role.EDITOR), world.signed_in(Role.ADMINISTRATOR, EX + "g"), world.visitor())
    for client in clients[:2]:
        assert 'href="/purging"' not in client.get("/queue").text
        said = set()
        for asked in ("/purging", path, f"{path}/receipt", "/purging/01890a5d-ac96-774b-bcce-b302099a8057"):
            answer = client.get(asked)
            said.add(Page.of(answer).text.partition("Request")[0])
            assert answer.status_code == 403
        assert len(said) == 1
        token = Page.of(client.get("/queue")).forms[0]["forgery-token"]
        for asked in (path, "/purging"):
            sent = {"forgery-token": token, "step": "restore", "reason": "x"} if asked == path else {
                "forgery-token": token, "kind": "node", "target": EX + "eve",
            }  # fmt: skip
            assert client.post(asked, data=sent).status_code == 403
    assert clients[2].get(path).status_code == 303
    assert 'href="/purging"' in admin.get("/queue").text


def test_forms_from_elsewhere_are_not_taken(world: World, admin: httpx2.Client) -> None:
    tell(world, "fay")
    form = Page.of(looked_at(admin, "fay")).forms[-1]
    for sent, headers in (
        ({**form, "forgery-token": "x"}, {}),
        (form, {"Sec-Fetch-Site": "cross-site"}),
    ):
        assert admin.post("/purging", data={**sent, "reason": "x"}, headers=headers).status_code == 403
    assert believed(world, "fay") == 1


def test_a_tombstone_is_lifted(world: World, admin: httpx2.Client) -> None:
    tell(world, "gil")
    path = purged(admin, "gil")
    refused = {"changes": [change("gil", "says", {"@value": "xyzzy"})]}
    assert world.server.writer.post("/changes", json=refused).json()["code"] == "purged"
    form = Page.of(admin.get(path)).forms[-1]
    without = admin.post(path, data={**form, "step": "restore"})
    assert (without.status_code, "Nobody would know why" in Page.of(without).text) == (400, True)
    answer = admin.post(path, data={**form, "step": "restore", "reason": "the wrong person"})
    assert (answer.status_code, answer.headers["location"]) == (303, path)
    page = Page.of(admin.get(path))
    assert "Its tombstones are lifted" in page.text
    assert "Lift the tombstone" not in page.text
    tell(world, "gil")
    again = admin.post(path, data={**form, "step": "restore", "reason": "again"})
    assert (again.status_code, "No tombstone of this purge stands" in Page.of(again).text) == (409, True)


def test_the_list_has_pages(world: World, admin: httpx2.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.pages.purging._PAGE", 1)
    for name in ("hal", "ida"):
        tell(world, name)
    paths = [purged(admin, name) for name in ("hal", "ida")]
    first = admin.get("/purging")
    further = admin.get(Page.of(first).links["Further ones"])
    assert [path in first.text for path in paths] == [False, True]
    assert [path in further.text for path in paths] == [True, False]


def test_with_a_second_person_it_waits_for_another_administrator() -> None:
    with Base.open(None) as base, served(base, FRUGAL.model_copy(update={"purge_second_person": True})) as server:
        world = World(server)
        one, other = world.signed_in(Role.ADMINISTRATOR), world.signed_in(Role.ADMINISTRATOR)
        tell(world, "ivy")
        looked = looked_at(one, "ivy")
        assert "Ask for it to be purged" in Page.of(looked).text
        path = confirmed(one, looked, "asked\r\nin a letter").headers["location"]
        own, page = Page.of(one.get(path)), Page.of(other.get(path))
        assert ("another administrator has to approve it" in own.text, "Approve" in own.text) == (True, False)
        assert EX + "ivy" in page.text
        assert "asked in a letter" in page.text
        token = {"forgery-token": own.forms[-1]["forgery-token"]}
        mine = one.post(path, data={**token, "step": "approve"})
        assert (mine.status_code, believed(world, "ivy")) == (403, 1)
        sent = {"forgery-token": page.forms[-1]["forgery-token"], "step": "approve"}
        assert other.post(path, data=sent).status_code == 303
        assert believed(world, "ivy") == 0
        after = Page.of(other.get(path)).text
        assert ("Approved by" in after, EX + "ivy" in after) == (True, False)
        assert other.post(path, data=sent).status_code == 409
        tell(world, "jan")
        path = confirmed(one, looked_at(one, "jan")).headers["location"]
        assert one.post(path, data={**token, "step": "reject"}).status_code == 303
        assert ("Rejected by" in Page.of(one.get(path)).text, believed(world, "jan")) == (True, 1)


def test_what_was_written_is_kept_when_a_session_has_ended(world: World) -> None:
    client = world.signed_in(Role.ADMINISTRATOR)
    tell(world, "kim")
    form = Page.of(looked_at(client, "kim")).forms[-1]
    world.server.sessions.end(next(iter(client.cookies.values())))
    answer = client.post("/purging", data={**form, "reason": "my words"})
    assert (answer.status_code, believed(world, "kim")) == (401, 1)
    assert "my words" in answer.text
    sent = {**Page.of(answer).forms[-1], "token": world.server.token(Role.ADMINISTRATOR), "written": "my words"}
    again = client.post("/sign-in", data=sent)
    assert (again.status_code, again.headers["location"]) == (303, "/purging")
    assert "my words" in client.get("/purging").text
