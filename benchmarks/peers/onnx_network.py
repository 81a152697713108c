"""The worker of networks.py for ONNX files that MXNet wrote: prediction by ONNX Runtime or OpenVINO."""

import argparse
import sys
from typing import Callable, List

import numpy

import passes


def _onnx_runtime(path: str, data: numpy.ndarray, threads: int) -> Callable[[], None]:
    """Returns a function that computes one forward pass."""
    import onnxruntime  # pylint: disable=import-outside-toplevel
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=['CPUExecutionProvider'])
    return lambda: session.run(None, {'data': data})


def _openvino(path: str, data: numpy.ndarray, threads: int) -> Callable[[], None]:
    """Returns a function that computes one forward pass, in float32 like the other workers."""
    import openvino  # pylint: disable=import-outside-toplevel
    core = openvino.Core()
    model = core.read_model(path)
    model.reshape(list(data.shape))
    request = core.compile_model(model, 'CPU', {
        'PERFORMANCE_HINT': 'LATENCY', 'INFERENCE_PRECISION_HINT': 'f32', 'NUM_STREAMS': '1',
        'INFERENCE_NUM_THREADS': str(threads)}).create_infer_request()
    return lambda: request.infer([data], share_inputs=True, share_outputs=True)


_RUNTIMES = {'onnx': _onnx_runtime, 'openvino': _openvino}


def _shape(flag: str) -> List[int]:
    return [int(extent) for extent in flag.split(':')[1].split(',')]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--model', required=True)
    parser.add_argument('--runtime', choices=_RUNTIMES, default='onnx')
    parser.add_argument('--shapes', required=True, help='data:32,3,224,224')
    parser.add_argument('--threads', type=int, default=2)
    flags = parser.parse_args()
    data = numpy.random.RandomState(1).rand(*_shape(flags.shapes)).astype(numpy.float32)
    run_once = _RUNTIMES[flags.runtime](flags.model, data, flags.threads)

    def run(count: int) -> None:
        for _ in range(count):
            run_once()

    run(2)
    passes.serve(run, peer=flags.runtime)
    return 0


if __name__ == '__main__':
    sys.exit(main())
