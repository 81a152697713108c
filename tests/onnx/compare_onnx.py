#!/usr/bin/env python3
"""Exports networks as ONNX models and compares ONNX Runtime's outputs with cooper's.

    python3 -m venv ~/.cache/cooper-onnx
    ~/.cache/cooper-onnx/bin/pip install onnx onnxruntime numpy
    ./bazelw build //tools:export_onnx //tests/onnx:write_networks
    ~/.cache/cooper-onnx/bin/python tests/onnx/compare_onnx.py

Prints a table: the greatest difference, relative to the largest output of the network, at opset 13
and 17; boxes after a suppression are compared as sets. Each file must pass onnx.checker and strict
shape inference, which compares onnx's shapes with those that the file has from cooper; with the
extents of a run all outputs must get shapes.
--symbols=DIR adds the image networks of DIR, *-symbol.json, which benchmarks/peers/networks.py
writes to the folder `networks` of its environment. Exit status 1 if a network differs by more than
--tolerance or is refused; SKIPPED if the packages are missing.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy
    import onnx
    import onnxruntime
except ImportError as error:
    print(f'SKIPPED: {error}')
    sys.exit(0)

_OPSETS = (13, 17)


def _parse_flags() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--export_onnx', default='bazel-bin/tools/onnx/export_onnx')
    parser.add_argument('--write_networks', default='bazel-bin/tests/onnx/write_networks')
    parser.add_argument('--symbols', default='', help='folder of image networks')
    parser.add_argument('--only', default='', help='part of the names of the networks to compare')
    parser.add_argument('--tolerance', type=float, default=1e-4)
    return parser.parse_args()


def _array(folder: pathlib.Path, described: dict) -> numpy.ndarray:
    values = numpy.fromfile(folder / described['file'], numpy.float32)
    return values.reshape(described['shape'])


def _check_shapes(model: onnx.ModelProto, run: dict) -> None:
    """Raises unless the model is valid, and onnx infers a shape for each output of the run."""
    onnx.checker.check_model(model, full_check=True)
    onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
    fixed = onnx.ModelProto()
    fixed.CopyFrom(model)
    for value in fixed.graph.input:
        for dim, extent in zip(value.type.tensor_type.shape.dim,
                               run['inputs'][value.name]['shape']):
            dim.dim_value = extent
    del fixed.graph.value_info[:]
    for value in fixed.graph.output:
        for dim in value.type.tensor_type.shape.dim:
            dim.Clear()
    inferred = onnx.shape_inference.infer_shapes(fixed, check_type=True, strict_mode=True,
                                                 data_prop=True)
    for value, output in zip(inferred.graph.output, run['outputs']):
        shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        if shape != output['shape']:
            raise ValueError(f'{value.name}: onnx infers {shape}, cooper {output["shape"]}')


def _detection_difference(actual: numpy.ndarray, expected: numpy.ndarray) -> float:
    """Returns the greatest difference of the boxes of each image, as sets.

    Arrays are (..., boxes, 6), rows {class, score, box}, where the class -1 is none. Boxes may be
    missing if their image has another score within 1e-5: which of two comes first is rounding.
    """
    worst = 0.0
    images = (-1, *actual.shape[-2:])
    for pair in zip(actual.reshape(images), expected.reshape(images)):
        found = [rows[rows[:, 0] >= 0] for rows in pair]
        if not len(found[1]):
            raise ValueError('an image has no box, so nothing is compared')
        for rows, ours, theirs in ((pair[0], *found), (pair[1], *found[::-1])):
            for box in ours:
                difference = float(numpy.abs(theirs - box).max(axis=1).min(initial=numpy.inf))
                is_tie = (numpy.abs(rows[:, 1] - box[1]) < 1e-5).sum() > 1
                if not (is_tie and difference > 1e-4):
                    worst = max(worst, difference)
    return worst


def _difference(folder: pathlib.Path, session: onnxruntime.InferenceSession, run: dict,
                network: dict) -> float:
    """Returns the greatest difference of an output, relative to its largest element."""
    names = [value.name for value in session.get_outputs()]
    inputs = {name: _array(folder, described) for name, described in run['inputs'].items()}
    worst = 0.0
    for name, actual, described in zip(names, session.run(None, inputs), run['outputs']):
        expected = _array(folder, described)
        if actual.shape != expected.shape:
            raise ValueError(f'{name}: shape {actual.shape}, expected {expected.shape}')
        largest = max(float(numpy.abs(expected).max(initial=0)), 1e-30)
        if network['detections']:
            difference = _detection_difference(actual, expected) / largest
        else:
            difference = float(numpy.abs(actual - expected).max(initial=0)) / largest
        if not difference <= worst:  # NaN too
            worst = difference
        if not difference <= 1e-4:
            print(f'  output {name}: {difference:.1e}')
    return worst


def _compare(flags: argparse.Namespace, folder: pathlib.Path, network: dict, opset: int) -> float:
    path = folder / f'{network["name"]}.{opset}.onnx'
    export = subprocess.run(
        [flags.export_onnx, f'--shapes={network["shapes"]}', f'--opset={opset}',
         str(folder / network['name']), '0', str(path)],
        stderr=subprocess.PIPE, text=True, check=False)
    if export.returncode:
        raise ValueError(export.stderr.strip())
    model = onnx.load(path)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options, providers=['CPUExecutionProvider'])
    for run in network['runs']:
        _check_shapes(model, run)
    return max(_difference(folder, session, run, network) for run in network['runs'])


def _write(flags: argparse.Namespace, folder: pathlib.Path, *arguments) -> list:
    subprocess.run([flags.write_networks, f'--folder={folder}', *arguments], check=True)
    return json.loads((folder / 'networks.json').read_text())


def _image_networks(flags: argparse.Namespace, folder: pathlib.Path):
    """Yields the networks of --symbols, one after the other: their files are large."""
    for path in sorted(pathlib.Path(flags.symbols).glob('*-symbol.json')):
        if flags.only in path.name:
            size = 299 if path.name.startswith('inceptionv') else 224
            yield from _write(flags, folder, f'--symbol={path}', f'--shape=1,3,{size},{size}')


def _row(flags: argparse.Namespace, folder: pathlib.Path, network: dict) -> bool:
    """Compares a network, prints its row, and returns whether it agrees."""
    cells, agrees = [], True
    for opset in _OPSETS:
        try:
            worst = _compare(flags, folder, network, opset)
            cells.append(f'{worst:.1e}')
            agrees &= worst <= flags.tolerance
        except Exception as error:  # pylint: disable=broad-except
            cells.append(f'failed: {error}')
            agrees = False
    print(f'| {network["name"]} | `{network["shapes"]}` | {len(network["runs"])} | '
          f'{" | ".join(cells)} |', flush=True)
    return agrees


def main() -> int:
    flags = _parse_flags()
    print(f'onnx {onnx.__version__}, ONNX Runtime {onnxruntime.__version__}\n')
    print('| network | shapes | runs | ' + ' | '.join(f'opset {o}' for o in _OPSETS) + ' |')
    print('| --- | --- | --- |' + ' --- |' * len(_OPSETS))
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        networks = [network for network in _write(flags, folder) if flags.only in network['name']]
        for network in networks:
            failed += not _row(flags, folder, network)
        if flags.symbols:
            for network in _image_networks(flags, folder):
                failed += not _row(flags, folder, network)
                for path in folder.iterdir():
                    path.unlink()
    print(f'\n{failed} networks differ or were refused' if failed else '\nall agree')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
