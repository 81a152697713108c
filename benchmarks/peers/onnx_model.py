"""Builds the language model of the peer benchmark as an ONNX graph, for ONNX Runtime and OpenVINO."""

import argparse
import math

import numpy
from onnx import TensorProto, helper, numpy_helper

_GATES = {'lstm': 4, 'gru': 3}
_HEAD = 64  # features of an attention head


class LanguageModel:
    """Embedding, recurrent layers or Transformer blocks, a projection onto the vocabulary, its softmax."""

    def __init__(self, flags: argparse.Namespace):
        self._flags = flags
        self._random = numpy.random.default_rng(flags.seed)
        self._weights, self._nodes = [], []
        self.parameters = 0

    def make(self):
        """Returns the ONNX model: ids (batch, time) to probabilities (positions, vocab)."""
        self._weight('embed', (self._flags.vocab, self._flags.num_embed))
        self._constant('rows', [-1, self._features()])
        top = self._blocks() if self._flags.cell == 'transformer' else self._recurrent_layers()
        self._weight('pred_weight', (self._flags.vocab, self._features()))
        self._weight('pred_bias', (self._flags.vocab,))
        self._node('Reshape', [top, 'rows'], 'flat')
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

    def positions(self, labels):
        """Returns labels (batch, time) in the order of the probabilities' rows."""
        return (labels if self._flags.cell == 'transformer' else labels.T).reshape(-1)

    def _recurrent_layers(self):
        """Adds the layers below the projection. Returns the value (time, batch, features)."""
        self._node('Transpose', ['data'], 'steps', perm=[1, 0])
        self._node('Gather', ['embed', 'steps'], 'layer0')
        features = self._flags.num_embed
        for layer in range(self._flags.num_layers):
            self._recurrent_layer(layer, features)
            features = self._features()
        return f'layer{self._flags.num_layers}'

    def _blocks(self):
        """Adds the Transformer of torch_lm.py below the projection. Returns the value (batch, time, width)."""
        width, most = self._flags.num_hidden, max(self._flags.buckets)
        self._weight('positions', (most, width))
        # A position attends to itself and those before it.
        self._floats('mask', numpy.triu(numpy.full((most, most), -1e9), k=1))
        for name, value in (('embed_scale', math.sqrt(width)), ('score_scale', 1 / math.sqrt(_HEAD)),
                            ('sqrt2', math.sqrt(2)), ('one', 1), ('half', .5)):
            self._floats(name, value)
        for name, values in (('zero', [0]), ('time_axis', [1]), ('both_zero', [0, 0]), ('first', [0]),
                             ('heads', [0, 0, 3, width // _HEAD, _HEAD]), ('joined', [0, 0, -1])):
            self._constant(name, values)
        self._node('Shape', ['data'], 'extents')
        self._node('Gather', ['extents', 'time_axis'], 'time')
        self._node('Concat', ['time', 'time'], 'times', axis=0)
        self._node('Slice', ['positions', 'zero', 'time', 'first'], 'own_positions')
        self._node('Slice', ['mask', 'both_zero', 'times'], 'own_mask')
        self._node('Gather', ['embed', 'data'], 'words')
        self._node('Add', ['words', 'own_positions'], 'placed')
        self._node('Mul', ['placed', 'embed_scale'], 'block0')
        for block in range(self._flags.num_layers):
            self._block(f'block{block}', f'block{block + 1}')
        return self._norm(f'block{self._flags.num_layers}', 'norm')

    def _block(self, x, out):
        """Adds causal attention and feed-forward layers, each behind a norm."""
        width = self._flags.num_hidden
        qkv = self._linear(self._norm(x, f'{x}_norm1'), f'{x}_qkv', width, 3 * width)
        self._node('Reshape', [qkv, 'heads'], f'{x}_heads')
        self._node('Transpose', [f'{x}_heads'], f'{x}_thirds', perm=[2, 0, 3, 1, 4])
        for i, name in enumerate('qkv'):
            self._constant(f'{x}_{name}_index', i)
            self._node('Gather', [f'{x}_thirds', f'{x}_{name}_index'], f'{x}_{name}')
        self._node('Transpose', [f'{x}_k'], f'{x}_k_columns', perm=[0, 1, 3, 2])
        self._node('MatMul', [f'{x}_q', f'{x}_k_columns'], f'{x}_products')
        self._node('Mul', [f'{x}_products', 'score_scale'], f'{x}_scaled')
        self._node('Add', [f'{x}_scaled', 'own_mask'], f'{x}_scores')
        self._node('Softmax', [f'{x}_scores'], f'{x}_shares', axis=-1)
        self._node('MatMul', [f'{x}_shares', f'{x}_v'], f'{x}_values')
        self._node('Transpose', [f'{x}_values'], f'{x}_beside', perm=[0, 2, 1, 3])
        self._node('Reshape', [f'{x}_beside', 'joined'], f'{x}_attention')
        projected = self._linear(f'{x}_attention', f'{x}_proj', width, width)
        self._node('Add', [x, projected], f'{x}_middle')
        wide = self._linear(self._norm(f'{x}_middle', f'{x}_norm2'), f'{x}_ff1', width, 4 * width)
        narrow = self._linear(self._gelu(wide), f'{x}_ff2', 4 * width, width)
        self._node('Add', [f'{x}_middle', narrow], out)

    def _gelu(self, x):
        """Adds the nodes that ONNX Runtime and OpenVINO recognise as GELU."""
        self._node('Div', [x, 'sqrt2'], f'{x}_ratio')
        self._node('Erf', [f'{x}_ratio'], f'{x}_erf')
        self._node('Add', [f'{x}_erf', 'one'], f'{x}_erf1')
        self._node('Mul', [x, f'{x}_erf1'], f'{x}_twice')
        self._node('Mul', [f'{x}_twice', 'half'], f'{x}_gelu')
        return f'{x}_gelu'

    def _linear(self, x, name, inputs, outputs):
        self._weight(f'{name}_w', (outputs, inputs), transposed=True)
        self._weight(f'{name}_b', (outputs,))
        self._node('MatMul', [x, f'{name}_w'], f'{name}_product')
        self._node('Add', [f'{name}_product', f'{name}_b'], name)
        return name

    def _norm(self, x, name):
        self._floats(f'{name}_gamma', numpy.ones(self._flags.num_hidden))
        self._weight(f'{name}_b', (self._flags.num_hidden,))
        self.parameters += self._flags.num_hidden
        self._node('LayerNormalization', [x, f'{name}_gamma', f'{name}_b'], name, axis=-1, epsilon=1e-5)
        return name

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

    def _floats(self, name, values):
        self._weights.append(numpy_helper.from_array(numpy.array(values, numpy.float32), name))

    def _weight(self, name, shape, transposed=False):
        """Adds a weight: Xavier by inputs with magnitude 2.34, as in the other workers; biases are zero."""
        bound = math.sqrt(2.34 / shape[-1])
        zero = name.endswith(('_b', '_bias'))
        values = numpy.zeros(shape) if zero else self._random.uniform(-bound, bound, shape)
        self.parameters += values.size
        self._floats(name, values.T if transposed else values)
