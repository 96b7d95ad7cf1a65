"""The shop over HTTP: five services with their own tokens, the books, and the routes that set the scene."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, TypeVar
from urllib.parse import unquote

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2
from pydantic import BaseModel, ValidationError

from functions.sandbox import asks
from functions.sandbox.access import refuse_admin, refuse_caller
from functions.sandbox.asks import Answer, Ask
from functions.sandbox.faults import Fault
from functions.sandbox.shop import Shop
from functions.sandbox.stage import Stage

Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class _Mutation:
    """A route that changes something: its address, who does it, and what its body is."""

    path: str
    service: str
    operation: str
    body: type[BaseModel]


MUTATIONS = (
    _Mutation("/inventory/reservations", "inventory", "reserve", asks.Reservation),
    _Mutation("/inventory/reservations/<resource>/release", "inventory", "release", asks.Nothing),
    _Mutation("/payments/authorizations", "payments", "authorize", asks.Authorization),
    _Mutation("/payments/authorizations/<resource>/void", "payments", "void", asks.Nothing),
    _Mutation("/payments/captures", "payments", "capture", asks.Capture),
    _Mutation("/shipping/shipments", "shipping", "ship", asks.Shipment),
    _Mutation("/mail/messages", "mail", "send", asks.Message),
)
_DONE = Answer(HTTPStatus.OK, {})


class Api:
    """Answers HTTP API events (payload 2.0). May be called by many threads at once."""

    def __init__(self, shop: Shop, admin_sha256: str) -> None:
        self._shop = shop
        self._admin_sha256 = admin_sha256

    def __call__(self, event: dict[str, Any], context: Any) -> dict[str, Any]:
        """One request. The resolver keeps the current event on its class; an own one for each request does not."""
        app = APIGatewayHttpResolver()
        app.current_event = APIGatewayProxyEventV2(event)
        _Request(app, self._shop, self._admin_sha256).register()
        return app.resolve(event, context)


class _Refusal(Exception):
    """The request ends here, with this answer."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.body.get("code"))
        self.answer = answer


class _Request:
    """The routes, for one request."""

    def __init__(self, app: APIGatewayHttpResolver, shop: Shop, admin_sha256: str) -> None:
        self._app = app
        self._event = app.current_event
        self._shop = shop
        self._stage = Stage(shop.store)
        self._admin_sha256 = admin_sha256

    def register(self) -> None:
        """Name every route; the one that matches is called by the resolver."""
        for mutation in MUTATIONS:
            self._route("POST", mutation.path, self._mutate(mutation))
        for service in sorted({mutation.service for mutation in MUTATIONS}):
            self._route("GET", f"/{service}/keys/<key>", self._by_key(service, "status"))
            self._route("DELETE", f"/{service}/keys/<key>", self._by_key(service, "cancel"))
        self._route("GET", "/orders/<order_id>", self._order)
        self._route("GET", "/books", self._books)
        self._route("PUT", "/_sandbox/orders/<order_id>", self._put_order)
        self._route("PUT", "/_sandbox/stock", self._admin(asks.Stock, self._stage.put_stock))
        self._route("PUT", "/_sandbox/tokens", self._admin(asks.Token, self._stage.put_token))
        self._route("DELETE", "/_sandbox/tokens/<sha256>", self._remove_token)
        self._route("POST", "/_sandbox/faults", self._admin(Fault, self._stage.order_trouble))
        self._route("DELETE", "/_sandbox/faults", self._admin(None, self._stage.calm))
        self._route("POST", "/_sandbox/changes", self._change)
        self._route("DELETE", "/_sandbox", self._admin(None, self._stage.clear))

    def _route(self, method: str, path: str, answer: Callable[..., Answer]) -> None:
        def respond(**parts: str) -> Response[str]:
            try:
                given = answer(**{name: unquote(part) for name, part in parts.items()})
            except _Refusal as refusal:
                given = refusal.answer
            return Response(
                status_code=given.status,
                content_type="application/json",
                body=json.dumps(given.body),
                headers=dict(given.headers),
            )

        self._app.route(path, method)(respond)

    def _mutate(self, mutation: _Mutation) -> Callable[..., Answer]:
        def answer(resource: str | None = None) -> Answer:
            self._caller(mutation.service, mutation.operation)
            key = self._header("idempotency-key")
            if not key:
                raise _Refusal(Answer.refused(400, "no_key", "send an Idempotency-Key"))
            return self._shop.do(
                Ask(
                    service=mutation.service,
                    operation=mutation.operation,
                    key=key,
                    body=self._body(mutation.body),
                    new_id=secrets.token_hex(6),
                    resource=resource,
                    condition=self._header("if-match").strip('"') or None,
                )
            )

        return answer

    def _by_key(self, service: str, operation: str) -> Callable[..., Answer]:
        def answer(key: str) -> Answer:
            self._caller(service, operation)
            ask = self._shop.status if operation == "status" else self._shop.cancel
            return ask(service, key)

        return answer

    def _order(self, order_id: str) -> Answer:
        self._caller("orders", "read")
        return self._shop.order(order_id)

    def _books(self) -> Answer:
        self._only_admin()
        order_id = self._event.get_query_string_value("order_id", default_value="") or None
        return Answer(HTTPStatus.OK, {"entries": self._shop.books(order_id)})

    def _put_order(self, order_id: str) -> Answer:
        self._only_admin()
        self._stage.put_order(order_id, self._body(asks.Order))
        return _DONE

    def _remove_token(self, sha256: str) -> Answer:
        self._only_admin()
        self._stage.remove_token(sha256)
        return _DONE

    def _change(self) -> Answer:
        self._only_admin()
        if self._stage.change(self._body(asks.Change)):
            return _DONE
        return Answer.refused(404, "not_found", "there is no such resource")

    def _admin(
        self, model: type[BaseModel] | None, does: Callable[..., None]
    ) -> Callable[[], Answer]:
        def answer() -> Answer:
            self._only_admin()
            does(*(() if model is None else (self._body(model),)))
            return _DONE

        return answer

    def _caller(self, service: str, operation: str) -> None:
        self._stop(
            refuse_caller(self._shop.store, self._header("authorization"), service, operation)
        )

    def _only_admin(self) -> None:
        self._stop(refuse_admin(self._admin_sha256, self._header("authorization")))

    def _stop(self, refusal: Answer | None) -> None:
        if refusal is not None:
            raise _Refusal(refusal)

    def _header(self, name: str) -> str:
        headers: Mapping[str, str] = self._event.headers
        return next((value for key, value in headers.items() if key.lower() == name), "")

    def _body(self, model: type[Model]) -> Model:
        try:
            text = self._event.decoded_body or "{}"
        except ValueError:
            raise _Refusal(Answer.refused(422, "invalid", "the body is not UTF-8 text")) from None
        try:
            return model.model_validate_json(text)
        except ValidationError as error:
            wrong = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
            raise _Refusal(Answer.refused(422, "invalid", wrong[:1000])) from None
