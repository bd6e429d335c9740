"""pytorch_model.bin, written by torch.save. Tied tensors are one storage with several names."""

from functools import partial

import torch

from maker import write_json
from maker.case import Case
from maker.families import bart, bert, gpt2, marian, t5
from maker.publish import load


def publish_bin(case, model, folder, shards=1):
    folder.mkdir(parents=True)
    model.to(case.dtype)
    model.config.architectures = [type(model).__name__]
    model.config.save_pretrained(folder)
    if model.can_generate():
        model.generation_config.save_pretrained(folder)
    tensors = model.state_dict()
    if shards == 1:
        torch.save(tensors, folder / "pytorch_model.bin")
    else:
        save_shards(tensors, folder, shards)
    model.float()
    return load(case, folder)


def save_shards(tensors, folder, count):
    files = {}
    for i, name in enumerate(tensors):
        files[name] = f"pytorch_model-{i * count // len(tensors) + 1:05}-of-{count:05}.bin"
    for file in sorted(set(files.values())):
        torch.save({name: tensor for name, tensor in tensors.items() if files[name] == file}, folder / file)
    size = sum(tensor.numel() * tensor.element_size() for tensor in tensors.values())
    write_json(folder / "pytorch_model.bin.index.json", {"metadata": {"total_size": size}, "weight_map": files})


CASES = {
    "pytorch": [
        Case("marian", marian.MARIAN, marian.scaled("swish", 12, (1, 2), (3, 2), (19, 26), 24), publish=publish_bin, nodes=False),
        Case("bart_float16", bart.BART, bart.sizes(12, (1, 1), (3, 2), (20, 31), 24), dtype=torch.float16, publish=publish_bin,
             nodes=False),
        Case("t5_sharded", t5.T5, t5.sizes(10, (1, 2), 3, 5, 21, 24), publish=partial(publish_bin, shards=3), nodes=False),
        Case("gpt2", gpt2.GPT2, gpt2.sizes(12, 1, 3, 24, n_inner=21), publish=publish_bin, nodes=False),
        Case("bert_bfloat16", bert.BERT.masked_lm, bert.sizes(12, 1, 3, 21, 24), dtype=torch.bfloat16, publish=publish_bin),
    ],
}
