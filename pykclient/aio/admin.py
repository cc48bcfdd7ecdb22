"""AsyncKafkaAdminClient: KafkaAdminClient awaited.

Generated from pykclient/admin/client.py; change nothing here. To regenerate: python -m pykclient.aio.generate_admin
Longer than most modules because every call is declared here, as in the client it is made from.
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
from pykclient.client.engine import Operation
from pykclient.errors import KafkaError
from pykclient.types import OffsetAndMetadata, OffsetAndTimestamp, TopicPartition
from pykclient.admin.client import GRACE_S, KafkaAdminClient
from pykclient.admin.routing import Session
from pykclient.aio.runner import LoopRunner
from pykclient.aio.tokens import adapted

T = TypeVar("T")


class AsyncKafkaAdminClient:
    """Looks after a cluster from an event loop. Options, calls and results as for KafkaAdminClient. See
    docs/admin.md."""

    def __init__(self, options: Mapping[str, Any] | None = None, /, **keywords: Any) -> None:
        self._sync = KafkaAdminClient(adapted(options), **adapted(keywords))
        self._runner = LoopRunner(self._sync._engine, self._sync._config)

    async def _run(self, operation: Callable[[Session], Operation[T]], timeout: float | None) -> T:
        session = self._sync._session(timeout)
        return await self._runner.run(operation(session), session.timeout_s + GRACE_S)

    async def close(self) -> None:
        """End the client; calls under way fail with ClientClosed. Safe to call twice."""
        self._sync.close()
        await self._runner.closed()

    async def __aenter__(self) -> AsyncKafkaAdminClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<Async{str(self._sync)[1:]}"

    # ---- topics ------------------------------------------------------------------------------------------------------

    async def create_topics(
        self,
        new_topics: str | NewTopic | Iterable[str | NewTopic],
        *,
        validate_only: bool = False,
        wait: bool = False,
        timeout: float | None = None,
    ) -> Results[str, CreatedTopic]:
        """Make topics, by name (with the broker's defaults) or as ``NewTopic``. With ``wait`` it returns when every
        broker serves them: the next request to any broker finds them."""
        return await self._run(
            lambda s: topics.create_topics(s, many(new_topics), validate_only=validate_only, wait=wait), timeout
        )

    async def delete_topics(
        self, names_or_ids: str | UUID | Iterable[str | UUID], *, wait: bool = False, timeout: float | None = None
    ) -> Results[str | UUID, DeletedTopic]:
        """Delete topics by name or id. With ``wait`` it returns when no broker knows them any more."""
        return await self._run(lambda s: topics.delete_topics(s, many(names_or_ids), wait=wait), timeout)

    async def list_topics(self, *, include_internal: bool = False, timeout: float | None = None) -> dict[str, TopicListing]:
        """All topics by name, with their ids."""
        return await self._run(lambda s: topics.list_topics(s, include_internal=include_internal), timeout)

    async def describe_topics(
        self,
        names_or_ids: str | UUID | Iterable[str | UUID],
        *,
        include_authorized_operations: bool = False,
        timeout: float | None = None,
    ) -> Results[str | UUID, TopicDescription]:
        """Partitions, leaders and replicas of topics, by name or id. Large topics are read page by page."""
        return await self._run(
            lambda s: topics.describe_topics(
                s, many(names_or_ids), include_authorized_operations=include_authorized_operations
            ),
            timeout,
        )

    async def create_partitions(
        self,
        totals: Mapping[str, int | NewPartitions],
        *,
        validate_only: bool = False,
        wait: bool = False,
        timeout: float | None = None,
    ) -> Results[str, int]:
        """Grow topics to so many partitions in all. Keys of new records spread anew: order per key ends here."""
        return await self._run(lambda s: topics.create_partitions(s, totals, validate_only=validate_only, wait=wait), timeout)

    # ---- configurations ----------------------------------------------------------------------------------------------

    async def describe_configs(
        self,
        resources: ConfigResource | Iterable[ConfigResource],
        *,
        names: Iterable[str] | None = None,
        include_synonyms: bool = False,
        include_documentation: bool = False,
        timeout: float | None = None,
    ) -> Results[ConfigResource, dict[str, ConfigEntry]]:
        """The options of topics, brokers, groups; ``names`` picks some of them."""
        return await self._run(
            lambda s: configs.describe_configs(
                s,
                many(resources),
                names=names,
                include_synonyms=include_synonyms,
                include_documentation=include_documentation,
            ),
            timeout,
        )

    async def alter_configs(
        self,
        changes: Mapping[ConfigResource, Mapping[str, ConfigChange]],
        *,
        validate_only: bool = False,
        timeout: float | None = None,
    ) -> Results[ConfigResource, None]:
        """Change single options; all others stay. None takes an option back to its default, ``Append`` and
        ``Subtract`` change lists."""
        return await self._run(lambda s: configs.alter_configs(s, changes, validate_only=validate_only), timeout)

    async def list_config_resources(
        self, types: Iterable[ConfigResourceType] = (), *, timeout: float | None = None
    ) -> list[ConfigResource]:
        """What has a configuration of its own."""
        return await self._run(lambda s: configs.list_config_resources(s, types), timeout)

    # ---- groups ------------------------------------------------------------------------------------------------------

    async def list_groups(
        self, *, states: Iterable[str] = (), types: Iterable[str] = (), timeout: float | None = None
    ) -> dict[str, GroupListing]:
        """The groups of the whole cluster. ``states`` (``Stable``, ``Empty``, ...) and ``types`` (``Classic``,
        ``Consumer``, ``Share``) filter on the brokers."""
        return await self._run(lambda s: groups.list_groups(s, states=states, types=types), timeout)

    async def describe_groups(
        self,
        group_ids: str | Iterable[str],
        *,
        include_authorized_operations: bool = False,
        timeout: float | None = None,
    ) -> Results[str, GroupDescription]:
        """State, members and assignments, of classic groups and those of KIP-848 alike."""
        return await self._run(
            lambda s: groups.describe_groups(
                s, many(group_ids), include_authorized_operations=include_authorized_operations
            ),
            timeout,
        )

    async def delete_groups(self, group_ids: str | Iterable[str], *, timeout: float | None = None) -> Results[str, None]:
        """Delete groups without members, and their offsets."""
        return await self._run(lambda s: groups.delete_groups(s, many(group_ids)), timeout)

    async def remove_members(
        self,
        group_id: str,
        members: Iterable[str] | None = None,
        *,
        reason: str = "removed by an administrator",
        timeout: float | None = None,
    ) -> Results[str, None]:
        """Make members leave, by group instance id or member id; None: all of them."""
        return await self._run(lambda s: groups.remove_members(s, group_id, members, reason=reason), timeout)

    async def list_group_offsets(
        self,
        group_id: str,
        partitions: Iterable[TopicPartition] | None = None,
        *,
        require_stable: bool = False,
        timeout: float | None = None,
    ) -> Results[TopicPartition, OffsetAndMetadata | None]:
        """What a group committed: everything, or for these partitions (None where it committed nothing).
        ``require_stable`` waits for open transactions."""
        return await self._run(
            lambda s: offsets.list_group_offsets(s, group_id, partitions, require_stable=require_stable), timeout
        )

    async def alter_group_offsets(
        self,
        group_id: str,
        new_offsets: Mapping[TopicPartition, int | OffsetAndMetadata],
        *,
        timeout: float | None = None,
    ) -> Results[TopicPartition, OffsetAndMetadata]:
        """Commit for a group that has no members now."""
        return await self._run(lambda s: offsets.alter_group_offsets(s, group_id, new_offsets), timeout)

    async def delete_group_offsets(
        self,
        group_id: str,
        partitions: TopicPartition | Iterable[TopicPartition],
        *,
        timeout: float | None = None,
    ) -> Results[TopicPartition, None]:
        """Forget what a group committed in these partitions."""
        return await self._run(lambda s: offsets.delete_group_offsets(s, group_id, many(partitions)), timeout)

    async def reset_group_offsets(
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
        return await self._run(
            lambda s: offsets.reset_group_offsets(s, group_id, partitions, to=to, shift=shift, dry_run=dry_run), timeout
        )

    async def lag(
        self,
        group_id: str,
        partitions: Iterable[TopicPartition] | None = None,
        *,
        with_age: bool = True,
        timeout: float | None = None,
    ) -> Results[TopicPartition, PartitionLag]:
        """How far a group is behind, per partition: committed, end, lag, age of the oldest unread record, owner. The
        group does not notice. ``with_age=False`` reads no records."""
        return await self._run(lambda s: lag.lag(s, group_id, partitions, with_age=with_age), timeout)

    async def list_share_group_offsets(
        self, group_id: str, partitions: Iterable[TopicPartition] | None = None, *, timeout: float | None = None
    ) -> Results[TopicPartition, ShareOffset]:
        """Where a share group starts in each partition, and its lag where the broker says."""
        return await self._run(lambda s: share_groups.list_share_group_offsets(s, group_id, partitions), timeout)

    async def alter_share_group_offsets(
        self, group_id: str, new_offsets: Mapping[TopicPartition, int], *, timeout: float | None = None
    ) -> Results[TopicPartition, None]:
        """Let a share group without members start elsewhere."""
        return await self._run(lambda s: share_groups.alter_share_group_offsets(s, group_id, new_offsets), timeout)

    async def delete_share_group_offsets(
        self, group_id: str, topic_names: str | Iterable[str], *, timeout: float | None = None
    ) -> Results[str, None]:
        """Let a share group without members forget whole topics."""
        return await self._run(lambda s: share_groups.delete_share_group_offsets(s, group_id, many(topic_names)), timeout)

    # ---- offsets and records -----------------------------------------------------------------------------------------

    async def list_offsets(
        self,
        targets: Mapping[TopicPartition, OffsetTarget],
        *,
        read_committed: bool = False,
        timeout: float | None = None,
    ) -> Results[TopicPartition, OffsetAndTimestamp]:
        """Offsets by name ("earliest", "latest", "max_timestamp", ...) or by time (milliseconds or datetime): the first
        record at or after it, -1 when there is none."""
        return await self._run(lambda s: offsets.list_offsets(s, targets, read_committed=read_committed), timeout)

    async def delete_records(
        self, before: Mapping[TopicPartition, int], *, timeout: float | None = None
    ) -> Results[TopicPartition, int]:
        """Drop all records before an offset (-1: all there are); gives the offset at which each log starts now."""
        return await self._run(lambda s: offsets.delete_records(s, before), timeout)

    # ---- the cluster -------------------------------------------------------------------------------------------------

    async def describe_cluster(
        self,
        *,
        include_fenced: bool = False,
        include_authorized_operations: bool = False,
        timeout: float | None = None,
    ) -> ClusterDescription:
        """The cluster's id, controller and brokers."""
        return await self._run(
            lambda s: cluster.describe_cluster(
                s, include_fenced=include_fenced, include_authorized_operations=include_authorized_operations
            ),
            timeout,
        )

    async def describe_features(self, node_id: int | None = None, *, timeout: float | None = None) -> Features:
        """Feature levels in force, and what a broker supports."""
        return await self._run(lambda s: cluster.describe_features(s, node_id), timeout)

    async def update_features(
        self,
        levels: Mapping[str, int],
        *,
        downgrade: bool = False,
        unsafe: bool = False,
        validate_only: bool = False,
        timeout: float | None = None,
    ) -> Results[str, None]:
        """Put feature levels into force (0: take the feature out of use)."""
        return await self._run(
            lambda s: cluster.update_features(
                s, levels, downgrade=downgrade, unsafe=unsafe, validate_only=validate_only
            ),
            timeout,
        )

    async def describe_quorum(self, *, timeout: float | None = None) -> QuorumDescription:
        """The controllers: leader, voters, observers, how far each has read."""
        return await self._run(cluster.describe_quorum, timeout)

    async def describe_log_dirs(
        self,
        brokers: int | Iterable[int] | None = None,
        *,
        partitions: Iterable[TopicPartition] | None = None,
        timeout: float | None = None,
    ) -> Results[int, dict[str, LogDir | KafkaError]]:
        """The disks of brokers (all when None): directories by path, with the replicas on each."""
        return await self._run(
            lambda s: cluster.describe_log_dirs(s, None if brokers is None else many(brokers), partitions), timeout
        )

    async def alter_log_dirs(
        self, moves: Mapping[tuple[int, TopicPartition], str], *, timeout: float | None = None
    ) -> Results[tuple[int, TopicPartition], None]:
        """Move replicas, given as (broker id, partition), to other directories of the same broker."""
        return await self._run(lambda s: cluster.alter_log_dirs(s, moves), timeout)

    async def elect_leaders(
        self,
        partitions: Iterable[TopicPartition] | None = None,
        *,
        kind: str = "preferred",
        timeout: float | None = None,
    ) -> Results[TopicPartition, bool]:
        """Make the preferred replica lead, or with ``kind="unclean"`` any that is alive, at the price of records. True:
        the leader changed; False: it need not. None: every partition that needs it."""
        return await self._run(lambda s: cluster.elect_leaders(s, kind, partitions), timeout)

    async def alter_partition_reassignments(
        self,
        moves: Mapping[TopicPartition, Sequence[int] | None],
        *,
        allow_replication_factor_change: bool = True,
        timeout: float | None = None,
    ) -> Results[TopicPartition, None]:
        """Start to move partitions to these brokers, the first to lead; None stops a move under way."""
        return await self._run(
            lambda s: cluster.alter_partition_reassignments(
                s, moves, allow_replication_factor_change=allow_replication_factor_change
            ),
            timeout,
        )

    async def list_partition_reassignments(
        self, partitions: Iterable[TopicPartition] | None = None, *, timeout: float | None = None
    ) -> dict[TopicPartition, Reassignment]:
        """Moves under way; empty when all have arrived."""
        return await self._run(lambda s: cluster.list_partition_reassignments(s, partitions), timeout)

    async def unregister_broker(self, node_id: int, *, timeout: float | None = None) -> None:
        """Forget a broker that is gone for good."""
        return await self._run(lambda s: membership.unregister_broker(s, node_id), timeout)

    async def add_raft_voter(
        self,
        voter_id: int,
        directory_id: UUID,
        endpoints: Mapping[str, tuple[str, int]],
        *,
        timeout: float | None = None,
    ) -> None:
        """Let a controller vote (KIP-853); ``endpoints`` are its listeners: name to (host, port)."""
        return await self._run(lambda s: membership.add_raft_voter(s, voter_id, directory_id, endpoints), timeout)

    async def remove_raft_voter(self, voter_id: int, directory_id: UUID, *, timeout: float | None = None) -> None:
        """Take a controller's vote away (KIP-853)."""
        return await self._run(lambda s: membership.remove_raft_voter(s, voter_id, directory_id), timeout)

    # ---- rights, users, quotas ---------------------------------------------------------------------------------------

    async def create_acls(self, new_acls: Acl | Iterable[Acl], *, timeout: float | None = None) -> Results[Acl, None]:
        """Grant or deny rights."""
        return await self._run(lambda s: acls.create_acls(s, many(new_acls)), timeout)

    async def describe_acls(self, acl_filter: AclFilter | None = None, *, timeout: float | None = None) -> list[Acl]:
        """The rights that match; all when None."""
        return await self._run(lambda s: acls.describe_acls(s, acl_filter or AclFilter()), timeout)

    async def delete_acls(
        self, filters: AclFilter | Iterable[AclFilter], *, timeout: float | None = None
    ) -> Results[AclFilter, list[Acl]]:
        """Delete the rights that match; gives those that are gone, per filter."""
        return await self._run(lambda s: acls.delete_acls(s, many(filters)), timeout)

    async def describe_scram_users(
        self, user_names: str | Iterable[str] | None = None, *, timeout: float | None = None
    ) -> Results[str, dict[str, int]]:
        """Which mechanisms users have, with the iterations of each; all users when None."""
        return await self._run(lambda s: users.describe_users(s, None if user_names is None else many(user_names)), timeout)

    async def alter_scram_users(
        self,
        changes: ScramUpsertion | ScramDeletion | Iterable[ScramUpsertion | ScramDeletion],
        *,
        timeout: float | None = None,
    ) -> Results[str, None]:
        """Make users, change passwords (hashed here, never sent), delete credentials; one outcome per user."""
        return await self._run(lambda s: users.alter_users(s, many(changes)), timeout)

    async def describe_client_quotas(
        self,
        entity: QuotaEntity | None = None,
        *,
        any_of: Iterable[str] = (),
        strict: bool = False,
        timeout: float | None = None,
    ) -> dict[tuple[tuple[str, str | None], ...], dict[str, float]]:
        """Quotas by entity (its sorted pairs). ``entity`` must match, None in it being the default; ``any_of`` names
        kinds that may have any name; ``strict`` leaves out entities with further kinds."""
        return await self._run(lambda s: users.describe_quotas(s, entity or {}, any_of=any_of, strict=strict), timeout)

    async def alter_client_quotas(
        self,
        changes: Iterable[tuple[QuotaEntity, Mapping[str, float | None]]],
        *,
        validate_only: bool = False,
        timeout: float | None = None,
    ) -> Results[tuple[tuple[str, str | None], ...], None]:
        """Set quotas, as pairs of entity and values; a value None removes it."""
        return await self._run(lambda s: users.alter_quotas(s, changes, validate_only=validate_only), timeout)

    async def create_delegation_token(
        self,
        *,
        owner: str | None = None,
        renewers: Iterable[str] = (),
        max_lifetime_ms: int | None = None,
        timeout: float | None = None,
    ) -> DelegationToken:
        """A token to log in with, for us or for ``owner`` (``User:name``); ``renewers`` may prolong it."""
        return await self._run(
            lambda s: tokens.create_token(s, owner=owner, renewers=renewers, max_lifetime_ms=max_lifetime_ms), timeout
        )

    async def describe_delegation_tokens(
        self, owners: str | Iterable[str] | None = None, *, timeout: float | None = None
    ) -> list[DelegationToken]:
        """The tokens we may see; ``owners`` picks those of some principals."""
        return await self._run(lambda s: tokens.describe_tokens(s, None if owners is None else many(owners)), timeout)

    async def renew_delegation_token(
        self, token: DelegationToken, period_ms: int | None = None, *, timeout: float | None = None
    ) -> int:
        """Let a token live on (None: the broker's usual period); gives when it expires, in milliseconds."""
        return await self._run(lambda s: tokens.renew_token(s, token.hmac, period_ms), timeout)

    async def expire_delegation_token(
        self, token: DelegationToken, period_ms: int | None = None, *, timeout: float | None = None
    ) -> int:
        """Let a token expire after so long (None: now); gives when, in milliseconds."""
        return await self._run(lambda s: tokens.expire_token(s, token.hmac, period_ms), timeout)

    # ---- transactions ------------------------------------------------------------------------------------------------

    async def list_transactions(
        self,
        *,
        states: Iterable[str] = (),
        producer_ids: Iterable[int] = (),
        longer_than_ms: int | None = None,
        pattern: str | None = None,
        timeout: float | None = None,
    ) -> dict[str, TransactionListing]:
        """The transactional ids of the cluster; ``pattern`` is an RE2 expression for their names."""
        return await self._run(
            lambda s: transactions.list_transactions(
                s, states=states, producer_ids=producer_ids, longer_than_ms=longer_than_ms, pattern=pattern
            ),
            timeout,
        )

    async def describe_transactions(
        self, transactional_ids: str | Iterable[str], *, timeout: float | None = None
    ) -> Results[str, TransactionDescription]:
        """State, producer, start and partitions of transactional ids."""
        return await self._run(lambda s: transactions.describe_transactions(s, many(transactional_ids)), timeout)

    async def describe_producers(
        self, partitions: TopicPartition | Iterable[TopicPartition], *, timeout: float | None = None
    ) -> Results[TopicPartition, list[ProducerState]]:
        """The producers that write to partitions, as the leaders know them."""
        return await self._run(lambda s: transactions.describe_producers(s, many(partitions)), timeout)

    async def find_hanging_transactions(
        self, topic_names: Iterable[str] | None = None, *, older_than_s: float = 900.0, timeout: float | None = None
    ) -> list[HangingTransaction]:
        """Transactions that are open in a partition and unknown to their coordinator: they hold up every read_committed
        consumer until ``abort_transaction``. ``older_than_s``: above the brokers' transaction.max.timeout.ms."""
        return await self._run(
            lambda s: transactions.find_hanging_transactions(s, topic_names, older_than_s=older_than_s), timeout
        )

    async def abort_transaction(self, hanging: HangingTransaction, *, timeout: float | None = None) -> None:
        """End a hanging transaction in its partition. For one that its coordinator knows, use ``fence_producers``."""
        return await self._run(
            lambda s: transactions.abort_transaction(
                s, hanging.topic_partition, hanging.producer_id, hanging.producer_epoch, hanging.coordinator_epoch
            ),
            timeout,
        )

    async def fence_producers(
        self, transactional_ids: str | Iterable[str], *, timeout: float | None = None
    ) -> Results[str, FencedProducer]:
        """Stop every producer with these transactional ids, and abort what they have open."""
        return await self._run(lambda s: transactions.fence_producers(s, many(transactional_ids)), timeout)


__all__ = ["AsyncKafkaAdminClient"]
