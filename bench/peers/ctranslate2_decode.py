#!/usr/bin/env python3
"""How fast attune translates, beside CTranslate2 with the very same weights, in the same minutes. See README.md."""

import argparse
import os
import tempfile

import ctranslate2
from ctranslate2.converters import utils
from ctranslate2.specs import common_spec, transformer_spec

import decode_common as common

SAME_SCORES = 0.0  # the length penalty at which both score alike: the log-probability


def write_model(model, folder):
    """The weights in CTranslate2's own format, through its converter's specification."""
    def linear(spec, name):
        spec.weight, spec.bias = model[name + ".weight"], model[name + ".bias"]

    def fused(spec, names):
        parts = [common_spec.LinearSpec() for _ in names]
        for part, name in zip(parts, names):
            linear(part, name)
        utils.fuse_linear(spec, parts)

    def norm(spec, name):
        spec.gamma, spec.beta = model[name + ".weight"], model[name + ".bias"]

    def feed_forward(spec, name):
        linear(spec.linear_0, name + ".inner")
        linear(spec.linear_1, name + ".outer")
        norm(spec.layer_norm, name + ".norm")

    def attention(spec, name, fusions):
        for part, kinds in zip(spec.linear, fusions):
            fused(part, [f"{name}.{kind}" for kind in kinds])
        linear(spec.linear[-1], name + ".output")
        norm(spec.layer_norm, name + ".norm")

    encoder = transformer_spec.TransformerEncoderSpec(model.encoder_layers, model.heads, pre_norm=model.pre_norm)
    decoder = transformer_spec.TransformerDecoderSpec(model.decoder_layers, model.heads, pre_norm=model.pre_norm)
    together, apart = (["query", "key", "value"],), (["query"], ["key", "value"])
    for i, layer in enumerate(encoder.layer):
        attention(layer.self_attention, f"encoder.{i}.self", together)
        feed_forward(layer.ffn, f"encoder.{i}.feed_forward")
    for i, layer in enumerate(decoder.layer):
        attention(layer.self_attention, f"decoder.{i}.self", together)
        attention(layer.attention, f"decoder.{i}.cross", apart)
        feed_forward(layer.ffn, f"decoder.{i}.feed_forward")
    if model.pre_norm:
        norm(encoder.layer_norm, "encoder.norm")
        norm(decoder.layer_norm, "decoder.norm")
    encoder.embeddings[0].weight = decoder.embeddings.weight = decoder.projection.weight = model["embedding.weight"]
    encoder.position_encodings.encodings = decoder.position_encodings.encodings = model.positions(1024)

    spec = transformer_spec.TransformerSpec(encoder, decoder)
    spec.config.add_source_eos = True
    spec.config.decoder_start_token = "<s>"
    spec.config.layer_norm_epsilon = 1e-5
    names = ["<pad>", "<s>", "</s>", "<unk>"] + [str(i) for i in range(4, model.vocabulary)]
    spec.register_source_vocabulary(names)
    spec.register_target_vocabulary(names)
    spec.validate()
    spec.optimize()
    os.makedirs(folder)
    spec.save(folder)


class Peer:
    """A translator with one setting; lines are lists of ids."""

    def __init__(self, folder, kind, inter, intra, args):
        self.translator = ctranslate2.Translator(folder, device="cpu", compute_type=kind, inter_threads=inter,
                                                 intra_threads=intra)
        self.args = args

    def __call__(self, lines, batch=64, length_penalty=None):
        name = lambda i: "<unk>" if i == common.UNKNOWN else str(i)
        args = self.args
        full = [i for i, line in enumerate(lines) if line]
        found = self.translator.translate_batch(
            [[name(i) for i in lines[n]] for n in full], beam_size=args.beam, max_batch_size=batch,
            length_penalty=args.length_penalty if length_penalty is None else length_penalty,
            max_decoding_length=args.max_length or 256)
        said = [[] for _ in lines]
        for n, result in zip(full, found):
            said[n] = [int(token) if token.isdigit() else common.UNKNOWN for token in result.hypotheses[0]]
        return said


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    common.add_arguments(parser)
    parser.add_argument("--int8", help="attune's int8 copy of the model, to compare with CTranslate2's int8")
    parser.add_argument("--types", default="float32,int8", help="of CTranslate2 (default: float32,int8)")
    args = parser.parse_args()
    common.warn_if_busy()
    attune = common.Attune(args.attune, args.model, args.file, args)
    lines = attune.pieces()
    print(f"CTranslate2 {ctranslate2.__version__}, {len(lines)} lines, beam {args.beam}, {args.threads} threads")
    with tempfile.TemporaryDirectory() as folder:
        write_model(common.Model(args.model), folder + "/model")
        for kind in args.types.split(","):
            ours = args.int8 if kind.startswith("int8") else args.model
            measure(kind, folder + "/model", ours, attune, lines, args)


def measure(kind, folder, ours_folder, attune, lines, args):
    layouts = [(args.threads, 1)] + ([(1, args.threads)] if args.threads > 1 else [])
    made = {layout: Peer(folder, kind, *layout, args) for layout in layouts}
    first = made[layouts[0]]
    for penalty in (SAME_SCORES, args.length_penalty):
        share = common.equal_share(attune.texts(first(lines, length_penalty=penalty)),
                                   attune.translations(args.beam, penalty))
        print(f"{kind}: {100 * share:.1f} % of its translations are attune's f32 ones at length penalty {penalty}"
              + ("" if penalty == SAME_SCORES else " (CTranslate2 divides by length^a, attune by ((5+length)/6)^a)"))
    ours = common.Series(f"attune {'int8' if kind.startswith('int8') else 'f32'}", args.threads)
    rows = [(common.Series(f"CTranslate2 {kind}, {inter} x {intra} threads, batch {batch}", args.threads), peer, batch)
            for (inter, intra), peer in made.items() for batch in args.batch]
    for n in range(args.rounds):
        if ours_folder:
            ours.note(attune.bench(ours_folder, args.threads, args.latency_lines if n == 0 else 0))
        for series, peer, batch in rows:
            series.time(lambda some: peer(some, batch), lines)
    if args.latency_lines:
        for layout, peer in made.items():
            timed = [series for series, other, _ in rows if other is peer]
            timed[0].time_lines(peer, lines, args.latency_lines)
            for series in timed[1:]:
                series.p50, series.p99 = timed[0].p50, timed[0].p99
    rows[0][0].rss = common.peak_rss_mb()  # of the whole script: all settings at once
    peers = sorted((series for series, _, _ in rows), key=lambda s: -s.best)
    common.table(ours if ours_folder else None, peers)


if __name__ == "__main__":
    main()
