"""SASL/GSSAPI (Kerberos) without I/O of its own, client's side: RFC 4752 over the ``gssapi`` package, an extra.

The Kerberos library below asks the ticket server itself, so a ``step`` may take long and belongs off the loop, as for
the other mechanisms. Tickets come from the user's cache (``kinit``) or from a keytab, which the library renews by
itself. The one file that imports ``gssapi``: import it where it is needed, not at the top of a module. Must never skip
the proof of the broker: mutual authentication is asked for and its absence is an error.
"""

from __future__ import annotations

from typing import Any

from pykclient.errors import AuthenticationError, ConfigError, KafkaConnectionError

try:
    import gssapi
except (ImportError, OSError) as missing:  # OSError: the package is there, the system's Kerberos library is not
    raise ConfigError(
        ["sasl_mechanism=GSSAPI needs the gssapi package and the system's Kerberos: pip install 'pykclient[gssapi]'"]
    ) from missing

NO_SECURITY_LAYER = 1
"""The bit for "authentication only"; Kafka knows no other: TLS protects the bytes."""

PASSING = {-1765328228 & 0xFFFFFFFF, -1765328164 & 0xFFFFFFFF}
"""MIT Kerberos' codes for a ticket server that cannot be reached or resolved just now: worth another try."""


class GssapiClient:
    """One authentication at one broker: a security context, then the agreement that no layer follows."""

    def __init__(
        self, host: str, service_name: str, *, principal: str | None = None, keytab: str | None = None
    ) -> None:
        self._target = f"{service_name}@{host}"
        self._principal = principal
        self._keytab = keytab
        self._context: Any = None
        self.done = False

    def __repr__(self) -> str:
        return f"<GSSAPI client of {self._target}>"

    def step(self, challenge: bytes) -> bytes:
        """The next token; after the context stands, the answer to the broker's offer of layers."""
        if self.done:
            raise AuthenticationError("The broker sent a GSSAPI message out of turn")
        try:
            if self._context is None:
                self._context = self._open()
                return self._context.step() or b""
            if not self._context.complete:
                return self._context.step(challenge) or b""
            return self._refuse_layers(challenge)
        except gssapi.exceptions.GSSError as error:
            # Kerberos' own words name principals and hosts, never keys.
            sentence = (
                f"Kerberos: {_words(error)}; the broker is asked for as {self._target} (its host name and "
                f"sasl_kerberos_service_name), we are {self._who()}"
            )
            passing = error.min_code in PASSING
            raise (KafkaConnectionError(sentence) if passing else AuthenticationError(sentence)) from None

    def _open(self) -> Any:
        kerberos = gssapi.MechType.kerberos
        name = gssapi.Name(self._principal, gssapi.NameType.kerberos_principal) if self._principal else None
        # A keytab's tickets stay in this process, shared by its connections: the user's cache is not ours to write.
        cache = f"MEMORY:pykclient-{hash((self._keytab, self._principal))}"
        store = {"client_keytab": self._keytab, "ccache": cache} if self._keytab else None
        credentials = gssapi.Credentials(name=name, usage="initiate", mechs=[kerberos], store=store)
        flags = gssapi.RequirementFlag
        return gssapi.SecurityContext(
            name=gssapi.Name(self._target, gssapi.NameType.hostbased_service),
            creds=credentials,
            mech=kerberos,
            flags=flags.mutual_authentication | flags.integrity | flags.out_of_sequence_detection,
            usage="initiate",
        )

    def _refuse_layers(self, challenge: bytes) -> bytes:
        if not self._context.actual_flags & gssapi.RequirementFlag.mutual_authentication:
            raise AuthenticationError("The broker did not prove who it is (Kerberos mutual authentication)")
        offer = self._context.unwrap(challenge).message
        if len(offer) != 4 or not offer[0] & NO_SECURITY_LAYER:
            raise AuthenticationError("The broker insists on a GSSAPI security layer; Kafka uses TLS for that")
        answer = bytes((NO_SECURITY_LAYER, 0, 0, 0))  # nobody else's name: the broker takes it from the ticket
        self.done = True
        return bytes(self._context.wrap(answer, False).message)

    def _who(self) -> str:
        source = f"keytab {self._keytab}" if self._keytab else "ticket cache (kinit)"
        return f"{self._principal or 'the default principal'} by the {source}"


def _words(error: Any) -> str:
    return str(error.gen_message()) if hasattr(error, "gen_message") else str(error)


__all__ = ["GssapiClient"]
