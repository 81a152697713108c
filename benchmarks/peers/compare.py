#!/usr/bin/env python3
"""Times cooper beside MXNet and PyTorch: same model, same batches, one sitting, taking turns.

All workers of a work are started, bound and warmed; then each round lets every worker run once,
in an order that rotates from round to round, while the others sleep. README.md says what is
measured and how a worker talks.
"""

import argparse
import datetime
import json
import math
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import time
from typing import Any, Dict, List

import report
from worker import Worker, WorkerError

_HERE = pathlib.Path(__file__).resolve().parent
_RUN_TIMEOUT_S = 600
_SETTLE_S = 0.25  # outlasts the spinning of an OpenMP team that has just become idle
_IDLE_SHARE = 0.02  # of one core; more than this is a worker that does not sleep
_OTHER_CORES = 0.1  # taken by other programs; more than this makes the figures doubtful

# Two LSTM layers of the same width as the embedding: a word model, a character model, a small
# model in which overheads show, and a large one in which only GEMM does.
WORKS = {
    'W1': {'vocab': 10000, 'num_hidden': 200},
    'W2': {'vocab': 100, 'num_hidden': 200},
    'W3': {'vocab': 1000, 'num_hidden': 64},
    'W4': {'vocab': 10000, 'num_hidden': 650},
}

PEERS = {
    'mxnet-unrolled': ['mxnet_lm.py', '--mode=unrolled'],
    'mxnet-fused': ['mxnet_lm.py', '--mode=fused'],
    'torch': ['torch_lm.py'],
}


def _parse_flags() -> argparse.Namespace:
    def names(text):
        return [name for name in text.split(',') if name]

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--work', type=names, default=['W1', 'W2', 'W3'],
                        help='of ' + ','.join(WORKS))
    parser.add_argument('--peers', type=names, default=list(PEERS), help='of ' + ','.join(PEERS))
    parser.add_argument('--cooper', default='',
                        help='the lm_training binary; without it only the peers run')
    parser.add_argument('--cooper_cells', type=names, default=['lstm', 'fused'],
                        help='--cell of each cooper worker')
    parser.add_argument('--cooper_flags', type=str.split, default=[],
                        help='more flags for cooper, separated by spaces')
    parser.add_argument('--venv', default='~/.cache/cooper-peers', help='made by setup_venv.sh')
    parser.add_argument('--threads', type=int, default=2)
    parser.add_argument('--rounds', type=int, default=9)
    parser.add_argument('--min_run_s', type=float, default=1.0,
                        help='passes in a run: enough for the quickest worker to take this long')
    parser.add_argument('--batch_size', type=int, default=32)
    parser.add_argument('--buckets', default='10,20,30,40,50,60')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--warmup', type=int, default=2)
    parser.add_argument('--forward_only', action='store_true')
    parser.add_argument('--use_ignore', action='store_true')
    parser.add_argument('--json', default='peers.json', help='where to write everything')
    flags = parser.parse_args()
    for value, known, flag in ((flags.work, WORKS, 'work'), (flags.peers, PEERS, 'peers')):
        for name in value:
            if name not in known:
                parser.error(f'--{flag}: no "{name}" among {", ".join(known)}')
    if flags.rounds < 1:
        parser.error('--rounds: at least 1')
    return flags


def _sizes(flags: argparse.Namespace, work: str) -> Dict[str, Any]:
    """The flags that say what to compute; the same for every worker."""
    hidden = WORKS[work]['num_hidden']
    return {'vocab': WORKS[work]['vocab'], 'num_hidden': hidden, 'num_embed': hidden,
            'num_layers': 2, 'batch_size': flags.batch_size, 'buckets': flags.buckets}


def _make_workers(flags: argparse.Namespace, sizes: Dict[str, Any]) -> List[Worker]:
    common = [f'--{name}={value}' for name, value in sizes.items()]
    common += [f'--threads={flags.threads}', f'--warmup={flags.warmup}', f'--seed={flags.seed}']
    common += [f'--{name}' for name in ('forward_only', 'use_ignore') if getattr(flags, name)]
    common += ['--serve']
    workers = []
    if flags.cooper:
        for cell in flags.cooper_cells:
            workers.append(Worker(f'cooper-{cell}', [flags.cooper, f'--cell={cell}', *common,
                                                     *flags.cooper_flags]))
    python = os.path.expanduser(f'{flags.venv}/bin/python')
    for name in flags.peers:
        script, *mode = PEERS[name]
        workers.append(Worker(name, [python, str(_HERE / script), *mode, *common]))
    return workers


class Comparison:
    """The rounds of one work. A worker that fails is left out from then on, with the reason."""

    def __init__(self, workers: List[Worker]):
        self._workers = workers  # those that have not failed
        self.names = [worker.name for worker in workers]
        self.ready: Dict[str, Dict[str, Any]] = {}
        self.runs: Dict[str, List[Dict[str, Any]]] = {name: [] for name in self.names}
        self.absent: Dict[str, str] = {}
        self.restless: Dict[str, float] = {}  # worst share of a core used while idle
        self.passes = 1

    def start(self) -> None:
        """Starts the workers one after the other, so that no two warm up at once."""
        for worker in list(self._workers):
            begin = time.perf_counter()
            try:
                worker.start(_RUN_TIMEOUT_S)
            except WorkerError as error:
                self._drop(worker, error)
                continue
            self.ready[worker.name] = {'start_s': round(time.perf_counter() - begin, 2),
                                       **worker.ready}

    def calibrate(self, min_run_s: float) -> None:
        """Chooses the passes of a run, the same for all: the quickest takes min_run_s."""
        results = [result for result in map(self._run, list(self._workers)) if result]
        if results:
            quickest = min(result['elapsed_s'] for result in results)
            self.passes = max(1, math.ceil(min_run_s / quickest))

    def round(self, index: int) -> None:
        """Lets every worker run once, beginning with another one each round."""
        count = len(self._workers)
        order = [self._workers[(index + i) % count] for i in range(count)]
        for worker in order:
            result = self._run(worker)
            if result:
                self.runs[worker.name].append(result)

    def stop(self) -> None:
        for worker in self._workers:
            worker.stop()

    def _run(self, worker: Worker) -> Dict[str, Any]:
        time.sleep(_SETTLE_S)
        others = [other for other in self._workers if other is not worker]
        before = {other.name: other.cpu_seconds() for other in others}
        machine_before, worker_before = _busy_seconds(), worker.cpu_seconds()
        try:
            result = worker.run(self.passes, _RUN_TIMEOUT_S)
        except WorkerError as error:
            self._drop(worker, error)
            return {}
        foreign = _busy_seconds() - machine_before - (worker.cpu_seconds() - worker_before)
        result['other_cores'] = round(max(0.0, foreign) / result['elapsed_s'], 2)
        for other in others:
            share = (other.cpu_seconds() - before[other.name]) / result['elapsed_s']
            if share > max(_IDLE_SHARE, self.restless.get(other.name, 0.0)):
                self.restless[other.name] = round(share, 3)
        return result

    def _drop(self, worker: Worker, error: WorkerError) -> None:
        print(f'compare.py: {worker.name}: {error}', file=sys.stderr)
        worker.stop()
        self._workers.remove(worker)
        self.runs[worker.name] = []
        self.absent[worker.name] = str(error)


def _summary(comparison: Comparison, sizes: Dict[str, Any], rounds: int) -> Dict[str, Any]:
    """The comparison as data: what the table shows, and every run behind it."""
    workers: Dict[str, Any] = {}
    speeds = {}
    for name in comparison.names:
        runs = comparison.runs[name]
        if not runs:
            workers[name] = {'absent': comparison.absent.get(name, 'no run')}
            continue
        ready = comparison.ready[name]
        speeds[name] = [run['padded_tokens_per_s'] for run in runs]
        peak = max(run.get('rss_peak_mb', 0) for run in runs)
        workers[name] = {'padded_tokens_per_s': report.spread(speeds[name]),
                         'rss_peak_mb': peak,
                         'rss_growth_mb': round(peak - ready.get('rss_after_import_mb', 0), 1),
                         'start_s': ready['start_s'], 'ready': ready, 'runs': runs}
    coopers = [name for name in speeds if name.startswith('cooper-')]
    return {'sizes': sizes, 'rounds': rounds, 'passes_per_run': comparison.passes,
            'workers': workers, 'ratios': report.ratios(speeds, coopers),
            'notes': _notes(comparison, workers)}


def _notes(comparison: Comparison, workers: Dict[str, Any]) -> List[str]:
    """Whatever makes the figures doubtful: a busy machine, unlike models, divergence."""
    present = {name: result for name, result in workers.items() if 'ready' in result}
    notes = [f'{name} used {share:.0%} of a core while another worker ran'
             for name, share in comparison.restless.items()]
    others = [run['other_cores'] for result in present.values() for run in result['runs']]
    if others and max(others) > _OTHER_CORES:
        notes.append(f'the machine was not quiet: other programs took {min(others):.2f} to '
                     f'{max(others):.2f} cores (median {statistics.median(others):.2f})')
    parameters = {name: result['ready'].get('parameters') for name, result in present.items()}
    if len(set(parameters.values())) > 1:
        notes.append(f'the models differ in size: {parameters}')
    for name, result in present.items():
        nll = result['runs'][-1].get('nll_per_token')
        if nll is not None and not math.isfinite(nll):
            notes.append(f'{name} diverged: nll_per_token {nll}')
    return notes


def _busy_seconds() -> float:
    """Processor time that the whole machine has spent on anything but idling and waiting."""
    with open('/proc/stat', encoding='ascii') as stat:
        user, nice, system, _, _, irq, softirq, steal = map(int, stat.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf('SC_CLK_TCK')


def _machine() -> Dict[str, Any]:
    model = 'unknown'
    with open('/proc/cpuinfo', encoding='utf-8') as cpuinfo:
        for line in cpuinfo:
            if line.startswith('model name'):
                model = line.partition(':')[2].strip()
                break
    isa = [name for name in ('avx2', 'avx512f', 'amx_tile')
           if name in pathlib.Path('/proc/cpuinfo').read_text(encoding='utf-8').split()]
    return {'cpu': model, 'cores': os.cpu_count(), 'isa': isa, 'kernel': platform.release(),
            'memory_gb': round(os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30, 1),
            'load_average': os.getloadavg()}


def _revision() -> str:
    """The commit of the tree that this file is in, or 'unknown'."""
    done = subprocess.run(['git', 'describe', '--always', '--dirty'], cwd=_HERE, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return done.stdout.strip() or 'unknown'


def _compare(flags: argparse.Namespace, work: str) -> Dict[str, Any]:
    sizes = _sizes(flags, work)
    comparison = Comparison(_make_workers(flags, sizes))
    try:
        comparison.start()
        comparison.calibrate(flags.min_run_s)
        for index in range(flags.rounds):
            comparison.round(index)
    finally:
        comparison.stop()
    return _summary(comparison, sizes, flags.rounds)


def main() -> int:
    flags = _parse_flags()
    machine = _machine()
    mode = 'forward only' if flags.forward_only else 'training'
    print(f'{mode}, {flags.threads} thread(s); {machine["cpu"]} ({machine["cores"]} cores, '
          f'{" ".join(machine["isa"])}), load average {machine["load_average"][0]:.2f}\n')
    document = {'date': datetime.datetime.now().astimezone().isoformat(timespec='seconds'),
                'revision': _revision(), 'machine': machine, 'flags': vars(flags), 'works': {}}
    for work in flags.work:
        document['works'][work] = _compare(flags, work)
        print(report.format_work(work, document['works'][work]), flush=True)
        with open(flags.json, 'w', encoding='utf-8') as out:  # after each work: a run takes long
            json.dump(document, out, indent=1)
    measured = any('runs' in result for work in document['works'].values()
                   for result in work['workers'].values())
    return 0 if measured else 1


if __name__ == '__main__':
    sys.exit(main())
