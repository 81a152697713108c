#!/usr/bin/env python3
"""Computes the cases of iterators over files under MXNet 1.9.1: io/csv_files.json, io/mnist_iter.json and
io/libsvm_iter.json, with the files that they read in io/csv, io/mnist and io/libsvm.

Usage: make_iter_cases.py, in the folder of this file."""

import json
import os
import struct

import mxnet
import numpy

RANDOM = numpy.random.RandomState(5)


def Batches(iterator, epochs=2):
    """Returns the batches of some epochs, with reset() between them."""
    result = []
    for epoch in range(epochs):
        if epoch > 0:
            iterator.reset()
        result.append([{"data": [array.asnumpy().tolist() for array in batch.data],
                        "label": [array.asnumpy().tolist() for array in batch.label],
                        "pad": batch.pad} for batch in iterator])
    return result


def Path(name):
    return os.path.join("io", name)


def WriteJson(name, cases):
    with open(Path(name), "w") as file:
        json.dump({"cases": cases}, file, indent=1)
        file.write("\n")


def Write(name, contents):
    os.makedirs(os.path.dirname(Path(name)), exist_ok=True)
    with open(Path(name), "wb") as file:
        file.write(contents if isinstance(contents, bytes) else contents.encode())
    return name


def Provided(iterator):
    return {"provide_data": [[desc.name, list(desc.shape)] for desc in iterator.provide_data],
            "provide_label": [[desc.name, list(desc.shape)] for desc in iterator.provide_label]}


def Case(iterator_type, name, files, epochs=2, **options):
    """Returns a case: `files` are paths in io/ by option, with ';' between several."""
    paths = {key: ";".join(map(Path, value.split(";"))) for key, value in files.items()}
    iterator = iterator_type(**paths, **options)
    return {"name": name, "files": files, "options": options, **Provided(iterator),
            "epochs": Batches(iterator, epochs)}


def CsvFiles():
    files = [Write("csv/rows-%d.csv" % i, "".join("%d,%d\n" % (i, row) for row in range(3)))
             for i in range(2)]
    labels = [Write("csv/labels-%d.csv" % i, "".join("%d\n" % (10 * i + row) for row in range(rows)))
              for i, rows in enumerate([1, 5])]
    # Without a line break at the end of the first file.
    cut = Write("csv/cut.csv", "7,8\n9,10")
    case = lambda name, data, **kwargs: Case(mxnet.io.CSVIter, name, data, data_shape=(2,), batch_size=4,
                                             **kwargs)
    WriteJson("csv_files.json", [
        case("two", {"data_csv": ";".join(files)}),
        case("labels", {"data_csv": ";".join(files), "label_csv": ";".join(labels)}),
        case("cut", {"data_csv": ";".join([cut, files[0]])}),
        case("not_round", {"data_csv": ";".join(files)}, round_batch=False),
    ])


def Mnist():
    images = RANDOM.randint(0, 256, (7, 3, 2), dtype=numpy.uint8)
    files = {"image": Write("mnist/images", struct.pack(">IIII", 0x803, 7, 3, 2) + images.tobytes()),
             "label": Write("mnist/labels", struct.pack(">II", 0x801, 7) + bytes(range(3, 10)))}
    case = lambda name, **kwargs: Case(mxnet.io.MNISTIter, name, files, silent=True, **kwargs)
    WriteJson("mnist_iter.json", [
        case("images", batch_size=3, shuffle=False),
        case("flat", batch_size=2, shuffle=False, flat=True),
        case("part_0", batch_size=1, shuffle=False, num_parts=3, part_index=0),
        case("part_2", batch_size=1, shuffle=False, num_parts=3, part_index=2),
    ])


def LibSvm():
    data = Write("libsvm/data.t", "1.0 0:0.5 2:1.2\n-2.0\n-3.0 0:0.6 1:2.4 2:1.2 # a comment\n4 2:-1.2\n"
                                  "\n5:2 1:3\n6 qid:3 0:1\n")
    more = Write("libsvm/more.t", "7 1:0.25\n8 0:8")
    label = Write("libsvm/label.t", "1.0\n-2.0 0:0.125\n-3.0 2:1.2\n4 1:1.0 2:-1.2\n0 1:5\n0 0:6\n")
    case = lambda name, files, **kwargs: Case(mxnet.io.LibSVMIter, name, files, data_shape=(3,), **kwargs)
    cases = [
        case("rows", {"data_libsvm": data}, batch_size=4),
        # MXNet does not survive a second epoch.
        case("labels", {"data_libsvm": data, "label_libsvm": label}, label_shape=(3,), batch_size=4,
             epochs=1),
        case("two", {"data_libsvm": data + ";" + more}, batch_size=3),
    ]
    for num_parts in 2, 3:  # of 4 parts one has no row, which MXNet does not survive
        for part in range(num_parts):
            cases.append(case("part_%d_of_%d" % (part, num_parts), {"data_libsvm": data + ";" + more},
                              batch_size=2, num_parts=num_parts, part_index=part))
    WriteJson("libsvm_iter.json", cases)


if __name__ == "__main__":
    CsvFiles()
    Mnist()
    LibSvm()
