#!/usr/bin/env bash
# Installs the Python package, Ray and Spark into build/cluster-venv, 1.4 GB, and tests the package on clusters that are
# processes of this machine: some minutes. Arguments go to pytest:
#   ./tools/test_clusters.sh -k spark
# Spark needs Java 17 (Debian: default-jre-headless); without it its tests are skipped. PYTHON is the interpreter to
# make it for. Status 77: what is needed from PyPI cannot be had.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

./tools/make_python_venv.sh build/cluster-venv python/tests/requirements.txt python/tests/cluster/requirements.txt
echo "Testing the Python package on clusters"
PATH="$PWD/build/cluster-venv/bin:$PATH" build/cluster-venv/bin/python -m pytest python/tests/cluster "$@"
