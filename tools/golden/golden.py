"""What the scripts of this folder share: inputs that f32 holds exactly, and the files that tests/model/public_test.cc
reads. Each file names the implementation that made its numbers, its version, the call, and where it differs from
attune's equation."""
import json, os

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "golden", "public")
HEADS, DIM = 2, 4
WIDTH = HEADS * DIM


class Numbers:
    """Eighths from -1.5 to 1.5, from a generator of its own: the same whatever library makes something of them."""

    def __init__(self, seed):
        self.state = seed * 7919 + 17

    def one(self):
        self.state = (self.state * 1103515245 + 12345) % 2**31
        return (self.state // 65536 % 25 - 12) / 8

    def matrix(self, rows, columns):
        return [[self.one() for _ in range(columns)] for _ in range(rows)]


def inputs(seed, queries, keys=None, heads=HEADS, heads_kv=None, dim=DIM):
    """q, k and v, heads side by side."""
    n = Numbers(seed)
    wide = (heads_kv or heads) * dim
    return {"q": n.matrix(queries, heads * dim), "k": n.matrix(keys or queries, wide),
            "v": n.matrix(keys or queries, wide)}


def number(x):
    text = f"{float(x):.9g}"
    return "0" if text == "-0" else text


def literal(x, indent):
    """JSON with one row of a matrix a line."""
    if hasattr(x, "tolist"):
        x = x.tolist()
    inner = indent + "  "
    if isinstance(x, dict):
        fields = (f"{inner}{json.dumps(k)}: {literal(v, inner)}" for k, v in x.items())
        return "{\n" + ",\n".join(fields) + f"\n{indent}}}"
    if isinstance(x, (list, tuple)) and x and isinstance(x[0], (list, tuple, dict)):
        return "[\n" + ",\n".join(inner + literal(v, inner) for v in x) + f"\n{indent}]"
    if isinstance(x, (list, tuple)):
        return "[" + ", ".join(literal(v, inner) for v in x) + "]"
    if isinstance(x, bool) or isinstance(x, str):
        return json.dumps(x)
    return str(x) if isinstance(x, int) else number(x)


def write(name, implementation, call, note, cases):
    file = {"implementation": implementation, "call": call, "note": note, "cases": cases}
    os.makedirs(OUT, exist_ok=True)
    path = os.path.join(OUT, name + ".json")
    with open(path, "w") as f:
        f.write(literal(file, "") + "\n")
    print(f"{name}.json  {os.path.getsize(path)} bytes  {len(cases)} cases  {implementation}")
