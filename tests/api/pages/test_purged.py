"""The pages show what is left of certificates of which something was purged, and the certificates of purges."""

from kernel.access import Role
from tests.api.bodies import EX
from tests.api.pages.world import World


def test_what_is_purged_is_on_no_page_that_was_looked_at_before(world: World) -> None:
    visitor = world.signed_in(Role.ADMINISTRATOR)
    admin = world.server.client(Role.ADMINISTRATOR)
    node = {"node": EX + "merkel"}
    paths = [*map(world.path, ("held", "correct", "doubt", "successor")), "/queue", "/queue?state=applied"]
    before = [visitor.get(path) for path in paths]
    assert [each.status_code for each in before] == [200] * len(paths)
    assert sum("merkel" in each.text for each in before) >= 2
    digest = admin.post("/purges", json={"preview": True, **node}).json()["digest"]
    purged = admin.post("/purges", json={"reason": "it has to go", "digest": digest, **node})
    assert purged.status_code == 201, purged.text
    for path in (*paths, f"/queue/{purged.json()['purge'].removeprefix('urn:uuid:')}"):
        after = visitor.get(path)
        assert after.status_code == 200
        assert "merkel" not in after.text.lower(), path
