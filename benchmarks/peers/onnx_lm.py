"""ONNX Runtime's worker: the same language model as an ONNX graph, forward only."""

import time

import protocol

# Before ONNX Runtime loads: the thread counts, and the stream that its messages must not reach.
FLAGS = protocol.parse_flags(__doc__)
STREAM = protocol.claim_stdout()

import numpy  # pylint: disable=wrong-import-position
import onnx  # pylint: disable=wrong-import-position
import onnxruntime  # pylint: disable=wrong-import-position

from onnx_model import LanguageModel  # pylint: disable=wrong-import-position


class Passes:
    """Passes over the protocol's batches."""

    def __init__(self, session, batches, positions):
        self._session = session
        self._positions = positions
        self._data = [numpy.array(batch.data, numpy.int64) for batch in batches]
        self._labels = [numpy.array(batch.label, numpy.int64) for batch in batches]
        self._last = 0
        self._probabilities = None

    def step(self, b):
        """Computes the probabilities of batch b."""
        self._probabilities = self._session.run(None, {'data': self._data[b]})[0]
        self._last = b

    def nll_per_token(self):
        """Returns the mean loss of the last step, over all positions or those without padding."""
        labels = self._positions(self._labels[self._last])
        counted = labels != protocol.PAD_ID if FLAGS.use_ignore else labels >= 0
        picked = self._probabilities[numpy.arange(labels.size), labels]
        return float(-numpy.log(picked[counted]).mean())


def main():
    if FLAGS.corpus or not FLAGS.forward_only:
        raise SystemExit('ONNX Runtime does not train: --forward_only')
    rss_after_import = protocol.memory_mb('VmRSS')
    begin = time.perf_counter()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = FLAGS.threads
    options.inter_op_num_threads = 1
    model = LanguageModel(FLAGS)
    graph = model.make()
    onnx.checker.check_model(graph)
    session = onnxruntime.InferenceSession(graph.SerializeToString(), options,
                                           providers=['CPUExecutionProvider'])
    ready = {
        'peer': 'onnx',
        'version': f'ONNX Runtime {onnxruntime.__version__}',
        'threads': FLAGS.threads,
        'parameters': model.parameters,
        'bind_s': round(time.perf_counter() - begin, 3),
        'rss_after_import_mb': rss_after_import,
    }
    batches = protocol.flags_batches(FLAGS)
    passes = Passes(session, batches, model.positions)
    protocol.serve_batches(STREAM, batches, passes.step, passes.nll_per_token, FLAGS.warmup, ready)


if __name__ == '__main__':
    main()
