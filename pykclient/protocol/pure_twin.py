"""Everything that ``_accel.c`` offers, under the same names, in plain Python."""

from pykclient.protocol.batch_builder import append as append_record
from pykclient.protocol.pure import decode_records, encode_records, resize, split_records
from pykclient.protocol.pure_batches import OpenBatch, SentRecord, append_direct, append_to
from pykclient.protocol.pure_columns import append_columns, encode_columns, group_rows, murmur2_column
from pykclient.protocol.pure_crc import crc32c
from pykclient.protocol.pure_murmur2 import murmur2
from pykclient.protocol.pure_runs import append_batches, decode_batches, skip_batches

__all__ = [
    "OpenBatch",
    "SentRecord",
    "append_batches",
    "append_columns",
    "append_direct",
    "append_record",
    "append_to",
    "crc32c",
    "decode_batches",
    "decode_records",
    "encode_columns",
    "encode_records",
    "group_rows",
    "murmur2",
    "murmur2_column",
    "resize",
    "skip_batches",
    "split_records",
]
