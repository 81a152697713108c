"""ONNX Runtime's worker: the same language model as a graph of LSTM or GRU nodes, forward only."""

import math
import time

import protocol

# Before ONNX Runtime loads: the thread counts, and the stream that its messages must not reach.
FLAGS = protocol.parse_flags(__doc__)
STREAM = protocol.claim_stdout()

import numpy  # pylint: disable=wrong-import-position
import onnx  # pylint: disable=wrong-import-position
from onnx import TensorProto, helper, numpy_helper  # pylint: disable=wrong-import-position
import onnxruntime  # pylint: disable=wrong-import-position

_GATES = {'lstm': 4, 'gru': 3}


class LanguageModel:
    """Embedding, recurrent layers, a projection onto the vocabulary and its softmax."""

    def __init__(self):
        self._random = numpy.random.default_rng(FLAGS.seed)
        self._weights, self._nodes = [], []
        self.parameters = 0

    def make(self):
        """The ONNX model: ids (batch, time) to probabilities (time * batch, vocab)."""
        self._weight('embed', (FLAGS.vocab, FLAGS.num_embed))
        self._constant('rows', [-1, self._features()])
        self._node('Transpose', ['data'], 'steps', perm=[1, 0])
        self._node('Gather', ['embed', 'steps'], 'layer0')
        features = FLAGS.num_embed
        for layer in range(FLAGS.num_layers):
            self._recurrent_layer(layer, features)
            features = self._features()
        self._weight('pred_weight', (FLAGS.vocab, features))
        self._weight('pred_bias', (FLAGS.vocab,))
        self._node('Reshape', [f'layer{FLAGS.num_layers}', 'rows'], 'flat')
        self._node('Gemm', ['flat', 'pred_weight', 'pred_bias'], 'scores', transB=1)
        self._node('Softmax', ['scores'], 'probabilities', axis=1)
        value = helper.make_tensor_value_info
        graph = helper.make_graph(
            self._nodes, 'language_model',
            [value('data', TensorProto.INT64, ['batch', 'time'])],
            [value('probabilities', TensorProto.FLOAT, ['rows', FLAGS.vocab])], self._weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8)

    @staticmethod
    def _features():
        return FLAGS.num_hidden * (2 if FLAGS.bidirectional else 1)

    def _recurrent_layer(self, layer, features):
        """One layer; its output (time, directions, batch, hidden) becomes (time, batch, all)."""
        directions = 2 if FLAGS.bidirectional else 1
        rows = _GATES[FLAGS.cell] * FLAGS.num_hidden
        name = f'layer{layer}'
        self._weight(f'{name}_w', (directions, rows, features))
        self._weight(f'{name}_r', (directions, rows, FLAGS.num_hidden))
        self._weight(f'{name}_b', (directions, 2 * rows))
        attributes = {'linear_before_reset': 1} if FLAGS.cell == 'gru' else {}
        if FLAGS.bidirectional:
            attributes['direction'] = 'bidirectional'
        self._node(FLAGS.cell.upper(), [name, f'{name}_w', f'{name}_r', f'{name}_b'],
                   f'{name}_out', hidden_size=FLAGS.num_hidden, **attributes)
        self._node('Transpose', [f'{name}_out'], f'{name}_beside', perm=[0, 2, 1, 3])
        self._constant(f'{name}_joined', [0, 0, -1])
        self._node('Reshape', [f'{name}_beside', f'{name}_joined'], f'layer{layer + 1}')

    def _node(self, op, inputs, output, **attributes):
        self._nodes.append(helper.make_node(op, inputs, [output], **attributes))

    def _constant(self, name, values):
        self._weights.append(numpy_helper.from_array(numpy.array(values, numpy.int64), name))

    def _weight(self, name, shape):
        """Xavier by inputs with magnitude 2.34, as the other workers; biases are zero."""
        bound = math.sqrt(2.34 / shape[-1])
        zero = name.endswith(('_b', '_bias'))
        values = numpy.zeros(shape) if zero else self._random.uniform(-bound, bound, shape)
        self.parameters += values.size
        self._weights.append(numpy_helper.from_array(values.astype(numpy.float32), name))


class Passes:
    """Passes over the protocol's batches."""

    def __init__(self, session, batches):
        self._session = session
        self._data = [numpy.array(batch.data, numpy.int64) for batch in batches]
        self._labels = [numpy.array(batch.label, numpy.int64) for batch in batches]
        self._last = 0
        self._probabilities = None

    def step(self, b):
        """Batch b to probabilities."""
        self._probabilities = self._session.run(None, {'data': self._data[b]})[0]
        self._last = b

    def nll_per_token(self):
        """Of the last step, over all positions or those that are no padding."""
        labels = self._labels[self._last].T.reshape(-1)
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
    model = LanguageModel()
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
    passes = Passes(session, batches)
    protocol.serve_batches(STREAM, batches, passes.step, passes.nll_per_token, FLAGS.warmup, ready)


if __name__ == '__main__':
    main()
