"""What the controller decides about settings, ACLs, users, quotas and features.

Pure functions, like topic_changes.py.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pykclient.broker.authorizer import AclBinding, AclFilter
from pykclient.broker.config_keys import (
    BROKER_KEYS,
    DYNAMIC_BROKER_KEYS,
    TOPIC_KEYS,
    split_list,
)
from pykclient.broker.configs import check
from pykclient.broker.image import (
    AclsChanged,
    BrokerConfigsPut,
    Change,
    FeaturePut,
    MetadataImage,
    QuotaEntity,
    QuotaPut,
    ScramPut,
    TopicPut,
)
from pykclient.broker.log_config import ConfigType, LogOption
from pykclient.broker.topic_changes import Decision
from pykclient.errors import ErrorCode
from pykclient.net.scram import ScramCredential

Outcome = tuple[ErrorCode, "str | None"]
DONE: Outcome = (ErrorCode.NONE, None)


class ConfigResource(enum.IntEnum):
    """What a setting is set on; numbers as on the wire."""

    UNKNOWN = 0
    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


class AlterOperation(enum.IntEnum):
    """What IncrementalAlterConfigs does with a value; numbers as on the wire."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


@dataclass(frozen=True, slots=True)
class Alteration:
    """One value to change."""

    name: str
    operation: int
    value: str | None


@dataclass(frozen=True, slots=True)
class Feature:
    """A feature this broker knows, and the level a new cluster starts at."""

    name: str
    min_level: int
    max_level: int
    default_level: int


FEATURES = (
    Feature("metadata.version", 7, 30, 30),
    Feature("group.version", 0, 1, 1),
    Feature("transaction.version", 0, 2, 2),
)


def feature_defaults() -> dict[str, int]:
    """The finalized features of a new cluster."""
    return {feature.name: feature.default_level for feature in FEATURES}


def alter_configs(
    image: MetadataImage,
    resources: Sequence[tuple[int, str, Sequence[Alteration]]],
    *,
    replace_all: bool,
    validate_only: bool,
) -> Decision[list[Outcome]]:
    """One outcome per resource, in order. ``replace_all`` is the old AlterConfigs: what is not named is unset."""
    outcomes: list[Outcome] = []
    changes: list[Change] = []
    for kind, name, alterations in resources:
        change = _altered(image, kind, name, alterations, replace_all=replace_all)
        if isinstance(change, tuple):
            outcomes.append(change)
            continue
        outcomes.append(DONE)
        changes.append(change)
        image = change.apply(image)
    return Decision(outcomes, [] if validate_only else changes)


def _altered(
    image: MetadataImage, kind: int, name: str, alterations: Sequence[Alteration], *, replace_all: bool
) -> Change | Outcome:
    if len({item.name for item in alterations}) != len(alterations):
        return ErrorCode.INVALID_REQUEST, "Error due to duplicate config keys"
    if kind == ConfigResource.TOPIC:
        topic = image.topics.get(name)
        if topic is None:
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{name}' does not exist."
        values = _values({} if replace_all else topic.configs, TOPIC_KEYS, alterations)
        return values if isinstance(values, tuple) else TopicPut(replace(topic, configs=values))
    if kind == ConfigResource.BROKER:
        if name and not (name.isdigit() and int(name) in image.brokers):
            return ErrorCode.INVALID_REQUEST, f"Unknown broker {name!r}"
        fixed = [item.name for item in alterations if item.name in BROKER_KEYS.keys() - DYNAMIC_BROKER_KEYS]
        if fixed:
            return ErrorCode.INVALID_REQUEST, f"Cannot update these configs dynamically: {', '.join(fixed)}"
        values = _values({} if replace_all else image.broker_configs.get(name, {}), BROKER_KEYS, alterations)
        return values if isinstance(values, tuple) else BrokerConfigsPut(name, values)
    return ErrorCode.INVALID_REQUEST, f"Unsupported resource type {kind}"


def _values(
    current: Mapping[str, str], keys: Mapping[str, LogOption], alterations: Sequence[Alteration]
) -> dict[str, str] | Outcome:
    values = dict(current)
    for item in alterations:
        key = keys.get(item.name)
        if key is None:
            return ErrorCode.INVALID_CONFIG, f"Unknown config name: {item.name}"
        if item.operation == AlterOperation.DELETE:
            values.pop(item.name, None)
            continue
        if item.value is None:
            return ErrorCode.INVALID_REQUEST, f"Null value not supported for {item.name}"
        if item.operation == AlterOperation.SET:
            values[item.name] = item.value
            continue
        if key.type != ConfigType.LIST:
            return ErrorCode.INVALID_CONFIG, f"Can't APPEND to or SUBTRACT from {item.name}: it is not a list"
        parts = split_list(values.get(item.name, key.default))
        given = split_list(item.value)
        if item.operation == AlterOperation.APPEND:
            parts += [part for part in given if part not in parts]
        elif item.operation == AlterOperation.SUBTRACT:
            parts = [part for part in parts if part not in given]
        else:
            return ErrorCode.INVALID_REQUEST, f"Unknown config operation {item.operation}"
        values[item.name] = ",".join(parts)
    problem = check(keys, values)
    return values if problem is None else (ErrorCode.INVALID_CONFIG, problem)


def create_acls(bindings: Sequence[AclBinding]) -> Decision[None]:
    """Add bindings; the caller has checked each."""
    return Decision(None, [AclsChanged(added=tuple(bindings))] if bindings else [])


def delete_acls(image: MetadataImage, filters: Sequence[AclFilter]) -> Decision[list[list[AclBinding]]]:
    """Remove what matches; for each filter what it removed."""
    matches = [[binding for binding in image.acls if wanted.matches(binding)] for wanted in filters]
    removed = tuple({binding for found in matches for binding in found})
    return Decision(matches, [AclsChanged(removed=removed)] if removed else [])


def alter_scram(
    image: MetadataImage,
    deletions: Sequence[tuple[str, int]],
    upsertions: Sequence[tuple[str, int, ScramCredential]],
) -> Decision[dict[str, Outcome]]:
    """One outcome per user."""
    outcomes: dict[str, Outcome] = {}
    changes: list[Change] = []
    for user, mechanism in deletions:
        if (user, mechanism) in image.scram:
            outcomes.setdefault(user, DONE)
            changes.append(ScramPut(user, mechanism, None))
        else:
            outcomes[user] = (ErrorCode.RESOURCE_NOT_FOUND, "Attempt to delete a user credential that does not exist")
    for user, mechanism, credential in upsertions:
        outcomes.setdefault(user, DONE)
        changes.append(ScramPut(user, mechanism, credential))
    return Decision(outcomes, changes)


def alter_quotas(
    image: MetadataImage,
    entries: Sequence[tuple[QuotaEntity, Sequence[tuple[str, float | None]]]],
    *,
    validate_only: bool,
) -> Decision[None]:
    """Set (or with None remove) values of entities."""
    changes: list[Change] = []
    for entity, operations in entries:
        values = dict(image.quotas.get(entity, {}))
        for key, value in operations:
            if value is None:
                values.pop(key, None)
            else:
                values[key] = value
        changes.append(QuotaPut(entity, values))
    return Decision(None, [] if validate_only else changes)


def update_features(
    image: MetadataImage, updates: Sequence[tuple[str, int, int]], *, validate_only: bool
) -> Decision[list[tuple[str, ErrorCode, str | None]]]:
    """Each update: name, level, and how (1 upgrade, 2 safe downgrade, 3 unsafe downgrade)."""
    known = {feature.name: feature for feature in FEATURES}
    results: list[tuple[str, ErrorCode, str | None]] = []
    changes: list[Change] = []
    for name, level, how in updates:
        feature = known.get(name)
        current = image.features.get(name, 0)
        if feature is None or not (level == 0 or feature.min_level <= level <= feature.max_level):
            results.append((name, ErrorCode.INVALID_UPDATE_VERSION, f"Level {level} of {name} is not supported."))
        elif level < current and how == 1:
            results.append((name, ErrorCode.INVALID_UPDATE_VERSION, f"{name} would be downgraded without saying so."))
        elif level > current and how != 1:
            results.append(
                (name, ErrorCode.INVALID_UPDATE_VERSION, f"{name} would be upgraded by a downgrade request.")
            )
        else:
            results.append((name, ErrorCode.NONE, None))
            changes.append(FeaturePut(name, level))
    failed = any(error != ErrorCode.NONE for _, error, _ in results)
    return Decision(results, [] if validate_only or failed else changes)
