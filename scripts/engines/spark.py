"""Judges the recordings of a list on Spark: spark.py LIST OUT writes lines as `check --output ndjson` prints them.

    spark-submit --py-files scripts/engines/concord.py scripts/engines/spark.py paths.txt findings
"""

import sys

import pandas
from pyspark.sql import SparkSession

from concord import judged


def batches(frames):
    for frame in frames:
        yield pandas.DataFrame({"value": judged(list(frame["value"]))}, dtype="object")


def main(paths, out):
    spark = SparkSession.builder.appName("mcp-concord check").getOrCreate()
    named = spark.read.text(paths)
    # A few batches for each worker, since recordings are of unequal length.
    shared = named.repartition(4 * spark.sparkContext.defaultParallelism)
    shared.mapInPandas(batches, "value string").write.mode("overwrite").text(out)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
