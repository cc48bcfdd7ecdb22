"""One class per error code a broker can answer with: its number, what to do next, and a sentence for the reader.

Facts of Apache Kafka 4.3. Never compare numbers or messages elsewhere: ask ``error.action``, ``retriable``,
``abortable`` or ``fatal``. Longer than most modules because it is one table;
split it and the numbers stop being in order.
"""

from __future__ import annotations

from typing import Any

from pykclient.errors.families import (
    BROKER_ERRORS,
    Action,
    AuthenticationError,
    AuthorizationError,
    BrokerError,
    FatalError,
    KafkaError,
    rebuild,
)


class UnknownServerError(BrokerError, code=-1, action=Action.RAISE):
    """Something unforeseen went wrong inside the broker; look into its log before trying again."""


class OffsetOutOfRange(BrokerError, code=1, action=Action.RESET_OFFSET):
    """The partition has no such offset any more, or not yet; seek elsewhere or set auto_offset_reset."""


class CorruptMessage(BrokerError, code=2, action=Action.RETRY):
    """The broker found the batch damaged, oversized or without the key its compacted topic needs; it is sent again."""


class UnknownTopicOrPartition(BrokerError, code=3, action=Action.REFRESH_METADATA):
    """The broker asked does not have this topic or partition; create it, or wait until the news has spread."""


class InvalidFetchSize(BrokerError, code=4, action=Action.RAISE):
    """The fetch asked for an impossible number of bytes; correct the fetch size options."""


class LeaderNotAvailable(BrokerError, code=5, action=Action.REFRESH_METADATA):
    """The partition has no leader at the moment because one is being elected; ask again shortly."""


class NotLeaderOrFollower(BrokerError, code=6, action=Action.REFRESH_METADATA):
    """Another broker leads this partition now; learn which one and ask there."""


class RequestTimedOut(BrokerError, code=7, action=Action.RETRY):
    """The broker did not finish in the time it was given; what it did is unknown, try again."""


class BrokerNotAvailable(BrokerError, code=8, action=Action.RAISE):
    """The broker that was named is not running; check the cluster."""


class ReplicaNotAvailable(BrokerError, code=9, action=Action.REFRESH_METADATA):
    """The broker holds no usable replica of this partition; ask another one."""


class MessageTooLarge(BrokerError, code=10, action=Action.SPLIT_BATCH):
    """The batch is larger than the topic's max.message.bytes; send smaller records or raise that limit."""


class StaleControllerEpoch(BrokerError, code=11, action=Action.RAISE):
    """An older controller spoke after a newer one took over; only brokers see this."""


class OffsetMetadataTooLarge(BrokerError, code=12, action=Action.RAISE):
    """The note stored with a committed offset is too long; shorten it."""


class NetworkException(BrokerError, code=13, action=Action.REFRESH_METADATA):
    """The broker lost a connection it needed before an answer came; try again."""


class CoordinatorLoadInProgress(BrokerError, code=14, action=Action.RETRY):
    """The coordinator is still reading its state; ask it again shortly."""


class CoordinatorNotAvailable(BrokerError, code=15, action=Action.FIND_COORDINATOR):
    """There is no coordinator to ask yet; look it up again shortly."""


class NotCoordinator(BrokerError, code=16, action=Action.FIND_COORDINATOR):
    """Another broker coordinates this group or transaction now; look it up again."""


class InvalidTopicException(BrokerError, code=17, action=Action.RAISE):
    """The topic name is not allowed, or the topic is an internal one that clients may not write; use another."""


class RecordListTooLarge(BrokerError, code=18, action=Action.RAISE):
    """The batch does not fit into one log segment; send smaller batches or raise segment.bytes."""


class NotEnoughReplicas(BrokerError, code=19, action=Action.RETRY):
    """Too few replicas are in sync to accept the write; it was not stored, try again."""


class NotEnoughReplicasAfterAppend(BrokerError, code=20, action=Action.RETRY):
    """The write was stored, but too few replicas are in sync to call it safe; try again."""


class InvalidRequiredAcks(BrokerError, code=21, action=Action.RAISE):
    """acks must be 0, 1 or all; correct the option."""


class IllegalGeneration(BrokerError, code=22, action=Action.REJOIN, abortable=True):
    """The group has moved on to another generation; join again, and commit nothing from the old one."""


class InconsistentGroupProtocol(BrokerError, FatalError, code=23, action=Action.FATAL):
    """This member shares no assignor or protocol with the rest of the group; align their configurations."""


class InvalidGroupId(BrokerError, FatalError, code=24, action=Action.FATAL):
    """The group id is empty or not allowed here; set another group_id."""


class UnknownMemberId(BrokerError, code=25, action=Action.REJOIN, abortable=True):
    """The coordinator does not know this member, most often because its session expired; join again."""


class InvalidSessionTimeout(BrokerError, FatalError, code=26, action=Action.FATAL):
    """session_timeout_ms lies outside what the broker allows; choose a value inside its limits."""


class RebalanceInProgress(BrokerError, code=27, action=Action.REJOIN, abortable=True):
    """The group is rebalancing; join again before committing."""


class InvalidCommitOffsetSize(BrokerError, code=28, action=Action.RAISE):
    """The commit was too large to store; commit fewer partitions or shorter notes at once."""


class TopicAuthorizationFailed(AuthorizationError, code=29, action=Action.RAISE, abortable=True):
    """No right on this topic; ask for an ACL that allows the operation."""


class GroupAuthorizationFailed(AuthorizationError, code=30, action=Action.RAISE, abortable=True):
    """No right on this group; ask for an ACL that allows the operation."""


class ClusterAuthorizationFailed(AuthorizationError, FatalError, code=31, action=Action.FATAL):
    """No right on the cluster itself; ask for an ACL that allows the operation."""


class InvalidTimestamp(BrokerError, code=32, action=Action.RAISE):
    """The record's timestamp is too far from the broker's clock for this topic; correct it."""


class UnsupportedSaslMechanism(BrokerError, AuthenticationError, code=33, action=Action.FATAL):
    """The broker does not offer this SASL mechanism; set sasl_mechanism to one it lists."""


class IllegalSaslState(BrokerError, AuthenticationError, code=34, action=Action.FATAL):
    """The step does not fit the state of the authentication; check security_protocol on both sides."""


class UnsupportedVersion(BrokerError, code=35, action=Action.RAISE):
    """The broker does not speak this version of the request; the feature needs a newer broker."""


class TopicAlreadyExists(BrokerError, code=36, action=Action.RAISE):
    """A topic of this name exists already; use it or choose another name."""


class InvalidPartitions(BrokerError, code=37, action=Action.RAISE):
    """The number of partitions is not possible; give at least 1, and never fewer than there are."""


class InvalidReplicationFactor(BrokerError, code=38, action=Action.RAISE):
    """The replication factor is below 1 or above the number of usable brokers; choose another."""


class InvalidReplicaAssignment(BrokerError, code=39, action=Action.RAISE):
    """The given placement of replicas is not possible; name existing brokers, each once per partition."""


class InvalidConfig(BrokerError, code=40, action=Action.RAISE):
    """A configuration name or value is not valid; correct it."""


class NotController(BrokerError, code=41, action=Action.FIND_CONTROLLER):
    """Another node is the controller now; ask that one."""


class InvalidRequest(BrokerError, code=42, action=Action.RAISE):
    """The broker could not accept the request as it stands; its log says why."""


class UnsupportedForMessageFormat(BrokerError, code=43, action=Action.RAISE):
    """The stored record format is too old for this; upgrade the topic's format."""


class PolicyViolation(BrokerError, code=44, action=Action.RAISE):
    """A policy set by the operators forbids these parameters; ask them or choose others."""


class OutOfOrderSequenceNumber(BrokerError, code=45, action=Action.NEW_PRODUCER_ID, abortable=True):
    """A batch before this one is missing on the broker, so records may have been lost; start a new sequence."""


class DuplicateSequenceNumber(BrokerError, code=46, action=Action.ACCEPT):
    """The broker stored this batch before and knows only that; nothing is lost and nothing is doubled."""


class InvalidProducerEpoch(BrokerError, code=47, action=Action.ABORT):
    """The producer's epoch is old; abort, and the next transaction takes a new one."""


class InvalidTxnState(BrokerError, FatalError, code=48, action=Action.FATAL):
    """The transaction is not in a state that allows this; close the producer."""


class InvalidProducerIdMapping(BrokerError, code=49, action=Action.ABORT):
    """The producer id no longer belongs to this transactional id, as it expired; abort and start again."""


class InvalidTransactionTimeout(BrokerError, FatalError, code=50, action=Action.FATAL):
    """transaction_timeout_ms is above what the broker allows; lower it."""


class ConcurrentTransactions(BrokerError, code=51, action=Action.RETRY):
    """The transaction before this one is still being finished; try again shortly."""


class TransactionCoordinatorFenced(BrokerError, code=52, action=Action.RAISE):
    """An older transaction coordinator spoke after a newer one took over; only brokers see this."""


class TransactionalIdAuthorizationFailed(AuthorizationError, FatalError, code=53, action=Action.FATAL):
    """No right to use this transactional id; ask for an ACL that allows it."""


class SecurityDisabled(BrokerError, code=54, action=Action.RAISE):
    """The broker runs without an authorizer, so there are no ACLs to work on."""


class OperationNotAttempted(BrokerError, code=55, action=Action.RAISE):
    """Another part of the same request failed, so this part was not tried; correct that one and repeat."""


class KafkaStorageError(BrokerError, code=56, action=Action.REFRESH_METADATA):
    """The broker's disk failed for this partition; another replica may take over."""


class LogDirNotFound(BrokerError, code=57, action=Action.RAISE):
    """The broker has no such log directory; choose one it lists."""


class SaslAuthenticationFailed(BrokerError, AuthenticationError, code=58, action=Action.FATAL):
    """The broker rejected the credentials; check the user name, the password or the token."""


class UnknownProducerId(BrokerError, code=59, action=Action.NEW_PRODUCER_ID, abortable=True):
    """The broker has forgotten this producer, most often as its records expired; start a new sequence."""


class ReassignmentInProgress(BrokerError, code=60, action=Action.RAISE):
    """Replicas of this partition are being moved; wait until that is done."""


class DelegationTokenAuthDisabled(BrokerError, code=61, action=Action.RAISE):
    """The cluster does not use delegation tokens; authenticate in another way."""


class DelegationTokenNotFound(BrokerError, code=62, action=Action.RAISE):
    """The cluster knows no such delegation token; create a new one."""


class DelegationTokenOwnerMismatch(BrokerError, code=63, action=Action.RAISE):
    """The token belongs to somebody else; act as its owner or renewer."""


class DelegationTokenRequestNotAllowed(BrokerError, code=64, action=Action.RAISE):
    """Token requests need a properly authenticated connection that did not itself use a token; connect so."""


class DelegationTokenAuthorizationFailed(AuthorizationError, code=65, action=Action.RAISE):
    """No right on this delegation token; ask for an ACL that allows it."""


class DelegationTokenExpired(BrokerError, code=66, action=Action.RAISE):
    """The delegation token has expired; create a new one."""


class InvalidPrincipalType(BrokerError, code=67, action=Action.RAISE):
    """This type of principal is not supported; use User."""


class NonEmptyGroup(BrokerError, code=68, action=Action.RAISE):
    """The group still has members; stop them first."""


class GroupIdNotFound(BrokerError, code=69, action=Action.RAISE):
    """There is no such group; check its name."""


class FetchSessionIdNotFound(BrokerError, code=70, action=Action.RESET_SESSION):
    """The broker dropped the fetch session; a new one is opened."""


class InvalidFetchSessionEpoch(BrokerError, code=71, action=Action.RESET_SESSION):
    """The fetch session is out of step; a new one is opened."""


class ListenerNotFound(BrokerError, code=72, action=Action.REFRESH_METADATA):
    """The leader has no listener like the one we came through; check the brokers' listeners."""


class TopicDeletionDisabled(BrokerError, code=73, action=Action.RAISE):
    """The cluster does not allow topics to be deleted; enable delete.topic.enable."""


class FencedLeaderEpoch(BrokerError, code=74, action=Action.REFRESH_METADATA):
    """Our knowledge of the leader is older than the broker's; fetch metadata and validate the position."""


class UnknownLeaderEpoch(BrokerError, code=75, action=Action.REFRESH_METADATA):
    """Our knowledge of the leader is newer than the broker's; ask again once it has caught up."""


class UnsupportedCompressionType(BrokerError, code=76, action=Action.RAISE):
    """The request version is too old for the partition's compression; use another codec or a newer client."""


class StaleBrokerEpoch(BrokerError, code=77, action=Action.RAISE):
    """A broker spoke from before its restart; only brokers see this."""


class OffsetNotAvailable(BrokerError, code=78, action=Action.RETRY):
    """The new leader cannot vouch for its end offset yet; ask again shortly."""


class MemberIdRequired(BrokerError, code=79, action=Action.REJOIN):
    """The coordinator gave out a member id; join again with it."""


class PreferredLeaderNotAvailable(BrokerError, code=80, action=Action.REFRESH_METADATA):
    """The preferred replica is not there to lead; try again when its broker is back."""


class GroupMaxSizeReached(BrokerError, FatalError, code=81, action=Action.FATAL):
    """The group has as many members as the broker allows; run fewer."""


class FencedInstanceId(BrokerError, FatalError, code=82, action=Action.FATAL, abortable=True):
    """Another consumer joined with the same group_instance_id; give each its own."""


class EligibleLeadersNotAvailable(BrokerError, code=83, action=Action.REFRESH_METADATA):
    """No replica that may lead is alive; bring a broker of this partition back."""


class ElectionNotNeeded(BrokerError, code=84, action=Action.ACCEPT, retriable=True):
    """The partition has the leader that was asked for; nothing to do."""


class NoReassignmentInProgress(BrokerError, code=85, action=Action.RAISE):
    """No replicas of this partition are being moved; there is nothing to cancel."""


class GroupSubscribedToTopic(BrokerError, code=86, action=Action.RAISE):
    """The group still reads this topic; unsubscribe it before deleting the offsets."""


class InvalidRecord(BrokerError, code=87, action=Action.RAISE):
    """The broker refused the record itself, for example one without a key on a compacted topic; correct it."""


class UnstableOffsetCommit(BrokerError, code=88, action=Action.RETRY):
    """An unfinished transaction holds offsets of this group; ask again when it is decided."""


class ThrottlingQuotaExceeded(BrokerError, code=89, action=Action.RETRY):
    """A quota is used up; try again after the time the broker named."""


class ProducerFenced(BrokerError, FatalError, code=90, action=Action.FATAL):
    """Another producer with the same transactional id has taken over; close this one."""


class ResourceNotFound(BrokerError, code=91, action=Action.RAISE):
    """The thing the request names does not exist; check its name."""


class DuplicateResource(BrokerError, code=92, action=Action.RAISE):
    """The request names the same thing twice; name it once."""


class UnacceptableCredential(BrokerError, code=93, action=Action.RAISE):
    """The new credential is too weak or malformed for the broker; choose another."""


class InconsistentVoterSet(BrokerError, code=94, action=Action.RAISE):
    """Sender and receiver disagree on who votes; only controllers see this."""


class InvalidUpdateVersion(BrokerError, code=95, action=Action.RAISE):
    """The version given for the update is not valid; read the current one first."""


class FeatureUpdateFailed(BrokerError, code=96, action=Action.RAISE):
    """The cluster could not change the feature level; its controller's log says why."""


class PrincipalDeserializationFailure(BrokerError, code=97, action=Action.RAISE):
    """The controller could not read who sent a forwarded request; check the brokers' principal builder."""


class SnapshotNotFound(BrokerError, code=98, action=Action.RAISE):
    """The snapshot is gone; only controllers see this."""


class PositionOutOfRange(BrokerError, code=99, action=Action.RAISE):
    """The position lies outside the snapshot; only controllers see this."""


class UnknownTopicId(BrokerError, code=100, action=Action.REFRESH_METADATA):
    """The broker knows no topic of this id; it was deleted, or the news has not spread yet."""


class DuplicateBrokerRegistration(BrokerError, code=101, action=Action.RAISE):
    """Another running broker uses this id; give each broker its own."""


class BrokerIdNotRegistered(BrokerError, code=102, action=Action.RAISE):
    """No broker of this id has registered; check the id."""


class InconsistentTopicId(BrokerError, code=103, action=Action.REFRESH_METADATA):
    """The topic was deleted and made again under the same name; learn its new id."""


class InconsistentClusterId(BrokerError, code=104, action=Action.RAISE):
    """The request was meant for another cluster; check where it is sent."""


class TransactionalIdNotFound(BrokerError, code=105, action=Action.RAISE):
    """The coordinator knows no such transactional id; check it."""


class FetchSessionTopicIdError(BrokerError, code=106, action=Action.RESET_SESSION):
    """The fetch session mixed names and ids of topics; a new one is opened."""


class IneligibleReplica(BrokerError, code=107, action=Action.RAISE):
    """A replica proposed as in sync may not be; only brokers see this."""


class NewLeaderElected(BrokerError, code=108, action=Action.RAISE):
    """The partition state changed and so did the leader; only brokers see this."""


class OffsetMovedToTieredStorage(BrokerError, code=109, action=Action.RAISE):
    """The offset now lives in remote storage; only followers see this."""


class FencedMemberEpoch(BrokerError, code=110, action=Action.REJOIN):
    """The coordinator has fenced this member; give up all partitions and join again."""


class UnreleasedInstanceId(BrokerError, FatalError, code=111, action=Action.FATAL):
    """Another member still uses this group_instance_id; it must leave first."""


class UnsupportedAssignor(BrokerError, FatalError, code=112, action=Action.FATAL):
    """The group does not support this assignor; set group_remote_assignor to one the broker lists."""


class StaleMemberEpoch(BrokerError, code=113, action=Action.UPDATE_EPOCH):
    """The member epoch has moved on; repeat once the next heartbeat has brought the new one."""


class MismatchedEndpointType(BrokerError, code=114, action=Action.RAISE):
    """The request went to a broker where a controller was meant, or the other way round; correct the address."""


class UnsupportedEndpointType(BrokerError, code=115, action=Action.RAISE):
    """The node does not support this kind of endpoint; ask a broker instead."""


class UnknownControllerId(BrokerError, code=116, action=Action.RAISE):
    """There is no controller of this id; check it."""


class UnknownSubscriptionId(BrokerError, code=117, action=Action.RAISE):
    """The telemetry subscription is out of date; fetch a new one before pushing metrics."""


class TelemetryTooLarge(BrokerError, code=118, action=Action.RAISE):
    """The pushed metrics are larger than the broker accepts; send fewer."""


class InvalidRegistration(BrokerError, code=119, action=Action.RAISE):
    """The controller refused the registration of a broker; only brokers see this."""


class TransactionAbortable(BrokerError, code=120, action=Action.ABORT):
    """The transaction cannot be committed; abort it, then the producer can go on."""


class InvalidRecordState(BrokerError, code=121, action=Action.RAISE):
    """The record is no longer held by this share consumer, so it cannot be acknowledged."""


class ShareSessionNotFound(BrokerError, code=122, action=Action.RESET_SESSION):
    """The broker dropped the share session; a new one is opened."""


class InvalidShareSessionEpoch(BrokerError, code=123, action=Action.RESET_SESSION):
    """The share session is out of step; a new one is opened."""


class FencedStateEpoch(BrokerError, code=124, action=Action.RAISE):
    """The share group's state has moved on; only brokers see this."""


class InvalidVoterKey(BrokerError, code=125, action=Action.RAISE):
    """The key of the voter is not that of the receiver; only controllers see this."""


class DuplicateVoter(BrokerError, code=126, action=Action.RAISE):
    """This node votes already; nothing to add."""


class VoterNotFound(BrokerError, code=127, action=Action.RAISE):
    """This node does not vote; nothing to remove."""


class InvalidRegularExpression(BrokerError, code=128, action=Action.RAISE):
    """The broker cannot use the subscription pattern; write it in RE2 syntax."""


class RebootstrapRequired(BrokerError, code=129, action=Action.REBOOTSTRAP):
    """What this client knows of the cluster is no longer true; start again from bootstrap_servers."""


class StreamsInvalidTopology(BrokerError, code=130, action=Action.RAISE):
    """The streams topology is not valid; only Kafka Streams sees this."""


class StreamsInvalidTopologyEpoch(BrokerError, code=131, action=Action.RAISE):
    """The epoch of the streams topology is not valid; only Kafka Streams sees this."""


class StreamsTopologyFenced(BrokerError, code=132, action=Action.RAISE):
    """The epoch of the streams topology is out of date; only Kafka Streams sees this."""


class ShareSessionLimitReached(BrokerError, code=133, action=Action.RETRY):
    """The broker has no room for another share session; try again later."""


class UnknownErrorCode(BrokerError, action=Action.RAISE):
    """The broker answered with an error code that this client does not know; a newer client may."""


def error_for_code(code: int) -> type[BrokerError]:
    """The class for a non-zero code. A number from the future gives a kind of `UnknownErrorCode` that carries it."""
    assert code != 0, "code 0 is success, not an error"
    known = BROKER_ERRORS.get(code)
    if known is not None:
        return known
    return type("UnknownErrorCode", (_NumberedUnknown,), {"code": code, "__doc__": UnknownErrorCode.__doc__})


def broker_error(code: int, message: str | None = None, **context: Any) -> BrokerError:
    """An error for a non-zero code with the broker's own words, where it sent some, and what the request was about."""
    return error_for_code(code)(message or None, **context)


class _NumberedUnknown(UnknownErrorCode):
    """Carries the number; its class is made when met, so pickling goes through the number."""

    __doc__ = UnknownErrorCode.__doc__

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild_unknown, (self.code, self.args, self.__dict__)


def _rebuild_unknown(code: int, args: tuple[object, ...], state: dict[str, Any]) -> KafkaError:
    return rebuild(error_for_code(code), args, state)


__all__ = [
    "BrokerIdNotRegistered",
    "BrokerNotAvailable",
    "ClusterAuthorizationFailed",
    "ConcurrentTransactions",
    "CoordinatorLoadInProgress",
    "CoordinatorNotAvailable",
    "CorruptMessage",
    "DelegationTokenAuthDisabled",
    "DelegationTokenAuthorizationFailed",
    "DelegationTokenExpired",
    "DelegationTokenNotFound",
    "DelegationTokenOwnerMismatch",
    "DelegationTokenRequestNotAllowed",
    "DuplicateBrokerRegistration",
    "DuplicateResource",
    "DuplicateSequenceNumber",
    "DuplicateVoter",
    "ElectionNotNeeded",
    "EligibleLeadersNotAvailable",
    "FeatureUpdateFailed",
    "FencedInstanceId",
    "FencedLeaderEpoch",
    "FencedMemberEpoch",
    "FencedStateEpoch",
    "FetchSessionIdNotFound",
    "FetchSessionTopicIdError",
    "GroupAuthorizationFailed",
    "GroupIdNotFound",
    "GroupMaxSizeReached",
    "GroupSubscribedToTopic",
    "IllegalGeneration",
    "IllegalSaslState",
    "InconsistentClusterId",
    "InconsistentGroupProtocol",
    "InconsistentTopicId",
    "InconsistentVoterSet",
    "IneligibleReplica",
    "InvalidCommitOffsetSize",
    "InvalidConfig",
    "InvalidFetchSessionEpoch",
    "InvalidFetchSize",
    "InvalidGroupId",
    "InvalidPartitions",
    "InvalidPrincipalType",
    "InvalidProducerEpoch",
    "InvalidProducerIdMapping",
    "InvalidRecord",
    "InvalidRecordState",
    "InvalidRegistration",
    "InvalidRegularExpression",
    "InvalidReplicaAssignment",
    "InvalidReplicationFactor",
    "InvalidRequest",
    "InvalidRequiredAcks",
    "InvalidSessionTimeout",
    "InvalidShareSessionEpoch",
    "InvalidTimestamp",
    "InvalidTopicException",
    "InvalidTransactionTimeout",
    "InvalidTxnState",
    "InvalidUpdateVersion",
    "InvalidVoterKey",
    "KafkaStorageError",
    "LeaderNotAvailable",
    "ListenerNotFound",
    "LogDirNotFound",
    "MemberIdRequired",
    "MessageTooLarge",
    "MismatchedEndpointType",
    "NetworkException",
    "NewLeaderElected",
    "NoReassignmentInProgress",
    "NonEmptyGroup",
    "NotController",
    "NotCoordinator",
    "NotEnoughReplicas",
    "NotEnoughReplicasAfterAppend",
    "NotLeaderOrFollower",
    "OffsetMetadataTooLarge",
    "OffsetMovedToTieredStorage",
    "OffsetNotAvailable",
    "OffsetOutOfRange",
    "OperationNotAttempted",
    "OutOfOrderSequenceNumber",
    "PolicyViolation",
    "PositionOutOfRange",
    "PreferredLeaderNotAvailable",
    "PrincipalDeserializationFailure",
    "ProducerFenced",
    "ReassignmentInProgress",
    "RebalanceInProgress",
    "RebootstrapRequired",
    "RecordListTooLarge",
    "ReplicaNotAvailable",
    "RequestTimedOut",
    "ResourceNotFound",
    "SaslAuthenticationFailed",
    "SecurityDisabled",
    "ShareSessionLimitReached",
    "ShareSessionNotFound",
    "SnapshotNotFound",
    "StaleBrokerEpoch",
    "StaleControllerEpoch",
    "StaleMemberEpoch",
    "StreamsInvalidTopology",
    "StreamsInvalidTopologyEpoch",
    "StreamsTopologyFenced",
    "TelemetryTooLarge",
    "ThrottlingQuotaExceeded",
    "TopicAlreadyExists",
    "TopicAuthorizationFailed",
    "TopicDeletionDisabled",
    "TransactionAbortable",
    "TransactionCoordinatorFenced",
    "TransactionalIdAuthorizationFailed",
    "TransactionalIdNotFound",
    "UnacceptableCredential",
    "UnknownControllerId",
    "UnknownErrorCode",
    "UnknownLeaderEpoch",
    "UnknownMemberId",
    "UnknownProducerId",
    "UnknownServerError",
    "UnknownSubscriptionId",
    "UnknownTopicId",
    "UnknownTopicOrPartition",
    "UnreleasedInstanceId",
    "UnstableOffsetCommit",
    "UnsupportedAssignor",
    "UnsupportedCompressionType",
    "UnsupportedEndpointType",
    "UnsupportedForMessageFormat",
    "UnsupportedSaslMechanism",
    "UnsupportedVersion",
    "VoterNotFound",
    "broker_error",
    "error_for_code",
]
