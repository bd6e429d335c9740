"""Writes a bill of materials as JSON (SPDX 2.3) to standard output:

    python3 packaging/make_spdx.py NAME PACKAGE...

NAME is the file's name without its extension. Each PACKAGE is part of the file: a Debian package that is installed here, or
pypi/NAME, a package of this Python. SOURCE_DATE_EPOCH is the time of creation.
"""

import datetime
import importlib.metadata
import json
import os
import re
import subprocess
import sys

name, *packages = sys.argv[1:]
version = re.search(r"-([0-9]+(?:\.[0-9]+)+)", name)[1]
created = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)


def package(name: str, version: str, supplier: str, licence: str, reference: str) -> dict:
    return {
        "name": name,
        "SPDXID": "SPDXRef-" + re.sub("[^A-Za-z0-9.-]", "-", name),
        "versionInfo": version,
        "supplier": supplier,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": licence,
        "licenseDeclared": licence,
        "copyrightText": "NOASSERTION",
        "externalRefs": [
            {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": reference}
        ],
    }


with open("/opt/onednn/lib/cmake/dnnl/dnnl-config-version.cmake", encoding="utf-8") as file:
    onednn = re.search(r'PACKAGE_VERSION "([^"]+)"', file.read())[1]
parts = [package("onednn", onednn, "Organization: Debian", "Apache-2.0", f"pkg:deb/debian/onednn@{onednn}")]
for each in packages:
    if each.startswith("pypi/"):
        number = importlib.metadata.version(each[5:])
        parts.append(package(each[5:], number, "NOASSERTION", "NOASSERTION", f"pkg:{each}@{number}"))
        continue
    source, number = subprocess.check_output(
        ["dpkg-query", "--show", "--showformat=${source:Package} ${source:Version}", each], encoding="utf-8"
    ).split()
    parts.append(package(each, number, "Organization: Debian", "NOASSERTION", f"pkg:deb/debian/{source}@{number}"))
whole = package("encdec", version, "Organization: The encdec authors", "Apache-2.0", f"pkg:generic/encdec@{version}")
print(json.dumps({
    "spdxVersion": "SPDX-2.3",
    "dataLicense": "CC0-1.0",
    "SPDXID": "SPDXRef-DOCUMENT",
    "name": name,
    "documentNamespace": f"https://encdec.example.org/spdx/{name}",
    "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Organization: The encdec authors"]},
    "packages": [whole, *parts],
    "relationships": [
        {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": whole["SPDXID"]},
        *({"spdxElementId": whole["SPDXID"], "relationshipType": "CONTAINS", "relatedSpdxElement": part["SPDXID"]}
          for part in parts),
    ],
}, indent=1))  # fmt: skip
