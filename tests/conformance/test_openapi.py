"""What the OpenAPI document promises, tried by Schemathesis: with what fits the schemas, and with what does not.

A head that is insisted on would be waited for, and then be a documented 504: none is. Left out is that whatever fits a
schema has to be accepted: that a document is Turtle, or two parameters exclude each other, no schema says.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import load_all_checks
from schemathesis.core.result import Ok
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import positive_data_acceptance

from api.routes.query_answers import MIN_HEAD
from api.settings import Settings
from bridge.base import Base
from kernel.access import Role
from tests.api.bodies import change, request
from tests.api.serving import Served, served

SPARQL: Final = ("application/sparql-query", "application/sparql-update")
MODES: Final = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
BRIEF: Final = 3
"""Requests of each operation and mode by default; at length as many as the profile says, up to a hundredth."""


@schemathesis.serializer(*SPARQL)
def _as_text(ctx: schemathesis.SerializationContext, value: object) -> bytes:
    return str(value).encode(errors="replace")


@pytest.fixture(scope="module")
def tried() -> Iterator[Served]:
    """A base with something in it, and small limits: what is tried at random is not to take long."""
    quick = Settings(query_spares=0, query_seconds=2, query_patience=60, failed_tokens="1000000/minute")
    with Base.open(None) as base, served(base, quick) as running:
        assert running.writer.post("/changes", json=request(change("ada", "lives", "london"))).status_code == 201
        yield running


@pytest.mark.parametrize("mode", MODES, ids=[mode.value for mode in MODES])
def test_whatever_is_sent_is_answered_as_documented(tried: Served, mode: GenerationMode) -> None:
    load_all_checks()
    schema = schemathesis.openapi.from_url(f"{tried.url}/openapi.json")
    headers = {"Authorization": f"Bearer {tried.token(Role.ADMINISTRATOR)}"}
    tried_operations = 0
    for found in schema.get_all_operations():
        assert isinstance(found, Ok)
        tried_operations += 1
        try:
            _try(found.ok(), mode, headers)
        except Unsatisfiable:  # there is nothing that does not fit
            assert mode is GenerationMode.NEGATIVE
    assert tried_operations >= 30


def _try(operation: Any, mode: GenerationMode, headers: dict[str, str]) -> None:  # noqa: ANN401 - the library's
    wanted = settings.default.max_examples if settings.default is not None else 0

    @settings(
        max_examples=BRIEF if wanted <= 100 else wanted // 100,
        deadline=None,
        database=None,
        derandomize=True,
        phases=(Phase.explicit, Phase.generate),
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def tried(case: schemathesis.Case[Any]) -> None:
        case.headers.pop(MIN_HEAD, None)
        response = case.call(headers=headers, timeout=60)
        case.validate_response(response, excluded_checks=[positive_data_acceptance], headers=headers)

    tried()
