#!/usr/bin/env python3
"""Computes the cases of MXNet 1.9.1's iterators over images: io/image_record_iter.json,
io/image_det_record_iter.json, io/image_iter.json, io/image_det_iter.json, and in io/images the records, lists,
images and batches (.params) that they name.

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


def Objects(number):
    """Returns the labels of an image with number % 3 + 1 objects, one of them without an area in number 5."""
    labels = [2, 5] if number != 3 else [4, 6, 0.25, 0.5]
    for index in range(number % 3 + 1):
        left, top = 0.1 * index, 0.05 * number
        labels += [index + number, left, top, left + (0.3 if index or number != 5 else 0), top + 0.25]
        labels += [1] * (labels[1] - 5)
    return labels


def WriteRecords():
    one = mxnet.recordio.MXIndexedRecordIO(Path("one.idx"), Path("one.rec"), "w")
    two = mxnet.recordio.MXIndexedRecordIO(Path("two.idx"), Path("two.rec"), "w")
    images = []
    for number, (height, width) in enumerate(SIZES):
        image = Encoded(number, height, width)
        images.append(image)
        for file, label in (one, number + 0.5), (two, [number, -number]):
            header = mxnet.recordio.IRHeader(0, label, number, 0)
            file.write_idx(number, mxnet.recordio.pack(header, image))
    one.close()
    two.close()
    more = mxnet.recordio.MXRecordIO(Path("more.rec"), "w")
    for number in (6, 2, 5):  # of one.rec
        header = mxnet.recordio.IRHeader(0, number - 9, 10 + number, 0)
        more.write(mxnet.recordio.pack(header, images[number]))
    more.close()
    det = mxnet.recordio.MXIndexedRecordIO(Path("det.idx"), Path("det.rec"), "w")
    for number, (height, width) in enumerate(SIZES):
        header = mxnet.recordio.IRHeader(0, Objects(number), number, 0)
        det.write_idx(number, mxnet.recordio.pack(header, Encoded(number, height, width)))
    det.close()
    mean = RANDOM.uniform(50, 200, (3, 8, 10))
    mxnet.nd.save(Path("mean.params"), {"mean_img": mxnet.nd.array(mean)})
    with open(Path("det.lst"), "w") as file:
        for number in range(len(SIZES)):
            labels = "".join("%g\t" % label for label in Objects((number + 1) % 5))
            file.write("%d\t%spath\n" % (number, labels))
    with open(Path("list.lst"), "w") as file:
        for number in range(len(SIZES)):
            file.write("%d\t%d\t%d\tpath\n" % (number, 10 * number, 10 * number + 1))


def WriteFiles():
    """Writes the images of one.rec as files, with lists of them, and boxes.rec."""
    records = mxnet.recordio.MXIndexedRecordIO(Path("one.idx"), Path("one.rec"), "r")
    boxes = mxnet.recordio.MXIndexedRecordIO(Path("boxes.idx"), Path("boxes.rec"), "w")
    with open(Path("files.lst"), "w") as files, open(Path("boxes.lst"), "w") as lines:
        for number in range(len(SIZES)):
            image = mxnet.recordio.unpack(records.read_idx(number))[1]
            name = "%d.%s" % (number, "png" if number == 2 else "jpg")
            with open(Path(name), "wb") as file:
                file.write(image)
            files.write("%d\t%g\t%s\n" % (number, number + 0.5, name))
            labels = Objects(number if number != 3 else 4)  # all objects have five numbers
            lines.write("%d\t%s%s\n" % (number, "".join("%g\t" % label for label in labels), name))
            boxes.write_idx(number, mxnet.recordio.pack(mxnet.recordio.IRHeader(0, labels, number, 0), image))
    boxes.close()


def Path(name):
    """Returns the path of a file, or of several with ';' between."""
    return ";".join(os.path.join("io", FOLDER, file) for file in name.split(";"))


def WriteCases(name, cases):
    with open(os.path.join("io", name), "w") as file:
        json.dump({"cases": cases}, file, indent=1)
        file.write("\n")


def DetCase(name, files=None, **options):
    options.setdefault("batch_size", 7)
    return Case(name, files or {"path_imgrec": "det.rec"}, mxnet.io.ImageDetRecordIter,
                epochs=options.pop("epochs", 1), **options)


def IterCase(name, files, iterator_type=mxnet.image.ImageIter, **options):
    """Writes a case of ImageIter or ImageDetIter."""
    options.setdefault("data_shape", (3, 8, 10))
    options.setdefault("batch_size", 7)
    epochs = options.pop("epochs", 1)
    given = {key: numpy.array(value) if key in ("mean", "std") else value for key, value in options.items()}
    if given.pop("flip", False):
        det = mxnet.image.detection
        given["aug_list"] = [det.DetHorizontalFlipAug(1)] + det.CreateDetAugmenter(options["data_shape"])
    iterator = iterator_type(**{key: Path(file) for key, file in files.items()}, **given)
    case = WriteBatches(name, files, iterator, epochs, options)
    if options.get("last_batch_handle") == "roll_over":
        # MXNet's pad is the number of new images in a batch that begins with those that were left over.
        case["pads"] = [[None] * len(pads) for pads in case["pads"]]
    return case


def Case(name, files, iterator_type=mxnet.io.ImageRecordIter, epochs=2, **options):
    """Writes the batches of a case; `files` are names by option."""
    options.setdefault("data_shape", (3, 8, 10))
    iterator = iterator_type(**{key: Path(file) for key, file in files.items()}, **options,
                             preprocess_threads=1, verbose=False)
    return WriteBatches(name, files, iterator, epochs, options)


def MeanCase(name, files, iterator_type, **options):
    """Writes a case whose iterator makes its mean image."""
    if os.path.exists(Path(files["mean_img"])):
        os.remove(Path(files["mean_img"]))
    case = Case(name, files, iterator_type, epochs=1, batch_size=7, **options)
    return {**case, "makes_mean_img": True}


def WriteBatches(name, files, iterator, epochs, options):
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
    paths = {key: ";".join(FOLDER + file for file in names.split(";")) for key, names in files.items()}
    return {"name": name, "files": paths,
            "options": options, "dtype": str(arrays["0:0:data"].dtype.__name__),
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
        Case("int8", ONE, mxnet.io.ImageRecordInt8Iter, batch_size=4, mean_r=123.68, mean_g=10.5, mean_b=-3),
        Case("cubic", ONE, batch_size=7, epochs=1, resize=15, inter_method=2),
        Case("area", ONE, batch_size=7, epochs=1, resize=8, inter_method=3, data_shape=(3, 8, 8)),
        Case("lanczos", ONE, batch_size=7, epochs=1, resize=15, inter_method=4),
        Case("auto", ONE, batch_size=7, epochs=1, inter_method=9, data_shape=(3, 26, 20)),
        Case("rotate", ONE, batch_size=7, epochs=1, rotate=30, fill_value=9),
        Case("scale", ONE, batch_size=7, epochs=1, min_random_scale=1.5, max_random_scale=1.5,
             min_aspect_ratio=1.25, max_aspect_ratio=1.25, inter_method=2),
        Case("image_size", ONE, batch_size=7, epochs=1, min_img_size=14, max_img_size=20, inter_method=4),
        Case("crop_size", ONE, batch_size=7, epochs=1, min_crop_size=5, max_crop_size=5, inter_method=9),
        Case("mean_img", {**ONE, "mean_img": "mean.params"}, batch_size=7, epochs=1, mirror=True, std_g=2.5,
             scale=0.25),
        Case("int8_mean_img", {**ONE, "mean_img": "mean.params"}, mxnet.io.ImageRecordInt8Iter, batch_size=7,
             epochs=1),
        MeanCase("made_mean_img", {**ONE, "mean_img": "made_mean.params"}, mxnet.io.ImageRecordIter, mirror=True),
        Case("files", {"path_imgrec": "one.rec;more.rec"}, batch_size=4),
        Case("files_part", {"path_imgrec": "one.rec;more.rec"}, batch_size=2, epochs=1, num_parts=3, part_index=1),
        Case("labels", TWO, batch_size=4, epochs=1, label_width=2),
        Case("list", {**ONE, "path_imglist": "list.lst"}, batch_size=4, epochs=1, label_width=2),
        Case("indexed", INDEXED, batch_size=3),
        Case("part", ONE, batch_size=2, epochs=1, num_parts=3, part_index=1),
        Case("indexed_part", INDEXED, batch_size=2, epochs=1, num_parts=3, part_index=1),
    ]
    WriteCases("image_record_iter.json", CASES)
    WriteCases("image_det_record_iter.json", [
        DetCase("det_force", batch_size=3, epochs=2),
        DetCase("det_shrink", data_shape=(3, 24, 28), resize_mode="shrink"),
        DetCase("det_fit", data_shape=(3, 24, 28), resize_mode="fit", label_pad_width=40, label_pad_value=-2),
        DetCase("det_resize", resize=12, resize_mode="shrink", data_shape=(3, 16, 17), inter_method=0),
        DetCase("det_normalized", mean_r=123.68, mean_g=116.779, mean_b=103.939, std_r=58.393, std_g=57.12,
                std_b=57.375, scale=0.5, resize_mode="fit"),
        DetCase("det_gray", data_shape=(1, 10, 8), mean_r=100),
        DetCase("det_list", {"path_imgrec": "det.rec", "path_imglist": "det.lst"}, batch_size=4),
        DetCase("det_cubic", inter_method=2),
        DetCase("det_area", inter_method=3),
        DetCase("det_lanczos", inter_method=4, resize_mode="fit"),
        DetCase("det_auto", inter_method=9, data_shape=(3, 18, 18)),
        DetCase("det_mirror", rand_mirror_prob=1),
        DetCase("det_mean_img", {"path_imgrec": "det.rec", "mean_img": "mean.params"}, std_r=3, scale=0.5),
        MeanCase("det_made_mean_img", {"path_imgrec": "det.rec", "mean_img": "made_det_mean.params"},
                 mxnet.io.ImageDetRecordIter, resize_mode="fit"),
        DetCase("det_part", batch_size=2, num_parts=3, part_index=1),
    ])
    WriteFiles()
    FILES = {"path_imglist": "files.lst", "path_root": ""}
    MEMORY = [[number + 0.5, "%d.jpg" % number] for number in (6, 0, 3, 1)]
    WriteCases("image_iter.json", [
        IterCase("iter_crop", ONE, batch_size=3, epochs=2),
        IterCase("iter_nearest", ONE, resize=12, inter_method=0),
        IterCase("iter_bilinear", ONE, resize=12, inter_method=1),
        IterCase("iter_cubic", ONE, resize=12),
        IterCase("iter_area", ONE, resize=8, inter_method=3, data_shape=(3, 8, 8)),
        IterCase("iter_lanczos", ONE, resize=12, inter_method=4),
        IterCase("iter_auto", ONE, inter_method=9, data_shape=(3, 26, 20)),
        IterCase("iter_normalized", ONE, mean=[123.68, 116.28, 103.53], std=[58.395, 57.12, 57.375]),
        IterCase("iter_labels", TWO, batch_size=4, label_width=2),
        IterCase("iter_indexed_part", INDEXED, batch_size=2, epochs=2, num_parts=3, part_index=1),
        IterCase("iter_indexed_list", {**INDEXED, "path_imglist": "list.lst"}, batch_size=4, label_width=2),
        IterCase("iter_files", FILES, batch_size=3, epochs=2),
        IterCase("iter_memory", {"path_root": ""}, batch_size=2, imglist=MEMORY),
        IterCase("iter_discard", FILES, batch_size=3, epochs=2, last_batch_handle="discard"),
        IterCase("iter_roll_over", FILES, batch_size=3, epochs=3, last_batch_handle="roll_over"),
    ])
    BOXES = {"path_imglist": "boxes.lst", "path_root": ""}
    DET = mxnet.image.ImageDetIter
    WriteCases("image_det_iter.json", [
        IterCase("det_iter_files", BOXES, DET, batch_size=3, epochs=2),
        IterCase("det_iter_records", {"path_imgrec": "boxes.rec"}, DET, batch_size=4),
        IterCase("det_iter_area", BOXES, DET, resize=15, inter_method=3),
        IterCase("det_iter_normalized", BOXES, DET, mean=[123.68, 116.28, 103.53], std=[58.395, 57.12, 57.375]),
        IterCase("det_iter_flip", BOXES, DET, flip=True),
        IterCase("det_iter_part", {"path_imgrec": "boxes.rec", "path_imgidx": "boxes.idx"}, DET, batch_size=2,
                 num_parts=3, part_index=2, last_batch_handle="discard"),
    ])
