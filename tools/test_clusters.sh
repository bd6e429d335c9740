#!/usr/bin/env bash
# Installs the Python package, Ray and Spark into build/cluster-venv (1.4 GB), and tests the package on clusters whose
# nodes are processes on this machine. Takes some minutes. Arguments are passed to pytest:
#   ./tools/test_clusters.sh -k spark
# Spark needs Java 17 (Debian: default-jre-headless); without it, its tests are skipped.
# The variable PYTHON selects the interpreter; default: python3. Exits with status 77 if packages cannot be downloaded.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

./tools/make_python_venv.sh build/cluster-venv python/tests/requirements.txt python/tests/cluster/requirements.txt
echo "Testing the Python package on clusters"
PATH="$PWD/build/cluster-venv/bin:$PATH" build/cluster-venv/bin/python -m pytest python/tests/cluster "$@"
