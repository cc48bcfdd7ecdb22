"""Found by Spark 4 by its name alone: makes ``format("pykclient")`` known without a call to ``register``.

Must never fail to import: one module that does hides the data sources of all others from Spark.
"""

import logging

try:
    from pykclient.spark.source import KafkaDataSource as DefaultSource
except Exception as error:  # an older PySpark, or a half-installed one
    logging.getLogger(__name__).warning("the data source pykclient is not available: %s", error)
else:
    __all__ = ["DefaultSource"]
