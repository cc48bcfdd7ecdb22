"""SCRAM users and client quotas. Operations on the reactor thread; changes go to the controller.

A password must never leave this process, be logged or be held longer than its hashing takes, which runs on the caller's
thread: it is costly on purpose, and would stop every other call of the client.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

from pykclient.admin.results import Results
from pykclient.admin.routing import Controller, Session, ask_once, check, fan_out, outcome_of
from pykclient.admin.types import QuotaEntity, ScramDeletion, ScramUpsertion
from pykclient.client.engine import Operation, invoke
from pykclient.errors import KafkaError, UsageError, broker_error
from pykclient.net.client_request import Request
from pykclient.net.scram import ITERATIONS_MIN, salted_password
from pykclient.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    OpData,
    RequestEntityData,
    RequestEntryData,
)
from pykclient.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from pykclient.protocol.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
)
from pykclient.protocol.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    UserName,
)

MECHANISMS = {"SCRAM-SHA-256": 1, "SCRAM-SHA-512": 2}
MECHANISM_NAMES = {number: name for name, number in MECHANISMS.items()}
SALT_BYTES = 24
EXACT, DEFAULT, ANY = range(3)


# ---- SCRAM ----


def describe_users(session: Session, users: Iterable[str] | None) -> Operation[Results[str, dict[str, int]]]:
    """Mechanism to iterations per user; all users when None. What is stored of a password is never given out."""
    names = None if users is None else list(dict.fromkeys(users))

    def read(response: DescribeUserScramCredentialsResponse) -> dict[str, dict[str, int] | KafkaError]:
        check(response.error_code, response.error_message, api="DescribeUserScramCredentials")
        return {
            row.user: outcome_of(
                row.error_code,
                {
                    MECHANISM_NAMES.get(each.mechanism, f"mechanism {each.mechanism}"): each.iterations
                    for each in row.credential_infos
                },
                row.error_message,
            )
            for row in response.results
        }

    asked = None if names is None else [UserName(name=name) for name in names]
    found = yield from ask_once(
        session,
        lambda node_id: Request[DescribeUserScramCredentialsResponse](
            DescribeUserScramCredentialsRequest(users=asked), node_id=node_id
        ),
        read,
        route=Controller(),
    )
    return Results({name: found[name] for name in (sorted(found) if names is None else names)})


def alter_users(session: Session, changes: Iterable[ScramUpsertion | ScramDeletion]) -> Operation[Results[str, None]]:
    """Make users, change their passwords, take credentials away; one outcome per user."""
    wanted = list(changes)
    for change in wanted:
        if change.mechanism not in MECHANISMS:
            raise UsageError(f"{change.mechanism!r} is not one of {', '.join(MECHANISMS)}")
        if isinstance(change, ScramUpsertion) and change.iterations < ITERATIONS_MIN:
            raise UsageError(f"{change.iterations} SCRAM iterations are too few; at least {ITERATIONS_MIN}")
    outcomes: dict[str, KafkaError | None] = {}
    for changes_now in once_per_user(wanted):
        results = yield from _alter_once(session, changes_now)
        for user in results:
            outcomes[user] = outcomes.get(user) or results.error(user)
    return Results(outcomes)


def once_per_user(changes: Iterable[ScramUpsertion | ScramDeletion]) -> list[dict[str, ScramUpsertion | ScramDeletion]]:
    """Changes in as many requests as needed: the controller refuses a request that names a user twice."""
    rounds: list[dict[str, ScramUpsertion | ScramDeletion]] = []
    for change in changes:
        free = next((each for each in rounds if change.user not in each), None)
        if free is None:
            rounds.append({change.user: change})
        else:
            free[change.user] = change
    return rounds


def _alter_once(
    session: Session, changes: Mapping[str, ScramUpsertion | ScramDeletion]
) -> Operation[Results[str, None]]:
    deletions: dict[str, ScramCredentialDeletion] = {}
    upsertions: dict[str, ScramCredentialUpsertion] = {}
    for user, change in changes.items():
        number = MECHANISMS[change.mechanism]
        if isinstance(change, ScramDeletion):
            deletions[user] = ScramCredentialDeletion(name=user, mechanism=number)
            continue
        salt = change.salt or session.office.random_bytes(SALT_BYTES)
        upsertions[user] = ScramCredentialUpsertion(
            name=user,
            mechanism=number,
            iterations=change.iterations,
            salt=salt,
            salted_password=(yield from invoke(partial(_salted, change, salt))),
        )

    def ask(names: list[str], node_id: int | None) -> Request[AlterUserScramCredentialsResponse]:
        message = AlterUserScramCredentialsRequest(
            deletions=[deletions[name] for name in names if name in deletions],
            upsertions=[upsertions[name] for name in names if name in upsertions],
        )
        return Request(message, node_id=node_id)

    def read(response: AlterUserScramCredentialsResponse, names: list[str]) -> dict[str, KafkaError | None]:
        return {row.user: outcome_of(row.error_code, None, row.error_message) for row in response.results}

    return (yield from fan_out(session, changes, route=Controller(), ask=ask, read=read))


def _salted(change: ScramUpsertion, salt: bytes) -> bytes:
    return salted_password(change.mechanism, change.password, salt, change.iterations)


# ---- quotas ----

EntityKey = tuple[tuple[str, "str | None"], ...]
"""An entity as a key of a mapping: its sorted pairs."""


def entity_key(entity: QuotaEntity) -> EntityKey:
    """The same entity gives the same key, however it was written."""
    return tuple(sorted(entity.items()))


def describe_quotas(
    session: Session, components: Mapping[str, str | None], *, any_of: Iterable[str], strict: bool
) -> Operation[dict[EntityKey, dict[str, float]]]:
    """Quotas by entity. ``components`` match exactly (None: the default), ``any_of`` name kinds that match anyhow."""
    rows = [
        ComponentData(entity_type=kind, match_type=DEFAULT if name is None else EXACT, match=name)
        for kind, name in components.items()
    ]
    rows += [ComponentData(entity_type=kind, match_type=ANY, match=None) for kind in any_of]

    def read(response: DescribeClientQuotasResponse) -> dict[EntityKey, dict[str, float]]:
        check(response.error_code, response.error_message, api="DescribeClientQuotas")
        return {
            entity_key({each.entity_type: each.entity_name for each in entry.entity}): {
                value.key: value.value for value in entry.values
            }
            for entry in response.entries or ()
        }

    return (
        yield from ask_once(
            session,
            lambda node_id: Request[DescribeClientQuotasResponse](
                DescribeClientQuotasRequest(components=rows, strict=strict), node_id=node_id
            ),
            read,
        )
    )


def alter_quotas(
    session: Session,
    changes: Iterable[tuple[QuotaEntity, Mapping[str, float | None]]],
    *,
    validate_only: bool,
) -> Operation[Results[EntityKey, None]]:
    """Set quotas; None removes one."""
    wanted = {entity_key(entity): dict(values) for entity, values in changes}

    def ask(items: list[EntityKey], node_id: int | None) -> Request[AlterClientQuotasResponse]:
        message = AlterClientQuotasRequest(
            entries=[
                RequestEntryData(
                    entity=[RequestEntityData(entity_type=kind, entity_name=name) for kind, name in item],
                    ops=[
                        OpData(key=key, value=0.0 if value is None else float(value), remove=value is None)
                        for key, value in wanted[item].items()
                    ],
                )
                for item in items
            ],
            validate_only=validate_only,
        )
        return Request(message, node_id=node_id)

    def read(response: AlterClientQuotasResponse, items: list[EntityKey]) -> dict[EntityKey, KafkaError | None]:
        return {
            entity_key({each.entity_type: each.entity_name for each in row.entity}): (
                broker_error(row.error_code, row.error_message) if row.error_code else None
            )
            for row in response.entries
        }

    return (yield from fan_out(session, wanted, route=Controller(), ask=ask, read=read))
