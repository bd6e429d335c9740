"""Writes the lines of a text file, with their numbers, to a folder of Parquet files: make_table.py LINES.txt FOLDER"""

import pathlib
import sys

import pyarrow
import pyarrow.parquet

ROWS = 500  # rows of a file; a process handles one file at a time

with open(sys.argv[1], encoding="utf-8") as lines:
    texts = lines.read().split("\n")[:-1]
folder = pathlib.Path(sys.argv[2])
folder.mkdir(parents=True)
for first in range(0, len(texts), ROWS):
    rows = {"id": range(first, min(first + ROWS, len(texts))), "text": texts[first : first + ROWS]}
    pyarrow.parquet.write_table(pyarrow.table(rows), folder / f"{first:09}.parquet")
