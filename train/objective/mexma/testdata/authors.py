"""Compares golden.json with the program of MEXMA's authors: python3 authors.py CHECKOUT, a clone of
github.com/facebookresearch/mexma, whose COMMIT is read. The Python needs what authors.txt names.

The program's head and training step compute each term, and the gradients of the weighted total, from golden.json's
tensors in float64. The program has no switch for what the paper leaves out: without gradients of tokens, the head gets
constants; without context, it gets the masked sentence's own first token as the other side's vector; and where the
alignment is contrastive, PyTorch's cross-entropy is in the place of the program's mean squared error."""
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import types

import torch
from torch.nn.functional import cross_entropy, normalize

COMMIT = "761079ac0e084ffcbc34472441bc9134311d0dfd"

metrics = types.ModuleType("torchmetrics.classification")  # evaluate.py imports it for a figure that is not used here
metrics.MulticlassAccuracy = None
sys.modules["torchmetrics"], sys.modules["torchmetrics.classification"] = types.ModuleType("torchmetrics"), metrics
import transformers

transformers.AutoTokenizer.from_pretrained = lambda *args, **named: None  # a default argument there
with tempfile.TemporaryDirectory() as folder:
    archive = subprocess.run(["git", "-C", sys.argv[1], "archive", COMMIT], check=True, stdout=subprocess.PIPE).stdout
    tarfile.open(fileobj=io.BytesIO(archive)).extractall(folder, filter="data")
    sys.path.insert(0, folder)
    from model import MEXMA
from transformers.models.xlm_roberta.configuration_xlm_roberta import XLMRobertaConfig
from transformers.models.xlm_roberta.modeling_xlm_roberta import XLMRobertaEncoder, XLMRobertaForMaskedLM

golden = json.load(open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden.json")))
WIDTH, VOCABULARY, LENGTH = golden["width"], golden["vocabulary"], golden["length"]
HEADS, FFN = 2, 5


def tensor(name):
    t = golden["tensors"][name]
    return torch.tensor(t["data"], dtype=torch.float64).reshape(t["shape"])


class Contrastive(torch.nn.Module):
    """The mean of the cross-entropies of both directions over cosines."""

    def __init__(self, temperature):
        super().__init__()
        self.temperature = temperature

    def forward(self, u, v):
        logits, own = normalize(u) @ normalize(v).T / self.temperature, torch.arange(len(u))
        return (cross_entropy(logits, own) + cross_entropy(logits.T, own)) / 2


def program(case):
    """The authors' model with golden.json's head and table, and the weights that make its total the case's."""
    shape = XLMRobertaConfig(vocab_size=VOCABULARY, hidden_size=WIDTH, num_hidden_layers=1, num_attention_heads=HEADS, intermediate_size=FFN,
                             layer_norm_eps=1e-12, pad_token_id=0, bos_token_id=1, eos_token_id=2, attn_implementation="eager")
    with tempfile.TemporaryDirectory() as folder:
        XLMRobertaForMaskedLM(shape).save_pretrained(folder)
        model = MEXMA(folder, dont_use_block_efficient_attention=True, number_of_transformer_attention_heads_in_head=HEADS,
                      mlm_loss_weight=2 * case["unmask_weight"], cls_loss_weight=case["align_weight"], koleo_loss_weight=2 * case["koleo_weight"])
    if case["alignment"] == "contrastive":
        model.alignment_loss = Contrastive(case["temperature"])
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


def terms_and_gradients(case):
    """The program's terms and, by the names of golden.json's tensors, the gradients of its total, flat."""
    model, leaves = program(case)
    sides, masks, labels, logits = {}, [], [], []
    for view in ["clean0", "clean1", "masked0", "masked1", "tokens0", "tokens1"]:
        sides[view] = tensor(view).requires_grad_()
        leaves[view] = (sides[view], False)
    for side in range(2):
        masks.append(torch.tensor([[1.0 if i < n else 0.0 for i in range(LENGTH)] for n in golden["lengths"][side]], dtype=torch.float64))
        label = torch.full((golden["n"], LENGTH), -100)
        for row, places in enumerate(golden["hidden"][side]):
            for place, id in places:
                label[row, place] = id
        labels.append(label)
        tokens = sides[f"tokens{side}"] if case["token_gradients"] else sides[f"tokens{side}"].detach()
        context = tokens[:, 0] if case.get("context") == "none" else sides[f"clean{1 - side}"]
        logits.append(model.head_forward(tokens, masks[side], context)["vocab_probabilities"])
    out = model.training_step(src_vocab_probabilities=logits[0], trg_vocab_probabilities=logits[1], src_labels=labels[0], trg_labels=labels[1],
                              clean_src_cls_embedding=sides["clean0"], clean_trg_cls_embedding=sides["clean1"])
    out["loss"].backward()
    gradients = {}
    for name, (parameter, transpose) in leaves.items():
        got = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
        gradients[name] = (got.T if transpose else got).reshape(-1)
    return {"unmask": out["src_mlm_loss"] + out["trg_mlm_loss"], "align": out["cls_loss"], "koleo": 2 * out["koleo_loss"]}, gradients


worst = {"value": 0.0, "gradient": 0.0}
for name in ["4 clean alignment", "5 token gradients", "6 mexma", "contrastive", "no context", "no context, contrastive"]:
    case = golden["cases"][name]
    terms, gradients = terms_and_gradients(case["settings"])
    values = dict(case["values"])
    if "forward" in values:
        values["align"] = (values.pop("forward") + values.pop("backward")) / 2
    for term, value in values.items():
        off = abs(float(terms[term]) / value - 1)
        worst["value"] = max(worst["value"], off)
        print(f"{name}: {term} {float(terms[term]):.9f}, golden {value:.9f}, {off:.1e} off")
    for leaf, want in case["gradients"].items():
        want = torch.tensor(want, dtype=torch.float64)
        off = float((gradients[leaf] - want).abs().max() / want.abs().max().clamp_min(1e-2))  # a key's bias has none
        worst["gradient"] = max(worst["gradient"], off)
        print(f"{name}: gradient of {leaf}, {off:.1e} off")
print(f"worst: {worst['value']:.1e} of a value, {worst['gradient']:.1e} of the largest number of a gradient")
sys.exit(max(worst.values()) > 1e-4)
