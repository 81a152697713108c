"""The code that networks.py and operators.py share: runs workers on one symbol file, in turns."""

import argparse
import json
import math
import pathlib
import statistics
import time
from typing import Any, Callable, Dict, List

import machine
import neighbours
from worker import Worker

TIMEOUT_S = 600
_MXNET_WORKER = pathlib.Path(__file__).resolve().parent / 'mxnet_network.py'


def items(text: str) -> List[str]:
    """Returns the items of a flag, which are separated by commas."""
    return [item for item in text.split(',') if item]


def some_of(*known: str) -> Callable[[str], List[str]]:
    """Returns a parser of a flag that lists some of the known names, separated by commas."""
    def read(text: str) -> List[str]:
        for item in items(text):
            if item not in known:
                raise argparse.ArgumentTypeError(f"{item!r} is none of {', '.join(known)}")
        return items(text)
    return read


def make_parser(description: str, min_run_s: float) -> argparse.ArgumentParser:
    """Returns a parser of the flags that both programs have."""
    parser = argparse.ArgumentParser(description=description,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--cooper', required=True, help='the binary of //benchmarks:networks')
    parser.add_argument('--modes', type=some_of('predict', 'train'), default=['predict', 'train'])
    parser.add_argument('--venv', default='~/.cache/cooper-peers', help='made by setup_venv.sh')
    parser.add_argument('--threads', type=int, default=2)
    parser.add_argument('--rounds', type=int, default=7)
    parser.add_argument('--min_run_s', type=float, default=min_run_s)
    parser.add_argument('--json', default='', help='a file for all that was measured')
    neighbours.add_flag(parser)
    return parser


def venv(flags: argparse.Namespace) -> pathlib.Path:
    """Returns the folder that setup_venv.sh created."""
    return pathlib.Path(flags.venv).expanduser()


def mxnet_command(flags: argparse.Namespace) -> List[str]:
    """Returns the command of MXNet's worker, without flags."""
    return [str(venv(flags) / 'bin' / 'python'), '-W', 'ignore', str(_MXNET_WORKER)]


def make_workers(flags: argparse.Namespace, more: List[str],
                 cooper_flags: List[str]) -> List[Worker]:
    """Returns the workers of cooper and MXNet, not started, with the flags `more`."""
    more = [f'--threads={flags.threads}'] + more
    return [Worker('cooper', [flags.cooper] + more + cooper_flags),
            Worker('mxnet', mxnet_command(flags) + more)]


def _seconds(worker: Worker, passes: int) -> float:
    """Returns the seconds of each of the passes."""
    return worker.run(passes, TIMEOUT_S, ['elapsed_s'])['elapsed_s'] / passes


def measure_alone(flags: argparse.Namespace, worker: Worker, probe_passes: int) -> float:
    """Returns the median seconds of a pass of what the worker has bound."""
    passes = math.ceil(flags.min_run_s / _seconds(worker, probe_passes))
    return statistics.median(_seconds(worker, passes) for _ in range(flags.rounds))


def measure(flags: argparse.Namespace, workers: List[Worker], probe_passes: int,
            settle_s: float = 0) -> Dict[str, Any]:
    """Returns the seconds of a pass by worker and round, and the median ratios: the first peer's and each one's.

    The workers have bound what is to be timed. A probe of `probe_passes` passes determines how many passes
    a worker runs at a time. Waits `settle_s` before each run. Raises WorkerError.
    """
    def run(worker, passes):
        time.sleep(settle_s)
        return _seconds(worker, passes)

    passes = {worker.name: math.ceil(flags.min_run_s / run(worker, probe_passes))
              for worker in workers}
    seconds = {worker.name: [] for worker in workers}
    for i in range(flags.rounds):
        first = i % len(workers)
        for worker in workers[first:] + workers[:first]:
            seconds[worker.name].append(run(worker, passes[worker.name]))
    by_peer = {peer: statistics.median(ratios(seconds, peer)) for peer in seconds if peer != 'cooper'}
    return {'seconds': seconds, 'ratio': next(iter(by_peer.values())), 'ratios': by_peer}


def ratios(seconds: Dict[str, List[float]], peer: str) -> List[float]:
    """Returns the ratio to a peer by round; above 1 cooper is faster."""
    return [p / c for c, p in zip(seconds['cooper'], seconds[peer])]


def medians(seconds: Dict[str, List[float]]) -> Dict[str, float]:
    """Returns the medians of the seconds, by worker."""
    return {name: statistics.median(values) for name, values in seconds.items()}


def report(flags: argparse.Namespace, rows: List[Dict[str, Any]]) -> None:
    """Prints the geometric means, and writes everything to the file of --json."""
    for mode in flags.modes:
        by_peer = {}
        for row in rows:
            for peer, ratio in row['ratios'].items() if row['mode'] == mode else ():
                by_peer.setdefault(peer, []).append(ratio)
        for peer, found in by_peer.items():
            print(f'{mode}: {len(found)} rows, geometric mean beside {peer} '
                  f'{math.exp(statistics.mean(map(math.log, found))):.2f}, least {min(found):.2f}')
    if flags.json:
        record = {'machine': machine.describe(), 'revision': machine.revision(),
                  'threads': flags.threads, 'neighbours': flags.neighbours, 'rows': rows}
        pathlib.Path(flags.json).write_text(json.dumps(record, indent=1), encoding='utf-8')
