#!/usr/bin/env python3
"""Times image networks with cooper, MXNet 1.9.1, ONNX Runtime and OpenVINO in interleaved runs.

    benchmarks/peers/setup_venv.sh
    ./bazelw build //benchmarks:networks && \
      benchmarks/peers/networks.py --cooper=bazel-bin/benchmarks/networks --networks=resnet18_v1

The networks are those of MXNet's model zoo and three more (zoo.py), with random weights. Prediction is
a forward pass; training is a forward and a backward pass, by cooper and MXNet. A ratio is taken
within a round; the table has the medians over the rounds, and last the geometric mean. --neighbours=N
runs N busy processes of normal priority beside the workers. With --gpu, cooper (//benchmarks:networks_cuda)
is compared with PyTorch and cuDNN on a GPU. --symbols names a folder of MXNet's symbol files for machines without MXNet.
"""

import argparse
import pathlib
import subprocess
import sys

import neighbours
import turns
from worker import Worker, WorkerError

_HERE = pathlib.Path(__file__).resolve().parent
_SETTLE_S = 0.25  # outlasts the spinning of an OpenMP team that has just become idle
_RUNTIMES = ('onnx', 'openvino')  # read ONNX files, for prediction
NETWORKS = [
    'resnet18_v1', 'resnet50_v1', 'resnet152_v1', 'vgg16', 'inceptionv3', 'alexnet',
    'mobilenet1.0', 'mobilenetv2_1.0', 'densenet121', 'squeezenet1.0', 'resnext50', 'googlenet',
    'inception_bn'
]


def _parse_flags() -> argparse.Namespace:
    parser = turns.make_parser(__doc__, min_run_s=0.5)
    parser.add_argument('--networks', type=turns.items, default=NETWORKS, help=','.join(NETWORKS))
    parser.add_argument('--batch_sizes', type=turns.items, default=['1', '4', '32'])
    parser.add_argument('--peers', type=turns.some_of('mxnet', *_RUNTIMES),
                        default=['mxnet', *_RUNTIMES])
    parser.add_argument('--gpu', action='store_true', help='on a GPU, beside PyTorch')
    parser.add_argument('--python', default='', help='for PyTorch, rather than the one of --venv')
    parser.add_argument('--symbols', default='', help='a folder of NAME-symbol.json')
    parser.add_argument('--cooper_flags', type=str.split, default=[],
                        help='more flags for cooper, separated by spaces')
    flags = parser.parse_args()
    if 'mxnet' not in flags.peers:
        parser.error('--peers needs mxnet, which writes the networks')
    return flags


def _symbol_file(flags: argparse.Namespace, name: str) -> pathlib.Path:
    folder = pathlib.Path(flags.symbols) if flags.symbols else turns.venv(flags) / 'networks'
    path = folder / f'{name}-symbol.json'
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(turns.mxnet_command(flags) + ['--save', name, str(path)], check=True)
    return path


def _size(name: str) -> int:
    return 299 if name.startswith('inceptionv') else 224


def _runtime_worker(flags: argparse.Namespace, runtime: str, name: str, shapes: str) -> Worker:
    path = turns.venv(flags) / 'networks' / f'{name}.onnx'
    if not path.exists():
        export = subprocess.run(
            turns.mxnet_command(flags) + ['--export', name, str(path), str(_size(name))],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if export.returncode:
            raise WorkerError(f'cannot write {path}: {export.stderr.strip().splitlines()[-1:]}')
    python = str(turns.venv(flags) / 'onnx' / 'bin' / 'python')
    return Worker(runtime, [python, str(_HERE / 'onnx_network.py'), f'--runtime={runtime}',
                            f'--model={path}', shapes, f'--threads={flags.threads}'])


def _workers(flags: argparse.Namespace, name: str, shapes: str, mode: str) -> list:
    """Returns the workers of cooper and its peers, not started."""
    train = ['--train'] if mode == 'train' else []
    cooper = [f'--symbol={_symbol_file(flags, name)}', shapes] + train
    if not flags.gpu:
        workers = turns.make_workers(flags, cooper, flags.cooper_flags)
        if mode == 'predict':
            workers += [_runtime_worker(flags, runtime, name, shapes)
                        for runtime in _RUNTIMES if runtime in flags.peers]
        return workers
    threads = f'--threads={flags.threads}'
    python = flags.python or str(turns.venv(flags) / 'bin' / 'python')
    script = str(_HERE / 'torch_network.py')
    return [Worker('cooper', [flags.cooper, threads, '--context=gpu(0)'] + cooper +
                   flags.cooper_flags),
            Worker('torch', [python, '-W', 'ignore', script, threads, f'--network={name}',
                             shapes] + train)]


def _measure(flags: argparse.Namespace, name: str, batch_size: str, mode: str) -> dict:
    """Times a network in processes of its own. Raises WorkerError."""
    size = _size(name)
    workers = _workers(flags, name, f'--shapes=data:{batch_size},3,{size},{size}', mode)
    try:
        for worker in workers:
            worker.start(turns.TIMEOUT_S)
        measured = turns.measure(flags, workers, probe_passes=1, settle_s=_SETTLE_S)
        return {**measured, 'peak_mb': {worker.name: worker.peak_mb() for worker in workers}}
    finally:
        for worker in workers:
            worker.stop()


def _print(name: str, mode: str, batch_size: str, measured: dict) -> None:
    median = turns.medians(measured['seconds'])
    line = f'{name:16} {mode:8} {batch_size:>3}  cooper {1e3 * median["cooper"]:8.2f} ms'
    for peer, ratio in measured['ratios'].items():
        by_round = turns.ratios(measured['seconds'], peer)
        line += (f'  {peer} {1e3 * median[peer]:8.2f} ms, ratio {ratio:.2f}'
                 f' ({min(by_round):.2f} ... {max(by_round):.2f})')
    peaks = ', '.join(f'{name} {peak:.0f} MB' for name, peak in measured['peak_mb'].items())
    print(f'{line}  peak {peaks}', flush=True)


def main() -> int:
    flags = _parse_flags()
    rows = []
    with neighbours.beside(flags.neighbours):
        for name in flags.networks:
            for mode in flags.modes:
                for batch_size in flags.batch_sizes:
                    try:
                        measured = _measure(flags, name, batch_size, mode)
                    except WorkerError as error:
                        print(f'{name} {mode} {batch_size}: {error}', flush=True)
                        continue
                    rows.append({'network': name, 'mode': mode, 'batch_size': int(batch_size),
                                 **measured})
                    median = turns.medians(measured['seconds'])
                    _print(name, mode, batch_size, measured)
    turns.report(flags, rows)
    return 0


if __name__ == '__main__':
    sys.exit(main())
