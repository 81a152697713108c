#!/usr/bin/env python3
"""Times cooper and its peers on the same models and batches, in interleaved runs.

All workers of a work are started, bound and warmed up. Then each round lets every worker run once,
in an order that rotates from round to round, while the others sleep. README.md describes what is
measured, protocol.md the commands of workers.
"""

import argparse
import datetime
import json
import math
import os
import pathlib
import statistics
import sys
import time
from typing import Any, Dict, List

import machine
import neighbours
import report
import works
from worker import Worker, WorkerError

_HERE = pathlib.Path(__file__).resolve().parent
_RUN_TIMEOUT_S = 600
_EPOCH_TIMEOUT_S = 7200
_SETTLE_S = 0.25  # outlasts the spinning of an OpenMP team that has just become idle
_IDLE_SHARE = 0.02  # of one core; more than this is a worker that does not sleep
_OTHER_CORES = 0.1  # taken by other programs; more than this makes the figures doubtful

PEERS = {
    'mxnet-unrolled': ['mxnet_lm.py', '--mode=unrolled'],
    'mxnet-fused': ['mxnet_lm.py', '--mode=fused'],
    'torch': ['torch_lm.py'],
    'torch-compiled': ['torch_lm.py', '--compile'],
    'onnx': ['onnx_lm.py'],
    'openvino': ['openvino_lm.py'],
}
_FORWARD_ONLY = {'onnx', 'openvino', 'predictor'}  # left out where a work trains
_ON_GPUS = {'torch', 'torch-compiled'}  # those that --gpu leaves
_OF_TRANSFORMERS = {'torch', 'torch-compiled', 'onnx', 'openvino'}  # those that have the Transformer
_ONLY_TRANSFORMERS = {'torch-compiled'}  # torch.compile leaves nn.LSTM as it is
_OF_ONNX = {'onnx', 'openvino'}  # which need a newer NumPy than MXNet can use

# By form and kind of the layers: cooper's own flag. "labels" asks for no outputs but the
# probability of each label, which is all that the loss needs; "predictor" is what a server uses;
# "blocks" is the Transformer with all outputs. A form is left out where it lacks the kind.
_BLOCKS = {'transformer': True}
COOPER_CELLS = {
    'unrolled': {'lstm': {'cell': 'lstm'}, 'gru': {'cell': 'gru'}},
    'labels': {'lstm': {'cell': 'lstm'}, 'gru': {'cell': 'gru'}, 'transformer': _BLOCKS},
    'fused': {'lstm': {'cell': 'fused'}, 'gru': {'cell': 'fused_gru'}},
    'predictor': {'lstm': {'cell': 'lstm'}, 'gru': {'cell': 'gru'}, 'transformer': _BLOCKS},
    'blocks': {'transformer': _BLOCKS},
}
_FORM_FLAGS = {'labels': ['--label_probabilities'], 'predictor': ['--predictor']}


def _parse_flags(argv: List[str]) -> argparse.Namespace:
    def names(text):
        return [name for name in text.split(',') if name]

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--work', type=names, default=[],
                        help='all, or of ' + ','.join(works.WORKS) + '; W1,W2,W3 without')
    parser.add_argument('--peers', type=names, default=list(PEERS), help='of ' + ','.join(PEERS))
    parser.add_argument('--cooper', default='',
                        help='the lm_training binary; without it only the peers run')
    parser.add_argument('--cooper_cells', type=names, default=list(COOPER_CELLS),
                        help='of ' + ','.join(COOPER_CELLS))
    parser.add_argument('--cooper_flags', type=str.split, default=[],
                        help='more flags for cooper, separated by spaces')
    parser.add_argument('--gpu', action='store_true',
                        help='on a GPU: --cooper is lm_training_cuda, other peers than '
                        + ','.join(sorted(_ON_GPUS)) + ' and the limit are left out')
    parser.add_argument('--python', default='', help='for peers, rather than the one of --venv')
    parser.add_argument('--no_limit', action='store_true',
                        help='do not time the matrix products alone')
    parser.add_argument('--venv', default='~/.cache/cooper-peers', help='made by setup_venv.sh')
    parser.add_argument('--threads', type=int, default=2)
    parser.add_argument('--rounds', type=int, default=7)
    parser.add_argument('--min_run_s', type=float, default=1.0,
                        help='passes in a run: enough for the quickest worker to take this long')
    parser.add_argument('--batch_size', type=int, default=32)
    parser.add_argument('--buckets', default='10,20,30,40,50,60')
    parser.add_argument('--lr', type=float, default=0.01)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--warmup', type=int, default=2)
    parser.add_argument('--forward_only', action='store_true')
    parser.add_argument('--use_ignore', action='store_true')
    parser.add_argument('--corpus', default='', help='the text of the work "text"')
    parser.add_argument('--valid', default='', help='validates with this text after each epoch')
    parser.add_argument('--max_sentences', type=int, default=-1,
                        help='read so many of the corpus; negative: all')
    parser.add_argument('--epochs', type=int, default=1, help='over the corpus, one a round')
    neighbours.add_flag(parser)
    parser.add_argument('--json', default='peers.json', help='where to write everything')
    flags = parser.parse_args(argv)
    try:
        flags.work = works.choose(flags.work, bool(flags.corpus))
    except ValueError as error:
        parser.error(f'--work: {error}')
    for value, known, flag in ((flags.peers, PEERS, 'peers'),
                               (flags.cooper_cells, COOPER_CELLS, 'cooper_cells')):
        for name in value:
            if name not in known:
                parser.error(f'--{flag}: no "{name}" among {", ".join(known)}')
    for flag in ('rounds', 'epochs'):
        if getattr(flags, flag) < 1:
            parser.error(f'--{flag}: at least 1')
    if flags.forward_only and works.TEXT in flags.work:
        parser.error('--forward_only does not go with --corpus')
    if flags.valid and not flags.corpus:
        parser.error('--valid needs --corpus')
    return flags


def _make_workers(flags: argparse.Namespace, told: Dict[str, Any]) -> List[Worker]:
    workers = []
    on_gpu = ['--context=gpu(0)'] if flags.gpu else []
    transformer = told['cell'] == 'transformer'
    if flags.cooper:
        for form in flags.cooper_cells:
            if form in _FORWARD_ONLY and (flags.gpu or not told['forward_only']):
                continue
            if told['cell'] not in COOPER_CELLS[form]:
                continue
            own = {name: value for name, value in told.items() if name != 'cell'}
            own.update(COOPER_CELLS[form][told['cell']])
            workers.append(Worker(f'cooper-{form}', [flags.cooper, *works.arguments(own),
                                                     *_FORM_FLAGS.get(form, []), *on_gpu,
                                                     *flags.cooper_flags]))
        if not (flags.no_limit or flags.gpu or transformer or 'corpus' in told):
            workers.append(Worker(report.LIMIT, [flags.cooper, *works.arguments(told),
                                                 '--gemm_only']))
    for name in flags.peers:
        if name in _FORWARD_ONLY and not told['forward_only']:
            continue
        if flags.gpu and name not in _ON_GPUS:
            continue
        if name not in _OF_TRANSFORMERS if transformer else name in _ONLY_TRANSFORMERS:
            continue
        script, *mode = PEERS[name]
        venv = os.path.expanduser(flags.venv)
        python = f'{venv}/onnx/bin/python' if name in _OF_ONNX else f'{venv}/bin/python'
        more = ['--device=cuda'] if flags.gpu else []
        workers.append(Worker(name, [flags.python or python, str(_HERE / script), *mode, *more,
                                     *works.arguments(told)]))
    return workers


class Comparison:
    """The rounds of one work. Leaves out a worker once it has failed, and keeps the reason."""

    def __init__(self, workers: List[Worker], timeout_s: float):
        self._workers = workers  # those that have not failed
        self._timeout_s = timeout_s
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
                worker.start(self._timeout_s)
            except WorkerError as error:
                self._drop(worker, error)
                continue
            self.ready[worker.name] = {'start_s': round(time.perf_counter() - begin, 2),
                                       **worker.ready}

    def calibrate(self, min_run_s: float) -> None:
        """Chooses the passes of a run, the same for all: the fastest worker takes min_run_s."""
        results = {worker.name: self._run(worker) for worker in list(self._workers)}
        seconds = [result['elapsed_s'] for name, result in results.items()
                   if result and name != report.LIMIT]
        if seconds:
            self.passes = max(1, math.ceil(min_run_s / min(seconds)))

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
        machine_before, worker_before = machine.busy_seconds(), worker.cpu_seconds()
        begin = time.perf_counter()
        try:
            result = worker.run(self.passes, self._timeout_s)
        except WorkerError as error:
            self._drop(worker, error)
            return {}
        seconds = time.perf_counter() - begin
        foreign = machine.busy_seconds() - machine_before - (worker.cpu_seconds() - worker_before)
        result['other_cores'] = round(max(0.0, foreign) / seconds, 2)
        for other in others:
            share = (other.cpu_seconds() - before[other.name]) / seconds
            if share > max(_IDLE_SHARE, self.restless.get(other.name, 0.0)):
                self.restless[other.name] = round(share, 3)
        return result

    def _drop(self, worker: Worker, error: WorkerError) -> None:
        print(f'compare.py: {worker.name}: {error}', file=sys.stderr)
        worker.stop()
        self._workers.remove(worker)
        self.runs[worker.name] = []
        self.absent[worker.name] = str(error)


def _summary(comparison: Comparison, told: Dict[str, Any], rounds: int) -> Dict[str, Any]:
    """Returns the comparison as data: the figures of the tables, and every run."""
    workers: Dict[str, Any] = {}
    speeds = {}
    # A text's batches differ in their padding, as their order does.
    unit = 'tokens/s' if 'corpus' in told else 'padded tokens/s'
    for name in comparison.names:
        runs = comparison.runs[name]
        if not runs:
            workers[name] = {'absent': comparison.absent.get(name, 'no run')}
            continue
        ready = comparison.ready[name]
        speeds[name] = [run[unit.replace(' ', '_').replace('/', '_per_')] for run in runs]
        peak = max(run.get('rss_peak_mb', 0) for run in runs)
        workers[name] = {'speed': report.spread(speeds[name]), 'rss_peak_mb': peak,
                         'rss_growth_mb': round(peak - ready.get('rss_after_import_mb', 0), 1),
                         'start_s': ready['start_s'], 'ready': ready, 'runs': runs}
    vocab = {ready['vocab'] for ready in comparison.ready.values() if 'vocab' in ready}
    if len(vocab) == 1:
        told = {**told, 'vocab': vocab.pop()}  # a text's
    coopers = [name for name in speeds if name.startswith('cooper-')]
    return {'settings': told, 'title': works.title(told), 'unit': unit, 'rounds': rounds,
            'passes_per_run': comparison.passes, 'workers': workers,
            'ratios': report.ratios(speeds, coopers), 'notes': _notes(comparison, workers)}


def _notes(comparison: Comparison, workers: Dict[str, Any]) -> List[str]:
    """Returns reasons to doubt the figures: a busy machine, unequal models, divergence."""
    present = {name: result for name, result in workers.items() if 'ready' in result}
    notes = [f'{name} used {share:.0%} of a core while another worker ran'
             for name, share in comparison.restless.items()]
    others = [run['other_cores'] for result in present.values() for run in result['runs']]
    if others and max(others) > _OTHER_CORES:
        notes.append(f'the machine was not quiet: other programs took {min(others):.2f} to '
                     f'{max(others):.2f} cores (median {statistics.median(others):.2f})')
    parameters = {name: result['ready']['parameters'] for name, result in present.items()
                  if 'parameters' in result['ready']}
    if len(set(parameters.values())) > 1:
        notes.append(f'the models differ in size: {parameters}')
    for name, result in present.items():
        nll = report.number_or_nan(result['runs'][-1].get('nll_per_token', 0.0))
        if not math.isfinite(nll):
            notes.append(f'{name} diverged: nll_per_token {nll}')
    return notes


def _compare(flags: argparse.Namespace, work: str) -> Dict[str, Any]:
    told = works.settings(flags, work)
    on_text = 'corpus' in told
    rounds = flags.epochs if on_text else flags.rounds
    comparison = Comparison(_make_workers(flags, told),
                            _EPOCH_TIMEOUT_S if on_text else _RUN_TIMEOUT_S)
    try:
        comparison.start()
        if not on_text:  # every epoch is one of the learning curve
            comparison.calibrate(flags.min_run_s)
        for index in range(rounds):
            comparison.round(index)
    finally:
        comparison.stop()
    return _summary(comparison, told, rounds)


def _versions(document: Dict[str, Any]) -> Dict[str, str]:
    """Returns the libraries that the workers report."""
    return {name: result['ready']['version'] for work in document['works'].values()
            for name, result in work['workers'].items()
            if result.get('ready', {}).get('version')}


def _cannot_write(path: str) -> str:
    """Returns why the file cannot be written, or ''. An existing file keeps its contents."""
    was_there = os.path.exists(path)
    try:
        with open(path, 'a', encoding='utf-8'):
            pass
        if not was_there:
            os.remove(path)
        return ''
    except OSError as error:
        return str(error)


def main() -> int:
    flags = _parse_flags(sys.argv[1:])
    error = _cannot_write(flags.json)
    if error:  # told before hours of measuring
        print(f'compare.py: --json: {error}', file=sys.stderr)
        return 2
    here = machine.describe()
    print(f'{here["cpu"]} ({here["cores"]} cores, {" ".join(here["isa"])}), '
          f'load average {here["load_average"][0]:.2f}\n')
    document = {'date': datetime.datetime.now().astimezone().isoformat(timespec='seconds'),
                'revision': machine.revision(), 'machine': here, 'versions': {},
                'flags': vars(flags), 'works': {}}
    for work in flags.work:
        with neighbours.beside(flags.neighbours):
            document['works'][work] = _compare(flags, work)
        document['versions'] = _versions(document)
        with open(flags.json, 'w', encoding='utf-8') as out:  # after each work: a run takes long
            json.dump(document, out, indent=1)
        print(report.format_work(work, document['works'][work]), flush=True)
    print(report.format_summary(document['works']))
    measured = any('runs' in result for work in document['works'].values()
                   for result in work['workers'].values())
    return 0 if measured else 1


if __name__ == '__main__':
    sys.exit(main())
