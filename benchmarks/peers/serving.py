#!/usr/bin/env python3
"""Compares cooper's predictor and ONNX Runtime under the same load of single sentences, in turns.

README.md, "Serving", describes what is measured.
"""

import argparse
import json
import os
import pathlib
import statistics
import sys
from typing import Any, Dict, Iterator, List, Tuple

import works
from worker import Worker, WorkerError

_HERE = pathlib.Path(__file__).resolve().parent


def _parse_flags(argv: List[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--work', default='W1', help='sizes of the model: W1, W2, W3, W4')
    parser.add_argument('--cooper', required=True, help='the serving binary')
    parser.add_argument('--venv', default='~/.cache/cooper-peers', help='made by setup_venv.sh')
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--seconds', type=float, default=5, help='of each measurement')
    parser.add_argument('--share', type=float, default=0.7, help='of the capacity, for the load')
    parser.add_argument('--clients', type=int, default=64, help='under way to find the capacity')
    parser.add_argument('--callers', type=int, default=16, help='threads that share the predictor')
    parser.add_argument('--servers', type=int, default=2)
    parser.add_argument('--threads', type=int, default=1, help='of each server')
    parser.add_argument('--json', default='serving.json', help='where to write everything')
    return parser.parse_args(argv)


def _start(flags: argparse.Namespace) -> List[Worker]:
    size = works.WORKS[flags.work]
    common = [f'--vocab={size["vocab"]}', f'--num_hidden={size["num_hidden"]}',
              f'--num_embed={size["num_hidden"]}', f'--threads={flags.threads}',
              f'--servers={flags.servers}']
    python = os.path.expanduser(f'{flags.venv}/onnx/bin/python')
    workers = [Worker('cooper', [flags.cooper, *common]),
               Worker('onnx', [python, str(_HERE / 'onnx_serving.py'), *common])]
    for worker in workers:
        worker.start(timeout_s=300)
    return workers


def _ask(flags: argparse.Namespace, worker: Worker, command: str, key: str) -> Dict[str, float]:
    return worker.ask(f'{command} {flags.seconds:g}', 60 + 10 * flags.seconds, (key,))


def _turns(flags: argparse.Namespace, workers: List[Worker]) -> Iterator[Worker]:
    """Yields every worker once per round, beginning with another one each time."""
    for index in range(flags.rounds):
        for i in range(len(workers)):
            yield workers[(index + i) % len(workers)]


def _in_turns(flags: argparse.Namespace, workers: List[Worker], command: str,
              key: str) -> Dict[str, Dict[str, float]]:
    """Returns the medians over the rounds of all figures that the workers answer."""
    answers: Dict[str, List[Dict[str, float]]] = {worker.name: [] for worker in workers}
    for worker in _turns(flags, workers):
        answers[worker.name].append(_ask(flags, worker, command, key))
    return {name: {field: statistics.median(answer[field] for answer in of_worker)
                   for field in of_worker[0]}
            for name, of_worker in answers.items()}


def _scaling(flags: argparse.Namespace, workers: List[Worker]) -> Dict[str, Dict[str, float]]:
    """Returns requests per second of one caller and of many, and medians of the rounds' ratios.

    Both are measured right after each other, because the speed of a machine changes over time. A first
    run, which does not count, lets the workers bind what many callers need.
    """
    rates: Dict[str, List[Tuple[float, float]]] = {worker.name: [] for worker in workers}
    rate = 'requests_per_s'
    for worker in workers:
        _ask(flags, worker, f'callers {flags.callers}', rate)
    for worker in _turns(flags, workers):
        rates[worker.name].append((_ask(flags, worker, 'callers 1', rate)[rate],
                                   _ask(flags, worker, f'callers {flags.callers}', rate)[rate]))
    return {name: {'one_caller': statistics.median(one for one, _ in of_worker),
                   'callers': statistics.median(many for _, many in of_worker),
                   'ratio': statistics.median(many / one for one, many in of_worker)}
            for name, of_worker in rates.items()}


def measure(flags: argparse.Namespace, workers: List[Worker]) -> Dict[str, Any]:
    """Returns the throughput of callers, capacity, and latency under load, by worker."""
    rate = 'requests_per_s'
    scaling = _scaling(flags, workers)
    capacity = _in_turns(flags, workers, f'clients {flags.clients}', rate)
    loads = []
    for of_whom in sorted(capacity, key=lambda name: capacity[name][rate]):
        load = flags.share * capacity[of_whom][rate]
        # If requests come faster than they are answered, latency is not defined.
        able = [worker for worker in workers if capacity[worker.name][rate] > load]
        loads.append({'of': of_whom, rate: load,
                      'answers': _in_turns(flags, able, f'load {load:.1f}', 'p99_ms')})
    return {'settings': vars(flags), 'scaling': scaling, 'capacity': capacity, 'loads': loads}


def table(result: Dict[str, Any]) -> str:
    """Formats the measurements as text."""
    rate, callers = 'requests_per_s', result['settings']['callers']
    names = list(result['capacity'])
    lines = [f'| {result["settings"]["work"]} | ' + ' | '.join(names) + ' |',
             '| --- |' + ' ---: |' * len(names)]

    def row(title: str, cells: List[str]) -> None:
        lines.append(f'| {title} | ' + ' | '.join(cells) + ' |')

    scaling = [result['scaling'][name] for name in names]
    row('one caller, sentences/s', [f'{of_worker["one_caller"]:.0f}' for of_worker in scaling])
    row(f'{callers} callers, sentences/s', [f'{of_worker["callers"]:.0f}' for of_worker in scaling])
    row(f'{callers} callers / twice one caller',
        [f'{of_worker["ratio"] / 2:.2f}' for of_worker in scaling])
    row('capacity, sentences/s', [f'{result["capacity"][name][rate]:.0f}' for name in names])
    for load in result['loads']:
        title = f'{load[rate]:.0f}/s ({result["settings"]["share"]:.0%} of {load["of"]}\'s)'
        for key, what in (('p50_ms', 'median'), ('p99_ms', '99 %')):
            row(f'{what}, ms, at {title}',
                [f'{load["answers"][name][key]:.2f}' if name in load['answers'] else '–'
                 for name in names])
    return '\n'.join(lines)


def main(argv: List[str]) -> int:
    flags = _parse_flags(argv)
    workers: List[Worker] = []
    try:
        workers = _start(flags)
        result = measure(flags, workers)
    except WorkerError as error:
        print(f'serving.py: {error}', file=sys.stderr)
        return 1
    finally:
        for worker in workers:
            worker.stop()
    print(table(result))
    pathlib.Path(flags.json).write_text(json.dumps(result, indent=1) + '\n', encoding='utf-8')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
