#!/usr/bin/env python3
"""Golden numbers of mechanisms, scores and normalisers from public PyTorch implementations. Run once by hand, never
by the build or a test:

    pip install torch transformers x-transformers entmax local-attention routing-transformer
    python3 tools/golden/from_pytorch.py [NAME ...]          # all of them, or those named

Four are read from their sources, which must be there first: GOLDEN_OPENNMT=DIR and so on, see SOURCES.
    fast-transformers  the source package `pytorch-fast-transformers`, unpacked; its compiled parts are not needed
    OpenNMT-py         the package, unpacked: its other requirements are not needed
    adaptive-span      adaptive_span.py and persistent_memory.py of the repository facebookresearch/adaptive-span;
                       forward() and get_loss() are all that runs
    luna               fairseq/modules/luna_attention.py of the repository XuezheMax/fairseq-apollo. Only the lines that
                       run in training without dropout are needed: its imports from fairseq may be left out
Everything is computed in f64 where the implementation lets one.
"""
import importlib.metadata, os, sys, types
import torch
import torch.nn.functional as F
from golden import DIM, HEADS, WIDTH, Numbers, inputs, write

SOURCES = {name: os.environ.get("GOLDEN_" + name.upper(), "../" + name)
           for name in ("fast_transformers", "opennmt", "adaptive_span", "luna")}
torch.set_default_dtype(torch.float64)


def version(package):
    return f"{package} {importlib.metadata.version(package)}"


def tensor(rows):
    return torch.tensor(rows, dtype=torch.float64)


def split(rows, dim=DIM):
    """[n, heads * dim] to [1, heads, n, dim]."""
    x = tensor(rows)
    return x.view(x.shape[0], -1, dim).transpose(0, 1).unsqueeze(0)


def joined(x):
    """[1, heads, n, dim] to [n, heads * dim]."""
    return x.detach()[0].transpose(0, 1).reshape(x.shape[2], -1)


def blocks(data):
    """Queries, keys and values side by side, for layers that make all of them from one row ..."""
    return torch.cat([tensor(data[x]) for x in "qkv"], 1)[None]


def pick_blocks(layer):
    """... and projections that pick each its block of it, into the first heads of three times as many."""
    for i, name in enumerate(("query", "key", "value")):
        weight = torch.zeros(3 * WIDTH, 3 * WIDTH)
        weight[:WIDTH, i * WIDTH:(i + 1) * WIDTH] = torch.eye(WIDTH)
        getattr(layer, name).weight.data = weight
        if getattr(layer, name).bias is not None:
            getattr(layer, name).bias.data.zero_()


def case(name, attention, data, out, causal=False, heads=HEADS, heads_kv=None, dim=DIM, **more):
    return {"name": name, "attention": attention, "causal": causal, "heads": heads, "heads_kv": heads_kv or heads,
            "dim": dim, **more, **data, "out": out}


def softmax():
    cases = []
    for name, causal, n, m, kv in (("encoder", False, 7, 7, 2), ("decoder", True, 7, 7, 2), ("cross", False, 5, 9, 2),
                                   ("shared keys", True, 6, 6, 1)):
        data = inputs(1, n, m, heads_kv=kv)
        out = F.scaled_dot_product_attention(split(data["q"]), split(data["k"]), split(data["v"]), is_causal=causal,
                                             enable_gqa=kv != HEADS)
        cases.append(case(name, {"kind": "softmax"}, data, joined(out), causal, heads_kv=kv))
    write("softmax", version("torch"),
          "torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal, enable_gqa)", "None.", cases)


def opennmt():
    """Its module without the packages that all of it needs."""
    root = SOURCES["opennmt"]
    for name in ("onmt", "onmt.modules", "onmt.utils"):
        package = types.ModuleType(name)
        package.__path__ = [os.path.join(root, *name.split("."))]
        sys.modules.setdefault(name, package)
    from onmt.modules.global_attention import GlobalAttention
    return GlobalAttention


def scores():
    GlobalAttention = opennmt()
    n, cases = Numbers(20), []
    weight, vector = n.matrix(WIDTH, DIM), n.matrix(1, WIDTH)[0]
    for kind, name in (("dot", "dot"), ("general", "general"), ("mlp", "additive")):
        for func in ("softmax", "sparsemax"):
            data, heads = inputs(2, 5, 8), []
            for h in range(HEADS):
                layer = GlobalAttention(DIM, attn_type=kind, attn_func=func)
                with torch.no_grad():
                    if kind == "general":  # (W q) . k here, q^T W k there
                        layer.linear_in.weight.copy_(tensor(weight)[h * DIM:(h + 1) * DIM].T)
                    if kind == "mlp":
                        layer.linear_context.weight.copy_(torch.eye(DIM))
                        layer.linear_query.weight.copy_(torch.eye(DIM))
                        layer.linear_query.bias.zero_()
                        layer.v.weight.copy_(tensor(vector)[None, h * DIM:(h + 1) * DIM])
                q, k, v = (split(data[x])[:, h] for x in "qkv")
                heads.append(layer(q, k)[1] @ v)
            parameters = {"general": {"score.weight": weight}, "mlp": {"score.vector": [vector]}}.get(kind, {})
            cases.append(case(f"{name}, {func}", {"kind": "softmax", "score": name, "normalizer": func}, data,
                              joined(torch.stack(heads, 1)), parameters=parameters))
    write("scores", "OpenNMT-py 3.5.1, GlobalAttention",
          "GlobalAttention(dim, attn_type='dot' | 'general' | 'mlp', attn_func='softmax' | 'sparsemax')(q, k)[1] @ v, "
          "one a head; linear_query and linear_context of 'mlp' are identities",
          "It gives the weights; as it has no values apart from keys, their product is taken outside. Its 'general' "
          "multiplies (W q) . k: W is the transpose of attune's.", cases)


def cosine():
    from transformers.models.swinv2.configuration_swinv2 import Swinv2Config
    from transformers.models.swinv2.modeling_swinv2 import Swinv2SelfAttention
    data, gains = inputs(3, 9), [1.5, 4.0]
    layer = Swinv2SelfAttention(Swinv2Config(qkv_bias=False), 3 * WIDTH, 3 * HEADS, 3).double().eval()
    pick_blocks(layer)
    layer.logit_scale.data = tensor(gains + 4 * [1.0]).log().view(-1, 1, 1)
    layer.continuous_position_bias_mlp[2].weight.data.zero_()  # its positions: the same for all keys
    out = layer(blocks(data))[0][0, :, :WIDTH]
    write("cosine", version("transformers") + ", Swinv2SelfAttention",
          "Swinv2SelfAttention(dim=24, num_heads=6, window_size=3)([q, k, v]), each projection picking its block into "
          "the first two heads; logit_scale = log g, its position biases all equal",
          "Swin v2 learns the logarithm of g and cuts it off at 100; Henry et al. learn g itself, as attune does.",
          [case("encoder", {"kind": "softmax", "score": "cosine"}, data, out.detach(),
                parameters={"score.gain": [gains]})])


def attend():
    from x_transformers.attend import Attend
    made = version("x-transformers") + ", Attend"
    cases = []
    for name, causal in (("encoder", False), ("decoder", True)):
        data = inputs(4, 9)
        out, _ = Attend(causal=causal, l2_distance=True)(*(split(data[x]) for x in "qkv"))
        cases.append(case(name, {"kind": "softmax", "score": "l2"}, data, joined(out), causal))
    write("l2", made, "Attend(l2_distance=True, causal=...)(q, k, v)",
          "The score alone: Kim et al. also tie queries to keys and scale the values, which neither does.", cases)
    cases = []
    for name, causal, k in (("encoder", False, 3), ("decoder", True, 4)):
        data = inputs(6, 9)  # no two scores at the border are equal
        out, _ = Attend(causal=causal, sparse_topk=k)(*(split(data[x]) for x in "qkv"))
        cases.append(case(name, {"kind": "softmax", "normalizer": "top-k", "k": k}, data, joined(out), causal))
    write("top_k", made, "Attend(sparse_topk=k, causal=...)(q, k, v)",
          "Of equal scores at the border it keeps all, attune the first k: the inputs have none.", cases)


def sparsemax():
    from entmax import sparsemax as projected
    cases = []
    for name, causal in (("encoder", False), ("decoder", True)):
        data = inputs(6, 9)
        q, k, v = (split(data[x]) for x in "qkv")
        s = q @ k.transpose(2, 3) / DIM**0.5
        if causal:
            s = s.masked_fill(torch.ones(9, 9).triu(1).bool(), -1e9)
        cases.append(case(name, {"kind": "softmax", "normalizer": "sparsemax"}, data,
                          joined(projected(s, dim=-1) @ v), causal))
    write("sparsemax", version("entmax"), "entmax.sparsemax(q k^T / sqrt(d_k), dim=-1) @ v", "None.", cases)


def band():
    from local_attention import LocalAttention
    from transformers.models.longformer.configuration_longformer import LongformerConfig
    from transformers.models.longformer.modeling_longformer import LongformerSelfAttention
    cases = []
    data = inputs(7, 12)
    config = LongformerConfig(hidden_size=3 * WIDTH, num_attention_heads=3 * HEADS, attention_window=[4],
                              attention_probs_dropout_prob=0.0)
    layer = LongformerSelfAttention(config, 0).double().eval()
    pick_blocks(layer)
    none = torch.zeros(1, 12)
    q, k, v = (split(data[x]) for x in "qkv")
    out = layer(blocks(data), none, none.bool(), none.bool(), False)[0].detach()[0, :, :WIDTH]
    cases.append(case("encoder", {"kind": "band", "width": 4}, data, out,
                      made_by=version("transformers") +
                      ", LongformerSelfAttention(attention_window=4)([q, k, v]), as for cosine"))
    local = LocalAttention(window_size=4, causal=True, exact_windowsize=True, look_backward=1, use_rotary_pos_emb=False)
    cases.append(case("decoder", {"kind": "band", "width": 5}, data, joined(local(q[0], k[0], v[0])[None]), True,
                      made_by=version("local-attention") + ", LocalAttention(window_size=4, exact_windowsize=True)"))
    apart = torch.arange(12)[:, None] - torch.arange(12)
    for name, causal in (("dilated encoder", False), ("dilated decoder", True)):
        seen = (apart % 3 == 0) & ((apart >= 0) & (apart <= 6) if causal else apart.abs() <= 3)
        cases.append(case(name, {"kind": "band", "width": 3, "dilation": 3}, data,
                          joined(F.scaled_dot_product_attention(q, k, v, attn_mask=seen)), causal,
                          made_by=version("torch") + ", scaled_dot_product_attention with a mask"))
    write("band", "several", "each case says which in made_by",
          "LocalAttention's window of 4 sees 4 positions and its own, attune's counts its own: width 5. Longformer's "
          "dilation is in a CUDA kernel alone, so the dilated cases are dense attention under a mask.", cases)


def linear():
    root = os.path.join(SOURCES["fast_transformers"], "fast_transformers")
    for name in ("", ".attention", ".recurrent", ".recurrent.attention", ".recurrent.attention.self_attention"):
        package = types.ModuleType("fast_transformers" + name)  # without the __init__ that wants its compiled parts
        package.__path__ = [root + name.replace(".", "/")]
        sys.modules["fast_transformers" + name] = package
    from fast_transformers.attention.linear_attention import LinearAttention
    from fast_transformers.masking import FullMask, LengthMask
    from fast_transformers.recurrent.attention.self_attention.linear_attention import RecurrentLinearAttention
    data, cross = inputs(8, 9), inputs(8, 5, 9)
    cases = []
    for name, d in (("encoder", data), ("cross", cross)):
        q, k, v = (split(d[x]).transpose(1, 2) for x in "qkv")
        n, m = q.shape[1], k.shape[1]
        out = LinearAttention(DIM, eps=0)(q, k, v, FullMask(n, m), LengthMask(torch.tensor([n])),
                                          LengthMask(torch.tensor([m])))
        cases.append(case(name, {"kind": "linear"}, d, joined(out.transpose(1, 2))))
    q, k, v = (split(data[x]) for x in "qkv")
    layer, state, rows = RecurrentLinearAttention(DIM, eps=0), None, []
    for i in range(9):
        row, state = layer(q[:, :, i], k[:, :, i], v[:, :, i], state)
        rows.append(row)
    cases.append(case("decoder", {"kind": "linear"}, data, joined(torch.stack(rows, 2)), True))
    write("linear", "pytorch-fast-transformers 0.4.0, LinearAttention and RecurrentLinearAttention",
          "LinearAttention(4, eps=0)(q, k, v, ...); the decoder: RecurrentLinearAttention(4, eps=0), row by row",
          "By default it adds 1e-6 to the denominator; attune does not.", cases)


def routing():
    from routing_transformer.routing_transformer import KmeansAttention
    clusters, each, cases = 3, 4, []
    n = clusters * each
    random = torch.Generator().manual_seed(9)
    order = torch.stack([torch.randperm(n, generator=random) for _ in range(HEADS)])
    means = F.normalize(torch.linalg.qr(torch.randn(HEADS, DIM, DIM, generator=random))[0][:, :clusters], dim=-1)

    def rows():
        """Of length sqrt(dim), each near one of the centroids, `each` of them at every one."""
        x = torch.empty(HEADS, n, DIM)
        for h in range(HEADS):
            for i in range(n):
                near = means[h, order[h, i] % clusters] + 0.15 * torch.randn(DIM, generator=random)
                x[h, i] = F.normalize(near, dim=0) * DIM**0.5
        return x[None].float().double()

    v = split(inputs(9, n)["v"])
    for name, causal in (("encoder", False), ("decoder", True)):
        q = rows()
        k = q if causal else rows()
        layer = KmeansAttention(clusters, each, HEADS, DIM, causal=causal).double().eval()
        layer.num_mem_kv = 0
        layer.mem_key = layer.mem_value = torch.nn.Parameter(torch.zeros(HEADS, clusters, 0, DIM))
        layer.kmeans.means.data.copy_(means.float())
        layer.kmeans.initted.data.copy_(torch.tensor(True))
        out, _ = layer(q, k, v)
        mu = torch.cat([layer.kmeans.means.reshape(-1, DIM), torch.zeros(HEADS * clusters, 1)], 1)
        cases.append(case(name, {"kind": "routing", "clusters": clusters, "window": each},
                          {"q": joined(q), "k": joined(k), "v": joined(v)}, joined(out) * (1 + 1e-5), causal,
                          parameters={"centroids": mu}))
    write("routing", version("routing-transformer") + ", KmeansAttention",
          "KmeansAttention(3, 4, 2, 4, causal=...)(q, k, v), without memory keys, times 1 + 1e-5, which its "
          "scatter_mean divides by",
          "There (and in the paper) each centroid takes the n / c rows nearest to it; here each row goes to its "
          "nearest centroid, and in a decoder sees the last `window` rows of its cluster. The two are one where the "
          "clusters are of one size and far apart, as here. It takes products as they are where attune takes cosines "
          "times sqrt(d_k): rows of length sqrt(d_k) make them the same. With shared_qk it hides a query's own key; "
          "the paper does not, nor does attune. Its centroids move by the mean of cluster sums made unit vectors, "
          "attune's by the mean of the cluster, and are made unit vectors after: not compared.", cases)


def luna():
    sys.path.insert(0, SOURCES["luna"])
    from luna_attention import LunarCausalAttention, LunarMultiheadAttention
    length, n, numbers = 3, 7, Numbers(10)
    x, memory = numbers.matrix(n, WIDTH), numbers.matrix(length, WIDTH)

    def set_linear(layer, parameters, name):
        weight, bias = numbers.matrix(WIDTH, WIDTH), numbers.matrix(1, WIDTH)[0]
        layer.weight.data, layer.bias.data = tensor(weight) / 2, tensor(bias) / 4
        parameters[name + ".weight"], parameters[name + ".bias"] = layer.weight.data, [layer.bias.data.tolist()]

    def base(name, causal, parameters, outs):
        return {"name": name, "attention": {"kind": "luna", "length": length}, "causal": causal, "heads": HEADS,
                "heads_kv": HEADS, "dim": DIM, "x": x, "memory": memory, "parameters": parameters, **outs}

    parameters, outs = {}, {}
    h, p = tensor(x)[:, None], F.layer_norm(tensor(memory), [WIDTH])[:, None]
    for i in range(2):
        layer = LunarMultiheadAttention(WIDTH, HEADS, HEADS, self_attention=True, tie_kv=False)
        for own, name in (("pq_proj", "pack.query"), ("pk_proj", "pack.key"), ("pv_proj", "pack.value"),
                          ("q_proj", "query"), ("k_proj", "key"), ("v_proj", "value"), ("out_proj", "output")):
            set_linear(getattr(layer, own), parameters, f"{i}.{name}")
        out, packed = layer(h, p, None)
        p = F.layer_norm(p + packed, [WIDTH])
        outs[f"out{i}"] = out.detach()[:, 0]
    cases = [base("encoder", False, parameters, outs)]
    parameters = {}
    layer = LunarCausalAttention(WIDTH, HEADS, tie_kv=False)
    for own, name in (("pq_proj", "pack.query"), ("q_proj", "query"), ("k_proj", "key"), ("v_proj", "value"),
                      ("out_proj", "output")):
        set_linear(getattr(layer, own), parameters, f"0.{name}")
    layer.pc_proj = layer.k_proj
    out = layer(tensor(x)[:, None], tensor(memory)[:, None])
    cases.append(base("decoder", True, parameters, {"out0": out.detach()[:, 0]}))
    write("luna", "fairseq-apollo at 035a360, luna_attention.py, LunarMultiheadAttention and LunarCausalAttention",
          "LunarMultiheadAttention(8, 2, 2, self_attention=True, tie_kv=False)(x, p, None) twice, of the same x, p = "
          "LayerNorm(p + packed) between; the decoder: LunarCausalAttention(8, 2, tie_kv=False)(x, p)",
          "The authors pack with keys of a projection of their own (pc_proj) in a decoder, attune with those that it "
          "unpacks with: pc_proj is k_proj here. attune norms P at the beginning of a layer, so also before the first "
          "one. In the authors' decoder P has been through cross-attention; attune's is the learned one in every "
          "layer. Their code was run from the lines that training takes without dropout.", cases)


def adaptive_span():
    sys.path.insert(0, SOURCES["adaptive_span"])
    from adaptive_span import AdaptiveSpan
    longest, ramp, n, spans = 16, 4, 12, [3.5 / 16, 6.25 / 16]
    data = inputs(11, n)
    q, k, v = (split(data[x])[0] for x in "qkv")
    layer = AdaptiveSpan(longest, 0.001, ramp, 0, False, HEADS)
    layer._mask.current_val.data = tensor(spans).view(HEADS, 1, 1)
    # Of query i the keys i - longest + 1 to i; those before the text weigh nothing.
    s = q @ k.transpose(1, 2) / DIM**0.5
    places = torch.arange(n)[:, None] - torch.arange(longest - 1, -1, -1)
    near = s.gather(2, places.clamp(min=0)[None].expand(HEADS, -1, -1)).masked_fill(places < 0, -1e9)
    weights = layer(F.softmax(near, -1))
    out = torch.einsum("hil,hild->hid", weights, v[:, places.clamp(min=0)])
    write("adaptive_span", "facebookresearch/adaptive-span at 3f760f6, adaptive_span.py, AdaptiveSpan",
          "AdaptiveSpan(16, 0.001, 4, 0, False, 2)(softmax(q k^T / sqrt(d_k)) over the last 16 keys), then times v; "
          "get_loss()",
          "The authors' attention begins with the row before the query's own, attune's with its own: here both are "
          "given it. Theirs ends at `longest`, attune's at `longest` + `ramp`, which shows only in spans above "
          "longest - ramp. The copy of it in fairseq leaves out the division by the sum, which the paper has.",
          [case("decoder", {"kind": "adaptive-span", "longest": longest, "ramp": ramp, "penalty": 0.001}, data,
                joined(out[None]), True, parameters={"span": [[z] for z in spans]}, loss=layer.get_loss().item())])


def persistent():
    sys.path.insert(0, SOURCES["adaptive_span"])
    from persistent_memory import PersistentMemory
    size, n, cases = 5, 7, []
    numbers = Numbers(112)
    keys, values = numbers.matrix(size, WIDTH), numbers.matrix(size, WIDTH)
    for name, causal in (("encoder", False), ("decoder", True)):
        data = inputs(12, n)
        q, k, v = (split(data[x])[0] for x in "qkv")
        layer = PersistentMemory(size, HEADS, DIM, 0.0)
        layer.key.data = split(keys)[0].transpose(1, 2).contiguous()
        layer.val.data = split(values)[0].contiguous()
        s = q @ k.transpose(1, 2)
        if causal:
            s = s.masked_fill(torch.ones(n, n).triu(1).bool(), -1e9)
        attn, out = layer(q.contiguous(), s)
        cases.append(case(name, {"kind": "persistent", "size": size}, data, joined((attn @ v + out)[None]), causal,
                          parameters={"memory.key": keys, "memory.value": values}))
    write("persistent", "facebookresearch/adaptive-span at cae1ae1, persistent_memory.py, PersistentMemory",
          "attn, out = PersistentMemory(5, 2, 4, 0.0)(q, q k^T); attn @ v + out",
          "None in the attention. The authors combine it with adaptive spans and positions on the keys.", cases)


def run(*makers):
    """All of them, or those named on the command line."""
    for make in makers:
        if len(sys.argv) == 1 or make.__name__ in sys.argv[1:]:
            make()


if __name__ == "__main__":
    run(softmax, scores, cosine, attend, sparsemax, band, linear, routing, luna, adaptive_span, persistent)
