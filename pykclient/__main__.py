"""``python -m pykclient`` is the ``pykclient`` command."""

from __future__ import annotations

import sys

from pykclient.cli.main import main

sys.exit(main())
