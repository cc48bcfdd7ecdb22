"""Builds the one optional C extension; everything else is in pyproject.toml.

``optional=True`` makes a missing or broken compiler a warning: the install succeeds and the pure-Python twin is used.
``PYKCLIENT_SANITIZE=1`` builds it under AddressSanitizer (see docs/development.md).
"""

import os

from setuptools import Extension, setup

sanitize = ["-fsanitize=address,undefined", "-fno-omit-frame-pointer", "-g", "-O1"]
sanitizing = bool(os.environ.get("PYKCLIENT_SANITIZE"))
flags: list[str] = []
if os.name != "nt":
    # A CFLAGS variable replaces the optimisation that Python was built with, and nine tenths of the speed with it.
    flags = [*(sanitize if sanitizing else ["-O3"]), "-std=c11", "-fvisibility=hidden"]

setup(
    ext_modules=[
        Extension(
            "pykclient.protocol._accel",
            sources=["pykclient/protocol/_accel.c"],
            extra_compile_args=flags,
            extra_link_args=sanitize[:1] if sanitizing else [],
            optional=True,
        )
    ]
)
