"""Delegation tokens (KIP-48): create, describe, renew, expire. Operations on the reactor thread; any broker forwards.

A token's HMAC is a password: it is shown in no ``repr``, log or error.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pykclient.admin.routing import Controller, Session, ask_once, check
from pykclient.admin.types import DelegationToken
from pykclient.client.engine import Operation
from pykclient.errors import UsageError
from pykclient.net.client_request import Request
from pykclient.protocol.messages import ApiKey
from pykclient.protocol.messages.create_delegation_token import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from pykclient.protocol.messages.describe_delegation_token import (
    DescribeDelegationTokenOwner,
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)
from pykclient.protocol.messages.expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)
from pykclient.protocol.messages.renew_delegation_token import RenewDelegationTokenRequest, RenewDelegationTokenResponse


def _principal(text: str) -> tuple[str, str]:
    kind, separator, name = text.partition(":")
    if not separator or not kind or not name:
        raise UsageError(f"a principal is written User:name, not {text!r}")
    return kind, name


def create_token(
    session: Session, *, owner: str | None, renewers: Iterable[str], max_lifetime_ms: int | None
) -> Operation[DelegationToken]:
    """A token for the one who asks, or with ``owner`` for another (KIP-373)."""
    others = [_principal(each) for each in renewers]

    def build(version: int) -> CreateDelegationTokenRequest:
        message = CreateDelegationTokenRequest(
            renewers=[CreatableRenewers(principal_type=kind, principal_name=name) for kind, name in others],
            max_lifetime_ms=-1 if max_lifetime_ms is None else max_lifetime_ms,
        )
        if version >= 3:
            message.owner_principal_type, message.owner_principal_name = (
                (None, None) if owner is None else _principal(owner)
            )
        return message

    def read(response: CreateDelegationTokenResponse) -> DelegationToken:
        check(response.error_code, api="CreateDelegationToken")
        return DelegationToken(
            response.token_id,
            response.hmac,
            f"{response.principal_type}:{response.principal_name}",
            response.issue_timestamp_ms,
            response.expiry_timestamp_ms,
            response.max_timestamp_ms,
            tuple(f"{kind}:{name}" for kind, name in others),
        )

    def request(node_id: int | None) -> Request[CreateDelegationTokenResponse]:
        return Request(
            api_key=ApiKey.CREATE_DELEGATION_TOKEN,
            build=build,
            node_id=node_id,
            version_min=0 if owner is None else 3,
        )

    return (yield from ask_once(session, request, read, route=Controller()))


def describe_tokens(session: Session, owners: Iterable[str] | None) -> Operation[list[DelegationToken]]:
    """The tokens we may see, of these owners or of all."""
    wanted = None if owners is None else [_principal(each) for each in owners]
    message = DescribeDelegationTokenRequest(
        owners=None
        if wanted is None
        else [DescribeDelegationTokenOwner(principal_type=kind, principal_name=name) for kind, name in wanted]
    )

    def read(response: DescribeDelegationTokenResponse) -> list[DelegationToken]:
        check(response.error_code, api="DescribeDelegationToken")
        return [_token(row) for row in response.tokens]

    def request(node_id: int | None) -> Request[DescribeDelegationTokenResponse]:
        return Request(message, node_id=node_id)

    return (yield from ask_once(session, request, read))


def _token(row: Any) -> DelegationToken:
    return DelegationToken(
        row.token_id,
        row.hmac,
        f"{row.principal_type}:{row.principal_name}",
        row.issue_timestamp,
        row.expiry_timestamp,
        row.max_timestamp,
        tuple(f"{each.principal_type}:{each.principal_name}" for each in row.renewers),
    )


def renew_token(session: Session, hmac: bytes, period_ms: int | None) -> Operation[int]:
    """Let it live on for so long (None: the broker's default); gives when it expires, in milliseconds."""
    message = RenewDelegationTokenRequest(hmac=hmac, renew_period_ms=-1 if period_ms is None else period_ms)

    def read(response: RenewDelegationTokenResponse) -> int:
        check(response.error_code, api="RenewDelegationToken")
        return response.expiry_timestamp_ms

    def request(node_id: int | None) -> Request[RenewDelegationTokenResponse]:
        return Request(message, node_id=node_id)

    return (yield from ask_once(session, request, read, route=Controller()))


def expire_token(session: Session, hmac: bytes, period_ms: int | None) -> Operation[int]:
    """Let it expire after so long (None: now)."""
    message = ExpireDelegationTokenRequest(hmac=hmac, expiry_time_period_ms=-1 if period_ms is None else period_ms)

    def read(response: ExpireDelegationTokenResponse) -> int:
        check(response.error_code, api="ExpireDelegationToken")
        return response.expiry_timestamp_ms

    def request(node_id: int | None) -> Request[ExpireDelegationTokenResponse]:
        return Request(message, node_id=node_id)

    return (yield from ask_once(session, request, read, route=Controller()))
