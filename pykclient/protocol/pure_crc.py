"""CRC-32C without our extension. The only file that imports the ``crc32c`` package."""

from crc32c import crc32c

__all__ = ["crc32c"]
