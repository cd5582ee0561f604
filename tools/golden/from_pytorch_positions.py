#!/usr/bin/env python3
"""Golden numbers of position schemes from public PyTorch implementations. Run once by hand, never by the build or
a test:

    pip install torch transformers x-transformers rotary-embedding-torch
    python3 tools/golden/from_pytorch_positions.py [NAME ...]          # all of them, or those named
"""
import torch
import torch.nn.functional as F
from from_pytorch import blocks, case, joined, run, split, tensor, version
from golden import DIM, HEADS, WIDTH, Numbers, inputs, write


def sinusoidal():
    from transformers.models.distilbert.modeling_distilbert import create_sinusoidal_embeddings
    places, cases = [0, 1, 2, 3, 10, 100, 1000], []
    for d in (6, 8):
        table = create_sinusoidal_embeddings(1001, d, torch.empty(1001, d))
        cases.append({"name": f"{d} columns", "places": places, "table": table[places]})
    write("sinusoidal", version("transformers") + ", DistilBERT's create_sinusoidal_embeddings",
          "create_sinusoidal_embeddings(1001, d, out), some rows of it",
          "Sines and cosines take turns, as in the paper. Tensor2Tensor, fairseq and Marian put all sines first and "
          "count wavelengths by d / 2 - 1: a model of theirs has other positions.", cases)


def t5():
    from transformers.models.t5.configuration_t5 import T5Config
    from transformers.models.t5.modeling_t5 import T5Attention
    cases = []
    for name, causal in (("encoder", False), ("decoder", True)):
        data, bias = inputs(13, 14), Numbers(113).matrix(8, HEADS)
        config = T5Config(d_model=3 * WIDTH, d_kv=DIM, num_heads=HEADS, relative_attention_num_buckets=8,
                          relative_attention_max_distance=10, dropout_rate=0.0, is_decoder=causal)
        config._attn_implementation = "eager"
        layer = T5Attention(config, has_relative_attention_bias=True, layer_idx=0).double().eval()
        layer.relative_attention_bias.weight.data = tensor(bias)
        pick = torch.eye(3 * WIDTH)
        layer.q.weight.data, layer.k.weight.data, layer.v.weight.data = pick.split(WIDTH)
        layer.q.weight.data = layer.q.weight.data / DIM**0.5  # T5's scores are not divided by it
        layer.o.weight.data = pick[:, :WIDTH]
        hidden = torch.ones(14, 14).triu(1).bool() if causal else torch.zeros(14, 14).bool()
        out = layer(blocks(data), mask=torch.zeros(1, 1, 14, 14).masked_fill(hidden, -1e9))[0].detach()[0, :, :WIDTH]
        cases.append(case(name, {"kind": "softmax"}, data, out, causal,
                          position={"kind": "t5", "buckets": 8, "farthest": 10},
                          parameters={"encoder.position.weight": bias}))
    for causal in (False, True):
        for count, farthest in ((32, 128), (8, 10), (16, 64)):
            apart = torch.arange(-150, 151)
            b = T5Attention._relative_position_bucket(apart, not causal, count, farthest)
            cases.append({"name": f"buckets {count} {farthest} {'causal' if causal else 'both sides'}",
                          "causal": causal, "count": count, "farthest": farthest, "first": -150, "buckets": b.tolist()})
    write("t5", version("transformers") + ", T5Attention",
          "T5Attention(..., has_relative_attention_bias=True)([q, k, v]), each projection picking its block; "
          "T5Attention._relative_position_bucket(distances, ...)",
          "T5 does not divide its scores by sqrt(d_k): its queries were divided here.", cases)


def alibi():
    from transformers.models.bloom.modeling_bloom import build_alibi_tensor
    from x_transformers.x_transformers import AlibiPositionalBias
    cases = []
    data = inputs(14, 9, heads=3)
    b = build_alibi_tensor(torch.ones(1, 9), 3, torch.float64).view(3, 1, 9)
    q, k, v = (split(data[x]) for x in "qkv")
    b = b + torch.zeros(9, 9).masked_fill(torch.ones(9, 9).triu(1).bool(), -torch.inf)
    cases.append(case("decoder", {"kind": "softmax"}, data, joined(F.scaled_dot_product_attention(q, k, v, b[None])),
                      True, 3, position={"kind": "alibi"},
                      made_by=version("transformers") + ", Bloom's build_alibi_tensor"))
    data = inputs(15, 9, heads=5)
    q, k, v = (split(data[x]) for x in "qkv")
    b = AlibiPositionalBias(5)(9, 9)
    cases.append(case("encoder", {"kind": "softmax"}, data, joined(F.scaled_dot_product_attention(q, k, v, b[None])),
                      False, 5, position={"kind": "alibi"},
                      made_by=version("x-transformers") + ", AlibiPositionalBias"))
    for heads in range(1, 25):
        slopes = build_alibi_tensor(torch.ones(1, 2), heads, torch.float64)[:, 0, 1]
        cases.append({"name": f"slopes of {heads}", "heads": heads, "slopes": [slopes.tolist()]})
    write("alibi", "several",
          "build_alibi_tensor(mask, heads, float64) or AlibiPositionalBias(heads)(n, n), added to q k^T / sqrt(d_k) by "
          "torch's scaled_dot_product_attention",
          "Bloom adds slope * j, which a softmax over the past can't tell from -slope * (i - j). For encoders the "
          "paper has none; -slope * |i - j| is x-transformers' form and attune's.", cases)


def rope():
    from rotary_embedding_torch import RotaryEmbedding
    from transformers.models.roformer import modeling_roformer as roformer
    cases = []
    data = inputs(16, 9)
    q, k, v = (split(data[x]) for x in "qkv")
    table = roformer.RoFormerSinusoidalPositionalEmbedding(16, DIM)
    table.weight.data = table.create_weight()
    turned = roformer.RoFormerSelfAttention.apply_rotary_position_embeddings(table((1, 9))[None, None], q, k)
    cases.append(case("encoder", {"kind": "softmax"}, data, joined(F.scaled_dot_product_attention(*turned, v)),
                      position={"kind": "rope"},
                      made_by=version("transformers") + ", RoFormerSelfAttention.apply_rotary_position_embeddings"))
    turn = RotaryEmbedding(DIM, theta=500, cache_if_possible=False)
    cases.append(case("decoder", {"kind": "softmax"}, data, joined(F.scaled_dot_product_attention(
        turn.rotate_queries_or_keys(q), turn.rotate_queries_or_keys(k), v, is_causal=True)), True,
        position={"kind": "rope", "base": 500.0}, made_by=version("rotary-embedding-torch") + ", RotaryEmbedding"))
    from transformers.models.llama.configuration_llama import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb
    llama = LlamaRotaryEmbedding(LlamaConfig(hidden_size=WIDTH, num_attention_heads=HEADS, head_dim=DIM))
    cos, sin = llama(q, torch.arange(9)[None])
    halves = [0, 2, 1, 3]  # its pairs are columns l and l + d / 2
    q2, k2 = apply_rotary_pos_emb(q[..., halves], k[..., halves], cos, sin)
    cases.append(case("decoder, halves", {"kind": "softmax"}, data,
                      joined(F.scaled_dot_product_attention(q2, k2, v, is_causal=True)), True,
                      position={"kind": "rope"},
                      made_by=version("transformers") + ", Llama's apply_rotary_pos_emb, columns rearranged"))
    write("rope", "several", "queries and keys turned, then torch's scaled_dot_product_attention",
          "Pairs are neighbouring columns, as in the paper. Llama pairs column l with l + d / 2: the same numbers once "
          "the columns of its projections are put in order.", cases)


def xlnet():
    """Transformer-XL's positions to both sides; the decoder's are made by from_transfo_xl.py."""
    from transformers import XLNetConfig
    from transformers.models.xlnet.modeling_xlnet import XLNetModel, XLNetRelativeAttention
    data, numbers = inputs(17, 8), Numbers(18)
    weight, u, v = numbers.matrix(WIDTH, WIDTH), numbers.matrix(1, WIDTH), numbers.matrix(1, WIDTH)
    config = XLNetConfig(d_model=WIDTH, n_head=HEADS, d_inner=8, n_layer=1, vocab_size=4, dropout=0.0)
    layer, model = XLNetRelativeAttention(config).double().eval(), XLNetModel(config)
    layer.r_w_bias.data, layer.r_r_bias.data = tensor(u).view(HEADS, DIM), tensor(v).view(HEADS, DIM)
    r = model.relative_positional_encoding(8, 8, bsz=1).double()
    keys = (r @ tensor(weight).T).view(-1, 1, HEADS, DIM)
    heads = [tensor(data[x]).view(8, 1, HEADS, DIM) for x in "qkv"]
    out = layer.rel_attn_core(*heads, keys)
    write("xlnet", version("transformers") + ", XLNetRelativeAttention",
          "rel_attn_core(q, k, v, r W^T), r = XLNetModel.relative_positional_encoding(8, 8)",
          "Transformer-XL itself has no encoder; XLNet, by the same authors, is where its positions look to both "
          "sides.",
          [case("encoder", {"kind": "softmax"}, data, out.detach().reshape(8, WIDTH),
                position={"kind": "transformer-xl", "longest": 8},
                parameters={"position.weight": weight, "encoder.position.u": u, "encoder.position.v": v})])


if __name__ == "__main__":
    run(sinusoidal, t5, alibi, rope, xlnet)
