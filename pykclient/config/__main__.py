"""``python -m pykclient.config``: the options as Markdown on standard output."""

from __future__ import annotations

import sys

from pykclient.config.reference import markdown

if __name__ == "__main__":
    sys.stdout.write(markdown())
