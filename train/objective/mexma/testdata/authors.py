"""Compares golden.json with the program of MEXMA's authors: python3 authors.py CHECKOUT, a checkout of facebookresearch/mexma, beside torch and
transformers 4.41. Its head and its training step compute each term and the gradients of the weighted total from golden.json's tensors, in float64."""
import json
import os
import sys
import tempfile
import types

import torch

sys.path.insert(0, sys.argv[1])
metrics = types.ModuleType("torchmetrics.classification")  # evaluate.py imports it for a figure that is not used here
metrics.MulticlassAccuracy = None
sys.modules["torchmetrics"], sys.modules["torchmetrics.classification"] = types.ModuleType("torchmetrics"), metrics
import transformers

transformers.AutoTokenizer.from_pretrained = lambda *args, **named: None  # a default argument there
from model import MEXMA
from transformers.models.xlm_roberta.configuration_xlm_roberta import XLMRobertaConfig
from transformers.models.xlm_roberta.modeling_xlm_roberta import XLMRobertaEncoder, XLMRobertaForMaskedLM

golden = json.load(open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden.json")))
WIDTH, VOCABULARY, LENGTH = golden["width"], golden["vocabulary"], golden["length"]
HEADS, FFN = 2, 5


def tensor(name):
    t = golden["tensors"][name]
    return torch.tensor(t["data"], dtype=torch.float64).reshape(t["shape"])


def program(case):
    """The authors' model with golden.json's head and table, and the weights that make its total the case's."""
    shape = XLMRobertaConfig(vocab_size=VOCABULARY, hidden_size=WIDTH, num_hidden_layers=1, num_attention_heads=HEADS, intermediate_size=FFN,
                             layer_norm_eps=1e-12, pad_token_id=0, bos_token_id=1, eos_token_id=2, attn_implementation="eager")
    with tempfile.TemporaryDirectory() as folder:
        XLMRobertaForMaskedLM(shape).save_pretrained(folder)
        model = MEXMA(folder, dont_use_block_efficient_attention=True, number_of_transformer_attention_heads_in_head=HEADS,
                      mlm_loss_weight=2 * case["unmask_weight"], cls_loss_weight=case["align_weight"], koleo_loss_weight=2 * case["koleo_weight"])
    model.unmasking_head = XLMRobertaEncoder(shape)  # of golden.json's FFN
    model = model.double().eval()
    leaves = {}

    def put(parameter, name, transpose=False):
        value = tensor(name)
        parameter.data = value.T.contiguous() if transpose else value
        leaves[name] = (parameter, transpose)

    put(model.encoder.embeddings.word_embeddings.weight, "table")
    put(model.mlp_head[-1].bias, "heads.unmask.bias")
    layer, p = model.unmasking_head.layer[0], "heads.unmask.0."
    for of, name in [(layer.attention.self.query, "attention.query"), (layer.attention.self.key, "attention.key"), (layer.attention.self.value, "attention.value"),
                     (layer.attention.output.dense, "attention.out"), (layer.intermediate.dense, "ffn.in"), (layer.output.dense, "ffn.out")]:
        put(of.weight, p + name + ".weight", True)
        put(of.bias, p + name + ".bias")
    for of, name in [(layer.attention.output.LayerNorm, "attention.norm"), (layer.output.LayerNorm, "ffn.norm")]:
        put(of.weight, p + name + ".scale")
        put(of.bias, p + name + ".bias")
    return model, leaves


def relative(got, want):
    return float((got - want).abs().max() / want.abs().max().clamp_min(1e-9))


worst = 0.0
for name in ["5 token gradients", "6 mexma"]:
    case = golden["cases"][name]
    model, leaves = program(case["settings"])
    sides = {}
    for view in ["clean0", "clean1", "tokens0", "tokens1"]:
        sides[view] = tensor(view).requires_grad_()
        leaves[view] = (sides[view], False)
    masks, labels, logits = [], [], []
    for side in range(2):
        masks.append(torch.tensor([[1.0 if i < n else 0.0 for i in range(LENGTH)] for n in golden["lengths"][side]], dtype=torch.float64))
        label = torch.full((golden["n"], LENGTH), -100)
        for row, places in enumerate(golden["hidden"][side]):
            for place, id in places:
                label[row, place] = id
        labels.append(label)
        logits.append(model.head_forward(sides[f"tokens{side}"], masks[side], sides[f"clean{1 - side}"])["vocab_probabilities"])
    out = model.training_step(src_vocab_probabilities=logits[0], trg_vocab_probabilities=logits[1], src_labels=labels[0], trg_labels=labels[1],
                              clean_src_cls_embedding=sides["clean0"], clean_trg_cls_embedding=sides["clean1"])
    out["loss"].backward()
    terms = {"unmask": out["src_mlm_loss"] + out["trg_mlm_loss"], "align": out["cls_loss"], "koleo": 2 * out["koleo_loss"]}
    for term, value in case["values"].items():
        off = abs(float(terms[term]) / value - 1)
        worst = max(worst, off)
        print(f"{name}: {term} {float(terms[term]):.9f}, golden {value:.9f}, {off:.1e} off")
    for leaf, want in case["gradients"].items():
        parameter, transpose = leaves.get(leaf, (None, False))
        if parameter is None or parameter.grad is None:
            continue
        got = parameter.grad.T if transpose else parameter.grad
        off = relative(got.reshape(-1), torch.tensor(want, dtype=torch.float64).reshape(-1))
        worst = max(worst, off)
        print(f"{name}: gradient of {leaf}, {off:.1e} off")
print(f"worst: {worst:.1e}")
sys.exit(worst > 1e-4)
