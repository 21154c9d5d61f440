"""The application: routes, their description, and errors in the API's own form."""

from __future__ import annotations

import re
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.responses import HTMLResponse, JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware

from app import __version__
from app.errors import SlipstreamError
from app.models.library import Library
from app.server import counts as prometheus
from app.server.answering import Way
from app.server.api_page import page
from app.server.counts import Counts
from app.server.documents import ChatCompletion, Health, ModelCard, ModelList, TextCompletion, errors
from app.server.faults import Fault, fault_of
from app.server.guard import App, Guard
from app.server.options import ServerOptions
from app.server.service import Service
from app.server.wire import ChatCompletionRequest, CompletionRequest

_DESCRIPTION = (
    "The OpenAI API on this computer, with speculative decoding. Each request may say how it is drafted; changing that "
    "does not load the model again."
)
_FORM = re.compile(r"^constrained-|^function-|[\[(]|^[A-Z]")
_MAX_FAULT = 400
_ALWAYS = (400, 401, 403, 404, 408, 413, 429)


def make_app(way: Way, library: Library, options: ServerOptions) -> App:
    """Return the whole ASGI application, guarded."""
    service = Service(way, library, options)
    counts = Counts(way.desk, lambda: service.n_pulls)
    way.log.on_end.append(counts.note)
    app = FastAPI(title="Slipstream", version=__version__, description=_DESCRIPTION, docs_url=None, redoc_url=None)
    _add_answers(app, service)
    _add_facts(app, service, counts)
    _add_faults(app)
    app.openapi = lambda: _description(app, options)  # type: ignore[method-assign]  # FastAPI's own way to change it
    if options.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=[origin.lower() for origin in options.cors_origins],
            allow_methods=["GET", "POST"],
            expose_headers=["retry-after"],
            allow_headers=["*"],  # clients in pages send names of their own, as OpenAI's does
        )
    return Guard(app, options)


def _add_answers(app: FastAPI, service: Service) -> None:
    event = {"type": "object", "properties": {"data": {"type": "string"}}, "required": ["data"]}
    stream = {"text/event-stream": {"schema": event}}

    @app.post(
        "/v1/chat/completions",
        response_model=None,
        responses={200: {"model": ChatCompletion, "content": stream}, **errors(*_ALWAYS, 415, 503)},
        summary="Answer a conversation",
    )
    async def chat(body: ChatCompletionRequest) -> Response:
        return await service.chat(body)

    @app.post(
        "/v1/completions",
        response_model=None,
        responses={200: {"model": TextCompletion, "content": stream}, **errors(*_ALWAYS, 415, 503)},
        summary="Go on with a raw prompt",
    )
    async def completion(body: CompletionRequest) -> Response:
        return await service.completion(body)


def _add_facts(app: FastAPI, service: Service, counts: Counts) -> None:
    @app.get("/v1/models", responses=errors(*_ALWAYS), summary="List the models")
    async def models() -> ModelList:
        return ModelList(data=await service.models())

    @app.get("/v1/models/{name:path}", responses=errors(*_ALWAYS), summary="Tell of one model")
    async def model(name: str) -> ModelCard:
        return await service.model(name)

    @app.get("/health", responses=errors(400, 403, 408, 413, 429), summary="Tell whether it answers; needs no key")
    async def health() -> Health:
        return service.health()

    text = {"text/plain": {"schema": {"type": "string"}}}

    @app.get(
        "/metrics",
        response_class=Response,
        responses={200: {"content": text, "description": "Counters"}, **errors(*_ALWAYS)},
        summary="Counters for Prometheus",
    )
    async def metrics() -> Response:
        return Response(counts.text(), headers={"content-type": prometheus.CONTENT_TYPE})

    @app.get("/", include_in_schema=False)
    async def root(request: Request) -> HTMLResponse:
        return HTMLResponse(page(app.openapi(), str(request.base_url).rstrip("/")))


def _add_faults(app: FastAPI) -> None:
    def reply(fault: Fault) -> JSONResponse:
        return JSONResponse(fault.document(), fault.status, dict(fault.headers))

    @app.exception_handler(Fault)
    async def on_fault(_request: Request, fault: Fault) -> JSONResponse:
        return reply(fault)

    @app.exception_handler(SlipstreamError)
    async def on_error(_request: Request, error: SlipstreamError) -> JSONResponse:
        return reply(fault_of(error))

    @app.exception_handler(RequestValidationError)
    async def on_invalid(_request: Request, error: RequestValidationError) -> JSONResponse:
        return reply(_invalid(error))

    @app.exception_handler(HTTPException)
    async def on_http(_request: Request, error: HTTPException) -> JSONResponse:
        words = {404: "There is nothing at this path.", 405: "This path does not take that method."}
        message = words.get(error.status_code, "The body is not JSON.")
        return reply(Fault(error.status_code, message, headers=error.headers or {}))


def _invalid(error: RequestValidationError) -> Fault:
    """Return what the first fault of a body is; what was sent is not repeated."""
    faults: list[dict[str, Any]] = list(error.errors())
    if faults[0]["type"] == "json_invalid":
        return Fault(400, "The body is not JSON.", code="json")
    # Of what may have several forms, the form that was followed furthest is the one that was meant.
    field = faults[0]["loc"][:2]
    meant = max((fault for fault in faults if fault["loc"][:2] == field), key=lambda fault: len(fault["loc"]))
    place = _place(meant)
    words = dict.fromkeys(fault["msg"] for fault in faults if _place(fault) == place)
    message = ", or: ".join(words)
    message = f"{place}: {message}." if place else f"The body: {message}."
    return Fault(400, message[:_MAX_FAULT], code="invalid_value", param=place[:256] or None)


def _place(fault: dict[str, Any]) -> str:
    """Return the field that a fault is in, without the names that the forms have which it may have."""
    return ".".join(str(part) for part in fault["loc"] if part != "body" and not _FORM.search(str(part)))


def _description(app: FastAPI, options: ServerOptions) -> dict[str, Any]:
    """Return the OpenAPI document: without the answers that FastAPI adds of itself, with the key if there is one."""
    if app.openapi_schema is None:
        document = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        for methods in document["paths"].values():
            for operation in methods.values():
                operation["responses"].pop("422", None)
        for name in ("HTTPValidationError", "ValidationError"):
            document.get("components", {}).get("schemas", {}).pop(name, None)
        if options.key:
            document["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
            document["security"] = [{"key": []}]
            document["paths"]["/health"]["get"]["security"] = []
        app.openapi_schema = document
    return app.openapi_schema
