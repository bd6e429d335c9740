"""Runs a model on the texts of Parquet tables, with Spark.

    spark-submit spark.py MODEL INPUT OUTPUT

INPUT and OUTPUT are folders of Parquet files. MODEL has to exist on every node. The column "text" is read, and a column
"result" is added. The result is null if there is no text, or if the model cannot take it.
"""

import argparse
import platform

from pyspark.sql import SparkSession

import encdec

parser = argparse.ArgumentParser()
parser.add_argument("model")
parser.add_argument("input")
parser.add_argument("output")
parser.add_argument("--precision", default="int8")
parser.add_argument("--weights-cache", help="folder on each node for packed weights, shared by its processes")
parser.add_argument("--fingerprint", help="model.fingerprint() of any node; a node with another one is an error")


def generator(path, fingerprint, options):
    def generate(frames):
        model = encdec.open_model(path, **options)  # loaded once a process; Spark reuses its processes
        if fingerprint and model.fingerprint() != fingerprint:
            raise ValueError(f"{platform.node()} gives other results: {encdec.build_info()['instructions']}")
        for frame in frames:
            yield frame.assign(result=model.translate(frame["text"].tolist(), on_error="null"))

    return generate


def main():
    arguments = parser.parse_args()
    options = {"precision": arguments.precision, "weights_cache": arguments.weights_cache}
    session = SparkSession.builder.appName("encdec").getOrCreate()
    table = session.read.parquet(arguments.input)
    columns = ", ".join(f"`{column}` {kind}" for column, kind in table.dtypes) + ", result string"
    generate = generator(arguments.model, arguments.fingerprint, options)
    table.mapInPandas(generate, columns).write.parquet(arguments.output)


if __name__ == "__main__":
    main()
