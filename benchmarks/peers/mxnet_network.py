"""The worker of MXNet 1.9.1 for networks.py, and what writes its model zoo's symbols."""

import argparse
import json
import os
import sys
import time


def _save(name: str, path: str) -> None:
    import mxnet as mx  # pylint: disable=import-outside-toplevel
    net = mx.gluon.model_zoo.vision.get_model(name)
    net.initialize()
    output = mx.sym.SoftmaxOutput(net(mx.sym.var('data')), name='softmax')
    output.save(path)


def _parse_flags() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--save', nargs=2, metavar=('NAME', 'PATH'))
    parser.add_argument('--symbol')
    parser.add_argument('--shape', type=lambda text: tuple(map(int, text.split(','))))
    parser.add_argument('--train', action='store_true')
    parser.add_argument('--threads', type=int, default=2)
    return parser.parse_args()


def _bind(mx, np, flags: argparse.Namespace):
    symbol = mx.sym.load(flags.symbol)
    inputs = ('data', 'softmax_label')
    grad_req = {name: 'write' if flags.train and name not in inputs else 'null'
                for name in symbol.list_arguments()}
    executor = symbol.simple_bind(mx.cpu(), data=flags.shape, grad_req=grad_req)
    random = np.random.RandomState(1)
    for arrays in (executor.arg_dict, executor.aux_dict):
        for name, array in arrays.items():
            if len(array.shape) < 2:
                array[:] = 1 if 'gamma' in name or 'var' in name else 0
                continue
            scale = 2 / np.sqrt(array.size / array.shape[0]) if 'weight' in name else 1
            array[:] = ((random.rand(*array.shape) - 0.5) * scale).astype('float32')
    return executor


def main() -> int:
    flags = _parse_flags()
    for name in ('OMP_NUM_THREADS', 'MKL_NUM_THREADS', 'OPENBLAS_NUM_THREADS'):
        os.environ[name] = str(flags.threads)
    if flags.save:
        _save(*flags.save)
        return 0
    import mxnet as mx  # pylint: disable=import-outside-toplevel
    import numpy as np  # pylint: disable=import-outside-toplevel
    executor = _bind(mx, np, flags)

    def run(passes):
        for _ in range(passes):
            executor.forward(is_train=flags.train)
            if flags.train:
                executor.backward()
            mx.nd.waitall()

    run(2)
    print(json.dumps({'ready': True, 'peer': 'mxnet', 'version': mx.__version__}), flush=True)
    for line in sys.stdin:
        words = line.split()
        if words == ['quit']:
            break
        begin = time.perf_counter()
        run(int(words[1]))
        print(json.dumps({'passes': int(words[1]), 'elapsed_s': time.perf_counter() - begin}),
              flush=True)
    return 0


if __name__ == '__main__':
    sys.exit(main())
