#!/usr/bin/env python3
"""How fast attune trains a language model of characters, beside PyTorch on the same updates, in the same minutes. See
README.md.

The peer is nanoGPT's model as it runs on a CPU: layer norm before each sublayer, learned positions, GELU, one matrix for
input and output, attention by scaled_dot_product_attention where PyTorch has it, AdamW, gradients clipped; windows from
random places. Biases are there, as in attune's model."""

import argparse
import json
import statistics
import subprocess
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.inner, self.outer = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x):
        n, length, d = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(n, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        if hasattr(F, "scaled_dot_product_attention"):
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            scores = q @ k.transpose(-2, -1) * (d // self.heads) ** -0.5
            future = torch.ones(length, length, dtype=torch.bool).triu(1)
            y = scores.masked_fill(future, float("-inf")).softmax(-1) @ v
        x = x + self.out(y.transpose(1, 2).reshape(n, length, d))
        return x + self.outer(F.gelu(self.inner(self.norm2(x))))


class Model(nn.Module):
    def __init__(self, a, characters):
        super().__init__()
        self.embed, self.place = nn.Embedding(characters, a.d_model), nn.Embedding(a.context, a.d_model)
        self.blocks = nn.ModuleList(Block(a.d_model, a.heads) for _ in range(a.layers))
        self.norm = nn.LayerNorm(a.d_model)

    def forward(self, ids):
        x = self.embed(ids) + self.place.weight
        for block in self.blocks:
            x = block(x)
        return self.norm(x) @ self.embed.weight.T


class Peer:
    def __init__(self, a, compiled):
        text = open(a.train, encoding="utf-8").read()
        number = {c: i for i, c in enumerate(sorted(set(text)))}
        self.text = torch.tensor([number[c] for c in text])
        torch.manual_seed(1)
        self.a, self.model = a, Model(a, len(number))
        self.run = torch.compile(self.model) if compiled else self.model
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3, betas=(0.9, 0.99), weight_decay=0.1)
        self.name = "PyTorch " + torch.__version__ + (" compiled" if compiled else "")

    def update(self):
        a = self.a
        at = torch.randint(len(self.text) - a.context - 1, (a.batch,))[:, None] + torch.arange(a.context)
        logits = self.run(self.text[at])
        loss = F.cross_entropy(logits.flatten(0, 1), self.text[at + 1].flatten())
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()

    def speed(self, threads):
        torch.set_num_threads(threads)
        for _ in range(self.a.warm):
            self.update()
        start = time.perf_counter()
        for _ in range(self.a.updates):
            self.update()
        return self.a.updates * self.a.batch * self.a.context / (time.perf_counter() - start)


def attune_speed(a, threads):
    command = [a.attune, "bench", "train", a.recipe, "--json", "--quiet", "--threads", str(threads), "--updates",
               str(a.updates), "--warm", str(a.warm), "--set", f'data.train=["{a.train}"]', "--set",
               f'data.valid=["{a.valid}"]']
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["target_tokens_per_s"]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("train", help="the text to learn from")
    p.add_argument("valid", help="the text to validate with")
    p.add_argument("--recipe", default="recipes/shakespeare-char/recipe.toml")
    p.add_argument("--attune", default="build/attune", help="the program")
    p.add_argument("--layers", type=int, default=4)
    p.add_argument("--d-model", type=int, default=128)
    p.add_argument("--heads", type=int, default=4)
    p.add_argument("--context", type=int, default=64)
    p.add_argument("--batch", type=int, default=12)
    p.add_argument("--updates", type=int, default=100)
    p.add_argument("--warm", type=int, default=10)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--threads", default="1,2", help="numbers of threads; the best of each program counts")
    p.add_argument("--compile", action="store_true", help="PyTorch compiled (torch.compile), too")
    a = p.parse_args()
    peers = [Peer(a, compiled) for compiled in ([False, True] if a.compile else [False])]
    speeds = {}
    for _ in range(a.rounds):
        for threads in map(int, a.threads.split(",")):
            speeds.setdefault(("attune", threads), []).append(attune_speed(a, threads))
            for peer in peers:
                speeds.setdefault((peer.name, threads), []).append(peer.speed(threads))
    print(f"{'characters a second':24} threads     best   median")
    for (name, threads), all_rounds in speeds.items():
        print(f"{name:24} {threads:7} {max(all_rounds):8.0f} {statistics.median(all_rounds):8.0f}")
    for how, of in (("best", max), ("median", statistics.median)):
        own = max(of(s) for (name, _), s in speeds.items() if name == "attune")
        other = max(of(s) for (name, _), s in speeds.items() if name != "attune")
        print(f"attune is {own / other:.2f} times as fast, by the {how} of {a.rounds} rounds")


if __name__ == "__main__":
    sys.exit(main())
