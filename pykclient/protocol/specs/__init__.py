"""Field tables of every Kafka message, and the tools that make them and the code in `protocol/messages` from them.

For a new Kafka release: `python -m pykclient.protocol.specs.import_facts JAR...` writes the tables (review the diff),
`python -m pykclient.protocol.specs.generate` writes the messages, and `notation.py` explains how a table reads.
Development time only: the client never imports this package, and the layers of the client know nothing of it.
"""
