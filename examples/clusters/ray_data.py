"""Adds to tables of texts what a model makes of them, on a Ray cluster.

    ray_data.py MODEL INPUT OUTPUT

INPUT and OUTPUT are folders of Parquet files, or a file; MODEL is there on every node. The column "text" is read,
"result" is added: null where there is no text, or one that the model cannot take. Order is not kept: the column "id"
tells which is which.
"""

import argparse
import platform

import pyarrow
import ray

import encdec


class Generate:
    """Lives in a process of its own, which loads the model once."""

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
parser.add_argument("--actors", type=int, default=1, help="most processes, each with a CPU")
parser.add_argument("--precision", default="int8")
parser.add_argument("--weights-cache", help="folder of each node's own, for packed weights that its processes share")
parser.add_argument("--fingerprint", help="what fingerprints.py says: a node with another one is an error")
parser.add_argument("--batch-size", type=int, default=1024)


def main():
    arguments = parser.parse_args()
    # One CPU and one thread each: many lines in one call keep it busy.
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
