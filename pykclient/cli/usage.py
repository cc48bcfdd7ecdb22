"""What every subcommand says and reads alike: wrong usage, moments in time, offsets, KEY=VALUE, yes or no.

Pure text work but for the question on the terminal. Must never show a value that may be a secret.
"""

from __future__ import annotations

import argparse
import re
import sys
from datetime import datetime, timedelta, timezone

from pykclient.errors import UsageError

_AGO = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h|d|w)\Z")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}


class Usage(UsageError):
    """The command was called wrongly; the sentence says what to write instead."""


def parse_time(text: str, now: datetime | None = None) -> datetime:
    """A moment: ISO 8601 (local time unless it names a zone), milliseconds since 1970, or how long ago (``15m``)."""
    now = now or datetime.now(timezone.utc)
    ago = _AGO.match(text.strip().lower())
    if ago is not None:
        return now - timedelta(seconds=float(ago.group(1)) * _UNITS[ago.group(2)])
    if text.isdigit() and len(text) >= 12:
        return datetime.fromtimestamp(int(text) / 1000, timezone.utc)
    try:
        # Python 3.10 does not read the Z of "2026-01-01T00:00Z".
        moment = datetime.fromisoformat(re.sub(r"[zZ]\Z", "+00:00", text.strip()))
    except ValueError:
        raise Usage(
            f"{text!r} is not a time; write 2026-01-31T12:00, milliseconds since 1970, or how long ago: 15m, 2h, 1d"
        ) from None
    return moment.astimezone(timezone.utc)


def pairs(items: list[str], option: str) -> dict[str, str]:
    """``KEY=VALUE`` texts as a dictionary."""
    found: dict[str, str] = {}
    for item in items:
        key, separator, value = item.partition("=")
        if not separator or not key.strip():
            raise Usage(f"{option} {key!r}: write KEY=VALUE")
        found[key.strip()] = value
    return found


def unescape(text: str) -> str:
    r"""``\t``, ``\n``, ``\0`` and ``\\`` as a shell user writes them."""
    known = {"t": "\t", "n": "\n", "r": "\r", "0": "\0", "\\": "\\"}
    return re.sub(r"\\([tnr0\\])", lambda match: known[match.group(1)], text)


def counted(number: int, noun: str) -> str:
    """``1 record``, ``2 records``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def seconds(text: str) -> float:
    """A time-out, for argparse: more than nothing."""
    value = float(text)
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"{text} is not a time in seconds; write a number above 0")
    return value


def confirmed(question: str, *, yes: bool) -> bool:
    """Ask when there is somebody to ask; a script that says ``delete`` means it."""
    if yes or not sys.stdin.isatty():
        return True
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def shown_time(milliseconds: int | None) -> str | None:
    """A timestamp for people; None when there is none."""
    if milliseconds is None or milliseconds < 0:
        return None
    moment = datetime.fromtimestamp(milliseconds / 1000, timezone.utc)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


__all__ = ["Usage", "confirmed", "counted", "pairs", "parse_time", "seconds", "shown_time", "unescape"]
