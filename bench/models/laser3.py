"""Makes LASER3 encoders of random weights with LASER's and fairseq's own programs, and the vectors that they compute, for
model/laser/testdata.

    pip install torch sentencepiece sacremoses==0.1.0 unicategories numpy
    git clone https://github.com/facebookresearch/LASER; git clone https://github.com/facebookresearch/fairseq
    python3 laser3.py LASER fairseq model/laser/testdata

laser2.spm must be there (laser.py). Of fairseq the encoder's modules are run, without the package's set-up.
"""
import argparse
import json
import os
import pathlib
import sys
import types

import torch

laser, fairseq, out = sys.argv[1], os.path.join(sys.argv[2], "fairseq"), pathlib.Path(sys.argv[3])


def package(name, path=None, **fields):
    module = types.ModuleType(name)
    if path:
        module.__path__ = [path]
    vars(module).update(fields)
    sys.modules[name] = module
    parent, _, leaf = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], leaf, module)
    return module


class Encoder(torch.nn.Module):
    def __init__(self, dictionary):
        super().__init__()
        self.dictionary = dictionary

    def init_incremental_state(self):
        pass


class Config:
    """fairseq.models.transformer.TransformerConfig of a namespace, as far as an encoder reads it."""

    @staticmethod
    def from_namespace(args):
        if isinstance(args, Config):
            return args
        c = Config()
        defaults = dict(dropout=0.0, attention_dropout=0.0, activation_dropout=0.0, relu_dropout=0.0, max_source_positions=1024, no_scale_embedding=False, no_token_positional_embeddings=False,
                        layernorm_embedding=False, export=False, adaptive_input=False, checkpoint_activations=False, offload_activations=False, min_params_to_wrap=0, activation_fn="relu")
        vars(c).update({k: getattr(args, k, v) for k, v in defaults.items()})
        get = lambda name, default: getattr(args, "encoder_" + name, default)
        c.encoder = types.SimpleNamespace(embed_dim=get("embed_dim", 512), ffn_embed_dim=get("ffn_embed_dim", 2048), layers=get("layers", 6), attention_heads=get("attention_heads", 8),
                                          normalize_before=get("normalize_before", False), learned_pos=get("learned_pos", False), layerdrop=0.0, xformers_att_config=None)
        c.quant_noise = types.SimpleNamespace(pq=0.0, pq_block_size=8)
        return c


package("fairseq", fairseq)
package("fairseq.tokenizer", tokenize_line=str.split)
package("fairseq.distributed", fsdp_wrap=lambda module, **_: module)
package("fairseq.models", os.path.join(fairseq, "models"), FairseqEncoder=Encoder)
package("fairseq.models.fairseq_incremental_decoder", FairseqIncrementalDecoder=Encoder)
package("fairseq.models.transformer", os.path.join(fairseq, "models", "transformer"), TransformerConfig=Config)
modules = package("fairseq.modules", os.path.join(fairseq, "modules"))
package("fairseq.modules.checkpoint_activations", checkpoint_wrapper=lambda module, **_: module)
package("fairseq.data", os.path.join(fairseq, "data"))
package("fairseq.data.data_utils")
from fairseq.modules.fairseq_dropout import FairseqDropout
from fairseq.modules.gelu import gelu, gelu_accurate
from fairseq.modules.layer_drop import LayerDropModuleList
from fairseq.modules.layer_norm import LayerNorm
from fairseq.modules.learned_positional_embedding import LearnedPositionalEmbedding
from fairseq.modules.multihead_attention import MultiheadAttention
from fairseq.modules.positional_embedding import PositionalEmbedding
from fairseq.modules.sinusoidal_positional_embedding import SinusoidalPositionalEmbedding

vars(modules).update(gelu=gelu, gelu_accurate=gelu_accurate, FairseqDropout=FairseqDropout, LayerDropModuleList=LayerDropModuleList, LayerNorm=LayerNorm, LearnedPositionalEmbedding=LearnedPositionalEmbedding,
                     MultiheadAttention=MultiheadAttention, PositionalEmbedding=PositionalEmbedding, SinusoidalPositionalEmbedding=SinusoidalPositionalEmbedding)
from fairseq.modules import transformer_layer

modules.transformer_layer = transformer_layer
from fairseq.models.transformer.transformer_encoder import TransformerEncoder


def embedding(rows, width, padding):
    return torch.nn.Embedding(rows, width, padding_idx=padding)


vars(sys.modules["fairseq.models.transformer"]).update(TransformerEncoder=TransformerEncoder, Embedding=embedding)
package("laser_encoders", os.path.join(laser, "laser_encoders"))
package("laser_encoders.download_models", LaserModelDownloader=object)
from fairseq.data.dictionary import Dictionary
from laser_encoders.models import SentenceEncoder

load = torch.load
torch.load = lambda path: load(path, weights_only=False)
golden = json.load(open(out / "golden.json"))
words = load(out / "laser2.pt", weights_only=False)["dictionary"]
with open(out / "laser2.cvocab", "w", encoding="utf-8") as f:
    f.writelines(f"{piece} 1\n" for piece in words if piece not in ("<s>", "<pad>", "</s>", "<unk>"))
small = dict(encoder_embed_dim=8, encoder_ffn_embed_dim=12, encoder_layers=2, encoder_attention_heads=2, max_source_positions=256)
variants = {
    "laser3-cls": dict(encoder_normalize_before=True, encoder_learned_pos=False, sentemb_criterion="cls", prepend_bos=True, left_pad_source=True, activation_fn="relu"),
    "laser3-max": dict(encoder_normalize_before=False, encoder_learned_pos=True, layernorm_embedding=True, sentemb_criterion="maxpool", prepend_bos=False, left_pad_source=False, activation_fn="gelu"),
    "laser3-decoder": dict(encoder_normalize_before=True, no_scale_embedding=True, sentemb_criterion="maxpool", prepend_bos=True, left_pad_source=False, activation_fn="relu"),
}
golden["laser3"] = {}
for seed, (name, more) in enumerate(variants.items()):
    torch.manual_seed(seed)
    args = argparse.Namespace(**small, **more)
    dictionary = Dictionary.load(str(out / "laser2.cvocab"))
    if args.encoder_normalize_before:
        dictionary.add_symbol("<mask>")
    model = TransformerEncoder(args, dictionary, embedding(len(dictionary), args.encoder_embed_dim, 1))
    for p in model.parameters():
        torch.nn.init.uniform_(p, -0.6, 0.6)
    weights = model.state_dict()
    if name == "laser3-decoder":
        weights = {"encoder." + key: value for key, value in weights.items()}
        weights["decoder.version"] = torch.tensor([3.0])
        weights["decoder.layers.0.fc1.bias"] = torch.zeros(3)
    torch.save({"model": weights, "cfg": {"model": args, "task": None}}, out / (name + ".pt"))
    encoder = SentenceEncoder(str(out / (name + ".pt")), max_sentences=5, spm_vocab=str(out / "laser2.cvocab"), spm_model=str(out / "laser2.spm"), cpu=True, sort_kind="mergesort")
    golden["laser3"][name] = [[round(float(x), 7) for x in v] for v in encoder(golden["sentences"])]
json.dump(golden, open(out / "golden.json", "w"), ensure_ascii=False, indent=0)
