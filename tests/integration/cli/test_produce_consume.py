"""``pykclient produce`` and ``pykclient consume``: what goes in comes out, from where and to where one asks."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pykclient.testing import EmbeddedCluster
from tests.integration.cli.conftest import Command


def test_lines_go_in_and_come_out(command: Command, topic: str) -> None:
    sent = command("produce", topic, stdin=b"one\ntwo\r\n\nlast without newline", code=0)
    assert "4 records delivered" in sent.err
    assert sent.out == ""
    assert sorted(command("consume", topic, "--to-end").lines) == ["", "last without newline", "one", "two"]


def test_keys_headers_nulls_partitions_and_bytes_that_are_no_text(command: Command, topic: str, tmp_path: Path) -> None:
    file = tmp_path / "lines"
    file.write_bytes(b"a\t1\nb\tNULL\nc\t\xff\xfe\n")
    options = ("--key-separator", r"\t", "--null", "NULL", "--header", "source=test", "--partition", "1")
    result = command("produce", topic, "--file", str(file), *options, "--json")
    assert (result.json["delivered"], result.json["failed"]) == (3, 0)
    rows = [json.loads(line) for line in command("consume", topic, "--to-end", "--json").lines]
    assert [(row["key"], row.get("value"), row["partition"], row["offset"]) for row in rows] == [
        ("a", "1", 1, 0),
        ("b", None, 1, 1),
        ("c", None, 1, 2),
    ]
    assert rows[2]["value_base64"] == "//4="
    assert rows[0]["headers"] == [["source", "test"]]


def test_what_consume_prints_as_json_produce_reads_back(command: Command, cluster: EmbeddedCluster, topic: str) -> None:
    objects = [
        {"key": "k", "value": {"n": 1}, "headers": {"h": "x"}, "partition": 0, "timestamp": 1_700_000_000_000},
        {"key_base64": "//4=", "value": None, "partition": 0, "timestamp": 1_700_000_000_001},
        {"value": "plain", "partition": 0, "timestamp": 1_700_000_000_002, "headers": [["n", None], ["n", "2"]]},
    ]
    command("produce", topic, "--json-lines", stdin="\n".join(map(json.dumps, objects)).encode())
    first = command("consume", topic, "--to-end", "--json").out
    copy = f"{topic}-copy"
    cluster.create_topic(copy, 2)
    command("produce", copy, "--json-lines", stdin=first.encode())
    assert command("consume", copy, "--to-end", "--json").out.replace(copy, topic) == first
    assert json.loads(first.splitlines()[0])["value"] == '{"n":1}'


def test_a_copy_into_a_topic_of_another_size(command: Command, cluster: EmbeddedCluster, topic: str) -> None:
    lines = "".join(json.dumps({"value": str(n), "partition": 1 if n else 0}) + "\n" for n in range(3)).encode()
    command("produce", topic, "--json-lines", stdin=lines)
    copy = f"{topic}-copy"
    cluster.create_topic(copy, 1)
    refused = command("produce", copy, "--json-lines", stdin=lines, code=1)
    assert "1 records were not delivered (1 were): there is no partition 1" in refused.err
    rows = command("consume", topic, "--to-end", "--json").out.encode()
    assert "3 records delivered" in command("produce", copy, "--json-lines", "--any-partition", stdin=rows).err
    assert sorted(command("consume", copy, "--to-end").lines) == ["0", "0", "1", "2"]


def test_format_strings(command: Command, topic: str) -> None:
    command("produce", topic, "--json-lines", stdin=b'{"key":"k","value":"v","partition":1,"timestamp":1700000000000}')
    text = r"{topic}/{partition}@{offset} {time} {key}\t{value} {value_bytes}\n"
    found = command("consume", topic, "--to-end", "--format", text)
    assert found.out == f"{topic}/1@0 2023-11-14T22:13:20.000Z k\tv 1\n"
    assert "known are" in command("consume", topic, "--format", "{nothing}", code=2).err


def test_from_where(command: Command, topic: str) -> None:
    lines = "\n".join(
        json.dumps({"value": str(n), "partition": 0, "timestamp": 1_700_000_000_000 + 1000 * n}) for n in range(10)
    )
    command("produce", topic, "--json-lines", stdin=lines.encode())

    def values(*words: str) -> list[str]:
        return command("consume", topic, "--to-end", *words).lines

    assert values("--from-offset", "7") == ["7", "8", "9"]
    assert values("--from-offset", "-2") == ["8", "9"]
    assert values("--from-offset", "99") == []
    assert values("--from-time", "2023-11-14T22:13:25Z") == ["5", "6", "7", "8", "9"]
    assert values("--from-time", "1700000008000") == ["8", "9"]
    assert values("--from-time", "1h") == []
    assert values("--max-records", "3") == ["0", "1", "2"]
    assert values("--partition", "1") == []
    assert command("consume", topic, "--from-beginning", "-n", "2").lines == ["0", "1"]


def test_a_group_goes_on_where_it_stopped(command: Command, topic: str) -> None:
    command("produce", topic, "--partition", "0", stdin=b"1\n2\n3\n4\n5\n")
    group = ("--group", f"g-{topic}", "--to-end")
    assert command("consume", topic, *group, "-n", "2").lines == ["1", "2"]
    assert command("consume", topic, *group).lines == ["3", "4", "5"]
    assert command("consume", topic, *group).lines == []


def test_only_committed_records(command: Command, cluster: EmbeddedCluster, topic: str) -> None:
    from pykclient import KafkaProducer

    with KafkaProducer(bootstrap_servers=cluster.bootstrap_servers, transactional_id=topic) as producer:
        producer.init_transactions()
        producer.begin_transaction()
        producer.send(topic, b"phantom", partition=0)
        producer.flush(10)
        producer.abort_transaction()
        with producer.transaction():
            producer.send(topic, b"real", partition=0)
    assert command("consume", topic, "--to-end", "--read-committed").lines == ["real"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--partition", "0", "--group", "g"), "--partition does not go with --group"),
        (("--from-offset", "1", "--group", "g"), "pykclient groups reset g"),
        (("--json", "--format", "x"), "--json or --format"),
        (("--from-time", "teatime"), "not a time"),
        (("--partition", "7"), "has no partition 7"),
        (("--from-beginning", "--from-offset", "1"), "not allowed with"),
        (("-c", "no.such.option=1"), "unknown option"),
        (("-c", "sasl.password=hunter2"), "put it in --config-file"),
        (("-c", "fetch.min.bytes=x"), "fetch_min_bytes must be a whole number"),
    ],
)
def test_mistakes_are_said_in_one_line(command: Command, topic: str, words: tuple[str, ...], said: str) -> None:
    outcome = command("consume", topic, *words, code=2)
    assert said in outcome.err
    assert "hunter2" not in outcome.err


def test_an_unknown_topic_and_bad_input_fail(command: Command, topic: str, tmp_path: Path) -> None:
    assert "no-such-topic" in command("consume", "no-such-topic", "--to-end", code=1).err
    assert "line 2: no key separator" in command("produce", topic, "-k", ":", stdin=b"a:1\nb\n", code=2).err
    assert "line 1: not JSON" in command("produce", topic, "--json-lines", stdin=b"{\n", code=2).err
    assert (
        "line 1: unknown field 'vaule'" in command("produce", topic, "--json-lines", stdin=b'{"vaule":1}', code=2).err
    )
    assert "No such file" in command("produce", topic, "--file", str(tmp_path / "absent"), code=1).err


def test_an_undelivered_record_is_a_failure(command: Command, cluster: EmbeddedCluster, name: str) -> None:
    cluster.create_topic(name, 1, config={"max.message.bytes": 1000})
    outcome = command("produce", name, stdin=b"x" * 5000, code=1)
    assert "1 records were not delivered" in outcome.err


def test_one_file_of_options_serves_every_command(command: Command, topic: str, tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text("# for all\nlinger.ms=1\nfetch.min.bytes=1\nclient.id = me\n")
    command("produce", topic, "--config-file", str(file), stdin=b"x\n")
    assert command("consume", topic, "--to-end", "--config-file", str(file)).lines == ["x"]
    file.write_text("sasl.password=hunter2\nnonsense\n")
    outcome = command("consume", topic, "--config-file", str(file), code=2)
    assert "line 2" in outcome.err
    assert "hunter2" not in outcome.err


def test_ctrl_c_leaves_with_130_and_commits_what_was_printed(
    cluster: EmbeddedCluster, command: Command, topic: str
) -> None:
    command("produce", topic, stdin=b"1\n2\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "pykclient", "consume", topic, "--group", topic, "-c", "auto.offset.reset=earliest"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYKCLIENT_BOOTSTRAP_SERVERS": cluster.bootstrap_servers},
    )
    assert process.stdout is not None
    printed = {process.stdout.readline(), process.stdout.readline()}
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert (process.returncode, err, printed) == (130, b"", {b"1\n", b"2\n"})
    assert command("consume", topic, "--group", topic, "--to-end").lines == []


def test_a_closed_pipe_is_no_traceback(cluster: EmbeddedCluster, command: Command, topic: str) -> None:
    command("produce", topic, stdin=b"line\n" * 20_000)
    process = subprocess.Popen(
        [sys.executable, "-m", "pykclient", "consume", topic, "--to-end", "-b", cluster.bootstrap_servers],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline() == b"line\n"
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert (process.wait(20), errors) == (141, b"")


def test_nobody_there_is_said_soon(command: Command) -> None:
    began = time.monotonic()
    outcome = command("consume", "t", "-b", "127.0.0.1:1", code=1)
    assert "127.0.0.1:1" in outcome.err
    assert "Nothing listens" in outcome.err
    assert time.monotonic() - began < 5
