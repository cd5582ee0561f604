#!/usr/bin/env python3
"""How fast attune translates, beside PyTorch with the very same weights, in the same minutes. See README.md.

A plain, well written beam search: keys and values are cached, those of the encoder once per line and not per beam; a
step is one pass over the whole batch; finished lines leave it; lines of similar length stand together."""

import argparse
import math

import torch
import torch.nn.functional as F

import decode_common as common


class Transformer:
    def __init__(self, model):
        self.m, self.heads, self.pre_norm = model, model.heads, model.pre_norm
        self.w = {name: torch.from_numpy(array.copy()) for name, array in model.weights.items()}
        for i in range(model.encoder_layers):
            self.fuse(f"encoder.{i}.self", "query", "key", "value")
        for i in range(model.decoder_layers):
            self.fuse(f"decoder.{i}.self", "query", "key", "value")
            self.fuse(f"decoder.{i}.cross", "key", "value")
        self.table = self.w["embedding.weight"]
        self.positions = torch.from_numpy(model.positions(1024))

    def fuse(self, name, *parts):
        for kind in ("weight", "bias"):
            self.w[f"{name}.fused.{kind}"] = torch.cat([self.w[f"{name}.{part}.{kind}"] for part in parts])

    def linear(self, name, x):
        return F.linear(x, self.w[name + ".weight"], self.w[name + ".bias"])

    def norm(self, name, x):
        return F.layer_norm(x, x.shape[-1:], self.w[name + ".weight"], self.w[name + ".bias"], 1e-5)

    def sublayer(self, name, x, function):
        if self.pre_norm:
            return x + function(self.norm(name + ".norm", x))
        return self.norm(name + ".norm", x + function(x))

    def feed_forward(self, name, x):
        return self.sublayer(name, x, lambda y: self.linear(name + ".outer", F.relu(self.linear(name + ".inner", y))))

    def embed(self, ids, position):
        return F.embedding(ids, self.table) * math.sqrt(self.table.shape[1]) + position

    def split(self, x, count=1):
        """[lines, length, count * d] to `count` times [lines, heads, length, d / heads]."""
        lines, length, _ = x.shape
        x = x.view(lines, length, count, self.heads, -1).permute(2, 0, 3, 1, 4)
        return x.unbind(0)

    @staticmethod
    def join(x):
        return x.transpose(1, 2).flatten(2)

    def encode(self, ids, mask):
        x = self.embed(ids, self.positions[: ids.shape[1]])
        for i in range(self.m.encoder_layers):
            def attend(y, name=f"encoder.{i}.self"):
                q, k, v = self.split(self.linear(name + ".fused", y), 3)
                return self.linear(name + ".output", self.join(F.scaled_dot_product_attention(q, k, v, mask)))
            x = self.sublayer(f"encoder.{i}.self", x, attend)
            x = self.feed_forward(f"encoder.{i}.feed_forward", x)
        return self.norm("encoder.norm", x) if self.pre_norm else x

    def memory(self, encoded):
        return [[part.contiguous() for part in self.split(self.linear(f"decoder.{i}.cross.fused", encoded), 2)]
                for i in range(self.m.decoder_layers)]

    def step(self, ids, time, cache, memory, mask):
        """ids [lines * beam]; cache per layer: keys and values [lines * beam, heads, longest, d_k]."""
        x = self.embed(ids, self.positions[time])[:, None]
        lines = mask.shape[0]
        for i in range(self.m.decoder_layers):
            def attend(y, name=f"decoder.{i}.self", keys=cache[i][0], values=cache[i][1]):
                q, k, v = self.split(self.linear(name + ".fused", y), 3)
                keys[:, :, time], values[:, :, time] = k[:, :, 0], v[:, :, 0]
                out = F.scaled_dot_product_attention(q, keys[:, :, : time + 1], values[:, :, : time + 1])
                return self.linear(name + ".output", self.join(out))

            def look(y, name=f"decoder.{i}.cross", keys=memory[i][0], values=memory[i][1]):
                q = self.split(self.linear(name + ".query", y).view(lines, -1, y.shape[-1]))[0]
                out = self.join(F.scaled_dot_product_attention(q, keys, values, mask))
                return self.linear(name + ".output", out).view(y.shape)
            x = self.sublayer(f"decoder.{i}.self", x, attend)
            x = self.sublayer(f"decoder.{i}.cross", x, look)
            x = self.feed_forward(f"decoder.{i}.feed_forward", x)
        if self.pre_norm:
            x = self.norm("decoder.norm", x)
        return F.log_softmax(F.linear(x[:, 0], self.table), -1)


class Peer:
    def __init__(self, model, args):
        self.model, self.args = Transformer(model), args

    @torch.inference_mode()
    def __call__(self, lines, batch=64, length_penalty=None):
        penalty = self.args.length_penalty if length_penalty is None else length_penalty
        order = sorted((i for i, line in enumerate(lines) if line), key=lambda i: -len(lines[i]))
        said = [[] for _ in lines]
        for at in range(0, len(order), batch):
            some = order[at : at + batch]
            for i, ids in zip(some, self.search([lines[i] for i in some], penalty)):
                said[i] = ids
        return said

    def search(self, lines, alpha):
        beam, model = self.args.beam, self.model
        count, width = len(lines), max(map(len, lines)) + 1
        ids = torch.full((count, width), common.PAD)
        for i, line in enumerate(lines):
            ids[i, : len(line) + 1] = torch.tensor(line + [common.END])
        mask = (ids != common.PAD)[:, None, None]
        memory = model.memory(model.encode(ids, mask))
        longest = torch.tensor([self.args.max_length or 2 * (len(line) + 1) + 10 for line in lines])
        penalty = lambda length: ((5 + length) / 6) ** alpha
        heads, d_k = model.heads, model.table.shape[1] // model.heads
        cache = [[torch.empty(count * beam, heads, int(longest.max()), d_k) for _ in range(2)] for _ in memory]
        last = torch.full((count * beam,), common.BEGIN)
        scores = torch.full((count, beam), -math.inf)
        scores[:, 0] = 0
        history = torch.empty(count, beam, 0, dtype=torch.long)
        best = torch.full((count,), -math.inf)
        said, where = [[] for _ in lines], list(range(count))
        for time in range(int(longest.max())):
            log_probs = model.step(last, time, cache, memory, mask)
            log_probs[:, [common.PAD, common.BEGIN, common.UNKNOWN]] = -math.inf
            # The best of each row, then of each line: a line's best 2 * beam are among them.
            top, token = log_probs.topk(2 * beam, -1)
            top = (top.view(count, beam, -1) + scores[:, :, None]).flatten(1)
            top, at = top.topk(2 * beam, -1)
            parent, token = at // (2 * beam), token.view(count, -1).gather(1, at)
            ends = token == common.END
            ended = torch.where(ends[:, :beam], top[:, :beam], -math.inf) / penalty(time + 1)
            value, which = ended.max(-1)
            better = value > best
            for i in better.nonzero()[:, 0].tolist():
                said[where[i]] = history[i, parent[i, which[i]]].tolist()
            best = torch.where(better, value, best)
            scores, kept = torch.where(ends, -math.inf, top).topk(beam, -1)
            parent, token = parent.gather(1, kept), token.gather(1, kept)
            history = torch.cat([history.gather(1, parent[:, :, None].expand(-1, -1, time)), token[:, :, None]], -1)
            cut = (time + 1 >= longest) & (best == -math.inf)
            for i in cut.nonzero()[:, 0].tolist():
                said[where[i]] = history[i, 0].tolist()
            # A line is done when nothing it can become beats what it has.
            going = (scores[:, 0] / penalty(longest) > best) & (time + 1 < longest)
            if beam == 1:
                going &= best == -math.inf
            rows = torch.arange(count)[:, None] * beam + parent
            if not going.all():
                keep = going.nonzero()[:, 0]
                if len(keep) == 0:
                    break
                rows, scores, token, history, best = rows[keep], scores[keep], token[keep], history[keep], best[keep]
                longest, mask, where = longest[keep], mask[keep], [where[i] for i in keep.tolist()]
                memory = [[part[keep] for part in pair] for pair in memory]
                count = len(keep)
            if not torch.equal(rows.flatten(), torch.arange(cache[0][0].shape[0])):
                rows = rows.flatten()
                for pair in cache:
                    for n, part in enumerate(pair):  # what was said so far; the rest is not written yet
                        moved = torch.empty(len(rows), *part.shape[1:])
                        moved[:, :, : time + 1] = part[:, :, : time + 1].index_select(0, rows)
                        pair[n] = moved
            last = token.flatten()
        return said


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    common.add_arguments(parser)
    args = parser.parse_args()
    common.warn_if_busy()
    attune = common.Attune(args.attune, args.model, args.file, args)
    lines = attune.pieces()
    print(f"PyTorch {torch.__version__}, {len(lines)} lines, beam {args.beam}, {args.threads} threads")
    peer = Peer(common.Model(args.model), args)
    torch.set_num_threads(args.threads)
    share = common.equal_share(attune.texts(peer(lines)), attune.translations(args.beam, args.length_penalty))
    print(f"{100 * share:.1f} % of its translations are attune's at length penalty {args.length_penalty}")

    ours = common.Series("attune f32", args.threads)
    rows = [(common.Series(f"PyTorch, {threads} thread{'s'[:threads > 1]}, batch {batch}", args.threads), threads,
             batch)
            for threads in sorted({1, args.threads}) for batch in args.batch]
    for n in range(args.rounds):
        ours.note(attune.bench(args.model, args.threads, args.latency_lines if n == 0 else 0))
        for series, threads, batch in rows:
            torch.set_num_threads(threads)
            series.time(lambda some: peer(some, batch), lines)
    if args.latency_lines:
        for threads in sorted({1, args.threads}):
            torch.set_num_threads(threads)
            timed = [series for series, other, _ in rows if other == threads]
            timed[0].time_lines(peer, lines, args.latency_lines)
            for series in timed[1:]:
                series.p50, series.p99 = timed[0].p50, timed[0].p99
    rows[0][0].rss = common.peak_rss_mb()
    common.table(ours, sorted((series for series, _, _ in rows), key=lambda s: -s.best))


if __name__ == "__main__":
    main()
