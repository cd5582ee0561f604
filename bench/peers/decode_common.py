"""What the scripts that measure decoding share: an attune model folder read with numpy alone, the pieces of a file, and
attune itself measured in the same minutes."""

import json
import os
import resource
import statistics
import struct
import subprocess
import sys
import time
import tomllib

import numpy as np

PAD, BEGIN, END, UNKNOWN = range(4)


class Model:
    """Weights and sizes of a folder that holds a softmax Transformer with sinusoidal positions and one embedding."""

    def __init__(self, folder):
        self.folder = folder
        with open(os.path.join(folder, "recipe.toml"), "rb") as f:
            recipe = tomllib.load(f)
        model = recipe["model"]
        wanted = {"shape": "encoder-decoder", "position": "sinusoidal", "attention": "softmax", "activation": "relu",
                  "tie": "all", "heads_kv": 0}
        for key, value in wanted.items():
            if model.get(key, value) != value:
                sys.exit(f"{folder}: model.{key} = {model[key]!r}; the peers know {value!r} alone")
        for key in ("encoder_heads", "decoder_heads", "cross_heads"):
            if model.get(key, 0) not in (0, model["heads"]):
                sys.exit(f"{folder}: model.{key} differs from model.heads; the peers know one number of heads")
        self.encoder_layers, self.decoder_layers = model["encoder_layers"], model["decoder_layers"]
        self.d_model, self.heads = model["d_model"], model["heads"]
        self.pre_norm = model.get("norm", "post") == "pre"
        self.weights = read_safetensors(os.path.join(folder, "model.safetensors"))
        self.vocabulary = len(self.weights["embedding.weight"])

    def __getitem__(self, name):
        return self.weights[name]

    def positions(self, count):
        """PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i+1) = cos of the same."""
        angle = np.arange(count)[:, None] / 10000.0 ** (np.arange(0, self.d_model, 2) / self.d_model)
        table = np.empty((count, self.d_model))
        table[:, 0::2], table[:, 1::2] = np.sin(angle), np.cos(angle)[:, : self.d_model // 2]
        return table.astype(np.float32)


def read_safetensors(path):
    with open(path, "rb") as f:
        (length,) = struct.unpack("<Q", f.read(8))
        header = json.loads(f.read(length))
        data = f.read()
    weights = {}
    for name, t in header.items():
        if name == "__metadata__":
            continue
        if t["dtype"] != "F32":
            sys.exit(f"{path}: {name} is {t['dtype']}\n  fix: name the f32 model; peers make their own int8 of it")
        begin, end = t["data_offsets"]
        weights[name] = np.frombuffer(data, np.float32, (end - begin) // 4, begin).reshape(t["shape"])
    return weights


class Attune:
    """The program under test."""

    def __init__(self, program, folder, file, args):
        self.program, self.folder, self.args = program, folder, args
        with open(file, "rb") as f:
            packed = f.read(2) == b"\x1f\x8b"
        text = subprocess.run(["gzip", "-dc", file], check=True, capture_output=True).stdout if packed \
            else open(file, "rb").read()
        self.lines = text.decode("utf-8", "replace").splitlines()[: args.lines or None]
        self.text = "".join(line + "\n" for line in self.lines)

    def call(self, *words, text=None):
        return subprocess.run([self.program, *map(str, words)], input=text or self.text, check=True, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout

    def search(self):
        return ["--max-length", self.args.max_length] if self.args.max_length else []

    def pieces(self):
        """The ids of each line, without marks."""
        out = self.call("tokenizer", "encode", os.path.join(self.folder, "tokenizer"), "--ids")
        return [[int(i) for i in line.split()] for line in out.splitlines()]

    def texts(self, ids):
        lines = "".join(" ".join(map(str, line)) + "\n" for line in ids)
        out = self.call("tokenizer", "decode", os.path.join(self.folder, "tokenizer"), "--ids", text=lines)
        return out.splitlines()

    def translations(self, beam, length_penalty):
        return self.call("translate", self.folder, "-", "--beam", beam, "--length-penalty", length_penalty, "--quiet",
                         *self.search()).splitlines()

    def bench(self, folder, threads, latency_lines):
        """One round of the file, after one to warm up."""
        out = self.call("bench", "decode", folder, "-", "--beam", self.args.beam, "--threads", threads, "--rounds", 1,
                        "--length-penalty", self.args.length_penalty, "--latency-lines", latency_lines, "--json",
                        "--quiet", *self.search())
        return json.loads(out)


class Series:
    """What was measured of one contender, round by round."""

    def __init__(self, name, threads):
        self.name, self.speeds, self.p50, self.p99, self.rss = name, [], None, None, None
        # As attune bench decode does it: with one thread, neighbours on the core do not count.
        self.now = time.process_time if threads == 1 else time.perf_counter

    def time(self, translate, lines):
        start = self.now()
        said = translate(lines)
        self.speeds.append(sum(map(len, said)) / (self.now() - start))

    def time_lines(self, translate, lines, count):
        some = [lines[len(lines) * i // count] for i in range(min(count, len(lines)))]
        some = [line for line in some if line]
        translate(some[:1])
        times = []
        for line in some:
            start = self.now()
            translate([line])
            times.append(1000 * (self.now() - start))
        times.sort()
        self.p50, self.p99 = times[(len(times) - 1) // 2], times[-(-99 * len(times) // 100) - 1]

    def note(self, figure):
        self.speeds.append(figure["tokens_per_s"])
        if figure["p50_ms"] > 0:
            self.p50, self.p99 = figure["p50_ms"], figure["p99_ms"]
        self.rss = figure["peak_rss_mb"]

    best = property(lambda self: max(self.speeds))
    median = property(lambda self: statistics.median(self.speeds))


def table(ours, peers):
    """Rows of attune, if it was measured, and of its peers; ratios are attune's speed and its time over the peer's."""
    rows = [("", "tokens/s", "median", "p50 ms", "p99 ms", "peak MB", "attune is", "by median", "time of a line")]
    number = lambda x, digits: "" if x is None else f"{x:,.{digits}f}"
    for s in ([ours] if ours else []) + peers:
        ratios = ("", "", "") if not ours or s is ours else (
            f"{ours.best / s.best:.2f} x",
            f"{statistics.median(a / b for a, b in zip(ours.speeds, s.speeds)):.2f} x",
            f"{ours.p50 / s.p50:.2f} x" if s.p50 and ours.p50 else "")
        rows.append((s.name, number(s.best, 0), number(s.median, 0), number(s.p50, 2), number(s.p99, 2),
                     number(s.rss, 0), *ratios))
    widths = [max(len(r[i]) for r in rows) for i in range(len(rows[0]))]
    for r in rows:
        print("  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(r, widths))))


def equal_share(a, b):
    return sum(x == y for x, y in zip(a, b)) / max(1, len(a))


def peak_rss_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def warn_if_busy():
    load = os.getloadavg()[0]
    if load > 0.5:
        print(f"warning: the machine is busy (load {load:.1f}): ratios of medians may hold, figures do not",
              file=sys.stderr)


def add_arguments(parser):
    parser.add_argument("model", help="a model folder of f32 weights")
    parser.add_argument("file", help="sentences to translate, plain or .gz")
    parser.add_argument("--attune", default="build/attune", help="the program (default: build/attune)")
    parser.add_argument("--beam", type=int, default=5)
    parser.add_argument("--length-penalty", type=float, default=0.6)
    parser.add_argument("--max-length", type=int, default=0, help="of a translation (default: as attune translate)")
    parser.add_argument("--lines", type=int, default=0, help="the first N lines of the file (default: all)")
    parser.add_argument("--latency-lines", type=int, default=200, help="timed one at a time (default: 200)")
    parser.add_argument("--threads", type=int, default=2, help="cores both may use (default: 2)")
    parser.add_argument("--rounds", type=int, default=3, help="by turns (default: 3)")
    parser.add_argument("--batch", type=lambda s: [int(x) for x in s.split(",")], default=[16, 32, 64, 128],
                        help="lines per batch of the peer, several by commas; the best counts")
