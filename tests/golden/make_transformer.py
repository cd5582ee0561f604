#!/usr/bin/env python3
"""Golden values of two small Transformers, made by PyTorch's own layers (nn.TransformerEncoderLayer, DecoderLayer).

Run once by hand, never by the build or a test:

    python3 tests/golden/make_transformer.py [OUT_DIR]       # PyTorch 1.13 or newer; nothing else

For each variant (see VARIANTS) it writes, as safetensors,
  transformer-NAME.weights.safetensors  the weights under attune's parameter names, and nothing else
  transformer-NAME.golden.safetensors   the batch, packed as attune packs it, and what PyTorch made of it:
      source, target_in, target_out     i32, all sentences one after another (end and begin marks in place)
      source_lengths, target_lengths    i32, one per sentence
      encoder, decoder                  rows of the last layer, final norm included where there is one
      logits, log_probs                 of every target row; log p(target) of every target row
      losses                            before each of the Adam steps: label smoothing, mean over target tokens
      gradient/PARAMETER                at the first step
      after/PARAMETER                   the weights after the last step
  and the variant's settings as the file's metadata. Key biases are left out of the last two: what is added to all keys
  is no news to softmax, so their gradient is zero, and Adam turns the rounding errors in its place into full steps.
Everything is computed in f64 from weights that f32 holds exactly, then rounded once. The same in f32 is run beside it,
and the differences are printed: what an f32 implementation may be off by. The test's bounds are set by them.
Random numbers are Python's own, so that the files do not depend on the version of PyTorch.
"""
import json, math, os, random, struct, sys
import torch
from torch import nn

SMOOTHING, STEPS, PEAK_RATE, WARMUP, BETAS, EPSILON = 0.1, 20, 5e-3, 8, (0.9, 0.98), 1e-9
VARIANTS = {
    # as published
    "post": dict(seed=1, source_vocabulary=37, target_vocabulary=37, d_model=16, d_ff=24, heads=4, encoder_layers=2,
                 decoder_layers=2, norm="post", activation="relu", position="sinusoidal", tie="all", longest=12),
    # everything that can be the other way
    "pre": dict(seed=2, source_vocabulary=29, target_vocabulary=41, d_model=20, d_ff=28, heads=2, encoder_layers=1,
                decoder_layers=3, norm="pre", activation="gelu", position="learned", tie="none", longest=12),
}
SOURCE_LENGTHS = [5, 1, 12, 3, 8]  # end mark counted: the second sentence is empty
TARGET_LENGTHS = [4, 9, 7, 1, 12]


def shapes_of(v):
    """All parameters: name -> shape. Weights are [out, in]."""
    d, shapes = v["d_model"], {}

    def pair(name, *weight):
        shapes[name + ".weight"] = weight
        shapes[name + ".bias"] = (weight[0],)

    if v["tie"] == "all":
        shapes["embedding.weight"] = (v["source_vocabulary"], d)
    else:
        shapes["encoder.embedding.weight"] = (v["source_vocabulary"], d)
        shapes["decoder.embedding.weight"] = (v["target_vocabulary"], d)
        shapes["output.weight"] = (v["target_vocabulary"], d)
    for side, attentions in (("encoder", ["self"]), ("decoder", ["self", "cross"])):
        for layer in range(v[side + "_layers"]):
            for attention in attentions:
                for part in ("query", "key", "value", "output"):
                    pair(f"{side}.{layer}.{attention}.{part}", d, d)
                pair(f"{side}.{layer}.{attention}.norm", d)
            pair(f"{side}.{layer}.feed_forward.inner", v["d_ff"], d)
            pair(f"{side}.{layer}.feed_forward.outer", d, v["d_ff"])
            pair(f"{side}.{layer}.feed_forward.norm", d)
        if v["norm"] == "pre":
            pair(side + ".norm", d)
        if v["position"] == "learned":
            shapes[side + ".position.weight"] = (v["longest"], d)
    return shapes


def random_weights(v):
    """f64 tensors of numbers that f32 holds exactly."""
    rng, weights = random.Random(v["seed"]), {}
    for name, shape in shapes_of(v).items():
        if "norm.weight" in name:
            mean, deviation = 1.0, 0.2
        elif name.endswith("bias"):
            mean, deviation = 0.0, 0.2
        elif "position" in name:
            mean, deviation = 0.0, 0.5
        else:
            mean, deviation = 0.0, shape[-1] ** -0.5
        numbers = [rng.gauss(mean, deviation) for _ in range(math.prod(shape))]
        weights[name] = torch.tensor(numbers, dtype=torch.float32).double().reshape(shape)
    return weights


def random_sentences(rng, lengths, vocabulary):
    return [[rng.randrange(3, vocabulary) for _ in range(n - 1)] + [2] for n in lengths]


def pad(rows):
    longest = max(map(len, rows))
    return torch.tensor([r + [0] * (longest - len(r)) for r in rows])


class Model(nn.Module):
    """attune's model of PyTorch's layers. nn.Transformer itself would put a final norm on post-norm layers, too."""

    def __init__(self, v):
        super().__init__()
        self.v, d, pre = v, v["d_model"], v["norm"] == "pre"
        layer = dict(d_model=d, nhead=v["heads"], dim_feedforward=v["d_ff"], dropout=0.0, activation=v["activation"],
                     layer_norm_eps=1e-5, batch_first=True, norm_first=pre)
        norm = lambda: nn.LayerNorm(d, eps=1e-5) if pre else None
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(**layer), v["encoder_layers"], norm(),
                                             enable_nested_tensor=False)
        self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(**layer), v["decoder_layers"], norm())
        self.source_embedding = nn.Embedding(v["source_vocabulary"], d)
        tied = v["tie"] == "all"
        self.target_embedding = self.source_embedding if tied else nn.Embedding(v["target_vocabulary"], d)
        self.output = nn.Linear(d, v["target_vocabulary"], bias=False)
        if tied:
            self.output.weight = self.source_embedding.weight
        if v["position"] == "learned":
            self.source_position, self.target_position = nn.Embedding(v["longest"], d), nn.Embedding(v["longest"], d)

    def places(self):
        """attune's name -> (PyTorch's parameter, the rows of it)."""
        v, d, places = self.v, self.v["d_model"], {}

        def pair(name, module):
            places[name + ".weight"], places[name + ".bias"] = (module.weight, ...), (module.bias, ...)

        if v["tie"] == "all":
            places["embedding.weight"] = (self.source_embedding.weight, ...)
        else:
            places["encoder.embedding.weight"] = (self.source_embedding.weight, ...)
            places["decoder.embedding.weight"] = (self.target_embedding.weight, ...)
            places["output.weight"] = (self.output.weight, ...)
        for side, stack in (("encoder", self.encoder), ("decoder", self.decoder)):
            for i, layer in enumerate(stack.layers):
                attentions = [("self", layer.self_attn, layer.norm1)]
                if side == "decoder":
                    attentions.append(("cross", layer.multihead_attn, layer.norm2))
                for name, attention, norm in attentions:
                    for j, part in enumerate(("query", "key", "value")):
                        rows = slice(j * d, (j + 1) * d)
                        places[f"{side}.{i}.{name}.{part}.weight"] = (attention.in_proj_weight, rows)
                        places[f"{side}.{i}.{name}.{part}.bias"] = (attention.in_proj_bias, rows)
                    pair(f"{side}.{i}.{name}.output", attention.out_proj)
                    pair(f"{side}.{i}.{name}.norm", norm)
                pair(f"{side}.{i}.feed_forward.inner", layer.linear1)
                pair(f"{side}.{i}.feed_forward.outer", layer.linear2)
                pair(f"{side}.{i}.feed_forward.norm", layer.norm3 if side == "decoder" else layer.norm2)
            if v["norm"] == "pre":
                pair(side + ".norm", stack.norm)
        if v["position"] == "learned":
            places["encoder.position.weight"] = (self.source_position.weight, ...)
            places["decoder.position.weight"] = (self.target_position.weight, ...)
        return places

    def load(self, weights):
        places = self.places()
        assert set(places) == set(weights)
        assert sum(w.numel() for w in weights.values()) == sum(p.numel() for p in self.parameters())
        with torch.no_grad():
            for name, (parameter, rows) in places.items():
                assert parameter[rows].shape == weights[name].shape, name
                parameter[rows] = weights[name].to(parameter.dtype)

    def embed(self, ids, table, position):
        n, d = ids.shape[1], self.v["d_model"]
        if self.v["position"] == "learned":
            return table(ids) * math.sqrt(d) + position(torch.arange(n))
        angles = torch.arange(n).double()[:, None] / 10000.0 ** (torch.arange(0, d, 2).double() / d)
        waves = torch.stack([angles.sin(), angles.cos()], -1).reshape(n, d)
        return table(ids) * math.sqrt(d) + waves.to(table.weight.dtype)

    def forward(self, source, target):
        empty = source == 0
        encoded = self.encoder(self.embed(source, self.source_embedding, getattr(self, "source_position", None)),
                               src_key_padding_mask=empty)
        later = torch.ones(target.shape[1], target.shape[1], dtype=torch.bool).triu(1)
        decoded = self.decoder(self.embed(target, self.target_embedding, getattr(self, "target_position", None)),
                               encoded, tgt_mask=later, tgt_key_padding_mask=target == 0,
                               memory_key_padding_mask=empty)
        return encoded, decoded


def smoothed_loss(log_p, target):
    """Spelled out: cross entropy with q = (1 - e) onehot + e / V, mean over rows."""
    hit = log_p.gather(1, target[:, None])[:, 0]
    return -((1 - SMOOTHING) * hit + SMOOTHING * log_p.mean(1)).mean()


def learning_rate(step):
    return PEAK_RATE * (step / WARMUP if step < WARMUP else math.sqrt(WARMUP / step))


def run(v, weights, batch, dtype):
    model = Model(v).to(dtype).train()
    model.load(weights)
    source, target_in = pad(batch["source"]), pad(batch["target_in"])
    target = torch.tensor(sum(batch["target_out"], []))
    adam = torch.optim.Adam(model.parameters(), lr=1.0, betas=BETAS, eps=EPSILON)
    packed = lambda values, ids: values[ids != 0]
    result, losses = {}, []
    for step in range(1, STEPS + 1):
        adam.zero_grad()
        encoded, decoded = model(source, target_in)
        decoded = packed(decoded, target_in)
        logits = model.output(decoded)
        log_p = logits.log_softmax(-1)
        loss = smoothed_loss(log_p, target)
        oracle = nn.functional.cross_entropy(logits, target, label_smoothing=SMOOTHING)
        assert abs(loss.item() - oracle.item()) < 1e-5
        loss.backward()
        losses.append(loss.item())
        if step == 1:
            result.update(encoder=packed(encoded, source), decoder=decoded, logits=logits,
                          log_probs=log_p.gather(1, target[:, None])[:, 0])
            for name, (parameter, rows) in model.places().items():
                result["gradient/" + name] = parameter.grad[rows].clone()
        adam.param_groups[0]["lr"] = learning_rate(step)
        adam.step()
    result["losses"] = torch.tensor(losses, dtype=torch.float64)
    for name, (parameter, rows) in model.places().items():
        result["after/" + name] = parameter[rows]
    return {name: t.detach().double() for name, t in result.items()}


def report(v, weights, exact, single):
    """How far f32 is from f64, in the measures that the test uses."""
    def row_error(name):
        difference = (single[name] - exact[name]).norm(dim=-1) / exact[name].norm(dim=-1)
        return difference.max().item()

    def norm_error(name, scale=None):
        return ((single[name] - exact[name]).norm() / (exact[name] if scale is None else scale).norm()).item()

    for name in ("encoder", "decoder", "logits"):
        print(f"  {name}: {row_error(name):.1e} of a row's norm")
    print(f"  losses: {((single['losses'] - exact['losses']).abs() / exact['losses']).max().item():.1e} of the loss;"
          f" from {exact['losses'][0].item():.4f} to {exact['losses'][-1].item():.4f}")
    real = [n for n in weights if not n.endswith("key.bias")]
    worst = max(real, key=lambda n: norm_error("gradient/" + n))
    print(f"  gradients: {norm_error('gradient/' + worst):.1e} of a tensor's norm ({worst})")
    noise = max(single["gradient/" + n].norm().item() for n in weights if n not in real)
    print(f"  gradients of key biases: {noise:.1e}")
    moved = lambda n: exact["after/" + n] - weights[n]
    worst = max(real, key=lambda n: norm_error("after/" + n, moved(n)))
    print(f"  after {STEPS} steps: {norm_error('after/' + worst, moved(worst)):.1e} of the way a tensor went ({worst})")


def save(path, tensors, metadata):
    """safetensors: 8 bytes of header length, a JSON header, the numbers; f32 and i32 only."""
    header, data = {"__metadata__": {k: str(x) for k, x in metadata.items()}}, b""
    for name in sorted(tensors):
        t, kind, code = tensors[name], "F32", "f"
        if not t.is_floating_point():
            kind, code = "I32", "i"
        numbers = struct.pack(f"<{t.numel()}{code}", *t.reshape(-1).tolist())
        header[name] = {"dtype": kind, "shape": list(t.shape), "data_offsets": [len(data), len(data) + len(numbers)]}
        data += numbers
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % 64)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)
    print(f"  {os.path.basename(path)}: {8 + len(text) + len(data)} bytes")


def main():
    torch.set_num_threads(1)
    out = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    for name, v in VARIANTS.items():
        print(name)
        rng = random.Random(v["seed"] + 100)
        target_out = random_sentences(rng, TARGET_LENGTHS, v["target_vocabulary"])
        batch = {"source": random_sentences(rng, SOURCE_LENGTHS, v["source_vocabulary"]), "target_out": target_out,
                 "target_in": [[1] + s[:-1] for s in target_out]}
        weights = random_weights(v)
        exact = run(v, weights, batch, torch.float64)
        report(v, weights, exact, run(v, weights, batch, torch.float32))
        ints = {side: torch.tensor(sum(rows, []), dtype=torch.int32) for side, rows in batch.items()}
        ints["source_lengths"] = torch.tensor(SOURCE_LENGTHS, dtype=torch.int32)
        ints["target_lengths"] = torch.tensor(TARGET_LENGTHS, dtype=torch.int32)
        training = dict(label_smoothing=SMOOTHING, steps=STEPS, learning_rate=PEAK_RATE, warmup=WARMUP, beta1=BETAS[0],
                        beta2=BETAS[1], epsilon=EPSILON)
        start = os.path.join(out, "transformer-" + name)
        save(start + ".weights.safetensors", weights, {})
        golden = {name: t for name, t in exact.items() if not name.endswith("key.bias")}
        save(start + ".golden.safetensors", {**golden, **ints}, {**v, **training})


if __name__ == "__main__":
    main()
