#!/usr/bin/env python3
"""Computes the cases of ImageRecordIter under MXNet 1.9.1: io/image_record_iter.json, and in io/images the
records and the batches (.params) that it names.

Usage: make_image_cases.py, in the folder of this file, with Pillow, which encodes the images."""

import io
import json
import os

import mxnet
import numpy
from PIL import Image

RANDOM = numpy.random.RandomState(1)
FOLDER = "images/"
SIZES = [(20, 30), (33, 17), (9, 12), (40, 41), (16, 16), (5, 31), (25, 24)]  # height, width


def Encoded(number, height, width):
    """Returns an image: PNG for number 2, else JPEG of changing subsampling, gray for number 4."""
    image = Image.fromarray(RANDOM.randint(0, 256, (4, 4, 3), dtype=numpy.uint8))
    image = image.resize((width, height), Image.BICUBIC)
    if number == 4:
        image = image.convert("L")
    file = io.BytesIO()
    if number == 2:
        image.save(file, "PNG")
    else:
        image.save(file, "JPEG", quality=90, subsampling=[0, 2, 1][number % 3])
    return file.getvalue()


def WriteRecords():
    one = mxnet.recordio.MXIndexedRecordIO(Path("one.idx"), Path("one.rec"), "w")
    two = mxnet.recordio.MXIndexedRecordIO(Path("two.idx"), Path("two.rec"), "w")
    for number, (height, width) in enumerate(SIZES):
        image = Encoded(number, height, width)
        for file, label in (one, number + 0.5), (two, [number, -number]):
            header = mxnet.recordio.IRHeader(0, label, number, 0)
            file.write_idx(number, mxnet.recordio.pack(header, image))
    one.close()
    two.close()
    with open(Path("list.lst"), "w") as file:
        for number in range(len(SIZES)):
            file.write("%d\t%d\t%d\tpath\n" % (number, 10 * number, 10 * number + 1))


def Path(name):
    return os.path.join("io", FOLDER, name)


def Case(name, files, iterator_type=mxnet.io.ImageRecordIter, epochs=2, **options):
    """Writes the batches of a case; `files` are names by option."""
    options.setdefault("data_shape", (3, 8, 10))
    iterator = iterator_type(**{key: Path(file) for key, file in files.items()}, **options,
                             preprocess_threads=1, verbose=False)
    arrays, pads = {}, []
    for epoch in range(epochs):
        if epoch > 0:
            iterator.reset()
        pads.append([])
        for batch in iterator:
            prefix = "%d:%d:" % (epoch, len(pads[-1]))
            arrays[prefix + "data"] = batch.data[0].copy()
            arrays[prefix + "label"] = batch.label[0].copy()
            pads[-1].append(batch.pad)
    mxnet.nd.save(Path(name + ".params"), arrays)
    return {"name": name, "files": {key: FOLDER + file for key, file in files.items()},
            "options": options, "uint8": iterator_type is mxnet.io.ImageRecordUInt8Iter,
            "batches": FOLDER + name + ".params", "pads": pads}


if __name__ == "__main__":
    os.makedirs(os.path.join("io", FOLDER), exist_ok=True)
    WriteRecords()
    ONE = {"path_imgrec": "one.rec"}
    INDEXED = {"path_imgrec": "one.rec", "path_imgidx": "one.idx"}
    TWO = {"path_imgrec": "two.rec"}
    CASES = [
        Case("crop", ONE, batch_size=3),
        Case("resize", ONE, batch_size=7, epochs=1, resize=12),
        Case("nearest", ONE, batch_size=7, epochs=1, resize=15, inter_method=0),
        Case("normalized", ONE, batch_size=7, epochs=1, mean_r=123.68, mean_g=116.779, mean_b=103.939,
             std_r=58.393, std_g=57.12, std_b=57.375, scale=0.5, mirror=True),
        Case("gray", ONE, batch_size=7, epochs=1, data_shape=(1, 10, 8)),
        Case("pad", ONE, batch_size=7, epochs=1, pad=3, fill_value=9, data_shape=(3, 14, 14)),
        Case("uint8", ONE, mxnet.io.ImageRecordUInt8Iter, batch_size=4),
        Case("labels", TWO, batch_size=4, epochs=1, label_width=2),
        Case("list", {**ONE, "path_imglist": "list.lst"}, batch_size=4, epochs=1, label_width=2),
        Case("indexed", INDEXED, batch_size=3),
        Case("part", ONE, batch_size=2, epochs=1, num_parts=3, part_index=1),
        Case("indexed_part", INDEXED, batch_size=2, epochs=1, num_parts=3, part_index=1),
    ]
    with open(os.path.join("io", "image_record_iter.json"), "w") as json_file:
        json.dump({"cases": CASES}, json_file, indent=1)
        json_file.write("\n")
