#!/usr/bin/env python3
"""Golden numbers of convolutions from PyTorch, in f64. Run once by hand, never by the build or a test:

    pip install torch
    python3 tools/golden/from_pytorch_convolution.py
"""
import torch
import torch.nn.functional as F
from from_pytorch import tensor, version
from golden import Numbers, write

PADDED = {"same": lambda reach: reach // 2, "causal": lambda reach: reach, "valid": lambda reach: 0}


def convolution():
    """Values and gradients of sum(y * cotangent). Rows are points, columns channels; weights as attune's."""
    def one(name, sizes, channels, out, taps, stride=(1, 1), dilation=(1, 1), groups=1, padding=("same", "same")):
        n, flat = Numbers(len(name)), len(sizes[0]) == 1
        rows = n.matrix(sum(torch.tensor(s).prod().item() for s in sizes), channels)
        weight, bias = n.matrix(out, taps[0] * taps[1] * (channels // groups)), n.matrix(1, out)[0]
        x = tensor(rows).requires_grad_()
        w, b = tensor(weight).requires_grad_(), tensor(bias).requires_grad_()
        filters = w.view(out, *taps, channels // groups).permute(0, 3, 1, 2)
        around = []  # before and after, the last axis first
        for i in (1, 0):
            reach = dilation[i] * (taps[i] - 1)
            before = PADDED[padding[i]](reach)
            around += [before, 0 if padding[i] == "valid" else reach - before]
        parts, begin, results = [], 0, []
        for size in sizes:
            h, width = (1, *size) if flat else size
            picture = F.pad(x[begin:begin + h * width].T.reshape(1, channels, h, width), around)
            if flat:
                y = F.conv1d(picture[:, :, 0], filters[:, :, 0], b, stride[1], 0, dilation[1], groups)[:, :, None]
            else:
                y = F.conv2d(picture, filters, b, stride, 0, dilation, groups)
            parts.append(y[0].flatten(1).T)
            results.append(list(y.shape[2:]))
            begin += h * width
        out_rows = torch.cat(parts)
        cotangent = n.matrix(*out_rows.shape)
        (out_rows * tensor(cotangent)).sum().backward()
        return {"name": name, "sizes": [(1, *s) if flat else s for s in sizes], "flat": flat, "taps": taps,
                "stride": stride, "dilation": dilation, "groups": groups, "padding": padding, "x": rows,
                "weight": weight, "bias": [bias], "cotangent": cotangent, "result_sizes": results,
                "out": out_rows.detach(), "dx": x.grad, "dweight": w.grad, "dbias": [b.grad.tolist()]}

    valid, causal = ("valid", "valid"), ("same", "causal")
    write("convolution", version("torch"),
          "torch.nn.functional.conv1d and conv2d(pad(x), weight, bias, stride, 0, dilation, groups), one a sequence or "
          "picture, and their gradients for the cotangent",
          "None. PyTorch wants [channels, height, width] and [out, in / groups, taps...]; rows of weight here are "
          "[taps..., in / groups].",
          [one("sequences", [(7,), (1,), (4,)], 3, 4, (1, 3)),
           one("strided and even", [(9,), (6,)], 2, 3, (1, 4), stride=(1, 2)),
           one("causal, dilated, grouped", [(8,), (3,)], 4, 6, (1, 3), dilation=(1, 2), groups=2, padding=causal),
           one("depthwise, valid", [(8,), (5,)], 5, 5, (1, 3), stride=(1, 2), groups=5, padding=valid),
           one("pictures", [(4, 5), (3, 3)], 2, 3, (3, 3)),
           one("patches", [(4, 6), (2, 2)], 3, 4, (2, 2), stride=(2, 2), padding=valid),
           one("stem", [(6, 5)], 2, 3, (3, 3), stride=(2, 2)),
           one("depthwise pictures, axes apart", [(5, 6), (4, 4)], 3, 3, (3, 2), stride=(1, 2), dilation=(2, 1),
               groups=3, padding=("causal", "valid"))])


if __name__ == "__main__":
    convolution()
