#!/usr/bin/env python3
"""Writes tests/golden/metrics.json: texts made by chance, and what other programs score them. Run once by hand:
    pip install sacrebleu rouge_score seqeval jiwer scikit-learn && python3 tests/golden/make_metrics.py
The file names the versions. The tests read it; they need no Python.
"""
import importlib.metadata
import json
import os
import random
import sys
import warnings

import jiwer
import numpy
from rouge_score import rouge_scorer
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.significance import PairedTest, _bootstrap_resample, estimate_ci
from seqeval.metrics.sequence_labeling import precision_recall_fscore_support as span_scores
from sklearn.metrics import accuracy_score, precision_recall_fscore_support

warnings.filterwarnings("ignore")
chance = random.Random(6)

WORDS = ("the a of to in and cat dog house tree runs sleeps quickly very big small red green on under with his her it's "
         "can't 1,000 3.14 5-6 x-y (yes) \"no\" e.g. Mr. & &amp; <b> U.S. 50% $20 a.m. ... -- ; : ! ? / #7 @home").split()
OTHER = ("Straße über Ärger façade naïve ΟΔΥΣΣΕΥΣ σοφός москва Привет 日本 日本語。 中文，测试 你好！ 「引用」 “quote” ‘x’ — … € £5 10€ "
         "½ ² Ⅷ ١٢٣ ،سلام 😀 👍🏽 한국어 ไทย पाठ 12時 2021年 ﬁ İstanbul a\u00a0b c\u3000d ｆｕｌｌ１ ※ → ∑ ½,5 №3 ﹏ ㍿").split(" ")


def sentence(words, least, most):
    return [chance.choice(words) for _ in range(chance.randint(least, most))]


def changed(words, by, moves):
    """Words left out, put in, exchanged; runs of words moved."""
    out = []
    for w in words:
        if chance.random() < by / 3:
            continue
        out.append(chance.choice(WORDS) if chance.random() < by / 3 else w)
        if chance.random() < by / 3:
            out.append(chance.choice(WORDS))
    for _ in range(moves):
        if len(out) > 3:
            a = chance.randrange(len(out))
            run = out[a:a + chance.randint(1, 6)]
            del out[a:a + len(run)]
            b = chance.randint(0, len(out))
            out[b:b] = run
    return out


def text_set(words, lines, most, by, moves, references=1, systems=1):
    base = [sentence(words, 0 if i % 9 == 8 else 3, most) for i in range(lines)]
    line = lambda ws: " ".join(ws)
    return {"references": [[line(b if k == 0 else changed(b, by, moves)) for b in base] for k in range(references)],
            "systems": [[line(changed(b, by * (0.7 + 0.3 * s), moves)) for b in base] for s in range(systems)]}


SETS = {
    "western": text_set(WORDS, 18, 20, 0.3, 1, references=2, systems=2),
    "mixed": text_set(OTHER + WORDS[:20], 18, 14, 0.3, 1, references=2),
    "moved": text_set(WORDS[:14], 30, 45, 0.2, 4),
    "long": text_set(WORDS[:8], 3, 160, 0.3, 8),
    "unequal": {"references": [["a b's, d e f g h", "one two", "", "x", " ".join(WORDS * 3), "a", "b a"]],
                "systems": [["a b 's", "one two three four five six seven", "not empty", "", "the", " ".join(WORDS * 3), "a b"]]},
    "many": text_set(WORDS, 40, 12, 0.4, 1, systems=3),
}

BLEUS = [{}, {"tokenize": "intl"}, {"tokenize": "char"}, {"tokenize": "zh"}, {"tokenize": "none"}, {"lowercase": "true"},
         {"smooth": "floor"}, {"smooth": "floor", "smooth_value": "0.01"}, {"smooth": "none"},
         {"effective_order": "true"}]
CHRFS = [{}, {"word_order": "2"}, {"char_order": "3", "word_order": "1", "beta": "3"}, {"lowercase": "true"},
         {"whitespace": "true"}, {"eps_smoothing": "true"}]
TERS = [{}, {"case_sensitive": "true"}, {"normalized": "true"}, {"normalized": "true", "asian_support": "true"},
        {"no_punct": "true"}, {"no_punct": "true", "asian_support": "true", "normalized": "true"}]


def typed(options, rename={}):
    value = lambda v: True if v == "true" else float(v) if "." in v else int(v) if v.isdigit() else v
    return {rename.get(k, k): value(v) for k, v in options.items()}


def cases():
    out = []
    for name, texts in SETS.items():
        h = texts["systems"][0]
        for count in range(1, len(texts["references"]) + 1):
            refs = texts["references"][:count]
            add = lambda metric, options, score, **more: out.append(
                {"set": name, "metric": metric, "options": options, "references": count, "score": score, **more})
            for o in BLEUS:
                metric = BLEU(**typed(o, {"smooth": "smooth_method"}))
                s = metric.corpus_score(h, refs)
                add("bleu", o, s.score, signature=str(metric.get_signature()),
                    details={"precision_1": s.precisions[0], "precision_4": s.precisions[3], "brevity_penalty": s.bp})
            for o in CHRFS:
                metric = CHRF(**typed(o))
                add("chrf", o, metric.corpus_score(h, refs).score, signature=str(metric.get_signature()))
            add("chrf++", {}, CHRF(word_order=2).corpus_score(h, refs).score)
            for o in TERS:
                metric = TER(**typed(o))
                s = metric.corpus_score(h, refs)
                add("ter", o, s.score, signature=str(metric.get_signature()),
                    details={"edits": s.num_edits, "reference_length": s.ref_length})
            scorer = rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=False)
            scores = [scorer.score_multi([r[i] for r in refs], h[i]) for i in range(len(h))]
            mean = lambda kind, what: 100 * float(numpy.mean([getattr(s[kind], what) for s in scores]))
            details = {k + suffix: mean(k, what) for k in ("rouge1", "rouge2", "rougeL")
                       for suffix, what in (("", "fmeasure"), ("_precision", "precision"), ("_recall", "recall"))}
            add("rouge", {}, details["rougeL"], details=details)
            add("rouge", {"variant": "2"}, details["rouge2"])
            if count == 1:
                blanks = lambda lines: [" ".join(x.split()) for x in lines]  # jiwer splits at U+0020 alone
                add("wer", {}, 100 * jiwer.wer(blanks(refs[0]), blanks(h)))
                add("cer", {}, 100 * jiwer.cer(refs[0], h))
    return out


def test_cases():
    out = []
    texts = SETS["many"]
    names = [(str(i), s) for i, s in enumerate(texts["systems"])]
    for metric_name, make in (("bleu", BLEU), ("chrf", CHRF), ("ter", TER)):
        for kind, long_name in (("bs", "bootstrap"), ("ar", "randomization")):
            for samples, seed in ((200, 12345), (100, 7)):
                os.environ["SACREBLEU_SEED"] = str(seed)
                metric = make(references=texts["references"])
                signatures, result = PairedTest(names, {metric_name: metric}, None, kind, samples)()
                label = [k for k in result if k != "System"][0]
                out.append({"set": "many", "metric": metric_name, "paired": long_name, "samples": samples, "seed": seed,
                            "signature": str(signatures[label]),
                            "systems": [{"score": r.score, "mean": None if r.mean is None else float(r.mean),
                                         "half": None if r.ci is None else float(r.ci),
                                         "p": None if r.p_value is None else float(r.p_value)} for r in result[label]]})
    return out


TAGS = {"bio": "O O O B-PER I-PER B-LOC I-LOC I-ORG B-ORG-x".split(), "bioes": "O O B-A I-A E-A S-A B-B I-B E-B S-B".split(),
        "odd": "O B I E S B-A I-A X-A . -A B- é-A PER".split()}


def label_cases():
    out = []
    for name, tags in TAGS.items():
        right = [[chance.choice(tags) for _ in range(chance.randint(1, 9))] for _ in range(12)]
        said = [[t if chance.random() < 0.6 else chance.choice(tags) for t in line] for line in right]
        lines = lambda s: [" ".join(line) for line in s]
        flat = lambda s: [t for line in s for t in line]
        p, r, f, _ = span_scores(right, said, average="micro")
        case = {"said": lines(said), "right": lines(right), "span-f1": 100 * f, "span_precision": 100 * p,
                "span_recall": 100 * r, "accuracy": 100 * accuracy_score(flat(right), flat(said))}
        for average in ("macro", "micro", "weighted"):
            case[average] = [100 * float(x) for x in
                             precision_recall_fscore_support(flat(right), flat(said), average=average)[:3]]
        out.append(case)
    return out


def draws():
    out = []
    for seed in (0, 1, 12345, 2**40 + 3):
        rng = numpy.random.default_rng(seed)
        few = rng.choice(10, size=12, replace=True).tolist()
        many = rng.choice(3004, size=6, replace=True).tolist()
        huge = rng.choice(3 * 2**30, size=6, replace=True).tolist()
        bits = numpy.random.default_rng(seed).integers(2, size=70, dtype=bool).astype(int).tolist()
        out.append({"seed": seed, "few": few, "many": many, "huge": huge, "bits": bits})
    return out


versions = {p: importlib.metadata.version(p) for p in ("sacrebleu", "rouge_score", "seqeval", "jiwer", "scikit-learn", "numpy")}
golden = {"made_by": versions, "sets": SETS, "cases": cases(), "tests": test_cases(), "labels": label_cases(), "draws": draws()}
path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "metrics.json")
with open(path, "w", encoding="utf-8") as f:
    json.dump(golden, f, ensure_ascii=False, separators=(",", ":"))
    f.write("\n")
print(len(golden["cases"]), "cases,", os.path.getsize(path), "bytes", file=sys.stderr)
