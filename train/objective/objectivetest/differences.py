"""What the golden.py of several objectives share."""
import json
import os

import numpy as np

STEP = 1e-5


def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


def around(f, x):
    """What f gives on both sides of each number of a tensor, which it reads."""
    for at in np.ndindex(x.shape):
        was = x[at]
        x[at] = was + STEP
        above = f()
        x[at] = was - STEP
        below = f()
        x[at] = was
        yield above, below


def slope(above, below, digits):
    return float(f"{(above - below) / (2 * STEP):.{digits}g}")


def total(terms):
    """Of terms {name: (weight, value)}."""
    return sum(weight * value for weight, value in terms.values())


def case(settings, terms, tensors):
    """A case of golden.json: terms(settings) by value and weight, their total, and its gradients by tensors {name: x}."""
    of, gradients = terms(settings), {}
    for name, x in tensors.items():
        gradients[name] = [slope(*two, 6) for two in around(lambda: total(terms(settings)), x)]
    return {"settings": settings, "values": {k: v for k, (_, v) in of.items()}, "weights": {k: weight for k, (weight, _) in of.items()},
            "total": total(of), "gradients": gradients}


def flat(tensors):
    return {name: {"shape": x.shape, "data": x.ravel().tolist()} for name, x in tensors.items()}


def write(script, golden, cases):
    """Writes golden.json beside a script, a line for each entry and each case."""
    with open(os.path.join(os.path.dirname(os.path.abspath(script)), "golden.json"), "w") as out:
        lines = [",\n".join(f"{json.dumps(k)}: {json.dumps(x)}" for k, x in of.items()) for of in [golden, cases]]
        out.write("{\n" + lines[0] + ',\n"cases": {\n' + lines[1] + "\n}}\n")
