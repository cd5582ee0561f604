#!/usr/bin/env python3
"""Sparse attention beside public implementations on the CPU: forward and backward of one layer's attention between given
queries, keys and values, 8 heads of 64, one sequence.

    pytorch_sparse.py --attune build/attune [--length 16384] [--threads 1] [--rounds 3] [--only NAME ...] [--json FILE]

    full          torch scaled_dot_product_attention, no mask           softmax
    masked-band   the same with a mask of a band of 128                 band
    flex-band     torch flex_attention, compiled, a band of 128: forward alone, which is all it does on a CPU
    longformer    transformers' LongformerSelfAttention, window 512, one global position
    bigbird       transformers' BigBirdBlockSparseAttention, blocks of 64: 3 neighbours, 3 drawn, first and last

Each peer runs in a process of its own, by turns with attune's mechanism of the same pattern; the best of the rounds
counts. Longformer's and BigBird's projections are the identity and their time is taken off. Memory is the peak of
the process less what it had before the first call.
"""
import argparse, json, resource, subprocess, sys, time
from types import SimpleNamespace

HEADS, DIM = 8, 64
WIDTH = HEADS * DIM
ATTUNE = {"full": "softmax", "masked-band": "band:129", "flex-band": "band:129",
          "longformer": "longformer(window=512;global=1)", "bigbird": "bigbird(block=64;window=3;global=2;random=3)"}


def megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def timed(forward, inputs):
    """Seconds of forward, and of backward."""
    import torch
    begin = time.perf_counter()
    out = forward(*inputs)
    middle = time.perf_counter()
    if out.requires_grad:
        out.backward(torch.ones_like(out))
    return middle - begin, time.perf_counter() - middle


def near(n):
    import torch
    place = torch.arange(n)
    return (place[:, None] - place[None, :]).abs() <= 64


def identity(layer, names):
    import torch
    for name in names:
        getattr(layer, name).weight.data = torch.eye(WIDTH)
        if getattr(layer, name).bias is not None:
            getattr(layer, name).bias.data.zero_()
    return layer


def peer(name, n):
    """A function of its inputs, the inputs, and the seconds of what is not attention."""
    import torch
    import torch.nn.functional as F
    torch.manual_seed(1)
    qkv = [torch.randn(1, HEADS, n, DIM, requires_grad=name != "flex-band") for _ in range(3)]
    if name == "full":
        return F.scaled_dot_product_attention, qkv
    if name == "masked-band":
        mask = near(n)
        return lambda q, k, v: F.scaled_dot_product_attention(q, k, v, attn_mask=mask), qkv
    if name == "flex-band":
        from torch.nn.attention.flex_attention import create_block_mask, flex_attention
        blocks = create_block_mask(lambda b, h, i, j: (i - j).abs() <= 64, None, None, n, n, device="cpu")
        run = torch.compile(flex_attention)
        return lambda q, k, v: run(q, k, v, block_mask=blocks), qkv
    rows = [torch.randn(1, n, WIDTH, requires_grad=True)]
    if name == "longformer":
        from transformers.models.longformer.modeling_longformer import LongformerSelfAttention
        layer = LongformerSelfAttention(SimpleNamespace(hidden_size=WIDTH, num_attention_heads=HEADS,
                                                        attention_probs_dropout_prob=0.0, attention_window=[512]), 0)
        identity(layer, ("query", "key", "value", "query_global", "key_global", "value_global"))
        chosen = torch.zeros(1, n, dtype=torch.bool)
        chosen[0, 0] = True
        bias = torch.zeros(1, n).masked_fill(chosen, 10000.0)
        masked = torch.zeros(1, n, dtype=torch.bool)
        return lambda x: layer(x, attention_mask=bias, is_index_masked=masked, is_index_global_attn=chosen,
                               is_global_attn=True)[0], rows
    from transformers.models.big_bird.modeling_big_bird import BigBirdBlockSparseAttention, BigBirdModel
    layer = BigBirdBlockSparseAttention(SimpleNamespace(hidden_size=WIDTH, num_attention_heads=HEADS,
                                                        num_random_blocks=3, block_size=64, use_bias=True,
                                                        max_position_embeddings=4096), seed=1)
    identity(layer, ("query", "key", "value"))
    blocked, band, from_rows, to_columns = BigBirdModel.create_masks_for_block_sparse_attn(torch.ones(1, n), 64)
    return lambda x: layer(x, band_mask=band, from_mask=from_rows, to_mask=to_columns, from_blocked_mask=blocked,
                           to_blocked_mask=blocked)[0], rows


def run_peer(name, n, threads):
    """In this process: prints a line of JSON."""
    import torch
    torch.set_num_threads(threads)
    forward, inputs = peer(name, n)
    projections = 0.0
    if name in ("longformer", "bigbird"):
        linear = torch.nn.Linear(WIDTH, WIDTH)
        timed(linear, inputs)
        projections = 3 * min(sum(timed(linear, inputs)) for _ in range(3))
    before = megabytes()
    warm = sum(timed(forward, inputs))
    times = [timed(forward, inputs) for _ in range(2 if warm > 5 else 5)]
    best = min(times, key=sum)
    print(json.dumps({"forward_ms": 1000 * best[0], "backward_ms": 1000 * best[1], "projections_ms": 1000 * projections,
                      "memory_mb": megabytes() - before, "torch": torch.__version__}))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--attune", default="build/attune")
    p.add_argument("--length", type=int, default=16384)
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--only", nargs="*", default=list(ATTUNE))
    p.add_argument("--json")
    p.add_argument("--peer", help=argparse.SUPPRESS)
    a = p.parse_args()
    if a.peer:
        return run_peer(a.peer, a.length, a.threads)
    for name in a.only:
        theirs, ours = [], []
        for _ in range(a.rounds):
            line = subprocess.run([sys.executable, __file__, "--peer", name, "--length", str(a.length), "--threads",
                                   str(a.threads)], capture_output=True, text=True)
            if line.returncode != 0:
                print(f"{name}: {line.stderr.strip().splitlines()[-1]}", file=sys.stderr)
                break
            theirs.append(json.loads(line.stdout.splitlines()[-1]))
            line = subprocess.run([a.attune, "bench", "attention", "--length", str(a.length), "--threads",
                                   str(a.threads), "--mechanism", ATTUNE[name], "--json", "--quiet"],
                                  capture_output=True, text=True, check=True)
            ours.append(json.loads(line.stdout.splitlines()[0]))
        if not theirs:
            continue
        def whole(x):
            return x["forward_ms"] + (x["backward_ms"] if theirs[0]["backward_ms"] > 1 else 0)
        t, o = min(theirs, key=whole), min(ours, key=whole)
        t_ms, o_ms = whole(t) - t["projections_ms"], whole(o)
        row = {"peer": name, "attune": ATTUNE[name], "length": a.length, "threads": a.threads, "peer_ms": t_ms,
               "attune_ms": o_ms, "times": t_ms / o_ms, "peer_mb": t["memory_mb"], "attune_mb": o["peak_mb"],
               "forward_only": theirs[0]["backward_ms"] <= 1, "torch": t["torch"]}
        print(f"{name:12} {t_ms:10.1f} ms  attune {o_ms:9.1f} ms  {row['times']:6.1f} times   "
              f"{t['memory_mb']:8.0f} MB  {o['peak_mb']:6.0f} MB" + ("  (forward)" if row["forward_only"] else ""))
        if a.json:
            with open(a.json, "a") as f:
                f.write(json.dumps(row) + "\n")


main()
