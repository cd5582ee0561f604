# read_events.py RUN: what TensorBoard reads in a run's event file is what its metrics.jsonl says.
import json
import struct
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

run = sys.argv[1]
events = EventAccumulator(run, size_guidance={"scalars": 0, "images": 0, "tensors": 0})
events.Reload()
tags = events.Tags()
lines = [json.loads(line) for line in open(run + "/metrics.jsonl")]


def as_float32(x):
    return struct.unpack("f", struct.pack("f", x))[0]


wanted = {}
for line in lines:
    for key, value in line.items():
        if key == "update" or "rolled_back" in line or isinstance(value, bool) or not isinstance(value, (int, float)):
            continue
        name = "valid/" + key[6:] if key.startswith("valid_") else "train/" + key
        wanted.setdefault(name, []).append((line["update"], as_float32(value)))
found = {tag: [(e.step, e.value) for e in events.Scalars(tag)] for tag in tags["scalars"]}
assert found == wanted, (found, wanted)
assert tags["images"] == ["valid/attention"], tags
assert "valid/samples" in tags["tensors"], tags
image = events.Images("valid/attention")[-1]
assert image.encoded_image_string.startswith(b"\x89PNG") and image.width > 0 and image.height > 0
print(f"{sum(map(len, found.values()))} scalars of {len(found)} names, pictures and text as written")
