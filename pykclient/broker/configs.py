"""How the options of topics and brokers are checked, typed and laid over each other.

Pure functions over the tables of config_keys.py, usable from any thread. A topic's value is what was set on the
topic, else what was set on the broker under the synonym (for this broker, for all brokers, or at start), else the
default.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import TypeVar

from pykclient.broker.config_keys import (
    BROKER_KEYS,
    TOPIC_KEYS,
    ConfigSource,
    contradiction,
    problem_with,
    sensitive,
    split_list,
)
from pykclient.broker.log_config import LogOption
from pykclient.errors import ConfigError


def check(keys: Mapping[str, LogOption], values: Mapping[str, str]) -> str | None:
    """The first thing that is wrong with the values, or None."""
    for name, value in values.items():
        key = keys.get(name)
        if key is None:
            return f"Unknown topic config name: {name}" if keys is TOPIC_KEYS else f"Unknown config name: {name}"
        problem = problem_with(key, value)
        if problem is not None:
            return problem
    return None


@dataclass(frozen=True, slots=True)
class ConfigEntry:
    """A value and every place that has one, the strongest first."""

    key: LogOption
    name: str
    value: str
    source: ConfigSource
    synonyms: tuple[tuple[str, str, ConfigSource], ...]


D = TypeVar("D")


class BrokerConfig:
    """The settings a broker was started with. Values are strings with Kafka's spelling; unknown names are refused."""

    def __init__(self, values: Mapping[str, object] | None = None) -> None:
        self.static: dict[str, str] = {name: as_text(value) for name, value in (values or {}).items()}
        problem = check(BROKER_KEYS, self.static) or contradiction(self.number)
        if problem is not None:
            raise ConfigError(problem)

    def __repr__(self) -> str:
        shown = {name: "[hidden]" if sensitive(BROKER_KEYS[name]) else value for name, value in self.static.items()}
        return f"BrokerConfig({shown})"

    def text(self, name: str) -> str:
        """The value as it was given, or the default."""
        return self.static.get(name, BROKER_KEYS[name].default)

    def number(self, name: str) -> int:
        """The value of a numeric option."""
        return int(self.text(name))

    def flag(self, name: str) -> bool:
        """The value of a boolean option."""
        return self.text(name).lower() == "true"

    def seconds(self, name: str) -> float:
        """The value of an option in milliseconds, in seconds."""
        return self.number(name) / 1000

    def into(self, config_class: type[D]) -> D:
        """A dataclass whose fields are named after options (``group_max_size``), filled from here; other fields
        keep their default.
        """
        values: dict[str, object] = {}
        for item in fields(config_class):  # type: ignore[arg-type]
            name = item.name.replace("_", ".")
            if name in BROKER_KEYS:
                values[item.name] = _typed(BROKER_KEYS[name], self.text(name), item.default)
        return config_class(**values)


def _typed(key: LogOption, value: str, default: object) -> object:
    if isinstance(default, enum.Enum):
        return type(default)(value)
    if isinstance(default, tuple):
        return tuple(split_list(value))
    return key.parse(value)


def as_text(value: object) -> str:
    """A Python value with Kafka's spelling."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(str(part) for part in value)
    return str(value)


def dotted(options: Mapping[str, object]) -> dict[str, object]:
    """Python keyword names (``num_partitions``) as Kafka's (``num.partitions``); dotted names pass as they are."""
    return {name if "." in name else name.replace("_", "."): value for name, value in options.items()}


def broker_layers(
    config: BrokerConfig, node_id: int, broker_configs: Mapping[str, Mapping[str, str]]
) -> list[tuple[ConfigSource, Mapping[str, str]]]:
    """The places a broker option can come from, the strongest first."""
    return [
        (ConfigSource.DYNAMIC_BROKER_CONFIG, broker_configs.get(str(node_id), {})),
        (ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG, broker_configs.get("", {})),
        (ConfigSource.STATIC_BROKER_CONFIG, config.static),
    ]


def resolve(
    key: LogOption, layers: Iterable[tuple[ConfigSource, Mapping[str, str]]], topic: Mapping[str, str] | None = None
) -> ConfigEntry:
    """The effective value of an option of a topic (with its own settings given) or of a broker."""
    synonyms: list[tuple[str, str, ConfigSource]] = []
    broker_name = key.name if topic is None else key.broker_name
    if topic is not None and key.name in topic:
        synonyms.append((key.name, topic[key.name], ConfigSource.TOPIC_CONFIG))
    if broker_name is not None:
        synonyms += [(broker_name, values[broker_name], source) for source, values in layers if broker_name in values]
    synonyms.append((broker_name or key.name, key.default, ConfigSource.DEFAULT_CONFIG))
    _, value, source = synonyms[0]
    return ConfigEntry(key, key.name, value, source, tuple(synonyms))


def topic_values(
    layers: list[tuple[ConfigSource, Mapping[str, str]]], topic_configs: Mapping[str, str]
) -> dict[str, str]:
    """All effective options of a topic."""
    return {name: resolve(key, layers, topic_configs).value for name, key in TOPIC_KEYS.items()}
