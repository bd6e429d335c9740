"""The families and formats. Each entry is a folder of golden cases."""

from maker.families import bart, bert, gpt2, marian, rotary, t5
from maker.formats import ctranslate2, ctranslate2_old, npz, pytorch

FAMILIES = {
    "marian": marian.cases,
    "bart": bart.bart_cases,
    "plbart": bart.plbart_cases,
    "mbart": bart.mbart_cases,
    "m2m_100": bart.m2m_100_cases,
    "pegasus": bart.pegasus_cases,
    "blenderbot": bart.blenderbot_cases,
    "blenderbot_small": bart.blenderbot_small_cases,
    "t5": t5.t5_cases,
    "mt5": t5.mt5_cases,
    "umt5": t5.umt5_cases,
    "bert": bert.bert_cases,
    "roberta": bert.roberta_cases,
    "xlm_roberta": bert.xlm_roberta_cases,
    "distilbert": bert.distilbert_cases,
    "camembert": bert.camembert_cases,
    "electra": bert.electra_cases,
    "albert": bert.albert_cases,
    "mpnet": bert.mpnet_cases,
    "deberta_v2": bert.deberta_cases,
    "modernbert": rotary.modern_cases,
    "gte": rotary.gte_cases,
    "nomic_bert": rotary.nomic_cases,
    "eurobert": rotary.euro_cases,
    "gpt2": gpt2.cases,
    "pytorch": pytorch.cases,
    "ctranslate2": ctranslate2.cases,
    "ctranslate2_old": ctranslate2_old.cases,
    "npz": npz.cases,
}
