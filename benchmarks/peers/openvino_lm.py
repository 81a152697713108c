"""OpenVINO's worker: ONNX Runtime's graph, forward only, compiled for each bucket's shape."""

import time

import protocol

# Before OpenVINO loads: the thread counts, and the stream that its messages must not reach.
FLAGS = protocol.parse_flags(__doc__)
STREAM = protocol.claim_stdout()

import numpy  # pylint: disable=wrong-import-position
import openvino  # pylint: disable=wrong-import-position

from onnx_model import LanguageModel  # pylint: disable=wrong-import-position

# Computes in float32 like the other workers. By default OpenVINO uses bfloat16 where the processor
# has it.
_CONFIG = {'PERFORMANCE_HINT': 'LATENCY', 'INFERENCE_PRECISION_HINT': 'f32', 'NUM_STREAMS': '1',
           'INFERENCE_NUM_THREADS': str(FLAGS.threads)}


class Passes:
    """Passes over the protocol's batches."""

    def __init__(self, model_bytes, batches, positions):
        self._positions = positions
        self._data = [numpy.array(batch.data, numpy.int64) for batch in batches]
        self._labels = [numpy.array(batch.label, numpy.int64) for batch in batches]
        core = openvino.Core()
        self._requests = {}  # by shape
        for data in self._data:
            if data.shape not in self._requests:
                model = core.read_model(model_bytes, b'')
                model.reshape(list(data.shape))
                compiled = core.compile_model(model, 'CPU', _CONFIG)
                self._requests[data.shape] = compiled.create_infer_request()
        self._last = 0

    def step(self, b):
        """Computes the probabilities of batch b."""
        data = self._data[b]
        self._requests[data.shape].infer([data], share_inputs=True, share_outputs=True)
        self._last = b

    def nll_per_token(self):
        """Returns the mean loss of the last step, over all positions or those without padding."""
        request = self._requests[self._data[self._last].shape]
        probabilities = request.get_output_tensor(0).data
        labels = self._positions(self._labels[self._last])
        counted = labels != protocol.PAD_ID if FLAGS.use_ignore else labels >= 0
        picked = probabilities[numpy.arange(labels.size), labels]
        return float(-numpy.log(picked[counted]).mean())


def main():
    if FLAGS.corpus or not FLAGS.forward_only:
        raise SystemExit('OpenVINO does not train here: --forward_only')
    rss_after_import = protocol.memory_mb('VmRSS')
    begin = time.perf_counter()
    model = LanguageModel(FLAGS)
    batches = protocol.flags_batches(FLAGS)
    passes = Passes(model.make().SerializeToString(), batches, model.positions)
    ready = {
        'peer': 'openvino',
        'version': f'OpenVINO {openvino.__version__}',
        'threads': FLAGS.threads,
        'parameters': model.parameters,
        'bind_s': round(time.perf_counter() - begin, 3),
        'rss_after_import_mb': rss_after_import,
    }
    protocol.serve_batches(STREAM, batches, passes.step, passes.nll_per_token, FLAGS.warmup, ready)


if __name__ == '__main__':
    main()
