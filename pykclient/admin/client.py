"""KafkaAdminClient: the public face of administration. Each method is one operation of a room beside this file.

Thread-safe: any number of threads may call. Methods wait on the caller's thread; operations run on the client's own.
Rules that hold for every call: about one thing, it gives the result or raises; about several, it gives ``Results``, one
outcome per item, and raises only what no item caused (no broker, wrong password, an API the broker does not have).
Longer than most modules because every call is declared here, with its signature and what it promises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, TypeVar
from uuid import UUID

from pykclient.admin import (
    acls,
    cluster,
    configs,
    groups,
    lag,
    membership,
    offsets,
    share_groups,
    tokens,
    topics,
    transactions,
    users,
)
from pykclient.admin.configs import ConfigChange
from pykclient.admin.results import Results
from pykclient.admin.routing import AdminSettings, Office, Session
from pykclient.admin.topics import many
from pykclient.admin.types import (
    Acl,
    AclFilter,
    ClusterDescription,
    ConfigEntry,
    ConfigResource,
    ConfigResourceType,
    CreatedTopic,
    DelegationToken,
    DeletedTopic,
    Features,
    FencedProducer,
    GroupDescription,
    GroupListing,
    HangingTransaction,
    LogDir,
    NewPartitions,
    NewTopic,
    OffsetReset,
    OffsetTarget,
    PartitionLag,
    ProducerState,
    QuorumDescription,
    QuotaEntity,
    Reassignment,
    ResetTarget,
    ScramDeletion,
    ScramUpsertion,
    ShareOffset,
    TopicDescription,
    TopicListing,
    TransactionDescription,
    TransactionListing,
)
from pykclient.client.assembly import ClientParts, assemble
from pykclient.client.engine import Operation
from pykclient.config import AdminConfig, read_options
from pykclient.errors import ClientClosed, KafkaError, UsageError
from pykclient.types import OffsetAndMetadata, OffsetAndTimestamp, TopicPartition

T = TypeVar("T")

# Operations end by themselves at their deadline, with the outcomes they have; this is for one that does not.
GRACE_S = 2.0


class KafkaAdminClient:
    """Looks after a cluster: topics, configurations, groups, offsets, rights, users, quotas, transactions, replicas.

    ``timeout`` of every call is in seconds, by default default_api_timeout_ms. See docs/admin.md.
    """

    def __init__(self, options: Mapping[str, Any] | None = None, /, **keywords: Any) -> None:
        self._config = config = read_options(AdminConfig, options, **keywords)
        self._closed = False
        self._parts: ClientParts = assemble(config, kind="admin")
        self._engine = self._parts.engine
        self._clock = self._parts.clock
        settings = AdminSettings(
            request_timeout_s=config.request_timeout_ms / 1000,
            retry_backoff_s=config.retry_backoff_ms / 1000,
            retry_backoff_max_s=config.retry_backoff_max_ms / 1000,
            retries_max=config.retries,
        )
        self._office = Office(
            settings,
            self._parts.network,
            self._parts.metadata,
            self._clock,
            # Salts are public: they must differ, not be secret. The source is seeded by the system for each client.
            random_bytes=self._parts.random.randbytes,
            jitter=self._parts.random.random,
        )
        self._engine.start()

    # ---- running and ending ------------------------------------------------------------------------------------------

    def _run(self, operation: Callable[[Session], Operation[T]], timeout: float | None) -> T:
        """Every method goes through here: the one place that waits."""
        session = self._session(timeout)
        return self._engine.run_blocking(operation(session), timeout_s=session.timeout_s + GRACE_S)

    def _session(self, timeout: float | None) -> Session:
        if self._closed:
            raise ClientClosed("the admin client is closed; make a new one")
        timeout_s = self._config.default_api_timeout_ms / 1000 if timeout is None else timeout
        if timeout_s <= 0:
            raise UsageError("timeout is in seconds and more than 0")
        return Session(self._office, self._clock.now() + timeout_s, timeout_s)

    def close(self) -> None:
        """End the client; calls under way fail with ClientClosed. Safe to call twice and from any thread."""
        self._closed = True
        self._engine.stop(1.0)

    def __enter__(self) -> KafkaAdminClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<KafkaAdminClient {self._parts.client_id}{', closed' if self._closed else ''}>"

    # ---- topics ------------------------------------------------------------------------------------------------------

    def create_topics(
        self,
        new_topics: str | NewTopic | Iterable[str | NewTopic],
        *,
        validate_only: bool = False,
        wait: bool = False,
        timeout: float | None = None,
    ) -> Results[str, CreatedTopic]:
        """Make topics, by name (with the broker's defaults) or as ``NewTopic``. With ``wait`` it returns when every
        broker serves them: the next request to any broker finds them."""
        return self._run(
            lambda s: topics.create_topics(s, many(new_topics), validate_only=validate_only, wait=wait), timeout
        )

    def delete_topics(
        self, names_or_ids: str | UUID | Iterable[str | UUID], *, wait: bool = False, timeout: float | None = None
    ) -> Results[str | UUID, DeletedTopic]:
        """Delete topics by name or id. With ``wait`` it returns when no broker knows them any more."""
        return self._run(lambda s: topics.delete_topics(s, many(names_or_ids), wait=wait), timeout)

    def list_topics(self, *, include_internal: bool = False, timeout: float | None = None) -> dict[str, TopicListing]:
        """All topics by name, with their ids."""
        return self._run(lambda s: topics.list_topics(s, include_internal=include_internal), timeout)

    def describe_topics(
        self,
        names_or_ids: str | UUID | Iterable[str | UUID],
        *,
        include_authorized_operations: bool = False,
        timeout: float | None = None,
    ) -> Results[str | UUID, TopicDescription]:
        """Partitions, leaders and replicas of topics, by name or id. Large topics are read page by page."""
        return self._run(
            lambda s: topics.describe_topics(
                s, many(names_or_ids), include_authorized_operations=include_authorized_operations
            ),
            timeout,
        )

    def create_partitions(
        self,
        totals: Mapping[str, int | NewPartitions],
        *,
        validate_only: bool = False,
        wait: bool = False,
        timeout: float | None = None,
    ) -> Results[str, int]:
        """Grow topics to so many partitions in all. Keys of new records spread anew: order per key ends here."""
        return self._run(lambda s: topics.create_partitions(s, totals, validate_only=validate_only, wait=wait), timeout)

    # ---- configurations ----------------------------------------------------------------------------------------------

    def describe_configs(
        self,
        resources: ConfigResource | Iterable[ConfigResource],
        *,
        names: Iterable[str] | None = None,
        include_synonyms: bool = False,
        include_documentation: bool = False,
        timeout: float | None = None,
    ) -> Results[ConfigResource, dict[str, ConfigEntry]]:
        """The options of topics, brokers, groups; ``names`` picks some of them."""
        return self._run(
            lambda s: configs.describe_configs(
                s,
                many(resources),
                names=names,
                include_synonyms=include_synonyms,
                include_documentation=include_documentation,
            ),
            timeout,
        )

    def alter_configs(
        self,
        changes: Mapping[ConfigResource, Mapping[str, ConfigChange]],
        *,
        validate_only: bool = False,
        timeout: float | None = None,
    ) -> Results[ConfigResource, None]:
        """Change single options; all others stay. None takes an option back to its default, ``Append`` and
        ``Subtract`` change lists."""
        return self._run(lambda s: configs.alter_configs(s, changes, validate_only=validate_only), timeout)

    def list_config_resources(
        self, types: Iterable[ConfigResourceType] = (), *, timeout: float | None = None
    ) -> list[ConfigResource]:
        """What has a configuration of its own."""
        return self._run(lambda s: configs.list_config_resources(s, types), timeout)

    # ---- groups ------------------------------------------------------------------------------------------------------

    def list_groups(
        self, *, states: Iterable[str] = (), types: Iterable[str] = (), timeout: float | None = None
    ) -> dict[str, GroupListing]:
        """The groups of the whole cluster. ``states`` (``Stable``, ``Empty``, ...) and ``types`` (``Classic``,
        ``Consumer``, ``Share``) filter on the brokers."""
        return self._run(lambda s: groups.list_groups(s, states=states, types=types), timeout)

    def describe_groups(
        self,
        group_ids: str | Iterable[str],
        *,
        include_authorized_operations: bool = False,
        timeout: float | None = None,
    ) -> Results[str, GroupDescription]:
        """State, members and assignments, of classic groups and those of KIP-848 alike."""
        return self._run(
            lambda s: groups.describe_groups(
                s, many(group_ids), include_authorized_operations=include_authorized_operations
            ),
            timeout,
        )

    def delete_groups(self, group_ids: str | Iterable[str], *, timeout: float | None = None) -> Results[str, None]:
        """Delete groups without members, and their offsets."""
        return self._run(lambda s: groups.delete_groups(s, many(group_ids)), timeout)

    def remove_members(
        self,
        group_id: str,
        members: Iterable[str] | None = None,
        *,
        reason: str = "removed by an administrator",
        timeout: float | None = None,
    ) -> Results[str, None]:
        """Make members leave, by group instance id or member id; None: all of them."""
        return self._run(lambda s: groups.remove_members(s, group_id, members, reason=reason), timeout)

    def list_group_offsets(
        self,
        group_id: str,
        partitions: Iterable[TopicPartition] | None = None,
        *,
        require_stable: bool = False,
        timeout: float | None = None,
    ) -> Results[TopicPartition, OffsetAndMetadata | None]:
        """What a group committed: everything, or for these partitions (None where it committed nothing).
        ``require_stable`` waits for open transactions."""
        return self._run(
            lambda s: offsets.list_group_offsets(s, group_id, partitions, require_stable=require_stable), timeout
        )

    def alter_group_offsets(
        self,
        group_id: str,
        new_offsets: Mapping[TopicPartition, int | OffsetAndMetadata],
        *,
        timeout: float | None = None,
    ) -> Results[TopicPartition, OffsetAndMetadata]:
        """Commit for a group that has no members now."""
        return self._run(lambda s: offsets.alter_group_offsets(s, group_id, new_offsets), timeout)

    def delete_group_offsets(
        self,
        group_id: str,
        partitions: TopicPartition | Iterable[TopicPartition],
        *,
        timeout: float | None = None,
    ) -> Results[TopicPartition, None]:
        """Forget what a group committed in these partitions."""
        return self._run(lambda s: offsets.delete_group_offsets(s, group_id, many(partitions)), timeout)

    def reset_group_offsets(
        self,
        group_id: str,
        partitions: Iterable[TopicPartition | str] | None = None,
        *,
        to: ResetTarget | None = None,
        shift: int | None = None,
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> Results[TopicPartition, OffsetReset]:
        """Move a group without members: ``to`` "earliest", "latest", "current", an offset, a datetime, a timedelta
        (that long ago) or a mapping of offsets; or by ``shift`` records (negative: back). ``partitions`` may name whole
        topics; None: all it committed in. Targets outside the log become its nearest end. ``dry_run`` only tells."""
        return self._run(
            lambda s: offsets.reset_group_offsets(s, group_id, partitions, to=to, shift=shift, dry_run=dry_run), timeout
        )

    def lag(
        self,
        group_id: str,
        partitions: Iterable[TopicPartition] | None = None,
        *,
        with_age: bool = True,
        timeout: float | None = None,
    ) -> Results[TopicPartition, PartitionLag]:
        """How far a group is behind, per partition: committed, end, lag, age of the oldest unread record, owner. The
        group does not notice. ``with_age=False`` reads no records."""
        return self._run(lambda s: lag.lag(s, group_id, partitions, with_age=with_age), timeout)

    def list_share_group_offsets(
        self, group_id: str, partitions: Iterable[TopicPartition] | None = None, *, timeout: float | None = None
    ) -> Results[TopicPartition, ShareOffset]:
        """Where a share group starts in each partition, and its lag where the broker says."""
        return self._run(lambda s: share_groups.list_share_group_offsets(s, group_id, partitions), timeout)

    def alter_share_group_offsets(
        self, group_id: str, new_offsets: Mapping[TopicPartition, int], *, timeout: float | None = None
    ) -> Results[TopicPartition, None]:
        """Let a share group without members start elsewhere."""
        return self._run(lambda s: share_groups.alter_share_group_offsets(s, group_id, new_offsets), timeout)

    def delete_share_group_offsets(
        self, group_id: str, topic_names: str | Iterable[str], *, timeout: float | None = None
    ) -> Results[str, None]:
        """Let a share group without members forget whole topics."""
        return self._run(lambda s: share_groups.delete_share_group_offsets(s, group_id, many(topic_names)), timeout)

    # ---- offsets and records -----------------------------------------------------------------------------------------

    def list_offsets(
        self,
        targets: Mapping[TopicPartition, OffsetTarget],
        *,
        read_committed: bool = False,
        timeout: float | None = None,
    ) -> Results[TopicPartition, OffsetAndTimestamp]:
        """Offsets by name ("earliest", "latest", "max_timestamp", ...) or by time (milliseconds or datetime): the first
        record at or after it, -1 when there is none."""
        return self._run(lambda s: offsets.list_offsets(s, targets, read_committed=read_committed), timeout)

    def delete_records(
        self, before: Mapping[TopicPartition, int], *, timeout: float | None = None
    ) -> Results[TopicPartition, int]:
        """Drop all records before an offset (-1: all there are); gives the offset at which each log starts now."""
        return self._run(lambda s: offsets.delete_records(s, before), timeout)

    # ---- the cluster -------------------------------------------------------------------------------------------------

    def describe_cluster(
        self,
        *,
        include_fenced: bool = False,
        include_authorized_operations: bool = False,
        timeout: float | None = None,
    ) -> ClusterDescription:
        """The cluster's id, controller and brokers."""
        return self._run(
            lambda s: cluster.describe_cluster(
                s, include_fenced=include_fenced, include_authorized_operations=include_authorized_operations
            ),
            timeout,
        )

    def describe_features(self, node_id: int | None = None, *, timeout: float | None = None) -> Features:
        """Feature levels in force, and what a broker supports."""
        return self._run(lambda s: cluster.describe_features(s, node_id), timeout)

    def update_features(
        self,
        levels: Mapping[str, int],
        *,
        downgrade: bool = False,
        unsafe: bool = False,
        validate_only: bool = False,
        timeout: float | None = None,
    ) -> Results[str, None]:
        """Put feature levels into force (0: take the feature out of use)."""
        return self._run(
            lambda s: cluster.update_features(
                s, levels, downgrade=downgrade, unsafe=unsafe, validate_only=validate_only
            ),
            timeout,
        )

    def describe_quorum(self, *, timeout: float | None = None) -> QuorumDescription:
        """The controllers: leader, voters, observers, how far each has read."""
        return self._run(cluster.describe_quorum, timeout)

    def describe_log_dirs(
        self,
        brokers: int | Iterable[int] | None = None,
        *,
        partitions: Iterable[TopicPartition] | None = None,
        timeout: float | None = None,
    ) -> Results[int, dict[str, LogDir | KafkaError]]:
        """The disks of brokers (all when None): directories by path, with the replicas on each."""
        return self._run(
            lambda s: cluster.describe_log_dirs(s, None if brokers is None else many(brokers), partitions), timeout
        )

    def alter_log_dirs(
        self, moves: Mapping[tuple[int, TopicPartition], str], *, timeout: float | None = None
    ) -> Results[tuple[int, TopicPartition], None]:
        """Move replicas, given as (broker id, partition), to other directories of the same broker."""
        return self._run(lambda s: cluster.alter_log_dirs(s, moves), timeout)

    def elect_leaders(
        self,
        partitions: Iterable[TopicPartition] | None = None,
        *,
        kind: str = "preferred",
        timeout: float | None = None,
    ) -> Results[TopicPartition, bool]:
        """Make the preferred replica lead, or with ``kind="unclean"`` any that is alive, at the price of records. True:
        the leader changed; False: it need not. None: every partition that needs it."""
        return self._run(lambda s: cluster.elect_leaders(s, kind, partitions), timeout)

    def alter_partition_reassignments(
        self,
        moves: Mapping[TopicPartition, Sequence[int] | None],
        *,
        allow_replication_factor_change: bool = True,
        timeout: float | None = None,
    ) -> Results[TopicPartition, None]:
        """Start to move partitions to these brokers, the first to lead; None stops a move under way."""
        return self._run(
            lambda s: cluster.alter_partition_reassignments(
                s, moves, allow_replication_factor_change=allow_replication_factor_change
            ),
            timeout,
        )

    def list_partition_reassignments(
        self, partitions: Iterable[TopicPartition] | None = None, *, timeout: float | None = None
    ) -> dict[TopicPartition, Reassignment]:
        """Moves under way; empty when all have arrived."""
        return self._run(lambda s: cluster.list_partition_reassignments(s, partitions), timeout)

    def unregister_broker(self, node_id: int, *, timeout: float | None = None) -> None:
        """Forget a broker that is gone for good."""
        return self._run(lambda s: membership.unregister_broker(s, node_id), timeout)

    def add_raft_voter(
        self,
        voter_id: int,
        directory_id: UUID,
        endpoints: Mapping[str, tuple[str, int]],
        *,
        timeout: float | None = None,
    ) -> None:
        """Let a controller vote (KIP-853); ``endpoints`` are its listeners: name to (host, port)."""
        return self._run(lambda s: membership.add_raft_voter(s, voter_id, directory_id, endpoints), timeout)

    def remove_raft_voter(self, voter_id: int, directory_id: UUID, *, timeout: float | None = None) -> None:
        """Take a controller's vote away (KIP-853)."""
        return self._run(lambda s: membership.remove_raft_voter(s, voter_id, directory_id), timeout)

    # ---- rights, users, quotas ---------------------------------------------------------------------------------------

    def create_acls(self, new_acls: Acl | Iterable[Acl], *, timeout: float | None = None) -> Results[Acl, None]:
        """Grant or deny rights."""
        return self._run(lambda s: acls.create_acls(s, many(new_acls)), timeout)

    def describe_acls(self, acl_filter: AclFilter | None = None, *, timeout: float | None = None) -> list[Acl]:
        """The rights that match; all when None."""
        return self._run(lambda s: acls.describe_acls(s, acl_filter or AclFilter()), timeout)

    def delete_acls(
        self, filters: AclFilter | Iterable[AclFilter], *, timeout: float | None = None
    ) -> Results[AclFilter, list[Acl]]:
        """Delete the rights that match; gives those that are gone, per filter."""
        return self._run(lambda s: acls.delete_acls(s, many(filters)), timeout)

    def describe_scram_users(
        self, user_names: str | Iterable[str] | None = None, *, timeout: float | None = None
    ) -> Results[str, dict[str, int]]:
        """Which mechanisms users have, with the iterations of each; all users when None."""
        return self._run(lambda s: users.describe_users(s, None if user_names is None else many(user_names)), timeout)

    def alter_scram_users(
        self,
        changes: ScramUpsertion | ScramDeletion | Iterable[ScramUpsertion | ScramDeletion],
        *,
        timeout: float | None = None,
    ) -> Results[str, None]:
        """Make users, change passwords (hashed here, never sent), delete credentials; one outcome per user."""
        return self._run(lambda s: users.alter_users(s, many(changes)), timeout)

    def describe_client_quotas(
        self,
        entity: QuotaEntity | None = None,
        *,
        any_of: Iterable[str] = (),
        strict: bool = False,
        timeout: float | None = None,
    ) -> dict[tuple[tuple[str, str | None], ...], dict[str, float]]:
        """Quotas by entity (its sorted pairs). ``entity`` must match, None in it being the default; ``any_of`` names
        kinds that may have any name; ``strict`` leaves out entities with further kinds."""
        return self._run(lambda s: users.describe_quotas(s, entity or {}, any_of=any_of, strict=strict), timeout)

    def alter_client_quotas(
        self,
        changes: Iterable[tuple[QuotaEntity, Mapping[str, float | None]]],
        *,
        validate_only: bool = False,
        timeout: float | None = None,
    ) -> Results[tuple[tuple[str, str | None], ...], None]:
        """Set quotas, as pairs of entity and values; a value None removes it."""
        return self._run(lambda s: users.alter_quotas(s, changes, validate_only=validate_only), timeout)

    def create_delegation_token(
        self,
        *,
        owner: str | None = None,
        renewers: Iterable[str] = (),
        max_lifetime_ms: int | None = None,
        timeout: float | None = None,
    ) -> DelegationToken:
        """A token to log in with, for us or for ``owner`` (``User:name``); ``renewers`` may prolong it."""
        return self._run(
            lambda s: tokens.create_token(s, owner=owner, renewers=renewers, max_lifetime_ms=max_lifetime_ms), timeout
        )

    def describe_delegation_tokens(
        self, owners: str | Iterable[str] | None = None, *, timeout: float | None = None
    ) -> list[DelegationToken]:
        """The tokens we may see; ``owners`` picks those of some principals."""
        return self._run(lambda s: tokens.describe_tokens(s, None if owners is None else many(owners)), timeout)

    def renew_delegation_token(
        self, token: DelegationToken, period_ms: int | None = None, *, timeout: float | None = None
    ) -> int:
        """Let a token live on (None: the broker's usual period); gives when it expires, in milliseconds."""
        return self._run(lambda s: tokens.renew_token(s, token.hmac, period_ms), timeout)

    def expire_delegation_token(
        self, token: DelegationToken, period_ms: int | None = None, *, timeout: float | None = None
    ) -> int:
        """Let a token expire after so long (None: now); gives when, in milliseconds."""
        return self._run(lambda s: tokens.expire_token(s, token.hmac, period_ms), timeout)

    # ---- transactions ------------------------------------------------------------------------------------------------

    def list_transactions(
        self,
        *,
        states: Iterable[str] = (),
        producer_ids: Iterable[int] = (),
        longer_than_ms: int | None = None,
        pattern: str | None = None,
        timeout: float | None = None,
    ) -> dict[str, TransactionListing]:
        """The transactional ids of the cluster; ``pattern`` is an RE2 expression for their names."""
        return self._run(
            lambda s: transactions.list_transactions(
                s, states=states, producer_ids=producer_ids, longer_than_ms=longer_than_ms, pattern=pattern
            ),
            timeout,
        )

    def describe_transactions(
        self, transactional_ids: str | Iterable[str], *, timeout: float | None = None
    ) -> Results[str, TransactionDescription]:
        """State, producer, start and partitions of transactional ids."""
        return self._run(lambda s: transactions.describe_transactions(s, many(transactional_ids)), timeout)

    def describe_producers(
        self, partitions: TopicPartition | Iterable[TopicPartition], *, timeout: float | None = None
    ) -> Results[TopicPartition, list[ProducerState]]:
        """The producers that write to partitions, as the leaders know them."""
        return self._run(lambda s: transactions.describe_producers(s, many(partitions)), timeout)

    def find_hanging_transactions(
        self, topic_names: Iterable[str] | None = None, *, older_than_s: float = 900.0, timeout: float | None = None
    ) -> list[HangingTransaction]:
        """Transactions that are open in a partition and unknown to their coordinator: they hold up every read_committed
        consumer until ``abort_transaction``. ``older_than_s``: above the brokers' transaction.max.timeout.ms."""
        return self._run(
            lambda s: transactions.find_hanging_transactions(s, topic_names, older_than_s=older_than_s), timeout
        )

    def abort_transaction(self, hanging: HangingTransaction, *, timeout: float | None = None) -> None:
        """End a hanging transaction in its partition. For one that its coordinator knows, use ``fence_producers``."""
        return self._run(
            lambda s: transactions.abort_transaction(
                s, hanging.topic_partition, hanging.producer_id, hanging.producer_epoch, hanging.coordinator_epoch
            ),
            timeout,
        )

    def fence_producers(
        self, transactional_ids: str | Iterable[str], *, timeout: float | None = None
    ) -> Results[str, FencedProducer]:
        """Stop every producer with these transactional ids, and abort what they have open."""
        return self._run(lambda s: transactions.fence_producers(s, many(transactional_ids)), timeout)


__all__ = ["KafkaAdminClient"]
