"""Everything that ``_accel.c`` offers, under the same names, in plain Python."""

from pykclient.protocol.pure import decode_records, encode_records
from pykclient.protocol.pure_murmur2 import murmur2

__all__ = ["decode_records", "encode_records", "murmur2"]
