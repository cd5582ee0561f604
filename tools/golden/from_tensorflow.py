#!/usr/bin/env python3
"""Golden numbers from public TensorFlow implementations: Tensor2Tensor's relative positions (by the authors of both
papers) and TensorFlow Addons' additive scores. Run once by hand, never by the build or a test:

    pip install tensorflow-cpu==2.15.1 tensorflow-addons==0.23.0 typeguard==2.13.3
    pip install --no-deps tensor2tensor==1.15.7 tf_slim tensorflow_probability==0.23.0 dm-tree decorator cloudpickle \\
                          sympy mpmath gin-config
    python3 tools/golden/from_tensorflow.py
"""
import numpy as np
import tensorflow as tf
import tensorflow_addons as tfa
from tensor2tensor.layers import common_attention
from golden import DIM, HEADS, WIDTH, Numbers, inputs, write

v1 = tf.compat.v1


def split(rows):
    """[n, heads * dim] to [1, heads, n, dim]."""
    x = np.array(rows, np.float32)
    return x.reshape(len(rows), -1, DIM).transpose(1, 0, 2)[None]


def joined(x):
    return x[0].transpose(1, 0, 2).reshape(x.shape[2], -1)


def case(name, data, out, causal, **more):
    return {"name": name, "attention": {"kind": "softmax"}, "causal": causal, "heads": HEADS, "heads_kv": HEADS,
            "dim": DIM, **more, **data, "out": out}


def run(attend, data, causal, tables):
    """attend(q, k, v, bias) with its variables set to the tables, by the end of their names."""
    with tf.Graph().as_default(), v1.Session() as session:
        q, k, v = (tf.constant(split(data[x])) for x in "qkv")
        n = q.shape[2]
        bias = tf.constant(np.triu(np.full((1, 1, n, n), -1e9, np.float32), 1)) if causal else None
        y = attend(q * DIM**-0.5, k, v, bias)  # as multihead_attention calls it
        for variable in v1.global_variables():
            match = [value for name, value in tables.items() if name in variable.name]
            assert len(match) == 1, variable.name
            variable.load(np.array(match[0], np.float32).reshape(variable.shape), session)
        return joined(session.run(y))


def shaw():
    clip, cases, n = 3, [], Numbers(121)
    keys, values = n.matrix(2 * clip + 1, DIM), n.matrix(2 * clip + 1, DIM)
    for name, causal in (("encoder", False), ("decoder", True)):
        data = inputs(21, 9)
        out = run(lambda q, k, v, b: common_attention.dot_product_attention_relative(q, k, v, b, clip), data, causal,
                  {"relative_positions_keys": keys, "relative_positions_values": values})
        cases.append(case(name, data, out, causal, position={"kind": "shaw", "clip": clip},
                          parameters={"position.key": keys, "position.value": values}))
    write("shaw", "tensor2tensor 1.15.7, dot_product_attention_relative (TensorFlow 2.15.1)",
          "dot_product_attention_relative(q / sqrt(d_k), k, v, bias, max_relative_position=3)", "None.", cases)


def music():
    cases = []
    for name, causal, longest in (("decoder", True, 9), ("decoder, more distances", True, 12), ("encoder", False, 9)):
        rows = longest if causal else 2 * longest - 1
        data, table = inputs(22, 9), Numbers(23).matrix(rows, WIDTH)
        attend = (common_attention.dot_product_self_attention_relative_v2 if causal else
                  common_attention.dot_product_unmasked_self_attention_relative_v2)
        out = run(lambda q, k, v, b: attend(q, k, v, b, longest), data, causal,
                  {"key_relative_embeddings": split(table)[0]})
        cases.append(case(name, data, out, causal, position={"kind": "music", "longest": longest},
                          parameters={"position.weight": table}))
    write("music",
          "tensor2tensor 1.15.7, dot_product_self_attention_relative_v2 and its unmasked form (TensorFlow 2.15.1)",
          "dot_product_self_attention_relative_v2(q / sqrt(d_k), k, v, bias, max_relative_position=longest)",
          "Beyond `longest` it adds nothing; attune counts what is farther as the farthest, so that a model reads on "
          "beyond its table. Not compared: the sequences are no longer than the table.", cases)


def additive():
    n, cases = Numbers(124), []
    vector, bias, gains = n.matrix(1, WIDTH), n.matrix(1, WIDTH), [0.75, 2.0]
    for name, normed in (("additive", False), ("normed-additive", True)):
        data, heads = inputs(24, 5, 8), []
        for h in range(HEADS):
            q, k, v = (split(data[x])[0, h] for x in "qkv")
            layer = tfa.seq2seq.BahdanauAttention(DIM, normalize=normed)
            layer(np.repeat(k[None], len(q), 0), setup_memory=True)
            state = tf.zeros([len(q), len(k)])
            layer([q, state])  # makes its variables
            columns = slice(h * DIM, (h + 1) * DIM)
            layer.query_layer.kernel.assign(np.eye(DIM))
            layer.memory_layer.kernel.assign(np.eye(DIM))
            layer.attention_v.assign(np.array(vector[0])[columns])
            if normed:
                layer.attention_g.assign(gains[h])
                layer.attention_b.assign(np.array(bias[0])[columns])
            layer(np.repeat(k[None], len(q), 0), setup_memory=True)
            heads.append(layer([q, state])[0].numpy() @ v)
        parameters = {"score.vector": vector}
        if normed:
            parameters |= {"score.gain": [gains], "score.bias": bias}
        cases.append({**case(name, data, joined(np.stack(heads)[None]), False, parameters=parameters),
                      "attention": {"kind": "softmax", "score": name}})
    write("additive", "tensorflow-addons 0.23.0, BahdanauAttention (TensorFlow 2.15.1)",
          "BahdanauAttention(4, normalize=...)([q, state])[0] @ v, one a head; its query and memory layers are "
          "identities", "None: g / |v| v . tanh(q + k + b).", cases)


shaw()
music()
additive()
