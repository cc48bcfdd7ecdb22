"""The field tables, what is generated from them, and how little is loaded."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pykclient.protocol.specs import generate, import_facts
from pykclient.protocol.specs.notation import Versions, parse, render, snake_case


def test_generated_modules_are_current() -> None:
    stale = generate.stale_files(generate.generated_files())
    assert not stale, f"run {generate.COMMAND}: {[path.name for path in stale]}"


def test_check_says_which_module_is_not_current(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(generate, "MESSAGES", tmp_path)
    assert generate.main([]) == 0
    assert generate.main(["--check"]) == 0
    (tmp_path / "fetch.py").write_text("changed = True\n")
    (tmp_path / "left_over.py").write_text("")
    capsys.readouterr()
    assert generate.main(["--check"]) == 1
    told = capsys.readouterr().out
    assert "fetch.py" in told
    assert "left_over.py" in told
    assert generate.main([]) == 0
    assert generate.main(["--check"]) == 0
    assert not (tmp_path / "left_over.py").exists()


def test_tables_hold_every_message_of_kafka() -> None:
    specs = [spec for table in generate.load_tables().values() for spec in table]
    kinds = [spec.kind for spec in specs]
    assert len(specs) == 272
    assert (kinds.count("request"), kinds.count("response")) == (89, 89)
    assert sum(spec.versions.high - spec.versions.low + 1 for spec in specs) == 728


def test_tables_are_written_in_their_one_normal_form() -> None:
    for path in import_facts.TABLES.glob("*.txt"):
        text = path.read_text(encoding="utf-8")
        assert render(parse(text)) == text, path.name


def test_tables_equal_the_facts_in_the_jars(tmp_path: Path) -> None:
    folder = os.environ.get("PYKCLIENT_KAFKA_JARS")
    if not folder:
        pytest.skip("set PYKCLIENT_KAFKA_JARS to a folder with Kafka's 4.3.1 jars to compare the tables with them")
    import_facts.main(["--to", str(tmp_path), *map(str, Path(folder).glob("kafka*.jar"))])
    written = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.glob("*.txt")}
    kept = {path.name: path.read_text(encoding="utf-8") for path in import_facts.TABLES.glob("*.txt")}
    assert written == kept


def test_comments_in_kafka_json_are_left_out_but_not_inside_strings() -> None:
    text = """// A comment.
    {"type": "data", "name": "Sample", "validVersions": "0-1", "flexibleVersions": "1+", // another
     "fields": [{"name": "Place", "type": "string", "versions": "0+", "default": "http://x", "about": "no // comment"}]}
    """
    spec = import_facts.spec_from_json(text)
    assert spec.fields[0].default == "http://x"
    assert "comment" not in render([spec])


@pytest.mark.parametrize(
    "line",
    [
        "    Name string 0+ nul 0+",
        "    Name string",
        "      Name string 0+",
        "        Name string 0+",
        "    Name string x",
    ],
)
def test_broken_table_names_the_line(line: str) -> None:
    with pytest.raises(ValueError, match="line 2"):
        parse(f"data Sample versions 0 flexible none\n{line}\n")


@pytest.mark.parametrize("text", ["0+", "3", "3-5", "none"])
def test_versions_keep_their_text(text: str) -> None:
    assert str(Versions.parse(text)) == text


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("LogStartOffset", "log_start_offset"),
        ("ISRNodes", "isr_nodes"),
        ("KRaftVersionFeature", "kraft_version_feature"),
        ("ResultsByTopicV3AndBelow", "results_by_topic_v3_and_below"),
    ],
)
def test_names_become_snake_case(name: str, expected: str) -> None:
    assert snake_case(name) == expected


def loaded_after(statement: str) -> set[str]:
    program = f"import sys; {statement}; print(*(m for m in sys.modules if m.startswith('pykclient.protocol')))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_index_loads_no_message() -> None:
    loaded = loaded_after("import pykclient.protocol.messages, pykclient.protocol.wire")
    assert not [name for name in loaded if name.startswith("pykclient.protocol.messages.")]
    assert not [name for name in loaded if name.startswith("pykclient.protocol.specs")]


def test_asking_for_an_api_loads_that_api_alone() -> None:
    loaded = loaded_after("from pykclient.protocol.messages import ApiKey, api; api(ApiKey.FETCH).request_class()")
    assert [name for name in loaded if name.startswith("pykclient.protocol.messages.")] == [
        "pykclient.protocol.messages.fetch"
    ]
