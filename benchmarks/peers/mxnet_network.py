"""MXNet 1.9.1's worker for networks.py. It also writes networks (zoo.py) as MXNet's and ONNX files."""

import argparse
import json
import os
import sys
import time


def _save(name: str, path: str) -> None:
    import mxnet as mx  # pylint: disable=import-outside-toplevel
    import zoo  # pylint: disable=import-outside-toplevel
    net = zoo.get_model(name)
    net.initialize()
    output = mx.sym.SoftmaxOutput(net(mx.sym.var('data')), name='softmax')
    output.save(path)


def _export(name: str, path: str, size: int) -> None:
    """Writes the network with random weights as an ONNX file for any number of images (size, size)."""
    import mxnet as mx  # pylint: disable=import-outside-toplevel
    import numpy as np  # pylint: disable=import-outside-toplevel
    import onnx  # pylint: disable=import-outside-toplevel
    import zoo  # pylint: disable=import-outside-toplevel
    net = zoo.get_model(name)
    net.initialize(mx.init.Xavier())
    shape = (1, 3, size, size)
    net(mx.nd.zeros(shape))
    params = {key: parameter.data() for key, parameter in net.collect_params().items()}
    mx.onnx.export_model(mx.sym.softmax(net(mx.sym.var('data'))), params, in_shapes=[shape],
                         in_types=[np.float32], onnx_file_path=path + '.part', dynamic=True,
                         dynamic_input_shapes=[('batch',) + shape[1:]])
    model = onnx.load(path + '.part')
    weights = {tensor.name for tensor in model.graph.initializer}
    inputs = [value for value in model.graph.input if value.name not in weights]
    del model.graph.input[:]  # what is an input there is no constant
    model.graph.input.extend(inputs)
    onnx.save(model, path + '.part')
    os.replace(path + '.part', path)


def _parse_flags() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--save', nargs=2, metavar=('NAME', 'PATH'))
    parser.add_argument('--export', nargs=3, metavar=('NAME', 'PATH', 'SIZE'))
    parser.add_argument('--symbol')
    parser.add_argument('--shapes')
    parser.add_argument('--train', action='store_true')
    parser.add_argument('--threads', type=int, default=2)
    return parser.parse_args()


def _values(np, random, name: str, shape: tuple):
    """Returns values of the kind that benchmarks/networks.cc draws for inputs of this name."""
    if name.startswith('ids'):
        return random.randint(0, 1000, shape)
    if name.startswith(('uint8', 'int8', 'int32')):
        return random.randint(1, 101, shape)
    uniform = random.rand(*shape).astype('float32')
    if name.startswith('positive'):
        return uniform + 0.5
    if name.startswith('probabilities'):
        return (uniform + 0.5) / shape[-1]
    if name.startswith('image_sizes'):
        return np.tile(np.float32([600, 800, 1]), (shape[0], 1))
    if name.startswith('rois'):
        first = uniform[:, 1:3] * 400
        return np.concatenate([0 * uniform[:, :1], first, first + 20 + 200 * uniform[:, 3:]], axis=1)
    if name.startswith('boxes'):
        first = uniform[..., 2:4]
        return np.concatenate([0 * uniform[..., :1], uniform[..., 1:2], first, first + 0.05], axis=-1)
    if len(shape) < 2:
        one = any(part in name for part in ('gamma', 'var', 'max'))
        return np.full(shape, 1 if one else 0)
    scale = 2 / np.sqrt(uniform.size / shape[0]) if 'weight' in name else 1
    values = (uniform - 0.5) * scale
    if name.startswith('definite'):
        values += shape[-1] * np.eye(shape[-1], dtype='float32')
    return values


def _bind(mx, np, path: str, shapes, train: bool):
    """Returns an executor and the gradients of its outputs."""
    symbol = mx.sym.load(path)
    names = symbol.list_inputs()
    fixed = [name for name in names
             if name.startswith(('ids', 'rois')) or (name == 'data' and len(names) > 1)]
    grad_req = {name: 'write' if train and name not in fixed else 'null'
                for name in symbol.list_arguments()}
    try:
        executor = symbol.simple_bind(mx.cpu(), grad_req=grad_req, **shapes)
    except RuntimeError:
        if set(names) != set(shapes):
            raise
        # MXNet infers no shapes of loops and choices by a condition.
        grads = {name: mx.nd.zeros(shapes[name]) for name, req in grad_req.items() if req == 'write'}
        executor = symbol.bind(mx.cpu(), {name: mx.nd.zeros(shapes[name]) for name in names},
                               args_grad=grads, grad_req=grad_req)
        executor.forward(is_train=train)  # sets the shapes of the outputs
    random = np.random.RandomState(1)
    for arrays in (executor.arg_dict, executor.aux_dict):
        for name, array in arrays.items():
            array[:] = _values(np, random, name, array.shape)
    return executor, [mx.nd.ones(output.shape) for output in executor.outputs]


class _Bound:
    """A bound network."""

    def __init__(self, mx, np, path: str, shapes: str, train: bool):
        self._mx = mx
        self._train = train
        named = dict(item.split(':') for item in shapes.split(';'))
        self._executor, self._heads = _bind(
            mx, np, path, {k: tuple(map(int, v.split(','))) for k, v in named.items()}, train)
        self.run(2)

    def run(self, passes: int) -> None:
        for _ in range(passes):
            self._executor.forward(is_train=self._train)
            if self._train:
                self._executor.backward(self._heads)
            self._mx.nd.waitall()


def main() -> int:
    flags = _parse_flags()
    for name in ('OMP_NUM_THREADS', 'MKL_NUM_THREADS', 'OPENBLAS_NUM_THREADS'):
        os.environ[name] = str(flags.threads)
    if flags.save:
        _save(*flags.save)
        return 0
    if flags.export:
        _export(flags.export[0], flags.export[1], int(flags.export[2]))
        return 0
    import mxnet as mx  # pylint: disable=import-outside-toplevel
    import numpy as np  # pylint: disable=import-outside-toplevel
    bound = _Bound(mx, np, flags.symbol, flags.shapes, flags.train) if flags.symbol else None
    print(json.dumps({'ready': True, 'peer': 'mxnet', 'version': mx.__version__}), flush=True)
    for line in sys.stdin:
        words = line.split()
        if words == ['quit']:
            break
        try:
            if words[0] == 'bind':
                bound = _Bound(mx, np, words[1], words[2], words[3] == 'train')
                answer = {'ready': True}
            else:
                begin = time.perf_counter()
                bound.run(int(words[1]))
                answer = {'passes': int(words[1]), 'elapsed_s': time.perf_counter() - begin}
        except Exception as error:  # pylint: disable=broad-except
            answer = {'error': str(error)[:200]}
        print(json.dumps(answer), flush=True)
    return 0


if __name__ == '__main__':
    sys.exit(main())
