"""The options of producer, consumer and admin client: names, defaults and limits of Kafka 4.3's Java clients.

One line of truth per option; a default is written nowhere else. The configurations are frozen and safe to share
between threads. Times are whole milliseconds here, at the edge; inside they are seconds. ``ours``: not in Java.
"""

# ruff: noqa: RUF009 - the calls make dataclass fields; they are not defaults shared between instances.

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from pykclient.config.options import (
    INT32_MAX,
    Invalid,
    Secret,
    boolean,
    choice,
    integer,
    load,
    option,
    secret,
    show,
    words,
)
from pykclient.config.options import text as text_option
from pykclient.config.refused import ALIASES, REFUSED
from pykclient.config.security import SASL_MECHANISMS, HostPort, parse_bootstrap_servers, resolve_security
from pykclient.errors import ConfigError
from pykclient.plugins import SERDE_NAMES, Deserializer, Serializer, serde_by_name

if TYPE_CHECKING:
    from ssl import SSLContext

    from pykclient.plugins import (
        ConsumerInterceptor,
        DeserializerLike,
        Partitioner,
        ProducerInterceptor,
        SerializerLike,
        TokenProvider,
    )

logger = logging.getLogger(__name__)

ASSIGNOR_NAMES = ("range", "roundrobin", "sticky", "cooperative-sticky")
PARTITIONER_NAMES = (
    "default",
    "uniform_sticky",
    "round_robin",
    "random",
    "consistent",
    "consistent_random",
    "murmur2",
    "murmur2_random",
    "fnv1a",
    "fnv1a_random",
)
_JAVA_ASSIGNORS = {
    f"org.apache.kafka.clients.consumer.{java}Assignor": name
    for java, name in zip(("Range", "RoundRobin", "Sticky", "CooperativeSticky"), ASSIGNOR_NAMES, strict=True)
}
_DURATION = r"(?i)P(?=.)(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+(\.\d{1,9})?S)?)?\Z"


def _plugin(default: Any, doc: str, *methods: str, kind: str = "object", ours: bool = False) -> Any:
    """An object with certain methods."""

    def parse(value: Any) -> Any:
        if isinstance(value, type):
            raise Invalid(f"must be an object, not the class {value.__name__}; call it: {value.__name__}()")
        missing = [name for name in methods if not callable(getattr(value, name, None))]
        if missing:
            raise Invalid(f"must be an object with {', '.join(m + '()' for m in methods)}, not {type(value).__name__}")
        return value

    return option(default, parse=parse, doc=doc, kind=kind, ours=ours)


def _uint31(default: int, *, doc: str) -> Any:
    """A number that Java keeps in an int and that is not negative."""
    return integer(default, at_least=0, at_most=INT32_MAX, doc=doc)


def _serde(doc: str, protocol: type, method: str) -> Any:
    """A serializer or deserializer: an object, a function, or the name of a built-in."""

    def parse(value: Any) -> Any:
        if isinstance(value, str):
            built_in = serde_by_name(value)
            if built_in is None:
                raise Invalid(f"names no built-in (known: {', '.join(SERDE_NAMES)}); pass the object or a function")
            return built_in
        if isinstance(value, type):
            raise Invalid(f"must be an object, not the class {value.__name__}; call it: {value.__name__}()")
        if not (isinstance(value, protocol) or callable(value)):
            raise Invalid(f"must have {method}() or be a function, not {type(value).__name__}")
        return value

    return option(None, parse=parse, doc=doc, kind="object", limits="or one of " + ", ".join(SERDE_NAMES))


def _parse_acks(value: Any) -> int:
    acks = {"all": -1, "-1": -1, "0": 0, "1": 1}.get(str(value).strip().lower())
    if acks is None or isinstance(value, bool):
        raise Invalid(f"must be all (-1), 0 or 1, not {value!r}")
    return acks


def _parse_partitioner(value: Any) -> Any:
    if isinstance(value, str):
        value = {"crc32": "consistent", "crc32_random": "consistent_random"}.get(value, value)
        if value not in PARTITIONER_NAMES:
            raise Invalid(f"must be one of {', '.join(PARTITIONER_NAMES)}, or an object, not {value!r}")
        return value
    if isinstance(value, type) or not (callable(value) or callable(getattr(value, "partition", None))):
        raise Invalid("must be a name, an object with partition(), or a function")
    return value


def _parse_assignors(value: Any) -> tuple[Any, ...]:
    items = value.split(",") if isinstance(value, str) else value if isinstance(value, (list, tuple)) else [value]
    assignors: list[Any] = []
    for item in items:
        if isinstance(item, str):
            name = _JAVA_ASSIGNORS.get(item.strip(), item.strip())
            if name not in ASSIGNOR_NAMES:
                raise Invalid(
                    f"has {item.strip()!r}; known are {', '.join(ASSIGNOR_NAMES)}; or pass your assignor object"
                )
            assignors.append(name)
        elif callable(getattr(item, "assign", None)) and not isinstance(item, type):
            assignors.append(item)
        else:
            raise Invalid("must list names of assignors or objects with assign()")
    if not assignors:
        raise Invalid("must name at least one assignor")
    return tuple(dict.fromkeys(assignors))


def _parse_offset_reset(value: Any) -> str:
    policy = str(value).strip()
    if policy.lower() in ("earliest", "latest", "none"):
        return policy.lower()
    if policy.startswith("by_duration:") and re.match(_DURATION, policy[len("by_duration:") :]):
        return policy
    raise Invalid(f"must be earliest, latest, none or by_duration:<ISO 8601, like PT1H>, not {value!r}")


def _parse_store_type(value: Any) -> str:
    if str(value).upper() == "PEM":
        return "PEM"
    raise Invalid(
        f"must be PEM, not {value!r}; export the store: keytool -importkeystore, then openssl pkcs12 -out x.pem"
    )


def _parse_identification(value: Any) -> str:
    if value is None or str(value).lower() in ("", "none"):
        return ""
    if str(value).lower() == "https":
        return "https"
    raise Invalid(f"must be https, or empty to leave the host name unchecked, not {value!r}")


def _parse_interceptors(*methods: str) -> Callable[[Any], tuple[Any, ...]]:
    def parse(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, (list, tuple)):
            raise Invalid("must be a list of objects")
        for item in value:
            if isinstance(item, (str, type)) or not all(callable(getattr(item, name, None)) for name in methods):
                raise Invalid(f"must be a list of objects with {', '.join(m + '()' for m in methods)}")
        return tuple(value)

    return parse


@dataclass(frozen=True, kw_only=True, repr=False)
class CommonConfig:
    """What all clients share."""

    bootstrap_servers: tuple[HostPort, ...] = option(
        parse=parse_bootstrap_servers,
        kind="list",
        limits="host:port, IPv6 in brackets",
        doc="Brokers to learn the cluster from; a few are enough.",
    )
    client_id: str = text_option("", doc="Name of this client in broker logs and quotas; made up when empty.")
    client_dns_lookup: str = choice(
        "use_all_dns_ips", "use_all_dns_ips", doc="Every address of a name is tried; the only way there is here."
    )
    request_timeout_ms: int = integer(
        30_000, at_least=0, at_most=INT32_MAX, doc="Wait this long for the answer to one request."
    )
    retry_backoff_ms: int = integer(100, at_least=0, doc="Pause before the first retry; doubles with each further one.")
    retry_backoff_max_ms: int = integer(1000, at_least=0, doc="The pause between retries grows up to this.")
    reconnect_backoff_ms: int = integer(50, at_least=0, doc="Pause before the first reconnect to a broker; doubles.")
    reconnect_backoff_max_ms: int = integer(
        1000,
        at_least=0,
        doc="The pause between reconnects grows up to this. Follows reconnect_backoff_ms if only that is set.",
    )
    socket_connection_setup_timeout_ms: int = integer(
        10_000, at_least=0, doc="Give up a connection attempt after this; doubles while attempts fail."
    )
    socket_connection_setup_timeout_max_ms: int = integer(
        30_000, at_least=0, doc="The time for a connection attempt grows up to this."
    )
    connections_max_idle_ms: int = integer(540_000, doc="Close connections unused for this long; below 0: never.")
    send_buffer_bytes: int = integer(131_072, at_least=-1, at_most=INT32_MAX, doc="SO_SNDBUF; -1: the system decides.")
    receive_buffer_bytes: int = integer(
        65_536, at_least=-1, at_most=INT32_MAX, doc="SO_RCVBUF; -1: the system decides."
    )
    metadata_max_age_ms: int = integer(
        300_000, at_least=0, doc="Refresh metadata after this even if nothing went wrong."
    )
    metadata_recovery_strategy: str = choice(
        "rebootstrap",
        "rebootstrap",
        "none",
        doc="When no known broker answers: start again from bootstrap_servers, or not.",
    )
    metadata_recovery_rebootstrap_trigger_ms: int = integer(
        300_000, at_least=0, doc="Rebootstrap after this long without metadata from any known broker."
    )
    security_protocol: str = choice(
        "PLAINTEXT", "PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL", upper=True, doc="Encryption and authentication."
    )
    sasl_mechanism: str | None = choice(
        None, *SASL_MECHANISMS, upper=True, doc="How to authenticate. No default, where Java's is GSSAPI."
    )
    sasl_username: str | None = text_option(None, ours=True, doc="User for PLAIN and SCRAM.")
    sasl_password: Secret | None = secret(ours=True, doc="Password for PLAIN and SCRAM.")
    sasl_token_auth: bool = boolean(False, ours=True, doc="The SCRAM user is a delegation token.")
    sasl_jaas_config: Secret | None = secret(
        doc="Java's way to log in; the PLAIN, SCRAM and Kerberos modules are read into the options beside this one."
    )
    sasl_kerberos_service_name: str | None = text_option(
        None, non_empty=True, doc="First part of the brokers' Kerberos principal, mostly `kafka`; for GSSAPI."
    )
    sasl_kerberos_principal: str | None = text_option(
        None, non_empty=True, ours=True, doc="Who to log in as with GSSAPI; else the tickets' or keytab's own."
    )
    sasl_kerberos_keytab: str | None = text_option(
        None, non_empty=True, ours=True, doc="File with the principal's key for GSSAPI; without it, tickets of `kinit`."
    )
    sasl_oauth_token_provider: TokenProvider | None = _plugin(
        None,
        "Object whose `token()` returns a `Token`, for OAUTHBEARER. Called off the client's thread. Clients of "
        "`pykclient.aio` also take an `async def token()`.",
        "token",
        ours=True,
    )
    ssl_context: SSLContext | None = _plugin(
        None, "A ready `ssl.SSLContext`; then no other ssl option is allowed.", "wrap_bio", ours=True
    )
    ssl_truststore_location: str | None = text_option(
        None, non_empty=True, doc="PEM file of trusted certificates (also `ssl_cafile`); the system's when not given."
    )
    ssl_truststore_certificates: Secret | None = secret(doc="Trusted certificates as PEM text.")
    ssl_truststore_type: str = option("PEM", parse=_parse_store_type, kind="str", limits="PEM", doc="Only PEM here.")
    ssl_keystore_location: str | None = text_option(
        None, non_empty=True, doc="PEM file with the client's private key and certificate chain."
    )
    ssl_keystore_key: Secret | None = secret(doc="The client's private key as PEM text.")
    ssl_keystore_certificate_chain: Secret | None = secret(doc="The client's certificate chain as PEM text.")
    ssl_keystore_type: str = option("PEM", parse=_parse_store_type, kind="str", limits="PEM", doc="Only PEM here.")
    ssl_certfile: str | None = text_option(None, non_empty=True, ours=True, doc="PEM file of the client's chain alone.")
    ssl_keyfile: str | None = text_option(None, non_empty=True, ours=True, doc="PEM file of the client's key alone.")
    ssl_key_password: Secret | None = secret(doc="Password of the private key.")
    ssl_enabled_protocols: tuple[str, ...] = words(("TLSv1.2", "TLSv1.3"), doc="TLS versions to use; none below 1.2.")
    ssl_cipher_suites: tuple[str, ...] = words((), doc="TLS 1.2 suites in OpenSSL's names; empty: OpenSSL's choice.")
    ssl_endpoint_identification_algorithm: str = option(
        "https",
        parse=_parse_identification,
        kind="str",
        limits="https or empty",
        doc="Check that the certificate is for the host name; empty switches the check off and logs a warning.",
    )
    receive_bytes_max: int = integer(
        104_857_600, at_least=1024, at_most=INT32_MAX, ours=True, doc="Refuse a larger frame before reading it."
    )
    receive_bytes_max_before_authentication: int = integer(
        524_288, at_least=1024, at_most=INT32_MAX, ours=True, doc="The same, until the broker has proven who it is."
    )
    scram_iterations_min: int = integer(
        4096, at_least=1, at_most=INT32_MAX, ours=True, doc="Refuse a broker that asks for a weaker key derivation."
    )
    scram_iterations_max: int = integer(
        1_000_000, at_least=1, at_most=INT32_MAX, ours=True, doc="Refuse a broker that asks for a costlier one."
    )
    brokers_max: int = integer(10_000, at_least=1, ours=True, doc="Refuse metadata that names more brokers.")

    def __repr__(self) -> str:
        return show(self)

    @classmethod
    def _conflicts(cls, values: dict[str, Any], given: frozenset[str]) -> list[str]:
        problems = resolve_security(values, given)
        for version in values["ssl_enabled_protocols"]:
            if version not in ("TLSv1.2", "TLSv1.3"):
                problems.append(f"ssl_enabled_protocols has {version!r}; only TLSv1.2 and TLSv1.3 are safe to use")
        if not values["ssl_enabled_protocols"]:
            problems.append("ssl_enabled_protocols is empty")
        # As in Java: one pause given alone means that it does not grow.
        if "reconnect_backoff_ms" in given and "reconnect_backoff_max_ms" not in given:
            values["reconnect_backoff_max_ms"] = values["reconnect_backoff_ms"]
        return problems


T = TypeVar("T", bound=CommonConfig)


def read_options(table: type[T], options: Mapping[str, Any] | None = None, /, **keywords: Any) -> T:
    """Build a configuration from a mapping, keywords or both; names dotted as in Java or as Python names.

    Raises one `ConfigError` that lists everything that is wrong.
    """
    given: dict[str, Any] = {}
    repeated: list[str] = []
    for source in (options or {}, keywords):
        for key, value in source.items():
            if key in given:
                repeated.append(f"{key}: given in the mapping and as a keyword")
            given[key] = value
    if repeated:
        raise ConfigError(repeated)
    config = load(table, given, refused=REFUSED, aliases=ALIASES, resolve=table._conflicts)
    if config.security_protocol.endswith("SSL") and not config.ssl_endpoint_identification_algorithm:
        logger.warning("TLS host names are not checked: ssl_endpoint_identification_algorithm is empty")
    return config


MAX_IN_FLIGHT_IDEMPOTENT = 5
"""The broker remembers this many batches per producer and partition; with more in flight it could not tell a repeat."""


@dataclass(frozen=True, kw_only=True, repr=False)
class ProducerConfig(CommonConfig):
    """Options of `KafkaProducer`."""

    key_serializer: SerializerLike | None = _serde(
        "Turns keys into bytes; without one they are bytes.", Serializer, "serialize"
    )
    value_serializer: SerializerLike | None = _serde(
        "Turns values into bytes; without one they are bytes.", Serializer, "serialize"
    )
    acks: int = option(
        -1,
        parse=_parse_acks,
        kind="str",
        limits="all (-1), 0 or 1",
        doc="Who must have a record before it counts as sent.",
    )
    enable_idempotence: bool = boolean(
        True,
        doc="Retries never store a record twice or out of order. Off by itself when acks or retries=0 rule it out.",
    )
    transactional_id: str | None = text_option(
        None, non_empty=True, doc="Makes the producer transactional; the same id fences its older self."
    )
    transaction_timeout_ms: int = integer(
        60_000, at_least=1, at_most=INT32_MAX, doc="The broker aborts a transaction that takes longer."
    )
    linger_ms: int = integer(5, at_least=0, doc="Wait this long for more records before sending a batch.")
    batch_size: int = _uint31(16_384, doc="Bytes per batch and partition; 0: no batching.")
    buffer_memory: int = integer(33_554_432, at_least=0, doc="Bytes of records that may wait to be sent.")
    max_block_ms: int = integer(60_000, at_least=0, doc="How long send() may wait for metadata or memory.")
    max_request_size: int = _uint31(1_048_576, doc="Largest request, and so largest record, in bytes.")
    delivery_timeout_ms: int = _uint31(
        120_000,
        doc="A record is sent or failed within this. At least linger_ms + request_timeout_ms; grows to it by itself.",
    )
    retries: int = _uint31(INT32_MAX, doc="Tries after the first; better left alone, see delivery_timeout_ms.")
    max_in_flight_requests_per_connection: int = integer(
        5, at_least=1, at_most=INT32_MAX, doc="Requests on the way to one broker; at most 5 with idempotence."
    )
    compression_type: str = choice("none", "none", "gzip", "snappy", "lz4", "zstd", doc="Codec for batches.")
    compression_gzip_level: int = integer(-1, at_least=1, at_most=9, also=-1, doc="gzip level; -1: its default.")
    compression_lz4_level: int = integer(9, at_least=1, at_most=17, doc="lz4 level.")
    compression_zstd_level: int = integer(3, at_least=-131_072, at_most=22, doc="zstd level.")
    partitioner: str | Partitioner | Callable[..., int] = option(
        "default",
        parse=_parse_partitioner,
        kind="object",
        limits="or one of " + ", ".join(PARTITIONER_NAMES),
        ours=True,
        doc="Chooses the partition of a record that names none; crc32 is another name for consistent.",
    )
    partitioner_ignore_keys: bool = boolean(False, doc="Spread records with a key as if they had none.")
    partitioner_adaptive_partitioning_enable: bool = boolean(
        True, doc="Give faster brokers more of the records without a key."
    )
    partitioner_availability_timeout_ms: int = integer(
        0, at_least=0, doc="Pass over partitions whose broker has been silent this long; 0: never."
    )
    metadata_max_idle_ms: int = integer(300_000, at_least=5000, doc="Forget a topic not sent to for this long.")
    interceptors: tuple[ProducerInterceptor, ...] = option(
        (),
        parse=_parse_interceptors("on_send", "on_acknowledgement"),
        kind="list",
        ours=True,
        doc="Objects that see records on their way out, in this order.",
    )
    receive_buffer_bytes: int = integer(
        32_768, at_least=-1, at_most=INT32_MAX, doc="SO_RCVBUF; -1: the system decides."
    )

    @classmethod
    def _conflicts(cls, values: dict[str, Any], given: frozenset[str]) -> list[str]:
        problems = super()._conflicts(values, given)
        _resolve_idempotence(values, given, problems)
        if "transaction_timeout_ms" in given and values["transactional_id"] is None:
            logger.debug("transaction_timeout_ms has no effect without transactional_id")
        needed_ms = min(values["linger_ms"] + values["request_timeout_ms"], INT32_MAX)
        if values["delivery_timeout_ms"] < needed_ms:
            if "delivery_timeout_ms" in given:
                problems.append(
                    f"delivery_timeout_ms={values['delivery_timeout_ms']} is less than linger_ms + request_timeout_ms "
                    f"({needed_ms}); raise it or lower one of them"
                )
            values["delivery_timeout_ms"] = needed_ms
        return problems


def _resolve_idempotence(values: dict[str, Any], given: frozenset[str], problems: list[str]) -> None:
    """Java's rule: what the user asked for in so many words conflicts; the default gives way quietly."""
    asked = "enable_idempotence" in given
    if values["enable_idempotence"]:
        against = []
        if values["acks"] != -1:
            against.append(f"acks={values['acks']} (needs all)")
        if values["retries"] == 0:
            against.append("retries=0 (needs at least 1)")
        if against and asked:
            problems.append(f"enable_idempotence does not go with {' and '.join(against)}")
        elif against:
            values["enable_idempotence"] = False
        in_flight = values["max_in_flight_requests_per_connection"]
        if (values["enable_idempotence"] or asked) and in_flight > MAX_IN_FLIGHT_IDEMPOTENT:
            problems.append(
                f"max_in_flight_requests_per_connection={in_flight} is above {MAX_IN_FLIGHT_IDEMPOTENT}, the most that "
                "idempotence allows; lower it or set enable_idempotence=False"
            )
    if values["transactional_id"] is not None and not values["enable_idempotence"]:
        problems.append("transactional_id needs enable_idempotence, acks=all and retries")


@dataclass(frozen=True, kw_only=True, repr=False)
class ConsumerConfig(CommonConfig):
    """Options of `KafkaConsumer`."""

    key_deserializer: DeserializerLike | None = _serde(
        "Reads keys; without one they are bytes.", Deserializer, "deserialize"
    )
    value_deserializer: DeserializerLike | None = _serde(
        "Reads values; without one they are bytes.", Deserializer, "deserialize"
    )
    group_id: str | None = text_option(
        None, non_empty=True, doc="The group to share the topics with; without one, no commits."
    )
    group_instance_id: str | None = text_option(
        None, non_empty=True, doc="Static membership: a restart under the same id causes no rebalance."
    )
    group_protocol: str = choice(
        "classic",
        "classic",
        "consumer",
        "auto",
        doc="`consumer`: KIP-848, the broker assigns. `auto` (ours): that where the broker has it.",
    )
    group_remote_assignor: str | None = text_option(
        None, non_empty=True, doc="The broker's assignor to use with group_protocol=consumer."
    )
    session_timeout_ms: int = integer(
        45_000, at_least=1, at_most=INT32_MAX, doc="A member silent for this long is out. Classic groups only."
    )
    heartbeat_interval_ms: int = integer(
        3000,
        at_least=1,
        at_most=INT32_MAX,
        doc="Pause between heartbeats; below session_timeout_ms. Classic groups only.",
    )
    partition_assignment_strategy: tuple[Any, ...] = option(
        ("range", "cooperative-sticky"),
        parse=_parse_assignors,
        kind="list",
        limits=", ".join(ASSIGNOR_NAMES) + ", or objects",
        doc="Assignors in order of preference. Classic groups only.",
    )
    max_poll_interval_ms: int = integer(
        300_000, at_least=1, at_most=INT32_MAX, doc="A consumer that does not poll for this long leaves its group."
    )
    max_poll_records: int = integer(500, at_least=1, at_most=INT32_MAX, doc="Most records one poll returns.")
    auto_offset_reset: str = option(
        "latest",
        parse=_parse_offset_reset,
        kind="str",
        limits="earliest, latest, none or by_duration:<ISO 8601>",
        doc="Where to start without a committed or valid offset; none: raise.",
    )
    enable_auto_commit: bool = boolean(True, doc="Commit positions in the background. Off by itself without group_id.")
    auto_commit_interval_ms: int = _uint31(5000, doc="Pause between automatic commits.")
    isolation_level: str = choice(
        "read_uncommitted",
        "read_uncommitted",
        "read_committed",
        doc="Whether records of open and aborted transactions are seen.",
    )
    fetch_min_bytes: int = _uint31(1, doc="The broker waits for this many bytes before it answers.")
    fetch_max_wait_ms: int = _uint31(500, doc="But it waits no longer than this.")
    fetch_max_bytes: int = _uint31(52_428_800, doc="Most bytes per answer; a larger first batch still comes.")
    max_partition_fetch_bytes: int = _uint31(1_048_576, doc="The same per partition.")
    check_crcs: bool = boolean(True, doc="Verify the checksum of every batch.")
    client_rack: str = text_option("", doc="Where this client runs; lets it read from a replica close by.")
    allow_auto_create_topics: bool = boolean(True, doc="Let the broker create topics that are subscribed to by name.")
    exclude_internal_topics: bool = boolean(True, doc="Keep internal topics out of subscriptions by pattern.")
    default_api_timeout_ms: int = _uint31(60_000, doc="Time for calls that name none.")
    interceptors: tuple[ConsumerInterceptor, ...] = option(
        (),
        parse=_parse_interceptors("on_consume", "on_commit"),
        kind="list",
        ours=True,
        doc="Objects that see records before poll returns them, in this order.",
    )
    fetch_buffer_bytes_max: int = integer(
        67_108_864, at_least=1024, ours=True, doc="Most bytes fetched ahead and not yet returned, over all partitions."
    )
    decompressed_batch_bytes_max: int = integer(
        67_108_864, at_least=1024, at_most=INT32_MAX, ours=True, doc="Refuse a compressed batch that grows beyond this."
    )

    receive_buffer_bytes: int = integer(
        -1,
        at_least=-1,
        at_most=INT32_MAX,
        doc="SO_RCVBUF; -1: the system decides, which reads faster than Java's 65536: a window of that size is full "
        "long before an answer is complete.",
    )

    @classmethod
    def _conflicts(cls, values: dict[str, Any], given: frozenset[str]) -> list[str]:
        problems = super()._conflicts(values, given)
        classic_only = {"session_timeout_ms", "heartbeat_interval_ms", "partition_assignment_strategy"} & given
        if values["group_protocol"] == "consumer" and classic_only:
            names = ", ".join(sorted(classic_only))
            problems.append(f"group_protocol=consumer does not use {names}: the broker sets these for the group")
        if values["group_protocol"] == "classic" and values["group_remote_assignor"] is not None:
            problems.append("group_remote_assignor needs group_protocol=consumer (or auto)")
        if values["group_protocol"] != "consumer" and values["heartbeat_interval_ms"] >= values["session_timeout_ms"]:
            problems.append("heartbeat_interval_ms must be below session_timeout_ms, a third of it is usual")
        if values["group_id"] is None:
            if values["enable_auto_commit"] and "enable_auto_commit" in given:
                problems.append("enable_auto_commit needs group_id")
            values["enable_auto_commit"] = False
            if values["group_instance_id"] is not None:
                problems.append("group_instance_id needs group_id")
        instance = values["group_instance_id"]
        if instance is not None and (len(instance) > 249 or not re.fullmatch(r"[A-Za-z0-9._\-]+", instance)):
            problems.append("group_instance_id may hold letters, digits, dot, underscore and hyphen, at most 249")
        return problems


@dataclass(frozen=True, kw_only=True, repr=False)
class AdminConfig(CommonConfig):
    """Options of `KafkaAdminClient`."""

    default_api_timeout_ms: int = _uint31(60_000, doc="Time for calls that name none.")
    retries: int = _uint31(INT32_MAX, doc="Tries after the first; better left alone, see default_api_timeout_ms.")
    connections_max_idle_ms: int = integer(300_000, doc="Close connections unused for this long; below 0: never.")

    @classmethod
    def _conflicts(cls, values: dict[str, Any], given: frozenset[str]) -> list[str]:
        problems = super()._conflicts(values, given)
        if values["default_api_timeout_ms"] < values["request_timeout_ms"]:
            if "default_api_timeout_ms" in given:
                problems.append("default_api_timeout_ms is less than request_timeout_ms; raise it or lower the other")
            values["default_api_timeout_ms"] = values["request_timeout_ms"]
        return problems


__all__ = [
    "ASSIGNOR_NAMES",
    "PARTITIONER_NAMES",
    "AdminConfig",
    "CommonConfig",
    "ConsumerConfig",
    "ProducerConfig",
    "read_options",
]
