"""Kafka's own record batches: every readable one gives exactly its records, every refused one our error, and what can
be rebuilt is byte-equal."""

from __future__ import annotations

import array
import gzip
import json
import os
import pathlib
from typing import Any

import pytest

from pykclient.errors import ProtocolError
from pykclient.protocol import control_records, legacy_records, records
from pykclient.protocol.columns import BinaryColumn, Columns, HeaderColumns
from pykclient.protocol.records import BatchHeader
from pykclient.types import ConsumerRecord, TimestampType

FOLDER = pathlib.Path(os.environ.get("PYKCLIENT_VECTORS") or pathlib.Path(__file__).parent / "data")


def load(name: str) -> list[dict[str, Any]]:
    with gzip.open(FOLDER / f"{name}.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


def read_all(vector: dict[str, Any]) -> tuple[list[BatchHeader], list[dict[str, Any]], int]:
    buffer = bytes.fromhex(vector["hex"])
    headers, found, end = [], [], 0
    for header, batch in records.decode_all(buffer, "topic", 3):
        headers.append(header)
        end = header.end
        found += [as_json(header, record) for record in batch]
    return headers, found, len(buffer) - end


def read_columns(vector: dict[str, Any]) -> list[tuple[int, int, str | None, str | None]]:
    """The same through the column decoder: offset, timestamp, key and value of every record."""
    buffer = bytes.fromhex(vector["hex"])
    columns = Columns(HeaderColumns())
    for header in records.iter_batches(buffer):
        columns.append_batch(buffer, header)

    def cells(column: BinaryColumn) -> list[str | None]:
        ends = array.array("i", column.offsets)
        valid = [column.validity[row // 8] >> row % 8 & 1 for row in range(columns.row_count)]
        return [column.data[ends[row] : ends[row + 1]].hex() if valid[row] else None for row in range(len(valid))]

    offsets, timestamps = array.array("q", columns.offsets), array.array("q", columns.timestamps)
    return list(zip(offsets, timestamps, cells(columns.key), cells(columns.value), strict=True))


def read_in_runs(vector: dict[str, Any]) -> tuple[list[Any], list[int], int]:
    """The same in runs of batches where they can be had, to objects and to columns: records, offsets, batches in
    runs."""
    buffer = bytes.fromhex(vector["hex"])
    columns = Columns()
    found: list[Any] = []
    position = in_runs = 0
    while (header := records.read_header(buffer, position)) is not None:
        run = records.decode_batches(buffer, position, "topic", 3, records_max=1 << 20)
        appended = columns.append_batches(buffer, position, from_offset=records.OFFSET_MIN, rows_max=1 << 20)
        if appended.position == position:
            columns.append_batch(buffer, header)
        if run.position == position:
            found += records.decode_batch(buffer, header, "topic", 3)
            position = header.end
            continue
        found += run.records
        in_runs += 1
        # Columns of one run have one kind of timestamps; objects need not.
        while appended.position < run.position:
            appended = columns.append_batches(
                buffer, appended.position, from_offset=records.OFFSET_MIN, rows_max=1 << 20
            )
        position = run.position
    return found, array.array("q", columns.offsets).tolist(), in_runs


def as_json(header: BatchHeader, record: ConsumerRecord[bytes | None, bytes | None]) -> dict[str, Any]:
    seen: dict[str, Any] = {
        "offset": record.offset,
        "timestamp": record.timestamp,
        "keyHex": None if record.key is None else record.key.hex(),
        "valueHex": None if record.value is None else record.value.hex(),
        "headers": [[name, None if value is None else value.hex()] for name, value in record.headers],
    }
    if records.record_sequence(header, record.offset) != -1:
        seen["sequence"] = records.record_sequence(header, record.offset)
    if header.is_control:
        marker = control_records.decode_control_record(record)
        seen["control"] = {"type": marker.type.name}
        if marker.coordinator_epoch is not None:
            seen["control"]["coordinatorEpoch"] = marker.coordinator_epoch
    return seen


def attributes_of(header: BatchHeader) -> dict[str, Any]:
    seen: dict[str, Any] = {
        "magic": header.magic,
        "compression": header.compression.name.lower(),
        "sizeInBytes": header.size,
        "lastOffset": header.last_offset,
        "nextOffset": header.next_offset,
        "crc": header.crc,
        "timestampType": header.timestamp_type.name,
        "maxTimestamp": header.max_timestamp,
        "attributes": header.attributes,
    }
    if header.magic == 2 or not header.is_compressed:
        seen |= {"baseOffset": header.base_offset, "count": header.record_count}
    if header.magic == 2:
        seen |= {
            "baseTimestamp": header.base_timestamp,
            "lastOffsetDelta": header.last_offset_delta,
            "partitionLeaderEpoch": header.partition_leader_epoch,
            "producerId": header.producer_id,
            "producerEpoch": header.producer_epoch,
            "baseSequence": header.base_sequence,
            "lastSequence": header.last_sequence,
            "isTransactional": header.is_transactional,
            "isControlBatch": header.is_control,
            "deleteHorizonMs": header.delete_horizon_ms,
        }
    return seen


def check_read(vector: dict[str, Any]) -> None:
    headers, found, trailing = read_all(vector)
    expected = [
        {key: value for key, value in record.items() if key != "control" or value is not None}
        for record in vector["records"]
    ]
    assert found == expected
    rows = [(record["offset"], record["timestamp"], record["keyHex"], record["valueHex"]) for record in expected]
    assert read_columns(vector) == rows
    in_runs, offsets, _ = read_in_runs(vector)
    one_by_one = records.decode_all(bytes.fromhex(vector["hex"]), "topic", 3)
    assert in_runs == [record for _, batch in one_by_one for record in batch]
    assert offsets == [record["offset"] for record in expected]
    assert len(headers) == vector["batchCount"]
    assert trailing == vector["trailing"]
    batches = vector.get("batches") or ([vector["attrs"]] if vector.get("attrs") else [])
    for header, attributes in zip(headers, batches, strict=False):
        seen = attributes_of(header)
        assert seen == {key: value for key, value in attributes.items() if key in seen}


VECTORS = load("batches")
READABLE = [vector for vector in VECTORS if "error" not in vector]
REFUSED = [vector for vector in VECTORS if "error" in vector]
ENCODED = [vector for vector in READABLE if vector.get("encode")]


def test_the_set_is_whole() -> None:
    assert (len(READABLE), len(REFUSED), len(ENCODED)) >= (1, 1, 1)
    assert "PYKCLIENT_VECTORS" in os.environ or (len(READABLE), len(REFUSED), len(ENCODED)) == (624, 225, 192)


@pytest.mark.parametrize("vector", READABLE, ids=[vector["case"] for vector in READABLE])
def test_readable_batches_give_exactly_their_records(implementation: str, vector: dict[str, Any]) -> None:
    try:
        check_read(vector)
    except ProtocolError:
        if not vector.get("tolerated"):
            raise


@pytest.mark.parametrize("vector", REFUSED, ids=[vector["case"] for vector in REFUSED])
def test_refused_batches_raise_a_typed_error(implementation: str, vector: dict[str, Any]) -> None:
    with pytest.raises(ProtocolError):
        read_all(vector)
    with pytest.raises(ProtocolError):
        read_columns(vector)
    with pytest.raises(ProtocolError):
        read_in_runs(vector)


def test_runs_are_really_taken(implementation: str) -> None:
    assert sum(read_in_runs(vector)[2] for vector in ENCODED) > 50


def rebuild(vector: dict[str, Any]) -> bytes:
    attributes = vector["attrs"]
    rows: list[records.Record] = [
        (
            record["timestamp"],
            None if record["keyHex"] is None else bytes.fromhex(record["keyHex"]),
            None if record["valueHex"] is None else bytes.fromhex(record["valueHex"]),
            [(name, None if value is None else bytes.fromhex(value)) for name, value in record["headers"]],
        )
        for record in vector["records"]
    ]
    offsets = [record["offset"] for record in vector["records"]]
    timestamp_type = TimestampType[attributes["timestampType"]]
    if attributes["magic"] < 2:
        return legacy_records.encode_message_set(
            rows, magic=attributes["magic"], offsets=offsets, timestamp_type=timestamp_type
        )
    return records.encode_batch(
        rows,
        base_offset=attributes["baseOffset"],
        timestamp_type=timestamp_type,
        producer_id=attributes["producerId"],
        producer_epoch=attributes["producerEpoch"],
        base_sequence=attributes["baseSequence"],
        transactional=attributes["isTransactional"],
        control=attributes["isControlBatch"],
        partition_leader_epoch=attributes["partitionLeaderEpoch"],
        offsets=offsets,
        last_offset=attributes["lastOffset"],
        base_timestamp=attributes["baseTimestamp"],
        max_timestamp=attributes["maxTimestamp"],
        delete_horizon_ms=attributes["deleteHorizonMs"],
    )


@pytest.mark.parametrize("vector", ENCODED, ids=[vector["case"] for vector in ENCODED])
def test_rebuilding_from_the_records_gives_the_same_bytes(implementation: str, vector: dict[str, Any]) -> None:
    assert rebuild(vector).hex() == vector["hex"]
