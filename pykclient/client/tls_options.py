"""The ssl_* options of a client as an SSLContext.

Runs once, when a client is made. PEM text of a private key must pass through a file, as OpenSSL's loader knows no other
way: the file is readable by its owner only and gone before this returns.
"""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING

from pykclient.config import CommonConfig
from pykclient.net.tls import TlsSettings, client_context

if TYPE_CHECKING:
    from ssl import SSLContext


def tls_context(config: CommonConfig) -> SSLContext:
    """The context the options describe, or the one that was given ready-made."""
    if config.ssl_context is not None:
        return config.ssl_context
    chain, key = config.ssl_keystore_certificate_chain, config.ssl_keystore_key
    if chain is None or key is None:
        return client_context(
            _settings(config, config.ssl_keystore_location or config.ssl_certfile, config.ssl_keyfile)
        )
    handle, path = tempfile.mkstemp(suffix=".pem")  # mode 0600
    try:
        with os.fdopen(handle, "w") as file:
            file.write(key.reveal().strip() + "\n" + chain.reveal().strip() + "\n")
        return client_context(_settings(config, path, None))
    finally:
        os.unlink(path)


def _settings(config: CommonConfig, certfile: str | None, keyfile: str | None) -> TlsSettings:
    trusted = config.ssl_truststore_certificates
    return TlsSettings(
        cafile=config.ssl_truststore_location,
        cadata=None if trusted is None else trusted.reveal(),
        certfile=certfile,
        keyfile=keyfile,
        password=None if config.ssl_key_password is None else config.ssl_key_password.reveal(),
        ciphers=":".join(config.ssl_cipher_suites) or None,
        check_hostname=bool(config.ssl_endpoint_identification_algorithm),
    )


__all__ = ["tls_context"]
