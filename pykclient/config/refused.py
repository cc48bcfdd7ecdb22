"""Options of the Java clients that mean nothing here, each with what to use instead; names others use for ours.

Two tables of facts, read by ``load``. An option is never silently ignored: it works, or it is refused with a sentence.
"""

from __future__ import annotations

_OAUTH = "tokens come from sasl_oauth_token_provider, an object whose token() fetches one"
_KERBEROS = "tickets are renewed by the Kerberos library itself (give sasl_kerberos_keytab) or by your kinit; remove it"
_METRICS = "read client.metrics() instead, and export it from your program"
_CONTEXT = "pass a ready ssl.SSLContext as ssl_context instead"
_SHARE = "share groups are not supported by this client"

REFUSED = {
    "auto.include.jmx.reporter": "there is no JMX in Python; " + _METRICS,
    "bootstrap.controllers": "this client talks to brokers; use bootstrap_servers",
    "config.providers": "values are taken as they are; read files and variables in your own code",
    "enable.metrics.push": "this client does not push telemetry; remove the option",
    "interceptor.classes": "pass objects: interceptors=[MyInterceptor()]",
    "internal.throw.on.fetch.stable.offset.unsupported": "an internal switch of the Java client; remove it",
    "metric.reporters": _METRICS,
    "metrics.num.samples": _METRICS,
    "metrics.recording.level": _METRICS,
    "metrics.sample.window.ms": _METRICS,
    "partitioner.class": "pass a name or an object: partitioner=...",
    "sasl.client.callback.handler.class": "pass sasl_username and sasl_password, or sasl_oauth_token_provider",
    "sasl.kerberos.kinit.cmd": _KERBEROS,
    "sasl.kerberos.min.time.before.relogin": _KERBEROS,
    "sasl.kerberos.ticket.renew.jitter": _KERBEROS,
    "sasl.kerberos.ticket.renew.window.factor": _KERBEROS,
    "sasl.login.callback.handler.class": _OAUTH,
    "sasl.login.class": "pass sasl_username and sasl_password, or sasl_oauth_token_provider",
    "sasl.login.connect.timeout.ms": _OAUTH,
    "sasl.login.read.timeout.ms": _OAUTH,
    "sasl.login.refresh.buffer.seconds": _OAUTH,
    "sasl.login.refresh.min.period.seconds": _OAUTH,
    "sasl.login.refresh.window.factor": _OAUTH,
    "sasl.login.refresh.window.jitter": _OAUTH,
    "sasl.login.retry.backoff.max.ms": _OAUTH,
    "sasl.login.retry.backoff.ms": _OAUTH,
    "sasl.oauthbearer.assertion.algorithm": _OAUTH,
    "sasl.oauthbearer.assertion.claim.aud": _OAUTH,
    "sasl.oauthbearer.assertion.claim.exp.seconds": _OAUTH,
    "sasl.oauthbearer.assertion.claim.iss": _OAUTH,
    "sasl.oauthbearer.assertion.claim.jti.include": _OAUTH,
    "sasl.oauthbearer.assertion.claim.nbf.seconds": _OAUTH,
    "sasl.oauthbearer.assertion.claim.sub": _OAUTH,
    "sasl.oauthbearer.assertion.file": _OAUTH,
    "sasl.oauthbearer.assertion.private.key.file": _OAUTH,
    "sasl.oauthbearer.assertion.private.key.passphrase": _OAUTH,
    "sasl.oauthbearer.assertion.template.file": _OAUTH,
    "sasl.oauthbearer.client.credentials.client.id": _OAUTH,
    "sasl.oauthbearer.client.credentials.client.secret": _OAUTH,
    "sasl.oauthbearer.clock.skew.seconds": "the broker checks tokens, not the client; remove it",
    "sasl.oauthbearer.expected.audience": "the broker checks tokens, not the client; remove it",
    "sasl.oauthbearer.expected.issuer": "the broker checks tokens, not the client; remove it",
    "sasl.oauthbearer.header.urlencode": _OAUTH,
    "sasl.oauthbearer.jwks.endpoint.refresh.ms": "the broker checks tokens, not the client; remove it",
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms": "the broker checks tokens, not the client; remove it",
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms": "the broker checks tokens, not the client; remove it",
    "sasl.oauthbearer.jwks.endpoint.url": "the broker checks tokens, not the client; remove it",
    "sasl.oauthbearer.jwt.retriever.class": _OAUTH,
    "sasl.oauthbearer.jwt.validator.class": _OAUTH,
    "sasl.oauthbearer.scope": _OAUTH,
    "sasl.oauthbearer.scope.claim.name": _OAUTH,
    "sasl.oauthbearer.sub.claim.name": _OAUTH,
    "sasl.oauthbearer.token.endpoint.url": _OAUTH,
    "security.providers": "Java security providers do not exist here; " + _CONTEXT,
    "share.acknowledgement.mode": _SHARE,
    "share.acquire.mode": _SHARE,
    "ssl.engine.factory.class": _CONTEXT,
    "ssl.keymanager.algorithm": _CONTEXT,
    "ssl.keystore.password": "a PEM file has no store password; the key's own goes into ssl_key_password",
    "ssl.protocol": "list the versions in ssl_enabled_protocols",
    "ssl.provider": _CONTEXT,
    "ssl.secure.random.implementation": "the operating system's randomness is used; remove it",
    "ssl.trustmanager.algorithm": _CONTEXT,
    "ssl.truststore.password": "a PEM file has no store password; remove it",
    "transaction.two.phase.commit.enable": "two-phase commit (KIP-939) is not supported by this client",
}
"""Java's dotted name -> what to do instead."""

ALIASES = {
    "sasl_plain_password": "sasl_password",
    "sasl_plain_username": "sasl_username",
    "ssl_ca_location": "ssl_truststore_location",
    "ssl_cafile": "ssl_truststore_location",
    "ssl_certificate_location": "ssl_certfile",
    "ssl_key_location": "ssl_keyfile",
    "ssl_password": "ssl_key_password",
}
"""Names that other Python clients use -> ours."""
