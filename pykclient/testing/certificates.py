"""Certificates for tests, made with the ``openssl`` command: a CA of one's own, a server and a client certificate.

Used from a test's thread. For tests only: the keys are short-lived and unprotected files in a temporary directory.
"""

from __future__ import annotations

import shutil
import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path

from pykclient.errors import UsageError
from pykclient.net.tls import TlsSettings, client_context, server_context

VALID_DAYS = 30


@dataclass(frozen=True)
class TestCertificates:
    """Paths of PEM files. ``ca`` is what clients trust."""

    __test__ = False

    ca: Path
    certificate: Path
    key: Path
    client_certificate: Path
    client_key: Path

    def server_context(self, *, client_auth: bool = False) -> ssl.SSLContext:
        """For a listener."""
        settings = TlsSettings(cafile=str(self.ca), certfile=str(self.certificate), keyfile=str(self.key))
        return server_context(settings, client_auth=client_auth)

    def client_context(self) -> ssl.SSLContext:
        """For a client that trusts the CA and has a certificate of its own."""
        return client_context(
            TlsSettings(cafile=str(self.ca), certfile=str(self.client_certificate), keyfile=str(self.client_key))
        )


def make_certificates(directory: Path, *, hosts: tuple[str, ...] = ("localhost", "127.0.0.1")) -> TestCertificates:
    """Make a CA, a server certificate for these hosts and a client certificate."""
    openssl = shutil.which("openssl")
    if openssl is None:
        raise UsageError("making test certificates needs the openssl command; install it or bring your own files")
    directory.mkdir(parents=True, exist_ok=True)
    ca, ca_key = directory / "ca.pem", directory / "ca.key"
    _run(openssl, "req", "-x509", *_new_key(ca_key), "-out", ca, "-days", VALID_DAYS, "-subj", "/CN=pykclient test CA")
    names = ",".join(f"IP:{host}" if host.replace(".", "").isdigit() else f"DNS:{host}" for host in hosts)
    made = {}
    for role, extra in (("server", f"subjectAltName={names}"), ("client", "extendedKeyUsage=clientAuth")):
        key, request, certificate = (directory / f"{role}.{suffix}" for suffix in ("key", "csr", "pem"))
        extensions = directory / f"{role}.ext"
        extensions.write_text(extra + "\n", encoding="ascii")
        _run(openssl, "req", *_new_key(key), "-out", request, "-subj", f"/CN={role}")
        _run(
            openssl, "x509", "-req", "-in", request, "-CA", ca, "-CAkey", ca_key, "-CAcreateserial",
            "-out", certificate, "-days", VALID_DAYS, "-extfile", extensions,
        )  # fmt: skip
        made[role] = (certificate, key)
    return TestCertificates(ca, *made["server"], *made["client"])


def _new_key(path: Path) -> tuple[object, ...]:
    return "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", path


def _run(*command: object) -> None:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise UsageError(f"openssl failed: {done.stderr.strip()}")
