"""An encoder's ONNX graph in PyTorch: the operators of this program's encoders, with products of weights as Linear."""
import onnx
import torch
from onnx import helper, numpy_helper
from torch.nn import functional as F


def reshape(x, shape):
    return x.reshape([x.shape[i] if n == 0 else n for i, n in enumerate(shape.tolist())])


def conv(x, weight, bias=None, pads=(0, 0), **_):
    return F.conv1d(F.pad(x, tuple(pads)), weight, bias)


def over(axes):
    return [int(i) for i in axes]  # an attribute's list or an input's tensor


def part(x, lo, hi):
    return x[tuple(slice(int(a), int(b)) for a, b in zip(lo, hi))]


OPERATORS = {
    "Add": torch.add, "Sub": torch.sub, "Mul": torch.mul, "Div": torch.div, "Mod": torch.remainder, "MatMul": torch.matmul,
    "Relu": torch.relu, "Tanh": torch.tanh, "Sqrt": torch.sqrt, "Identity": lambda x: x, "Gelu": F.gelu,
    "Softmax": lambda x, axis: torch.softmax(x, axis), "Reshape": reshape, "Conv": conv, "Slice": part,
    "Transpose": lambda x, perm: x.permute(perm), "Shape": lambda x: torch.tensor(x.shape),
    "Gather": lambda table, ids, axis=0: table[ids], "Unsqueeze": lambda x, axes: reshape_ones(x, over(axes)),
    "Cast": lambda x, to: x.float() if to == onnx.TensorProto.FLOAT else x.long(),
    "Concat": lambda *x, axis: torch.cat(x, axis),
    "Split": lambda x, sizes=None, axis=0, num_outputs=0: x.chunk(num_outputs, axis) if sizes is None else x.split(sizes.tolist(), axis),
    "LayerNormalization": lambda x, scale, bias, axis, epsilon: F.layer_norm(x.float(), scale.shape, scale, bias, epsilon),
    "ReduceMean": lambda x, axes, keepdims=1: x.mean(over(axes), bool(keepdims)),
    "ReduceSum": lambda x, axes, keepdims=1: x.sum(over(axes), bool(keepdims)),
    "ReduceL2": lambda x, axes, keepdims=1: x.norm(dim=over(axes), keepdim=bool(keepdims)),
    "LpNormalization": lambda x, axis=-1, p=2: F.normalize(x, p, axis),
}


def reshape_ones(x, axes):
    for axis in sorted(axes):
        x = x.unsqueeze(axis)
    return x


class Step:
    def __init__(self, node):
        self.kind, self.inputs, self.outputs = node.op_type, list(node.input), list(node.output)
        self.settings = {a.name: helper.get_attribute_value(a) for a in node.attribute if a.name != "kernel_shape"}


class Graph(torch.nn.Module):
    """forward(ids, mask=...) returns the graph's output of that name."""

    def __init__(self, graph, output):
        super().__init__()
        self.values = {w.name: torch.from_numpy(numpy_helper.to_array(w).copy()) for w in graph.initializer}
        self.steps, self.output = [Step(n) for n in graph.node], output
        self.makers = {name: s for s in self.steps for name in s.outputs}
        self.join_gelus()
        self.join_linears()
        self.keep_needed()

    def users(self, name):
        return [s for s in self.steps if name in s.inputs]

    def join_gelus(self):
        """x / sqrt(2), its erf, plus 1, times x, times a half: one operator, as PyTorch's own models have it."""
        for erf in [s for s in self.steps if s.kind == "Erf"]:
            x = self.makers[erf.inputs[0]].inputs[0]
            last = erf
            for _ in range(3):
                [last] = self.users(last.outputs[0])
            last.kind, last.inputs, last.settings = "Gelu", [x], {}

    def join_linears(self):
        for step in [s for s in self.steps if s.kind == "MatMul" and s.inputs[1] in self.values]:
            weight = self.values[step.inputs[1]]
            users = self.users(step.outputs[0])
            bias = [i for i in users[0].inputs if i in self.values and self.values[i].dim() == 1] if len(users) == 1 and users[0].kind == "Add" else []
            layer = torch.nn.Linear(*weight.shape, bias=bool(bias))
            layer.weight.data = weight.T.contiguous()
            if bias:
                layer.bias.data = self.values[bias[0]]
                step.outputs = users[0].outputs
                self.steps.remove(users[0])
                self.makers[step.outputs[0]] = step
            name = step.outputs[0].replace(".", "_")
            self.add_module(name, layer)
            step.kind, step.inputs, step.settings = "Linear", step.inputs[:1], {"layer": name}

    def keep_needed(self):
        wanted, kept = {self.output}, []
        for step in reversed(self.steps):
            if wanted & set(step.outputs):
                kept.append(step)
                wanted |= set(step.inputs)
        self.steps = kept[::-1]

    def forward(self, **values):
        values = {**self.values, **values}
        for step in self.steps:
            inputs = [values[i] for i in step.inputs]
            if step.kind == "Linear":
                out = getattr(self, step.settings["layer"])(*inputs)
            else:
                out = OPERATORS[step.kind](*inputs, **step.settings)
            values.update(zip(step.outputs, out if isinstance(out, tuple) else (out,)))
        return values[self.output]
