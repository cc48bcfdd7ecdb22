"""Where to connect and who we are: bootstrap servers, the JAAS text of Java clients, and how TLS and SASL options fit.

Pure text work on the caller's thread. Must never show what a secret holds, and never load a class that a text names.
"""

from __future__ import annotations

import inspect
import re
from typing import Any, NamedTuple

from pykclient.config.options import Invalid, Secret

SASL_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER", "GSSAPI")
BOOTSTRAP_SERVERS_MAX = 1000
# Texts here and below: an expression is compiled when it is first asked, not at import.
_HOST = r"[A-Za-z0-9._\-]+\Z"
_IPV6 = r"[0-9A-Fa-f:.]+(%[A-Za-z0-9._\-]+)?\Z"


class HostPort(NamedTuple):
    """Where a broker listens."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_bootstrap_servers(value: Any) -> tuple[HostPort, ...]:
    """``"a:9092,b:9092"`` or a list of such; IPv6 addresses in brackets. The order is kept, repeats are dropped."""
    items = value.split(",") if isinstance(value, str) else value
    if not isinstance(items, (list, tuple)):
        raise Invalid("must be 'host:port' text with commas, or a list of such")
    servers = [parse_host_port(item) for item in items if not (isinstance(item, str) and not item.strip())]
    if not servers:
        raise Invalid("names no server; give at least one host:port")
    if len(servers) > BOOTSTRAP_SERVERS_MAX:
        raise Invalid(f"names {len(servers)} servers; a few are enough, {BOOTSTRAP_SERVERS_MAX} the limit")
    return tuple(dict.fromkeys(servers))


def parse_host_port(item: Any) -> HostPort:
    """One ``host:port``, ``1.2.3.4:port`` or ``[v6]:port``."""
    if isinstance(item, HostPort):
        return item
    if isinstance(item, tuple) and len(item) == 2:
        item = f"[{item[0]}]:{item[1]}" if ":" in str(item[0]) else f"{item[0]}:{item[1]}"
    if not isinstance(item, str):
        raise Invalid(f"has an entry of type {type(item).__name__}; each is 'host:port'")
    text = item.strip()
    if "://" in text:
        raise Invalid(f"has {text!r}; leave the scheme out and choose it with security_protocol")
    if text.startswith("["):
        host, bracket, rest = text[1:].partition("]")
        if not bracket or not re.match(_IPV6, host):
            raise Invalid(f"has {text!r}, which is not an IPv6 address in brackets")
        colon, port_text = rest[:1], rest[1:]
    else:
        host, colon, port_text = text.rpartition(":")
        if ":" in host:
            raise Invalid(f"has {text!r}; put an IPv6 address in brackets, like [::1]:9092")
    if colon != ":" or not port_text:
        raise Invalid(f"has {text!r} without a port; write {text.rstrip(':')}:9092 or whatever the port is")
    if not text.startswith("[") and not re.match(_HOST, host):
        raise Invalid(f"has {text!r}, which is not a host name and a port")
    if not (port_text.isascii() and port_text.isdigit() and 0 < int(port_text[:6]) < 65536 and len(port_text) <= 5):
        raise Invalid(f"has {text!r}; a port is a number from 1 to 65535")
    return HostPort(host, int(port_text))


_JAAS_MODULES = {
    "org.apache.kafka.common.security.plain.PlainLoginModule": ("PLAIN",),
    "org.apache.kafka.common.security.scram.ScramLoginModule": ("SCRAM-SHA-256", "SCRAM-SHA-512"),
    "com.sun.security.auth.module.Krb5LoginModule": ("GSSAPI",),
}
_JAAS_VALUE = r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|[^\s;"\']+'
_JAAS = (
    rf"(?i)\s*([\w.$]+)\s+(?:required|requisite|sufficient|optional)((?:\s+[\w.]+\s*=\s*(?:{_JAAS_VALUE}))*)\s*;\s*\Z"
)
_JAAS_PAIR = rf"([\w.]+)\s*=\s*({_JAAS_VALUE})"
_JAAS_ESCAPE = r"\\(.)"


class JaasLogin(NamedTuple):
    """What a ``sasl.jaas.config`` text says: for which mechanisms, and the values of our own options it stands for."""

    mechanisms: tuple[str, ...]
    values: dict[str, Any]


def parse_jaas(text: str) -> JaasLogin:
    """Read the PLAIN, SCRAM and Kerberos forms. Others are refused: nothing is loaded because a text names it."""
    match = re.match(_JAAS, text) if len(text) <= 8192 else None
    if match is None:
        raise Invalid('is not of the form: <module> required username="..." password="...";')
    module, pairs = match.group(1), match.group(2)
    if module not in _JAAS_MODULES:
        raise Invalid(
            "names a login module other than PlainLoginModule, ScramLoginModule and Krb5LoginModule; "
            "for OAUTHBEARER pass sasl_oauth_token_provider"
        )
    mechanisms = _JAAS_MODULES[module]
    options = {key: _unquote(value) for key, value in re.findall(_JAAS_PAIR, pairs)}
    if mechanisms == ("GSSAPI",):
        return JaasLogin(mechanisms, _kerberos_values(options))
    if "username" not in options or "password" not in options:
        raise Invalid("lacks username or password")
    values: dict[str, Any] = {"sasl_username": options["username"], "sasl_password": Secret(options["password"])}
    if options.get("tokenauth", "false").lower() == "true":
        values["sasl_token_auth"] = True
    return JaasLogin(mechanisms, values)


def _kerberos_values(options: dict[str, str]) -> dict[str, Any]:
    uses_keytab = options.get("useKeyTab", "false").lower() == "true"
    if uses_keytab and "keyTab" not in options:
        raise Invalid("says useKeyTab=true but not keyTab, the file")
    given = {
        "sasl_kerberos_principal": options.get("principal"),
        "sasl_kerberos_keytab": options.get("keyTab") if uses_keytab else None,
        "sasl_kerberos_service_name": options.get("serviceName"),
    }
    return {name: value for name, value in given.items() if value is not None}


def _unquote(value: str) -> str:
    return re.sub(_JAAS_ESCAPE, r"\1", value[1:-1]) if value[:1] in "\"'" else value


def resolve_security(values: dict[str, Any], given: frozenset[str]) -> list[str]:
    """Apply the JAAS text, then say what does not fit together."""
    problems: list[str] = []
    _apply_jaas(values, given, problems)
    sasl = values["security_protocol"].startswith("SASL")
    tls = values["security_protocol"].endswith("SSL")
    if not sasl:
        problems += _unused(values, given, "sasl_", "SASL_PLAINTEXT or SASL_SSL")
    elif not problems:  # with a JAAS text that is wrong, the rest is missing for that reason alone
        problems += _sasl_problems(values, given)
    problems += _tls_problems(values, given) if tls else _unused(values, given, "ssl_", "SSL or SASL_SSL")
    if values["scram_iterations_min"] > values["scram_iterations_max"]:
        problems.append("scram_iterations_min is above scram_iterations_max")
    return problems


def _apply_jaas(values: dict[str, Any], given: frozenset[str], problems: list[str]) -> None:
    jaas = values["sasl_jaas_config"]
    values["sasl_jaas_config"] = None  # one owner: from here on the name and the password are where they belong
    if jaas is None:
        return
    try:
        login = parse_jaas(jaas.reveal())
    except Invalid as complaint:
        problems.append(f"sasl_jaas_config {complaint}")
        return
    twice = sorted(given & {"sasl_username", "sasl_password", *login.values})
    if twice:
        problems.append(f"sasl_jaas_config: give it or {' and '.join(twice)}, not both")
        return
    mechanism = values["sasl_mechanism"]
    if mechanism is not None and mechanism not in login.mechanisms:
        problems.append(f"sasl_jaas_config is for {' or '.join(login.mechanisms)}, sasl_mechanism is {mechanism}")
        return
    values.update(login.values)


def _sasl_problems(values: dict[str, Any], given: frozenset[str]) -> list[str]:
    mechanism = values["sasl_mechanism"]
    if mechanism is None:
        return [f"security_protocol={values['security_protocol']} needs sasl_mechanism"]
    needed = _NEEDED.get(mechanism, ("sasl_username", "sasl_password"))
    problems = []
    if any(values[name] is None for name in needed):
        problems.append(f"sasl_mechanism={mechanism} needs {' and '.join(needed)}")
    owned = {*needed, *_ALLOWED.get(mechanism, ())}
    if gives_coroutines(values["sasl_oauth_token_provider"]):
        problems.append(
            "sasl_oauth_token_provider: only the clients of pykclient.aio await a coroutine; give this one an ordinary "
            "method token(), which is called on a thread of its own and may block"
        )
    strays = [name for name in _MECHANISM_OPTIONS if name not in owned and values[name] not in (None, False, "")]
    if strays:
        problems.append(f"sasl_mechanism={mechanism} does not use {', '.join(strays)}; remove them or change it")
    return problems


def gives_coroutines(provider: object) -> bool:
    """Whether a token provider's ``token()`` has to be awaited."""
    return inspect.iscoroutinefunction(getattr(provider, "token", None))


_NEEDED = {"OAUTHBEARER": ("sasl_oauth_token_provider",), "GSSAPI": ("sasl_kerberos_service_name",)}
_ALLOWED = {
    "SCRAM-SHA-256": ("sasl_token_auth",),
    "SCRAM-SHA-512": ("sasl_token_auth",),
    "GSSAPI": ("sasl_kerberos_principal", "sasl_kerberos_keytab"),
}
_MECHANISM_OPTIONS = (
    "sasl_username",
    "sasl_password",
    "sasl_token_auth",
    "sasl_oauth_token_provider",
    "sasl_kerberos_service_name",
    "sasl_kerberos_principal",
    "sasl_kerberos_keytab",
)
"""Options that belong to some mechanism; one given for another would silently do nothing."""


def _tls_problems(values: dict[str, Any], given: frozenset[str]) -> list[str]:
    problems = []
    others = sorted(name for name in given if name.startswith("ssl_") and name != "ssl_context")
    if values["ssl_context"] is not None and others:
        problems.append(f"ssl_context is complete in itself; remove {', '.join(others)}")
    if values["ssl_truststore_location"] is not None and values["ssl_truststore_certificates"] is not None:
        problems.append("give ssl_truststore_location or ssl_truststore_certificates, not both")
    ways = [
        values["ssl_keystore_location"] is not None,
        values["ssl_keystore_key"] is not None or values["ssl_keystore_certificate_chain"] is not None,
        values["ssl_keyfile"] is not None or values["ssl_certfile"] is not None,
    ]
    if sum(ways) > 1:
        problems.append(
            "give the client certificate one way: ssl_keystore_location, or ssl_keystore_key with "
            "ssl_keystore_certificate_chain, or ssl_certfile with ssl_keyfile"
        )
    for one, other in (("ssl_keystore_key", "ssl_keystore_certificate_chain"), ("ssl_keyfile", "ssl_certfile")):
        if (values[one] is None) != (values[other] is None):
            problems.append(f"{one} and {other} belong together")
    if values["ssl_key_password"] is not None and not any(ways):
        problems.append("ssl_key_password is given, but no key")
    return problems


def _unused(values: dict[str, Any], given: frozenset[str], prefix: str, needed: str) -> list[str]:
    # A mechanism or a certificate that would silently not be used is a security mistake, not a detail.
    stray = sorted(name for name in given if name.startswith(prefix) and values[name] not in (None, False, (), ""))
    stray = [name for name in stray if name != "sasl_jaas_config"] or (
        ["sasl_jaas_config"] if "sasl_jaas_config" in given and prefix == "sasl_" else []
    )
    if not stray:
        return []
    protocol = values["security_protocol"]
    return [f"security_protocol={protocol} does not use {', '.join(stray)}; set security_protocol to {needed}"]
