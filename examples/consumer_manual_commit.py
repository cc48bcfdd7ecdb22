"""Write to a database, then commit: python examples/consumer_manual_commit.py BOOTSTRAP_SERVERS TOPIC COUNT

At least once: a crash between the two brings the batch again, so the writing must bear that (here: a primary key).
"""

from __future__ import annotations

import sqlite3
import sys

from pykclient import KafkaConsumer
from pykclient.errors import CommitFailed


def main(bootstrap_servers: str, topic: str, count: str) -> None:
    database = sqlite3.connect(":memory:")
    database.execute("create table records (partition int, offset int, value blob, primary key (partition, offset))")
    stored = 0
    with KafkaConsumer(
        topic,
        bootstrap_servers=bootstrap_servers,
        group_id=f"{topic}-database",
        enable_auto_commit=False,
        auto_offset_reset="earliest",
    ) as consumer:
        while stored < int(count):
            batch = consumer.poll(1.0)
            with database:
                database.executemany(
                    "insert or replace into records values (?, ?, ?)",
                    [(record.partition, record.offset, record.value) for record in batch.records()],
                )
            try:
                consumer.commit()
            except CommitFailed as error:
                print("the group moved on, others will do these again:", error)
            (stored,) = database.execute("select count(*) from records").fetchone()
    database.close()
    print(f"{stored} records stored")


if __name__ == "__main__":
    main(*sys.argv[1:4])
