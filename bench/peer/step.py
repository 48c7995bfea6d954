"""The step of bench/compare step in PyTorch: one for every line read, answered with its seconds on the clock and of the processors."""
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

PAIRS, TOKENS, WORDS, WIDTH, HEADS, LAYERS, FFN = 64, 32, 8000, 256, 4, 4, 1024
dropout = float(sys.argv[1])
if int(sys.argv[2]) > 0:
    torch.set_num_threads(int(sys.argv[2]))
torch.manual_seed(1)


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, FFN), nn.Linear(FFN, WIDTH)
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH, 1e-12), nn.LayerNorm(WIDTH, 1e-12)

    def forward(self, x, bias):
        n, l, _ = x.shape
        q, k, v = self.qkv(x).view(n, l, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        scores = (q * (WIDTH // HEADS) ** -0.5) @ k.transpose(-1, -2) + bias
        shares = F.dropout(scores.softmax(-1), dropout)
        context = (shares @ v).transpose(1, 2).reshape(n, l, WIDTH)
        x = self.norm1(x + F.dropout(self.out(context), dropout))
        return self.norm2(x + F.dropout(self.down(F.gelu(self.up(x))), dropout))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(128, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, 1e-12)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))

    def forward(self, ids, mask):
        bias = (mask - 1)[:, None, None, :] * 1e9
        x = F.dropout(self.norm(self.words(ids) + self.places.weight[: ids.shape[1]]), dropout)
        for layer in self.layers:
            x = layer(x, bias)
        return (x * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)


model = Encoder()
ids = torch.randint(WORDS, (2 * PAIRS, TOKENS))
mask = torch.ones(2 * PAIRS, TOKENS)
labels = torch.arange(PAIRS)
for _ in sys.stdin:
    model.zero_grad(set_to_none=True)
    start, cpu = time.perf_counter(), time.process_time()
    u, v = F.normalize(model(ids, mask)).split(PAIRS)
    logits = 20 * u @ v.T
    loss = F.cross_entropy(logits, labels) + F.cross_entropy(logits.T, labels)
    loss.backward()
    print(time.perf_counter() - start, time.process_time() - cpu, flush=True)
