#!/usr/bin/env python3
"""Golden values of torch.optim on two small parameters and given gradients.

Run once by hand, never by the build or a test:

    python3 tests/golden/make_optimizers.py > tests/golden/optimizers.json     # PyTorch 2.5 or newer

Weights and gradients are numbers that f32 holds exactly; everything is computed in f64. Random numbers are Python's own.
"""
import json, random, struct
import torch

SHAPES = {"matrix": (5, 3), "vector": (7,)}
STEPS, RATE, DECAY = 6, 0.02, 0.3
random.seed(5)


def exact(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def numbers(shape, scale):
    count = torch.Size(shape).numel()
    return [exact(random.gauss(0, 1) * scale * 2 ** random.uniform(-3, 3)) for _ in range(count)]


weights = {name: numbers(shape, 0.5) for name, shape in SHAPES.items()}
gradients = [{name: numbers(shape, 0.1) for name, shape in SHAPES.items()} for _ in range(STEPS)]


def run(make):
    p = {name: torch.tensor(weights[name], dtype=torch.float64).reshape(shape).requires_grad_()
         for name, shape in SHAPES.items()}
    optimizer = make(p)
    for g in gradients:
        for name, shape in SHAPES.items():
            p[name].grad = torch.tensor(g[name], dtype=torch.float64).reshape(shape)
        optimizer.step()
    return {name: t.detach().flatten().tolist() for name, t in p.items()}


def spared(p):  # biases and norms do not decay
    return [{"params": [p["matrix"]], "weight_decay": DECAY}, {"params": [p["vector"]], "weight_decay": 0.0}]


ADAM = dict(lr=RATE, betas=(0.9, 0.98), eps=1e-9)
CASES = {
    "adam": lambda p: torch.optim.Adam(p.values(), **ADAM),
    "adamw": lambda p: torch.optim.AdamW(spared(p), **ADAM),
    "adamw(vectors=true)": lambda p: torch.optim.AdamW(p.values(), weight_decay=DECAY, **ADAM),
    "sgd": lambda p: torch.optim.SGD(p.values(), lr=RATE, momentum=0.9),
    "sgd(momentum=0)": lambda p: torch.optim.SGD(p.values(), lr=RATE),
    "sgd(momentum=0.8;nesterov=true)": lambda p: torch.optim.SGD(p.values(), lr=RATE, momentum=0.8, nesterov=True),
    # learning rates below 1 / sqrt(step) are what it takes
    "adafactor": lambda p: torch.optim.Adafactor(p.values(), lr=RATE, eps=(1e-30, 1e-3)),
    "adafactor(decay=0.6;threshold=1.5)":
        lambda p: torch.optim.Adafactor(p.values(), lr=RATE, eps=(1e-30, 1e-3), beta2_decay=-0.6, d=1.5,
                                        weight_decay=DECAY),
}
DECAYS = ("adamw", "adamw(vectors=true)", "adafactor(decay=0.6;threshold=1.5)")

out = {"torch": torch.__version__.split("+")[0], "rate": RATE, "weights": weights, "gradients": gradients,
       "cases": [{"optimizer": name, "weight_decay": DECAY if name in DECAYS else 0.0, "after": run(make)}
                 for name, make in CASES.items()]}
print(json.dumps(out, indent=1).replace(",\n    ", ", "))
