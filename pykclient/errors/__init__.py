"""Every exception: families in families.py, one class per broker code in broker.py, our own in client.py.

Catch a family (`UsageError`, `BrokerError`, `ProtocolError`, `FatalError`), or ask an error what to do:
``error.action``, ``error.retriable``, ``error.abortable`` (abort the transaction and go on) and ``error.fatal``
(close the client).
Layer 0: imports nothing of the package outside this folder, does no I/O, holds no secrets.
"""

from __future__ import annotations

from pykclient.errors import broker, client, codes, families
from pykclient.errors.broker import *  # noqa: F403
from pykclient.errors.client import *  # noqa: F403
from pykclient.errors.codes import *  # noqa: F403
from pykclient.errors.families import *  # noqa: F403

__all__ = [*broker.__all__, *client.__all__, *codes.__all__, *families.__all__]
