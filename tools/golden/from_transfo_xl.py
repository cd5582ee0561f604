#!/usr/bin/env python3
"""Golden numbers of Transformer-XL's positions and memory, by the port of the authors' code that transformers had until
version 4.35. Run once by hand, never by the build or a test:

    pip install torch transformers==4.30.2
    python3 tools/golden/from_transfo_xl.py
"""
import importlib.metadata
import torch
from transformers.models.transfo_xl.modeling_transfo_xl import PositionalEmbedding, RelPartialLearnableMultiHeadAttn
from golden import DIM, HEADS, WIDTH, Numbers, inputs, write

N = 6


def attend(data, memory, weight, u, v):
    """[N, width]: rows of N queries over `memory` rows more of keys and values."""
    keys, model = N + memory, 4 * WIDTH
    layer = RelPartialLearnableMultiHeadAttn(HEADS, model, DIM, 0.0).eval()
    # Each row of its input is a query, a key and a value side by side; the result goes to the fourth block, which is 0.
    layer.qkv_net.weight.data = torch.eye(model)[:3 * WIDTH]
    layer.o_net.weight.data = torch.eye(model)[:, 3 * WIDTH:]
    layer.layer_norm = torch.nn.Identity()
    layer.r_w_bias.data, layer.r_r_bias.data = u.view(HEADS, DIM), v.view(HEADS, DIM)
    # R is as wide as the heads together, not as the input: the rest of its projection is 0.
    layer.r_net.weight.data = torch.cat([weight, torch.zeros(WIDTH, 3 * WIDTH)], 1)
    rows = torch.zeros(keys, model)
    rows[memory:, :WIDTH] = torch.tensor(data["q"])
    rows[:, WIDTH:2 * WIDTH], rows[:, 2 * WIDTH:3 * WIDTH] = torch.tensor(data["k"]), torch.tensor(data["v"])
    x, mems = rows[memory:, None], rows[:memory, None] if memory else None
    r = PositionalEmbedding(WIDTH)(torch.arange(keys - 1, -1, -1.0))
    r = torch.cat([r, torch.zeros(keys, 1, 3 * WIDTH)], 2)
    hidden = torch.ones(N, keys).triu(1 + memory)[:, :, None]
    return layer(x, r, attn_mask=hidden, mems=mems)[0].detach()[:, 0, 3 * WIDTH:]


def windows(weight, u, v):
    """A layer reads a text window by window, remembering four rows: the last of what came into it before."""
    numbers, lengths, kept = Numbers(120), (5, 3, 6), 4
    layer = RelPartialLearnableMultiHeadAttn(HEADS, WIDTH, DIM, 0.0).eval()
    parts = {name: numbers.matrix(WIDTH, WIDTH) for name in ("query", "key", "value", "output")}
    layer.qkv_net.weight.data = torch.cat([torch.tensor(parts[name]) for name in ("query", "key", "value")]) / 2
    layer.o_net.weight.data, layer.r_net.weight.data = torch.tensor(parts["output"]) / 2, torch.tensor(weight)
    layer.r_w_bias.data, layer.r_r_bias.data = (torch.tensor(x).view(HEADS, DIM) for x in (u, v))
    layer.layer_norm = torch.nn.Identity()
    text, outs = numbers.matrix(sum(lengths), WIDTH), []
    mems, at = torch.zeros(0, 1, WIDTH), 0
    for n in lengths:
        x = torch.tensor(text[at:at + n])[:, None]
        keys = n + len(mems)
        r = PositionalEmbedding(WIDTH)(torch.arange(keys - 1, -1, -1.0))
        y = layer(x, r, attn_mask=torch.ones(n, keys).triu(1 + len(mems))[:, :, None], mems=mems)[0]
        outs += (y - x).detach()[:, 0].tolist()
        mems, at = torch.cat([mems, x])[-kept:], at + n
    parameters = {name + ".weight": (torch.tensor(m) / 2).tolist() for name, m in parts.items()}
    return {"name": "windows", "attention": {"kind": "transformer-xl", "memory": kept}, "causal": True, "heads": HEADS,
            "heads_kv": HEADS, "dim": DIM, "position": {"kind": "transformer-xl", "longest": 12},
            "parameters": {**parameters, "position.weight": weight, "encoder.position.u": u, "encoder.position.v": v},
            "lengths": list(lengths), "x": text, "outs": outs}


def main():
    cases, numbers = [], Numbers(119)
    weight, u, v = (numbers.matrix(rows, WIDTH) for rows in (WIDTH, 1, 1))
    for memory in (0, 5):
        data = inputs(19, N, N + memory)
        out = attend(data, memory, *(torch.tensor(x) for x in (weight, u, v)))
        cases.append({"name": f"decoder, {memory} remembered", "attention": {"kind": "softmax"}, "causal": True,
                      "heads": HEADS, "heads_kv": HEADS, "dim": DIM,
                      "position": {"kind": "transformer-xl", "longest": 12},
                      "parameters": {"position.weight": weight, "encoder.position.u": u, "encoder.position.v": v},
                      **data, "out": out})
    cases.append(windows(weight, u, v))
    write("transformer_xl", "transformers " + importlib.metadata.version("transformers") +
          ", RelPartialLearnableMultiHeadAttn",
          "RelPartialLearnableMultiHeadAttn(2, 32, 4, 0.0)(x, r, attn_mask, mems), x = [q, k, v, 0], without its norm; "
          "windows: RelPartialLearnableMultiHeadAttn(2, 8, 4, 0.0)(x, r, attn_mask, mems) - x, mems the last 4 rows",
          "None: sines first, u with the keys (r_w_bias) and v with the distances (r_r_bias), both divided by "
          "sqrt(d_k), distances counted from the query back through the memory.", cases)


main()
