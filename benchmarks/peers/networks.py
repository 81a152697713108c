#!/usr/bin/env python3
"""Times image networks with cooper and MXNet 1.9.1, taking turns: prediction and training.

    benchmarks/peers/setup_venv.sh
    ./bazelw build //benchmarks:networks && \\
      benchmarks/peers/networks.py --cooper=bazel-bin/benchmarks/networks --networks=resnet18_v1

The networks are those of MXNet's model zoo, with random weights; prediction is a forward pass,
training a forward and a backward pass. A ratio is taken within a round; the table has the medians
over the rounds, and last the geometric mean. With --neighbours=N so many busy processes of normal
priority run beside both.
"""

import argparse
import contextlib
import json
import math
import pathlib
import statistics
import subprocess
import sys
import time

import machine
from worker import Worker, WorkerError

_HERE = pathlib.Path(__file__).resolve().parent
_TIMEOUT_S = 600
_SETTLE_S = 0.25  # outlasts the spinning of an OpenMP team that has just become idle
NETWORKS = [
    'resnet18_v1', 'resnet50_v1', 'resnet152_v1', 'vgg16', 'inceptionv3', 'alexnet',
    'mobilenet1.0', 'mobilenetv2_1.0', 'densenet121', 'squeezenet1.0'
]


def _parse_flags() -> argparse.Namespace:
    def items(text):
        return [item for item in text.split(',') if item]

    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--cooper', required=True, help='the binary of //benchmarks:networks')
    parser.add_argument('--networks', type=items, default=NETWORKS, help=','.join(NETWORKS))
    parser.add_argument('--batch_sizes', type=items, default=['1', '4', '32'])
    parser.add_argument('--modes', type=items, default=['predict', 'train'])
    parser.add_argument('--venv', default='~/.cache/cooper-peers', help='made by setup_venv.sh')
    parser.add_argument('--threads', type=int, default=2)
    parser.add_argument('--rounds', type=int, default=7)
    parser.add_argument('--min_run_s', type=float, default=0.5)
    parser.add_argument('--neighbours', type=int, default=0)
    parser.add_argument('--cooper_flags', type=str.split, default=[],
                        help='more flags for cooper, separated by spaces')
    parser.add_argument('--json', default='', help='a file for all that was measured')
    return parser.parse_args()


@contextlib.contextmanager
def _neighbours(count: int):
    """So many processes that do nothing but compute."""
    busy = [subprocess.Popen([sys.executable, '-c', 'while True: pass']) for _ in range(count)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def _symbol_file(name: str, python: str, folder: pathlib.Path) -> pathlib.Path:
    path = folder / f'{name}-symbol.json'
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run([python, '-W', 'ignore', _HERE / 'mxnet_network.py', '--save', name, path],
                       check=True)
    return path


def _workers(flags: argparse.Namespace, name: str, batch_size: str, mode: str, venv: pathlib.Path):
    python = str(venv / 'bin' / 'python')
    symbol = _symbol_file(name, python, venv / 'networks')
    size = 299 if name.startswith('inception') else 224
    common = [f'--symbol={symbol}', f'--threads={flags.threads}']
    if mode == 'train':
        common.append('--train')
    common.append(f'--shapes=data:{batch_size},3,{size},{size}')
    yield Worker('cooper', [flags.cooper] + common + flags.cooper_flags)
    yield Worker('mxnet', [python, '-W', 'ignore', str(_HERE / 'mxnet_network.py')] + common)


def _measure(flags: argparse.Namespace, workers) -> dict:
    """Seconds of a pass by worker and round."""
    seconds = {worker.name: [] for worker in workers}
    for worker in workers:
        worker.start(_TIMEOUT_S)

    def run(worker, passes):
        time.sleep(_SETTLE_S)
        return worker.run(passes, _TIMEOUT_S, ['elapsed_s'])['elapsed_s'] / passes

    quickest = min(run(worker, 1) for worker in workers)
    passes = max(1, math.ceil(flags.min_run_s / quickest))
    for i in range(flags.rounds):
        for worker in workers[i % len(workers):] + workers[:i % len(workers)]:
            seconds[worker.name].append(run(worker, passes))
    return seconds


def main() -> int:
    flags = _parse_flags()
    venv = pathlib.Path(flags.venv).expanduser()
    rows = []
    with _neighbours(flags.neighbours):
        for name in flags.networks:
            for mode in flags.modes:
                for batch_size in flags.batch_sizes:
                    workers = list(_workers(flags, name, batch_size, mode, venv))
                    try:
                        seconds = _measure(flags, workers)
                    except WorkerError as error:
                        print(f'{name} {mode} {batch_size}: {error}', flush=True)
                        continue
                    finally:
                        for worker in workers:
                            worker.stop()
                    ratios = [m / c for c, m in zip(seconds['cooper'], seconds['mxnet'])]
                    rows.append({'network': name, 'mode': mode, 'batch_size': int(batch_size),
                                 'seconds': seconds, 'ratio': statistics.median(ratios)})
                    medians = {k: 1e3 * statistics.median(v) for k, v in seconds.items()}
                    print(f'{name:16} {mode:8} {batch_size:>3}  cooper {medians["cooper"]:8.1f} ms'
                          f'  mxnet {medians["mxnet"]:8.1f} ms  ratio {rows[-1]["ratio"]:.2f}'
                          f' ({min(ratios):.2f} ... {max(ratios):.2f})', flush=True)
    for mode in flags.modes:
        logs = [math.log(row['ratio']) for row in rows if row['mode'] == mode]
        if logs:
            print(f'{mode}: geometric mean {math.exp(statistics.mean(logs)):.2f}')
    if flags.json:
        record = {'machine': machine.describe(), 'revision': machine.revision(),
                  'threads': flags.threads, 'neighbours': flags.neighbours, 'rows': rows}
        pathlib.Path(flags.json).write_text(json.dumps(record, indent=1), encoding='utf-8')
    return 0


if __name__ == '__main__':
    sys.exit(main())
