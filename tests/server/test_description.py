"""The server holds to its own description: schemathesis over OpenAPI, with the scripted engine behind it."""

from __future__ import annotations

import pytest
from prometheus_client.parser import text_string_to_metric_families

from app.server.options import Limits
from tests.doubles import Answer
from tests.server.conftest import ASK, serving

SHORT, LONG = 8, 300


@pytest.mark.parametrize("n", [SHORT, pytest.param(LONG, marks=[pytest.mark.full, pytest.mark.timeout(1800)])])
def test_no_request_that_the_description_allows_or_forbids_breaks_it(n):
    schemathesis = pytest.importorskip("schemathesis")
    from hypothesis import HealthCheck, Phase, settings
    from schemathesis.checks import CHECKS  # noqa: F401 - loads them
    from schemathesis.specs.openapi import checks

    held = [
        schemathesis.checks.not_a_server_error,
        checks.status_code_conformance,
        checks.content_type_conformance,
        checks.response_schema_conformance,
        checks.response_headers_conformance,
        checks.negative_data_rejection,
    ]
    with serving([Answer(text="a b c")], limits=Limits(header_s=2, body_s=2)) as running:
        schema = schemathesis.openapi.from_url(f"{running.url}/openapi.json")
        seen = set()
        for result in schema.get_all_operations():
            operation = result.ok()
            seen.add(operation.label)

            @settings(
                max_examples=n,
                deadline=None,
                derandomize=True,
                database=None,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
            @_given(operation, schemathesis)
            def check(case):
                response = case.call(base_url=running.url, timeout=20)
                case.validate_response(response, checks=held)

            check()
        assert {"POST /v1/chat/completions", "POST /v1/completions", "GET /v1/models", "GET /health"} <= seen
        assert running.post(ASK)[0] == 200


def _given(operation, schemathesis):
    """Return what gives a test cases of an operation, good ones and bad ones."""
    from hypothesis import given
    from hypothesis import strategies as st

    modes = schemathesis.GenerationMode
    return given(
        case=st.one_of(*(operation.as_strategy(generation_mode=mode) for mode in (modes.POSITIVE, modes.NEGATIVE)))
    )


def test_the_counters_are_in_prometheus_own_format(scripted):
    scripted.post({**ASK, "spec_type": "ngram", "spec_n_max": 4})
    scripted.post({**ASK, "model": "none"})
    status, text = scripted.get("/metrics")
    assert status == 200
    families = {family.name: family for family in text_string_to_metric_families(text.decode())}
    totals = {
        sample.name: sample.value for family in families.values() for sample in family.samples if not sample.labels
    }
    assert totals["slipstream_completion_tokens_total"] > 10
    assert totals["slipstream_accepted_draft_tokens_total"] > 0
    assert totals["slipstream_draft_tokens_total"] > totals["slipstream_accepted_draft_tokens_total"]
    (request,) = (sample for sample in families["slipstream_requests"].samples if sample.name.endswith("_total"))
    assert request.labels == {"path": "/v1/chat/completions", "end": "done"}


def test_paths_that_are_none_are_errors_in_the_same_form(scripted):
    for method, path, wanted in (("GET", "/v2", 404), ("DELETE", "/health", 405), ("GET", "/v1/models/none", 404)):
        status, answer = scripted.ask(method, path, None)
        assert status == wanted
        assert set(answer["error"]) == {"message", "type", "param", "code"}


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/completions"])
def test_all_that_is_sent_is_described(scripted, path):
    _, document = scripted.get("/openapi.json")
    known = document["components"]["schemas"]
    asked = ASK if "chat" in path else {"prompt": "Say something."}
    status, answer = scripted.post(
        {**asked, "spec_type": "ngram", "spec_n_max": 4, "logprobs": 1 if "prompt" in asked else True}, path
    )
    assert status == 200

    def check(value, schema):
        schemas = [
            known[one["$ref"].rpartition("/")[2]] if "$ref" in one else one for one in schema.get("anyOf", [schema])
        ]
        if isinstance(value, list):
            for one, kind in ((one, kind) for one in value for kind in schemas if "items" in kind):
                check(one, kind["items"])
        elif isinstance(value, dict):
            kind = next(one for one in schemas if one.get("type") == "object")
            if "properties" in kind:
                assert set(value) <= set(kind["properties"])
                for name, one in value.items():
                    check(one, kind["properties"][name])

    schema = document["paths"][path]["post"]["responses"]["200"]["content"]["application/json"]["schema"]
    check(answer, schema)
    assert set(answer["timings"]) == set(known["Timings"]["properties"])
