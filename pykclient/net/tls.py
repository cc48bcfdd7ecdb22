"""TLS settings turned into an SSLContext, and OpenSSL's errors turned into ours.

Safe by default: certificates required, host names checked, TLS 1.2 or newer (R17). Pure functions, any thread; file
contents and passwords are handed to OpenSSL and kept nowhere.
"""

from __future__ import annotations

import logging
import ssl
from dataclasses import dataclass, field

from pykclient.errors import ConfigError, KafkaConnectionError
from pykclient.net.failures import (
    CertificateExpired,
    CertificateUntrusted,
    ClientCertificateRefused,
    ConnectionLost,
    HostNameMismatch,
    PeerNotTls,
    TlsFailure,
    TlsVerificationFailed,
)
from pykclient.net.transport import Endpoint

logger = logging.getLogger(__name__)

# What OpenSSL says when the other side's first bytes are no TLS record.
_NOT_TLS = ("WRONG_VERSION_NUMBER", "UNKNOWN_PROTOCOL", "HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG")
# X509_V_ERR_*: why OpenSSL refuses a certificate.
_OUT_OF_DATE = {9, 10}
_OTHER_NAME = {62, 64}
_UNKNOWN_ISSUER = {2, 18, 19, 20, 21, 27}
# How peers say that they want a certificate from us, or another one.
_CERTIFICATE_ALERTS = ("CERTIFICATE_REQUIRED", "BAD_CERTIFICATE", "ALERT_UNKNOWN_CA", "CERTIFICATE_UNKNOWN")


@dataclass(frozen=True, slots=True)
class TlsSettings:
    """As the client's options give them. ``password`` is never shown."""

    cafile: str | None = None
    cadata: str | None = None
    certfile: str | None = None
    keyfile: str | None = None
    password: str | None = field(default=None, repr=False)
    ciphers: str | None = None
    crlfile: str | None = None
    check_hostname: bool = True
    versions: tuple[str, ...] = ("TLSv1.2", "TLSv1.3")


def client_context(settings: TlsSettings) -> ssl.SSLContext:
    """A context for outgoing connections; ConfigError names the file or option that does not work."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    _set_versions(context, settings)
    if not settings.check_hostname:
        logger.warning("ssl_check_hostname is off: any holder of a trusted certificate can pose as your broker")
        context.check_hostname = False
    if settings.cafile is not None or settings.cadata is not None:
        _load("ssl_cafile", lambda: context.load_verify_locations(cafile=settings.cafile, cadata=settings.cadata))
    else:
        context.load_default_certs(ssl.Purpose.SERVER_AUTH)
    if settings.crlfile is not None:
        crlfile = settings.crlfile
        _load("ssl_crlfile", lambda: context.load_verify_locations(cafile=crlfile))
        context.verify_flags |= ssl.VerifyFlags.VERIFY_CRL_CHECK_LEAF
    _load_own(context, settings)
    return context


def server_context(settings: TlsSettings, *, client_auth: bool = False) -> ssl.SSLContext:
    """A context for a listener; with ``client_auth`` only clients with a certificate of ``cafile`` get in."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    _set_versions(context, settings)
    _load_own(context, settings)
    if client_auth:
        context.verify_mode = ssl.CERT_REQUIRED
        _load("ssl_cafile", lambda: context.load_verify_locations(cafile=settings.cafile, cadata=settings.cadata))
    return context


def _set_versions(context: ssl.SSLContext, settings: TlsSettings) -> None:
    known = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
    if not settings.versions or not set(settings.versions) <= known.keys():
        raise ConfigError("ssl_enabled_protocols may hold TLSv1.2 and TLSv1.3; older versions are not safe")
    wanted = sorted(known[version] for version in settings.versions)
    context.minimum_version, context.maximum_version = wanted[0], wanted[-1]


def _load_own(context: ssl.SSLContext, settings: TlsSettings) -> None:
    if settings.ciphers is not None:
        ciphers = settings.ciphers
        _load("ssl_ciphers", lambda: context.set_ciphers(ciphers))
    if settings.certfile is not None:
        certfile = settings.certfile
        # A callable, so that OpenSSL never asks on the terminal when a password is needed and missing.
        password = settings.password or ""
        _load(
            "ssl_certfile or ssl_keyfile", lambda: context.load_cert_chain(certfile, settings.keyfile, lambda: password)
        )


def _load(option: str, action: object) -> None:
    assert callable(action), "a loader"
    try:
        action()
    except (OSError, ssl.SSLError, ValueError) as error:
        raise ConfigError(f"{option} cannot be used: {error}") from error


def handshake_failure(error: OSError, endpoint: Endpoint) -> KafkaConnectionError:
    """What a failed handshake means for the user."""
    host, port = endpoint.host, endpoint.port
    failure: KafkaConnectionError
    if isinstance(error, ssl.SSLCertVerificationError):
        failure = _verification_failure(error, endpoint)
    elif isinstance(error, (ssl.SSLEOFError, ssl.SSLZeroReturnError, ConnectionError)):
        failure = PeerNotTls(
            "the connection was closed during the TLS handshake; the port may not speak TLS (see security_protocol)",
            host=host,
            port=port,
        )
    elif isinstance(error, ssl.SSLError) and (error.reason or "") in _NOT_TLS:
        failure = PeerNotTls(host=host, port=port)
    else:
        failure = _alert(error, endpoint) or TlsFailure(
            f"the TLS handshake failed: {_reason(error)}", host=host, port=port
        )
    failure.__cause__ = error
    return failure


def _verification_failure(error: ssl.SSLCertVerificationError, endpoint: Endpoint) -> TlsVerificationFailed:
    kind, advice = TlsVerificationFailed, "check ssl_cafile and the names and dates in the certificate"
    if error.verify_code in _OUT_OF_DATE:
        kind, advice = CertificateExpired, "have it renewed, or check this machine's clock; ssl_cafile cannot help"
    elif error.verify_code in _OTHER_NAME:
        kind = HostNameMismatch
        advice = "use a name of the certificate in bootstrap_servers, or have it reissued for this one"
    elif error.verify_code in _UNKNOWN_ISSUER:
        kind, advice = CertificateUntrusted, "set ssl_cafile to the CA that issued it"
    sentence = f"the broker's certificate is refused: {error.verify_message.rstrip('.')}; {advice}"
    return kind(sentence, host=endpoint.host, port=endpoint.port)


def stream_failure(error: OSError, endpoint: Endpoint) -> KafkaConnectionError:
    """What an error on an open connection means. TLS 1.3 peers refuse our certificate only after the handshake."""
    failure = _alert(error, endpoint) or ConnectionLost(
        f"the connection broke: {_reason(error)}", host=endpoint.host, port=endpoint.port
    )
    failure.__cause__ = error
    return failure


def _alert(error: OSError, endpoint: Endpoint) -> KafkaConnectionError | None:
    reason = error.reason or "" if isinstance(error, ssl.SSLError) else ""
    if any(alert in reason for alert in _CERTIFICATE_ALERTS):
        return ClientCertificateRefused(host=endpoint.host, port=endpoint.port)
    return None


def _reason(error: OSError) -> str:
    return str(getattr(error, "reason", None) or error.strerror or error)


__all__ = ["TlsSettings", "client_context", "handshake_failure", "server_context", "stream_failure"]
