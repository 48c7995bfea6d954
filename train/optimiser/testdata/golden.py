"""Writes golden.json: five steps of PyTorch's Adam and AdamW, and of Adafactor and AMSGrad written after their papers in float64 numpy."""
import json
import os

import numpy as np
import torch

rng = np.random.default_rng(7)
start = rng.normal(size=(3, 4))
gradients = rng.normal(size=(5, 3, 4))


def with_torch(make):
    w = torch.tensor(start, requires_grad=True)
    optimiser = make([w])
    for g in gradients:
        w.grad = torch.tensor(g)
        optimiser.step()
    return w.detach().numpy()


def adafactor(lr):
    """Algorithm 4 of Shazeer and Stern (2018), the relative step size replaced by lr."""
    w, rows, columns = start.copy(), np.zeros(3), np.zeros(4)
    for t, g in enumerate(gradients, 1):
        beta = 1 - t ** -0.8
        square = g * g + 1e-30
        rows = beta * rows + (1 - beta) * square.mean(axis=1)
        columns = beta * columns + (1 - beta) * square.mean(axis=0)
        v = np.outer(rows, columns) / rows.mean()
        u = g / np.sqrt(v)
        w -= lr * u / max(1.0, np.sqrt((u * u).mean()))
    return w


def amsgrad(lr, beta1, beta2, decay):
    """Algorithm 2 of Reddi et al. (2018), with Adam's corrections of both moments and L2 decay."""
    w, m, v, largest = start.copy(), 0, 0, np.zeros((3, 4))
    for t, g in enumerate(gradients, 1):
        g = g + decay * w
        m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g
        largest = np.maximum(largest, v)
        w -= lr * m / (1 - beta1**t) / (np.sqrt(largest / (1 - beta2**t)) + 1e-8)
    return w


golden = {
    "start": start.ravel().tolist(),
    "gradients": gradients.reshape(5, -1).tolist(),
    "adam": with_torch(lambda p: torch.optim.Adam(p, lr=0.05, betas=(0.9, 0.98), weight_decay=0.1)).ravel().tolist(),
    "adamw": with_torch(lambda p: torch.optim.AdamW(p, lr=0.05, betas=(0.9, 0.98), weight_decay=0.1)).ravel().tolist(),
    "adafactor": adafactor(0.05).ravel().tolist(),
    "amsgrad": amsgrad(0.05, 0.9, 0.7, 0.1).ravel().tolist(),
}
with open(os.path.join(os.path.dirname(__file__), "golden.json"), "w") as f:
    json.dump(golden, f, indent=1)
