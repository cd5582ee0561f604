#!/usr/bin/env python3
"""Golden numbers of sparse patterns from public PyTorch implementations. Run once by hand, never by the build or a test:

    pip install torch transformers axial-attention
    python3 tools/golden/from_pytorch_sparse.py [NAME ...]          # all of them, or those named

Everything is computed in f64.
"""
import sys
from types import SimpleNamespace
import torch
from axial_attention import AxialAttention
from transformers.models.big_bird.modeling_big_bird import BigBirdBlockSparseAttention, BigBirdModel
from transformers.models.longformer.modeling_longformer import LongformerSelfAttention
from from_pytorch import blocks, case, pick_blocks, version
from golden import DIM, HEADS, WIDTH, inputs, write

torch.set_default_dtype(torch.float64)


def three_times(**more):
    """Of a layer whose rows are queries, keys and values side by side: see pick_blocks."""
    return SimpleNamespace(hidden_size=3 * WIDTH, num_attention_heads=3 * HEADS, **more)


def longformer():
    cases = []
    for name, window, n, first in (("a window", 4, 24, 0), ("one global position", 4, 24, 1), ("two, wider", 8, 24, 2)):
        data = inputs(1, n)
        layer = LongformerSelfAttention(three_times(attention_probs_dropout_prob=0.0, attention_window=[window]), 0).eval()
        pick_blocks(layer)
        for part in ("query", "key", "value"):  # projections of the global positions, which here are the others
            getattr(layer, part + "_global").weight.data = getattr(layer, part).weight.data.clone()
            getattr(layer, part + "_global").bias.data.zero_()
        chosen = torch.zeros(1, n, dtype=torch.bool)
        chosen[0, :first] = True
        out = layer(blocks(data), attention_mask=torch.zeros(1, n).masked_fill(chosen, 10000.0),
                    is_index_masked=torch.zeros(1, n, dtype=torch.bool), is_index_global_attn=chosen,
                    is_global_attn=first > 0)[0]
        atoms = f"band {window}" + (f", global {first}" if first else "")
        cases.append(case(name, {"kind": "sparse", "atoms": atoms}, data, out.detach()[0, :, :WIDTH]))
    write("longformer", version("transformers"), "LongformerSelfAttention, global projections equal to the others",
          "A window of w is w / 2 positions to each side, as band w is.", cases)


def bigbird():
    block, n, seed = 3, 24, 382
    drawn = [4, 4, 5, 1, 3, 3]  # what attune draws by that seed for blocks 1 to 6: none of them seen already
    data = inputs(2, n)
    layer = BigBirdBlockSparseAttention(three_times(num_random_blocks=1, block_size=block, use_bias=True,
                                                    max_position_embeddings=4096)).eval()
    pick_blocks(layer)
    masks = BigBirdModel.create_masks_for_block_sparse_attn(torch.ones(1, n), block)
    told = torch.tensor(drawn).int().view(-1, 1).numpy()
    layer._bigbird_block_rand_mask = lambda *_, **__: told
    layer._bigbird_block_rand_mask_with_head = lambda *_, **__: [told] * (3 * HEADS)
    blocked, band, rows, columns = masks
    out = layer(blocks(data), band_mask=band, from_mask=rows, to_mask=columns, from_blocked_mask=blocked,
                to_blocked_mask=blocked)[0]
    last = " ".join(str(i) for i in list(range(block)) + list(range(n - block, n)))
    attention = {"kind": "sparse", "atoms": f"random 1, block 3, global at {last}", "block": block, "seed": seed}
    cases = [case("three neighbours, first and last, one drawn", attention, data, out.detach()[0, :, :WIDTH])]
    write("bigbird", version("transformers"), "BigBirdBlockSparseAttention with its random blocks told",
          "Its global blocks are the first and the last, where bigbird's are the first ones: so atoms are compared. "
          "Blocks that it draws are counted again where they are seen already, by attune once.", cases)


def axial():
    cases = []
    for name, height, width, axis in (("along rows", 5, 7, 1), ("along columns", 5, 7, 0)):
        data = inputs(3, height * width)
        layer = AxialAttention(3 * WIDTH, num_dimensions=2, heads=HEADS, dim_heads=DIM, dim_index=-1)
        attention = layer.axial_attentions[axis]
        inner = attention.fn
        eye, none = torch.eye(WIDTH), torch.zeros(WIDTH, WIDTH)
        inner.to_q.weight.data = torch.cat([eye, none, none], 1)
        inner.to_kv.weight.data = torch.cat([torch.cat([none, eye, none], 1), torch.cat([none, none, eye], 1)])
        inner.to_out.weight.data = torch.cat([eye, none, none])
        inner.to_out.bias.data.zero_()
        out = attention(blocks(data).view(1, height, width, 3 * WIDTH))
        cases.append(case(name, {"kind": "axial", "axis": "row" if axis else "column", "width": width}, data,
                          out.detach().view(height * width, 3 * WIDTH)[:, :WIDTH]))
    write("axial", version("axial-attention"), "AxialAttention's attention along one of two axes",
          "None; it sums the results of both axes, where axis = \"all\" is one softmax over both.", cases)


if __name__ == "__main__":
    for make in (longformer, bigbird, axial):
        if len(sys.argv) == 1 or make.__name__ in sys.argv[1:]:
            make()
