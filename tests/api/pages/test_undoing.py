"""Undoing a certificate from its page: who is asked, what is said before, and where the answer leads."""

from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest

from kernel.access import Role
from tests.api.bodies import EX, M, change
from tests.api.pages.world import Page, World, term_of
from tests.api.serving import Served

WHY = "loaded\r\ntwice"


@pytest.fixture
def editor(world: World) -> httpx2.Client:
    return world.signed_in(Role.EDITOR)


def made(world: World, name: str = "made", **more: object) -> str:
    """The page of a certificate that was applied."""
    world.ask(name, change("ada", "knows", "bob"), change("ada", "knows", "cyd"), **more)
    return world.path(name)


def undo(client: httpx2.Client, path: str, reason: str = WHY) -> httpx2.Response:
    """Confirms on the page that the certificate's page leads to."""
    asks = Page.of(client.get(path)).links["Undo what it did"]
    return client.post(asks, data={**Page.of(client.get(asks)).forms[-1], "reason": reason})


def believed(server: Served) -> list[str]:
    items = server.writer.get("/facts", params={"subject": EX + "ada"}).json()["items"]
    return sorted(each["statement"]["object"]["@id"].removeprefix(EX) for each in items)


def test_it_asks_first_and_leads_to_the_certificate_that_undid(world: World, editor: httpx2.Client) -> None:
    path = made(world)
    asks = Page.of(editor.get(f"{path}/revert"))
    assert "Undo what this certificate did?" in asks.text
    assert "2 facts that it recorded are withdrawn. What other" in asks.text
    assert believed(world.server) == ["bob", "cyd"], "looking does nothing"
    answer = undo(editor, path)
    assert answer.status_code == 303
    assert answer.headers["location"] != path
    page = Page.of(editor.get(answer.headers["location"]))
    assert "Undone, by this certificate" in page.text
    assert f"reverts urn:uuid:{path.removeprefix('/queue/')}: loaded twice" in page.text
    assert believed(world.server) == []
    assert undo(editor, answer.headers["location"]).status_code == 303
    assert believed(world.server) == ["bob", "cyd"], "what was undone is put back by undoing that"


def test_what_was_withdrawn_is_counted_as_believed_again(world: World, editor: httpx2.Client) -> None:
    made(world)
    world.ask("ended", change("ada", "knows", "bob", op="end", at="2000"))
    text = Page.of(editor.get(f"{world.path('ended')}/revert")).text
    assert "1 fact that it recorded is withdrawn. 1 fact that it replaced or withdrew is believed again" in text


def test_a_form_that_is_sent_twice_undoes_once(world: World) -> None:
    client, path = world.signed_in(Role.EDITOR), made(world)
    form = {**Page.of(client.get(f"{path}/revert")).forms[-1], "reason": WHY}
    with ThreadPoolExecutor(2) as pool:
        answers = [*pool.map(lambda _: client.post(f"{path}/revert", data=form), range(2))]
    again = client.post(f"{path}/revert", data={**form, "reason": "said otherwise"})
    assert {each.status_code for each in (*answers, again)} == {303}
    assert len({each.headers["location"] for each in (*answers, again)}) == 1


def test_what_stands_in_the_way_is_said_with_a_link_and_nothing_to_confirm(world: World, editor: httpx2.Client) -> None:
    path = made(world)
    stale = {**Page.of(editor.get(f"{path}/revert")).forms[-1], "reason": "my words"}
    later = world.ask("later", change("ada", "knows", "bob", op="end", at="2000"))
    late, asked = editor.post(f"{path}/revert", data=stale), editor.get(f"{path}/revert")
    assert (late.status_code, asked.status_code) == (409, 200)
    for page in (Page.of(late), Page.of(asked)):
        assert "This cannot be undone" in page.text
        assert page.links["Look at that certificate"] == f"/queue/{later}"
        assert not [tag for tag, given in page.tags if tag == "form" and given["action"].endswith("/revert")]
    assert "my words" in Page.of(late).text
    assert believed(world.server) == ["cyd"]


def test_no_link_leads_to_what_they_may_not_see(world: World) -> None:
    one, two = {"@id": EX + "one"}, {"@id": EX + "two"}
    world.ask("made", change("ada", "knows", "bob", graph=one))
    gone = change("ada", "knows", "bob", op="retract", graph=one)
    world.ask("both", gone, change("x", "p", "y", graph=two))
    page = Page.of(world.signed_in(Role.EDITOR, EX + "one").get(f"{world.path('made')}/revert"))
    assert "A later certificate has changed" in page.text
    assert "Look at that certificate" not in page.links


def test_what_was_not_applied_or_brought_evidence_alone_is_not_offered_or_says_so(
    world: World, editor: httpx2.Client
) -> None:
    assert "Undo what it did" not in Page.of(editor.get(world.path("doubt"))).links
    assert "It is pending: nothing of it was applied." in Page.of(editor.get(f"{world.path('doubt')}/revert")).text
    made(world)
    text = Page.of(editor.get(f"{made(world, 'again', episode=EX + 'letter')}/revert")).text
    assert "it brought evidence alone, which stays, or was purged." in text


@pytest.mark.parametrize(("role", "graphs"), [(Role.READER, ()), (Role.WRITER, ()), (Role.EDITOR, ("other",))])
def test_it_is_for_editors_of_every_graph(world: World, role: Role, graphs: tuple[str, ...]) -> None:
    path, client = made(world), world.signed_in(role, *(EX + graph for graph in graphs))
    form = {"forgery-token": token_of(client), "reason": WHY, "once": "k"}
    status = 404 if graphs else 403
    assert client.get(f"{path}/revert").status_code == status
    assert client.post(f"{path}/revert", data=form).status_code == status
    if not graphs:
        assert "Undo what it did" not in Page.of(client.get(path)).links
        assert "it takes an editor" in Page.of(client.get(f"{path}/revert")).text.lower()
    assert believed(world.server) == ["bob", "cyd"]


def token_of(client: httpx2.Client) -> str:
    return next(form["forgery-token"] for form in Page.of(client.get("/queue")).forms if "forgery-token" in form)


def test_shapes_are_for_administrators(world: World, editor: httpx2.Client) -> None:
    administrator = world.signed_in(Role.ADMINISTRATOR)
    listed = world.server.client(Role.ADMINISTRATOR).get("/certificates").json()["items"]
    shapes = next(each["certificate"] for each in listed if each["graphs"] == [M + "shapes"])
    path = "/queue/" + shapes.removeprefix("urn:uuid:")
    assert "Undo what it did" not in Page.of(editor.get(path)).links
    assert editor.get(f"{path}/revert").status_code == 403
    assert undo(administrator, path).status_code == 303


def test_a_form_of_another_site_or_session_undoes_nothing(world: World, editor: httpx2.Client) -> None:
    path = made(world)
    form = {**Page.of(editor.get(f"{path}/revert")).forms[-1], "reason": WHY}
    assert editor.post(f"{path}/revert", data={**form, "forgery-token": "x"}).status_code == 403
    elsewhere = {"Sec-Fetch-Site": "cross-site"}
    assert editor.post(f"{path}/revert", data=form, headers=elsewhere).status_code == 403
    other = token_of(world.signed_in(Role.EDITOR))
    assert editor.post(f"{path}/revert", data={**form, "forgery-token": other}).status_code == 403
    assert believed(world.server) == ["bob", "cyd"]


@pytest.mark.parametrize(
    "fields", [{"reason": "  "}, {"reason": "x" * 10_001}, {"once": ""}, {"once": "k" * 256}, {"force": "true"}]
)
def test_a_form_that_is_not_whole_undoes_nothing(world: World, editor: httpx2.Client, fields: dict[str, str]) -> None:
    path = made(world)
    form = {**Page.of(editor.get(f"{path}/revert")).forms[-1], "reason": WHY, **fields}
    assert editor.post(f"{path}/revert", data=form).status_code == 400
    assert believed(world.server) == ["bob", "cyd"]


def test_what_was_written_when_the_session_had_ended_is_there_again(world: World) -> None:
    path, visitor = made(world), world.visitor()
    asked = visitor.post(f"{path}/revert", data={"reason": "my words", "once": "k"})
    assert asked.status_code == 401
    form = {**Page.of(asked).forms[-1], "written": "my words", "token": world.server.token(Role.EDITOR)}
    answer = visitor.post("/sign-in", data=form)
    assert answer.headers["location"] == f"{path}/revert"
    text = Page.of(visitor.get(f"{path}/revert")).text
    assert "nothing has been undone yet" in text
    assert "my words" in text


def test_what_the_checks_refuse_is_not_undone(world: World) -> None:
    age = change("ada", "age", {"@value": "old"})
    world.ask("age", age)
    world.ask("gone", {**age, "op": "retract"})
    world.post(world.server.writer, f"<{EX}ada> a <{EX}Person> .")
    client = world.signed_in(Role.EDITOR)
    page = Page.of(client.get(undo(client, world.path("gone")).headers["location"]))
    assert "Nothing was undone: the checks refuse it" in page.text


def test_what_contradicts_what_is_held_by_now_waits(world: World, editor: httpx2.Client) -> None:
    held = term_of("kohl", "2000", None, office="mayor")
    world.ask("mayor", held)
    world.ask("gone", {**change("mayor", "heldBy", "kohl"), "op": "retract"})
    world.ask("next", term_of("merkel", "1990", "2010", office="mayor"))
    page = Page.of(editor.get(undo(editor, world.path("gone")).headers["location"]))
    assert "Nothing is undone yet" in page.text
    assert "Approve" in page.text
