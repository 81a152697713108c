#!/usr/bin/env python3
"""Times single operators with cooper and a peer in interleaved runs: prediction and training.

    ./bazelw build //benchmarks:networks && \
      benchmarks/peers/operators.py --cooper=bazel-bin/benchmarks/networks

Sizes are those that networks use. The table has, for each operator and mode, the median ratio over
the rounds (above 1: cooper is faster), the slowest first; last the geometric means. Files of --json
also have cooper's limit for each row (benchmarks/pass_limit.h). Where only cooper has the operator,
a line has its time and its share of the limit. The peer is MXNet 1.9.1, or PyTorch with --peer=torch.
With --gpu, cooper (//benchmarks:networks_cuda) is compared with PyTorch on a GPU, on the sizes of
gpu_operators.py. Rows beyond the layers of networks are in mxnet_operators.py.
"""

import argparse
import json
import pathlib
import re
import sys
import tempfile
from typing import Dict, List, Tuple

import neighbours
import turns
from gpu_operators import GPU_OPERATORS
from mxnet_operators import MXNET_OPERATORS, PREDICT_ONLY
from worker import Worker, WorkerError

_IMAGE = (4, 64, 56, 56)
_ROWS = (2048, 512)

# Name, operator, shapes of the inputs, attributes.
OPERATORS: List[Tuple[str, str, Dict[str, tuple], dict]] = [
    ('conv 3x3', 'Convolution', {'data': _IMAGE}, {'kernel': (3, 3), 'pad': (1, 1), 'num_filter': 64}),
    ('conv 1x1', 'Convolution', {'data': _IMAGE}, {'kernel': (1, 1), 'num_filter': 256}),
    ('conv 7x7', 'Convolution', {'data': (4, 3, 224, 224)},
     {'kernel': (7, 7), 'stride': (2, 2), 'pad': (3, 3), 'num_filter': 64}),
    ('conv 5x5 odd', 'Convolution', {'data': (4, 30, 28, 28)},
     {'kernel': (5, 5), 'pad': (2, 2), 'num_filter': 50}),
    ('conv grouped', 'Convolution', {'data': (4, 128, 56, 56)},
     {'kernel': (3, 3), 'pad': (1, 1), 'num_filter': 128, 'num_group': 32}),
    ('conv depthwise', 'Convolution', {'data': (4, 128, 56, 56)},
     {'kernel': (3, 3), 'pad': (1, 1), 'num_filter': 128, 'num_group': 128}),
    ('conv dilated', 'Convolution', {'data': _IMAGE},
     {'kernel': (3, 3), 'pad': (2, 2), 'dilate': (2, 2), 'num_filter': 64}),
    ('conv 1d', 'Convolution', {'data': (16, 64, 400)},
     {'kernel': (5,), 'pad': (2,), 'num_filter': 128}),
    ('conv 3d', 'Convolution', {'data': (2, 16, 16, 56, 56)},
     {'kernel': (3, 3, 3), 'pad': (1, 1, 1), 'num_filter': 32}),
    ('deconv 4x4', 'Deconvolution', {'data': (4, 64, 28, 28)},
     {'kernel': (4, 4), 'stride': (2, 2), 'pad': (1, 1), 'num_filter': 32}),
    ('max pool 3x3', 'Pooling', {'data': (4, 64, 112, 112)},
     {'kernel': (3, 3), 'stride': (2, 2), 'pad': (1, 1), 'pool_type': 'max'}),
    ('max pool 2x2', 'Pooling', {'data': (4, 64, 112, 112)},
     {'kernel': (2, 2), 'stride': (2, 2), 'pool_type': 'max'}),
    ('avg pool 3x3', 'Pooling', {'data': _IMAGE},
     {'kernel': (3, 3), 'pad': (1, 1), 'pool_type': 'avg'}),
    ('global avg pool', 'Pooling', {'data': (4, 512, 14, 14)},
     {'kernel': (1, 1), 'global_pool': True, 'pool_type': 'avg'}),
    ('global max pool', 'Pooling', {'data': (4, 512, 14, 14)},
     {'kernel': (1, 1), 'global_pool': True, 'pool_type': 'max'}),
    ('adaptive avg pool', '_contrib_AdaptiveAvgPooling2D', {'data': _IMAGE}, {'output_size': 7}),
    ('adaptive global', '_contrib_AdaptiveAvgPooling2D', {'data': (4, 512, 14, 14)}, {}),
    ('batch norm', 'BatchNorm', {'data': _IMAGE}, {'fix_gamma': False}),
    ('layer norm', 'LayerNorm', {'data': _ROWS}, {}),
    ('instance norm', 'InstanceNorm', {'data': _IMAGE}, {}),
    ('l2 norm', 'L2Normalization', {'data': _ROWS}, {}),
    ('lrn', 'LRN', {'data': (4, 96, 55, 55)}, {'nsize': 5}),
    ('fully connected', 'FullyConnected', {'data': (32, 4096)}, {'num_hidden': 1000}),
    ('softmax', 'softmax', {'data': _ROWS}, {}),
    ('log softmax', 'log_softmax', {'data': _ROWS}, {}),
    ('softmax output', 'SoftmaxOutput', {'data': (128, 10000)}, {}),
    ('relu', 'Activation', {'data': _IMAGE}, {'act_type': 'relu'}),
    ('sigmoid', 'Activation', {'data': _IMAGE}, {'act_type': 'sigmoid'}),
    ('tanh', 'Activation', {'data': _IMAGE}, {'act_type': 'tanh'}),
    ('leaky relu', 'LeakyReLU', {'data': _IMAGE}, {'act_type': 'leaky'}),
    ('prelu', 'LeakyReLU', {'data': _IMAGE}, {'act_type': 'prelu'}),
    ('elu', 'LeakyReLU', {'data': _IMAGE}, {'act_type': 'elu'}),
    ('dropout', 'Dropout', {'data': _ROWS}, {'p': 0.5}),
    ('uniform', '_random_uniform_like', {'data': _ROWS}, {}),
    ('normal', '_random_normal_like', {'data': _ROWS}, {}),
    ('gamma', '_random_gamma_like', {'data': _ROWS}, {'alpha': 2}),
    ('poisson', '_random_poisson_like', {'data': _ROWS}, {'lam': 4}),
    ('exp', 'exp', {'data': _ROWS}, {}),
    ('sqrt', 'sqrt', {'data': _ROWS}, {}),
    ('add', 'elemwise_add', {'lhs': _IMAGE, 'rhs': _IMAGE}, {}),
    ('mul', 'elemwise_mul', {'lhs': _IMAGE, 'rhs': _IMAGE}, {}),
    ('broadcast add', 'broadcast_add', {'lhs': _IMAGE, 'rhs': (1, 64, 1, 1)}, {}),
    ('broadcast mul', 'broadcast_mul', {'lhs': _ROWS, 'rhs': (2048, 1)}, {}),
    ('where', 'where', {'condition': _ROWS, 'x': _ROWS, 'y': _ROWS}, {}),
    ('clip', 'clip', {'data': _ROWS}, {'a_min': -0.2, 'a_max': 0.3}),
    ('sum', 'sum', {'data': _ROWS}, {'axis': 1}),
    ('sum of columns', 'sum', {'data': _ROWS}, {'axis': 0}),
    ('mean of images', 'mean', {'data': _IMAGE}, {'axis': (2, 3)}),
    ('max', 'max', {'data': _ROWS}, {'axis': 1}),
    ('argmax', 'argmax', {'data': _ROWS}, {'axis': 1}),
    ('sort', 'sort', {'data': _ROWS}, {}),
    ('argsort', 'argsort', {'data': _ROWS}, {}),
    ('topk', 'topk', {'data': _ROWS}, {'k': 10}),
    ('embedding', 'Embedding', {'ids': (32, 60)}, {'input_dim': 10000, 'output_dim': 200}),
    ('take', 'take', {'a': (10000, 200), 'ids': (32, 60)}, {}),
    ('one hot', 'one_hot', {'ids': (32, 60)}, {'depth': 1000}),
    ('pick', 'pick', {'x': (2048, 1000), 'ids': (2048,)}, {}),
    ('gather_nd', 'gather_nd', {'x': (1000, 200), 'ids': (1, 4096)}, {}),
    ('transpose', 'transpose', {'data': (2048, 1024)}, {}),
    ('transpose of images', 'transpose', {'data': _IMAGE}, {'axes': (0, 2, 3, 1)}),
    ('swap axes', 'SwapAxis', {'data': (32, 60, 200)}, {'dim1': 0, 'dim2': 1}),
    ('slice', 'slice_axis', {'data': _ROWS}, {'axis': 1, 'begin': 10, 'end': 400}),
    ('reverse', 'reverse', {'data': _ROWS}, {'axis': 1}),
    ('tile', 'tile', {'data': (512, 128)}, {'reps': (2, 4)}),
    ('repeat', 'repeat', {'data': (512, 128)}, {'repeats': 4, 'axis': 1}),
    ('pad', 'Pad', {'data': _IMAGE},
     {'mode': 'constant', 'pad_width': (0, 0, 0, 0, 2, 2, 2, 2), 'constant_value': 0}),
    ('pad reflect', 'Pad', {'data': _IMAGE},
     {'mode': 'reflect', 'pad_width': (0, 0, 0, 0, 2, 2, 2, 2)}),
    ('concat', 'Concat', {'x0': _IMAGE, 'x1': _IMAGE}, {'dim': 1, 'num_args': 2}),
    ('stack', 'stack', {'x0': _ROWS, 'x1': _ROWS}, {'axis': 1, 'num_args': 2}),
    ('upsampling', 'UpSampling', {'x': (4, 64, 28, 28)},
     {'scale': 2, 'sample_type': 'nearest', 'num_args': 1}),
    ('bilinear resize', '_contrib_BilinearResize2D', {'data': _IMAGE}, {'height': 80, 'width': 80}),
    ('bilinear sampler', 'BilinearSampler', {'data': _IMAGE, 'grid': (4, 2, 56, 56)}, {}),
    ('depth to space', 'depth_to_space', {'data': (4, 64, 56, 56)}, {'block_size': 2}),
    ('dot', 'dot', {'lhs': (512, 512), 'rhs': (512, 512)}, {}),
    ('batch dot', 'batch_dot', {'lhs': (64, 60, 64), 'rhs': (64, 64, 60)}, {}),
    ('correlation', 'Correlation', {'x': (2, 32, 32, 48), 'y': (2, 32, 32, 48)},
     {'kernel_size': 1, 'max_displacement': 4, 'stride1': 1, 'stride2': 1, 'pad_size': 4}),
    ('roi pooling', 'ROIPooling', {'x': (1, 256, 38, 50), 'ids': (32, 5)},
     {'pooled_size': (7, 7), 'spatial_scale': 0.01}),
    ('sequence mask', 'SequenceMask', {'x': (60, 32, 200), 'ids': (32,)},
     {'use_sequence_length': True}),
    ('ctc loss', 'CTCLoss', {'x': (100, 16, 1001), 'ids': (16, 20)}, {}),
    ('square sum', 'square', {'data': _ROWS}, {}),
    ('gelu', 'LeakyReLU', {'data': _ROWS}, {'act_type': 'gelu'}),
    ('softrelu', 'Activation', {'data': _ROWS}, {'act_type': 'softrelu'}),
    ('erf', 'erf', {'data': _ROWS}, {}),
    ('expm1', 'expm1', {'data': _ROWS}, {}),
    ('log', 'log', {'data': _ROWS}, {}),
    ('log1p', 'log1p', {'data': _ROWS}, {}),
    ('power', '_power', {'lhs': _ROWS, 'rhs': _ROWS}, {}),
    ('cumsum', '_np_cumsum', {'data': _ROWS}, {'axis': 1}),
    ('cumsum of columns', '_np_cumsum', {'data': _ROWS}, {'axis': 0}),
    ('sum of few columns', 'sum', {'data': (131072, 8)}, {'axis': 0}),
    ('sum of short rows', 'sum', {'data': (131072, 8)}, {'axis': 1}),
    *MXNET_OPERATORS,
]
# The peer's idle OpenMP team spins for some milliseconds after its run, on the cores that cooper's next
# run needs.
_SETTLE_S = 0.02
# A pass reads a part of an input: no limit follows from the inputs' sizes.
_READ_IN_PART = {
    'boolean mask', 'deformable psroi pooling', 'embedding', 'gather_nd', 'image crop', 'image resize',
    'multibox prior', 'np diag', 'np diagonal', 'pick', 'psroi pooling', 'roi align', 'roi pooling',
    'sequence mask', 'slice', 'take'
}
# Without a gradient; that of sort fails in MXNet.
_PREDICT_ONLY = {
    'argmax', 'argmax of a line', 'argmax of columns', 'argsort', 'box nms', 'gamma', 'normal',
    'one hot', 'poisson', 'sort', 'sort of a line', 'topk of rows', 'uniform', *PREDICT_ONLY
}
# MXNet's numbers of the dtypes of inputs whose names begin with them; others are float32.
_DTYPES = {'uint8': 3, 'int32': 4, 'int8': 5}


def _parse_flags() -> argparse.Namespace:
    parser = turns.make_parser(__doc__, min_run_s=0.02)
    parser.add_argument('--operators', type=turns.items, default=[], help='names of the table; all')
    parser.add_argument('--peer', choices=('mxnet', 'torch'), default='mxnet')
    parser.add_argument('--gpu', action='store_true', help='on a GPU, beside PyTorch')
    parser.add_argument('--python', default='', help='for PyTorch, rather than the one of --venv')
    return parser.parse_args()


def _write_symbol(path: pathlib.Path, op: str, shapes: Dict[str, tuple], attrs: dict,
                  arguments: List[str]) -> None:
    """Writes a symbol file of one operator. Inputs without a given shape are variables with MXNet's names."""
    if op.endswith('.json'):
        text = (pathlib.Path(__file__).resolve().parents[2] / op).read_text(encoding='utf-8')
        for key, value in attrs.items():
            text = re.sub(rf'"{key}": "\d+"', f'"{key}": "{value}"', text)
        path.write_text(text, encoding='utf-8')
        return
    names = list(shapes) + arguments[len(shapes):]
    nodes = [{'op': 'null', 'name': name, 'inputs': [],
              'attrs': {'__dtype__': str(number) for dtype, number in _DTYPES.items()
                        if name.startswith(dtype)}} for name in names]
    nodes.append({'op': op, 'name': 'op', 'attrs': {k: str(v) for k, v in attrs.items()},
                  'inputs': [[i, 0, 0] for i in range(len(names))]})
    path.write_text(json.dumps({
        'nodes': nodes, 'arg_nodes': list(range(len(names))), 'heads': [[len(names), 0, 0]],
        'attrs': {'mxnet_version': ['int', 10901]}}), encoding='utf-8')


# Inputs beyond those whose shapes the table gives.
_MORE = {
    'Convolution': ['data', 'op_weight', 'op_bias'], 'Deconvolution': ['data', 'op_weight'],
    'BatchNorm': ['data', 'op_gamma', 'op_beta', 'op_moving_mean', 'op_moving_var'],
    'LayerNorm': ['data', 'op_gamma', 'op_beta'], 'InstanceNorm': ['data', 'op_gamma', 'op_beta'],
    'FullyConnected': ['data', 'op_weight', 'op_bias'], 'Embedding': ['ids', 'op_weight'],
    'SoftmaxOutput': ['data', 'op_label'], 'LeakyReLU': ['data', 'op_gamma'],
}


def _modes(flags: argparse.Namespace, name: str, op: str) -> List[str]:
    """Returns the modes in which the operator computes something."""
    left_out = {'predict'} if op == 'Dropout' else {'train'} if name in _PREDICT_ONLY else set()
    return [mode for mode in flags.modes if mode not in left_out]


def _workers(flags: argparse.Namespace) -> List[Worker]:
    """Returns the workers of cooper and its peer, not started."""
    if not flags.gpu and flags.peer == 'mxnet':
        return turns.make_workers(flags, [], [])
    threads = f'--threads={flags.threads}'
    python = flags.python or str(turns.venv(flags) / 'bin' / 'python')
    script = str(pathlib.Path(__file__).resolve().parent / 'torch_operator.py')
    context = ['--context=gpu(0)'] if flags.gpu else []
    device = '--device=' + ('cuda' if flags.gpu else 'cpu')
    return [Worker('cooper', [flags.cooper, threads, *context]),
            Worker('torch', [python, '-W', 'ignore', script, threads, device])]


def _line(row: dict) -> str:
    times = '  '.join(f'{name} {1e6 * seconds:9.1f} us'
                      for name, seconds in turns.medians(row['seconds']).items())
    return f'{row["operator"]:23} {row["mode"]:8} {times}  ratio {row["ratio"]:.2f}'


def _limit_s(name: str, worker: Worker) -> float:
    """Returns the least seconds of what cooper's worker has bound; 0 if none follows from the sizes."""
    if name in _READ_IN_PART:
        return 0
    return worker.ask('limit', turns.TIMEOUT_S, ['limit_s'])['limit_s']


def _line_alone(flags: argparse.Namespace, name: str, mode: str, worker: Worker) -> str:
    """Returns the time of what cooper's worker has bound, where the peer has no such operator."""
    seconds = turns.measure_alone(flags, worker, probe_passes=5)
    limit = _limit_s(name, worker)
    share = f', {100 * limit / seconds:.0f} % of the limit' if limit else ''
    return f'{name:23} {mode:8} cooper {1e6 * seconds:9.1f} us{share}'


def _measure_all(flags: argparse.Namespace, workers: List[Worker],
                 folder: pathlib.Path) -> List[dict]:
    """Returns a row for each operator and mode that both workers can run."""
    rows = []
    for name, op, shapes, attrs in GPU_OPERATORS if flags.gpu else OPERATORS:
        if flags.operators and name not in flags.operators:
            continue
        path = folder / (name.replace(' ', '_') + '-symbol.json')
        more = [] if op == 'LeakyReLU' and name != 'prelu' else _MORE.get(op, [])
        _write_symbol(path, op, shapes, attrs, more)
        text = ';'.join(f'{k}:{",".join(map(str, v))}' for k, v in shapes.items())
        for mode in _modes(flags, name, op):
            bound = 0
            try:
                for worker in workers:
                    worker.bind(str(path), text, mode, turns.TIMEOUT_S)
                    bound += 1
                measured = turns.measure(flags, workers, probe_passes=5, settle_s=_SETTLE_S)
            except WorkerError as error:
                print(f'{name} {mode}: {error}', flush=True)
                if bound == 1:
                    print(_line_alone(flags, name, mode, workers[0]), flush=True)
                continue
            rows.append({'operator': name, 'mode': mode, **measured})
            if not flags.gpu and name not in _READ_IN_PART:
                rows[-1]['limit_s'] = _limit_s(name, workers[0])
            print(_line(rows[-1]), flush=True)
    return rows


def main() -> int:
    flags = _parse_flags()
    workers = _workers(flags)
    try:
        for worker in workers:
            worker.start(turns.TIMEOUT_S)
        with tempfile.TemporaryDirectory() as folder, neighbours.beside(flags.neighbours):
            rows = _measure_all(flags, workers, pathlib.Path(folder))
    finally:
        for worker in workers:
            worker.stop()
    print('\nThe slowest first:')
    for row in sorted(rows, key=lambda row: row['ratio']):
        print(_line(row))
    turns.report(flags, rows)
    return 0


if __name__ == '__main__':
    sys.exit(main())
