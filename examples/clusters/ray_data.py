"""Runs a model on the texts of Parquet tables, on a Ray cluster.

    ray_data.py MODEL INPUT OUTPUT

INPUT is a Parquet file or a folder of Parquet files, OUTPUT a folder. MODEL has to exist on every node. The column
"text" is read, and a column "result" is added. The result is null if there is no text, or if the model cannot take it.
The order of the rows is not kept; match them by the column "id".
"""

import argparse
import platform

import pyarrow
import ray

import encdec


class Generate:
    """A worker with a process of its own, which loads the model once."""

    def __init__(self, model, fingerprint, options):
        self.model = encdec.Model(model, **options)
        if fingerprint and self.model.fingerprint() != fingerprint:
            raise ValueError(f"{platform.node()} gives other results: {encdec.build_info()['instructions']}")

    def __call__(self, batch):
        results = self.model.translate(batch["text"].to_pylist(), on_error="null")
        return batch.append_column("result", pyarrow.array(results, pyarrow.string()))


parser = argparse.ArgumentParser()
parser.add_argument("model")
parser.add_argument("input")
parser.add_argument("output")
parser.add_argument("--actors", type=int, default=1, help="maximum number of processes, each with one CPU")
parser.add_argument("--precision", default="int8")
parser.add_argument("--weights-cache", help="folder on each node for packed weights, shared by its processes")
parser.add_argument("--fingerprint", help="output of fingerprints.py; a node with another fingerprint is an error")
parser.add_argument("--batch-size", type=int, default=1024)


def main():
    arguments = parser.parse_args()
    # Each process has one CPU and one thread. Calls of many lines keep the thread busy.
    options = {"precision": arguments.precision, "threads": 1, "weights_cache": arguments.weights_cache}
    ray.init()
    ray.data.read_parquet(arguments.input).map_batches(
        Generate,
        fn_constructor_args=(arguments.model, arguments.fingerprint, options),
        batch_size=arguments.batch_size,
        batch_format="pyarrow",
        num_cpus=1,
        compute=ray.data.ActorPoolStrategy(min_size=1, max_size=arguments.actors, initial_size=arguments.actors),
    ).write_parquet(arguments.output)


if __name__ == "__main__":
    main()
