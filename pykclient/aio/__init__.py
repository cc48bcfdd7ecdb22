"""The asyncio face: the same clients, awaited. Same names, options, results and errors as the blocking ones.

``from pykclient.aio import AsyncKafkaProducer, AsyncKafkaConsumer, AsyncKafkaAdminClient``. One client belongs to one
event loop; the work is done on the client's own thread, so a handler that blocks the loop stops no heartbeat.
"""

from pykclient.aio.admin import AsyncKafkaAdminClient
from pykclient.aio.consumer import AsyncKafkaConsumer
from pykclient.aio.producer import AsyncKafkaProducer

__all__ = ["AsyncKafkaAdminClient", "AsyncKafkaConsumer", "AsyncKafkaProducer"]
