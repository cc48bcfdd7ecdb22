"""Why a broker could not be reached, one class per reason, so that a person (or `doctor`) knows which setting to
change.

All are KafkaConnectionErrors that name host and port. Plain data, any thread; never holds a secret.
"""

from __future__ import annotations

from pykclient.errors import Action, AuthenticationError, KafkaConnectionError, ProtocolError


class HostNotFound(KafkaConnectionError):
    """The host name could not be resolved; check bootstrap_servers, the brokers' advertised.listeners and DNS."""


class ConnectionRefused(KafkaConnectionError):
    """Nothing listens on this port; start the broker there, or correct the port in bootstrap_servers."""


class ConnectTimedOut(KafkaConnectionError):
    """The port took no connection, or nobody answered on it, in time; check firewalls and security_protocol."""


class ConnectionLost(KafkaConnectionError):
    """The connection broke; what was under way is unknown."""


class StrayAnswer(ConnectionLost, ProtocolError):
    """An answer came that does not belong to what was asked; the connection is closed, and what waits is asked anew."""


class RejectedByPeer(ConnectionLost):
    """The broker hung up on our first request; it may want SASL (security_protocol SASL_SSL or SASL_PLAINTEXT)."""


class RequestExpired(KafkaConnectionError, TimeoutError):
    """The broker did not answer within the request's time; what it did is unknown."""


class TlsFailure(KafkaConnectionError):
    """The TLS handshake failed; check the TLS settings of both sides."""


class TlsVerificationFailed(TlsFailure, AuthenticationError):
    """The broker's certificate is not trusted for this name; check ssl_cafile and the certificate's names and dates."""

    action = Action.FATAL
    retriable = False
    fatal = True


class CertificateUntrusted(TlsVerificationFailed):
    """The broker's certificate was not issued by anyone we trust; set ssl_cafile to the CA that issued it."""


class CertificateExpired(TlsVerificationFailed):
    """The broker's certificate is out of its dates; renew it, or check this machine's clock. ssl_cafile cannot help."""


class HostNameMismatch(TlsVerificationFailed):
    """The broker's certificate is for other names; use one of them in bootstrap_servers, or reissue it."""


class ClientCertificateRefused(TlsFailure, AuthenticationError):
    """The broker wants a client certificate, or another one; set ssl_certfile and ssl_keyfile."""

    action = Action.FATAL
    retriable = False
    fatal = True


class PeerNotTls(TlsFailure):
    """The port does not speak TLS; use security_protocol PLAINTEXT or SASL_PLAINTEXT, or the broker's TLS port."""


class PeerIsTls(KafkaConnectionError):
    """The port speaks TLS and we do not; set security_protocol to SSL or SASL_SSL."""


__all__ = [
    "CertificateExpired",
    "CertificateUntrusted",
    "ClientCertificateRefused",
    "ConnectTimedOut",
    "ConnectionLost",
    "ConnectionRefused",
    "HostNameMismatch",
    "HostNotFound",
    "PeerIsTls",
    "PeerNotTls",
    "RejectedByPeer",
    "RequestExpired",
    "StrayAnswer",
    "TlsFailure",
    "TlsVerificationFailed",
]
