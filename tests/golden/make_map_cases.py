#!/usr/bin/env python3
"""Computes the cases of the mean average precision, metrics/MApMetric and metrics/VOC07MApMetric, under MXNet
1.9.1.

Usage: make_map_cases.py EVAL_METRIC, in the folder of this file. EVAL_METRIC is MXNet's
example/ssd/evaluate/eval_metric.py."""

import importlib.util
import json
import math
import os
import sys

import mxnet
import numpy

CLASSES = 3
RANDOM = numpy.random.RandomState(7)


def Objects(columns):
    """Returns the objects of one image, between none and four, in five rows."""
    rows = numpy.full((5, columns), -1, numpy.float32)
    for row in range(RANDOM.randint(5)):
        x, y, width, height = RANDOM.uniform([0, 0, 0.1, 0.1], [0.7, 0.7, 0.3, 0.3])
        rows[row, :5] = RANDOM.randint(CLASSES), x, y, x + width, y + height
        rows[row, 5:] = row % 2
    return rows


def Detections(objects):
    """Returns detections of one image: three near each object, one of each class anywhere."""
    rows = []
    for label in objects[objects[:, 0] >= 0]:
        for _ in range(3):
            box = label[1:5] + RANDOM.normal(0, 0.03, 4)
            kind = label[0] if RANDOM.rand() < 0.8 else RANDOM.randint(CLASSES)
            rows.append([kind, RANDOM.rand(), *box])
    # In MXNet difficult objects are counted wrongly where no detection of their class counts.
    rows += [[kind, RANDOM.rand() / 2, 0.9, 0.9, 0.91, 0.95] for kind in range(CLASSES)]
    rows += [[-1] * 6] * (16 - len(rows))
    return numpy.array(rows, numpy.float32)[RANDOM.permutation(16)]


def Number(value):
    return "nan" if math.isnan(value) else value


def Values(metric):
    names, values = metric.get()
    values = values if isinstance(values, list) else [values]
    return (names if isinstance(names, list) else [names]), [Number(float(v)) for v in values]


def Write(module, kind, name, columns=5, **kwargs):
    metric = getattr(module, kind)(**kwargs)
    arrays, after, outputs = {}, [], kwargs.get("pred_idx", 0) + 1
    for update in range(2):
        objects = numpy.stack([Objects(columns) for _ in range(6)])
        label = mxnet.nd.array(objects)
        preds = [mxnet.nd.zeros((1,)) for _ in range(outputs - 1)]
        preds.append(mxnet.nd.array(numpy.stack([Detections(image) for image in objects])))
        arrays["label:%d:0" % update] = label
        for i, pred in enumerate(preds):
            arrays["pred:%d:%d" % (update, i)] = pred
        metric.update([label], preds)
        names, values = Values(metric)
        after.append(values)
    folder = os.path.join("metrics", kind, name)
    os.makedirs(folder, exist_ok=True)
    mxnet.nd.save(os.path.join(folder, "data.params"), arrays)
    case = {"metric": kind, "kwargs": kwargs, "updates": 2, "labels_per_update": [1, 1],
            "preds_per_update": [outputs, outputs], "name": names, "value": after[-1],
            "value_after_each_update": after, "rtol": 1e-9}
    with open(os.path.join(folder, "case.json"), "w") as file:
        json.dump(case, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    SPEC = importlib.util.spec_from_file_location("eval_metric", sys.argv[1])
    MODULE = importlib.util.module_from_spec(SPEC)
    SPEC.loader.exec_module(MODULE)
    for KIND in "MApMetric", "VOC07MApMetric":
        Write(MODULE, KIND, "basic")
        Write(MODULE, KIND, "overlap", ovp_thresh=0.7)
        Write(MODULE, KIND, "class_names", class_names=["circle", "square", "star", "heart"])
        Write(MODULE, KIND, "difficult_skipped", columns=6)
        Write(MODULE, KIND, "difficult_used", columns=6, use_difficult=True, pred_idx=1)
