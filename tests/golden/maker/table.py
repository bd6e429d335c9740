"""The families and formats. Each entry is a folder of golden cases."""

from maker.families import bart, bert, gpt2, llama, marian, rotary, t5
from maker.formats import ctranslate2, ctranslate2_old, npz, pytorch

MODULES = (marian, bart, t5, bert, rotary, gpt2, llama, pytorch, ctranslate2, ctranslate2_old, npz)
FAMILIES = {name: cases for module in MODULES for name, cases in module.CASES.items()}
