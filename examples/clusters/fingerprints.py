"""Checks that all nodes of a Ray cluster compute the same results, bit by bit: fingerprints.py MODEL

Prints the fingerprint if all nodes have the same one. Otherwise prints one line for each node and exits with status 1.
"""

import argparse
import platform
import sys

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

import encdec


@ray.remote(num_cpus=1)
def look(model, precision):
    info = encdec.build_info()
    kernels = f"encdec {info['version']}, oneDNN {info['onednn']}, {info['instructions']}"
    return platform.node(), encdec.open_model(model, precision=precision).fingerprint(), kernels


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--precision", default="int8")
    arguments = parser.parse_args()
    ray.init()
    nodes = [node["NodeID"] for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]
    there = [NodeAffinitySchedulingStrategy(node, soft=False) for node in nodes]
    looks = [look.options(scheduling_strategy=each) for each in there]
    found = ray.get([each.remote(arguments.model, arguments.precision) for each in looks])
    if len({fingerprint for _, fingerprint, _ in found}) == 1:
        print(found[0][1])
        return
    for node, (host, fingerprint, kernels) in zip(nodes, found):
        print(fingerprint, host, node[:8], kernels)
    sys.exit(1)


if __name__ == "__main__":
    main()
