"""What users of other Kafka clients asked for in public, as tests: one module per theme (docs/asked-for.md)."""
