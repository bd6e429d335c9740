"""The table of families: a folder of golden cases is one entry."""

from golden.families import marian

FAMILIES = {
    "marian": marian.cases,
}
