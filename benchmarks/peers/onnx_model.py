"""Builds the language model of the peer benchmark as an ONNX graph, for ONNX Runtime and OpenVINO."""

import argparse
import math

import numpy
from onnx import TensorProto, helper, numpy_helper

_GATES = {'lstm': 4, 'gru': 3}


class LanguageModel:
    """Embedding, recurrent layers, a projection onto the vocabulary and its softmax."""

    def __init__(self, flags: argparse.Namespace):
        self._flags = flags
        self._random = numpy.random.default_rng(flags.seed)
        self._weights, self._nodes = [], []
        self.parameters = 0

    def make(self):
        """Returns the ONNX model: ids (batch, time) to probabilities (time * batch, vocab)."""
        self._weight('embed', (self._flags.vocab, self._flags.num_embed))
        self._constant('rows', [-1, self._features()])
        self._node('Transpose', ['data'], 'steps', perm=[1, 0])
        self._node('Gather', ['embed', 'steps'], 'layer0')
        features = self._flags.num_embed
        for layer in range(self._flags.num_layers):
            self._recurrent_layer(layer, features)
            features = self._features()
        self._weight('pred_weight', (self._flags.vocab, features))
        self._weight('pred_bias', (self._flags.vocab,))
        self._node('Reshape', [f'layer{self._flags.num_layers}', 'rows'], 'flat')
        self._node('Gemm', ['flat', 'pred_weight', 'pred_bias'], 'scores', transB=1)
        self._node('Softmax', ['scores'], 'probabilities', axis=1)
        value = helper.make_tensor_value_info
        graph = helper.make_graph(
            self._nodes, 'language_model',
            [value('data', TensorProto.INT64, ['batch', 'time'])],
            [value('probabilities', TensorProto.FLOAT, ['rows', self._flags.vocab])], self._weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8)

    def _features(self):
        return self._flags.num_hidden * (2 if self._flags.bidirectional else 1)

    def _recurrent_layer(self, layer, features):
        """Adds one layer, and turns its output (time, directions, batch, hidden) into (time, batch, all)."""
        directions = 2 if self._flags.bidirectional else 1
        rows = _GATES[self._flags.cell] * self._flags.num_hidden
        name = f'layer{layer}'
        self._weight(f'{name}_w', (directions, rows, features))
        self._weight(f'{name}_r', (directions, rows, self._flags.num_hidden))
        self._weight(f'{name}_b', (directions, 2 * rows))
        attributes = {'linear_before_reset': 1} if self._flags.cell == 'gru' else {}
        if self._flags.bidirectional:
            attributes['direction'] = 'bidirectional'
        self._node(self._flags.cell.upper(), [name, f'{name}_w', f'{name}_r', f'{name}_b'],
                   f'{name}_out', hidden_size=self._flags.num_hidden, **attributes)
        self._node('Transpose', [f'{name}_out'], f'{name}_beside', perm=[0, 2, 1, 3])
        self._constant(f'{name}_joined', [0, 0, -1])
        self._node('Reshape', [f'{name}_beside', f'{name}_joined'], f'layer{layer + 1}')

    def _node(self, op, inputs, output, **attributes):
        self._nodes.append(helper.make_node(op, inputs, [output], **attributes))

    def _constant(self, name, values):
        self._weights.append(numpy_helper.from_array(numpy.array(values, numpy.int64), name))

    def _weight(self, name, shape):
        """Adds a weight: Xavier by inputs with magnitude 2.34, as in the other workers; biases are zero."""
        bound = math.sqrt(2.34 / shape[-1])
        zero = name.endswith(('_b', '_bias'))
        values = numpy.zeros(shape) if zero else self._random.uniform(-bound, bound, shape)
        self.parameters += values.size
        self._weights.append(numpy_helper.from_array(values.astype(numpy.float32), name))
