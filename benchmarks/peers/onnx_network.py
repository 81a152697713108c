"""ONNX Runtime's worker for networks.py: prediction with a network that MXNet wrote as an ONNX file."""

import argparse
import sys

import numpy
import onnxruntime

import passes


class _Bound:
    """A session and a batch."""

    def __init__(self, path: str, shape, threads: int):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(path, options,
                                                     providers=['CPUExecutionProvider'])
        self._data = numpy.random.RandomState(1).rand(*shape).astype(numpy.float32)
        self.run(2)

    def run(self, count: int) -> None:
        for _ in range(count):
            self._session.run(None, {'data': self._data})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--model', required=True)
    parser.add_argument('--shapes', required=True, help='data:32,3,224,224')
    parser.add_argument('--threads', type=int, default=2)
    flags = parser.parse_args()
    shape = [int(extent) for extent in flags.shapes.split(':')[1].split(',')]
    bound = _Bound(flags.model, shape, flags.threads)
    passes.serve(bound.run, peer='onnx', version=onnxruntime.__version__)
    return 0


if __name__ == '__main__':
    sys.exit(main())
