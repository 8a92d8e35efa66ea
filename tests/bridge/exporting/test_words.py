"""The words that exports use are those of the vocabulary."""

import json
import re
from importlib.resources import files

from bridge.documents.records import RECORD_WORDS
from bridge.exporting.credential import CONTEXT
from bridge.exporting.jsonld import RECORD_CONTEXT
from kernel.vocabulary import M

TURTLE = files("ontology").joinpath("muniment.ttl").read_text(encoding="utf-8")
DECLARED = set(re.findall(r"^m:(\w+) a ", TURTLE, re.MULTILINE))


def test_every_word_is_declared() -> None:
    contexts = json.dumps([CONTEXT, RECORD_CONTEXT])
    used = {word.removeprefix(M) for word in re.findall(re.escape(M) + r"\w+", contexts)} | {"tripleTerm"}
    assert len(used) > 20
    assert used <= DECLARED


def test_whatever_a_record_says_can_be_read_back() -> None:
    said = {str(definition["@id"]) for definition in RECORD_CONTEXT.values() if "@id" in definition}
    assert {word for word in said if word.startswith(M)} <= {word.value for word in RECORD_WORDS}
