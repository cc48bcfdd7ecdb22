"""Builds the one optional C extension; everything else is in pyproject.toml.

``optional=True`` makes a missing or broken compiler a warning: the install succeeds and the pure-Python twin is used.
``PYKCLIENT_SANITIZE=1`` builds it under AddressSanitizer (see docs/development.md).
"""

import os

from setuptools import Extension, setup

sanitize = ["-fsanitize=address,undefined", "-fno-omit-frame-pointer", "-g", "-O1"]
flags = sanitize if os.environ.get("PYKCLIENT_SANITIZE") else []
if os.name != "nt":
    flags = [*flags, "-std=c11", "-fvisibility=hidden"]

setup(
    ext_modules=[
        Extension(
            "pykclient.protocol._accel",
            sources=["pykclient/protocol/_accel.c"],
            extra_compile_args=flags if flags else [],
            extra_link_args=sanitize[:1] if os.environ.get("PYKCLIENT_SANITIZE") else [],
            optional=True,
        )
    ]
)
