#!/usr/bin/env python3
"""Compares the mean average precision of a detector that cooper and MXNet 1.9.1 train.

    ./bazelw build //examples/ssd //tools/im2rec
    benchmarks/peers/detector.py --ssd=bazel-bin/examples/ssd/ssd --im2rec=bazel-bin/tools/im2rec/im2rec

Both read the same records in the same order by ImageDetRecordIter. For each seed cooper trains
examples/ssd and saves its network and its first weights; MXNet loads both and trains as long with
the same optimizer. `check` is MXNet's precision with cooper's last weights, which says whether both
measure the same.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
from typing import Any, Dict, List, Tuple

_CLASSES = 3


def _overlap(a: List[float], b: List[float]) -> float:
    """Returns the overlap of two boxes xmin, ymin, xmax, ymax."""
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    common = max(width, 0) * max(height, 0)
    return common / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - common)


def average_precision(objects: List[Any], detections: List[Any], kind: int) -> float:
    """Returns the area under the curve of precision over recall of one class.

    Each image has lists of objects (class, box) and of detections (class, score, box). A detection is
    true if it overlaps an object that is not taken yet by more than 0.5.
    """
    outcomes: List[Tuple[float, bool]] = []
    count = 0
    for labels, found in zip(objects, detections):
        boxes = [row[1:5] for row in labels if row[0] == kind]
        count += len(boxes)
        taken = set()
        for row in sorted((row for row in found if row[0] == kind), key=lambda row: -row[1]):
            overlaps = [_overlap(box, row[2:6]) for box in boxes]
            best = max(range(len(boxes)), key=overlaps.__getitem__, default=-1)
            is_true = best >= 0 and overlaps[best] > 0.5 and best not in taken
            if is_true:
                taken.add(best)
            outcomes.append((row[1], is_true))
    outcomes.sort(key=lambda outcome: -outcome[0])
    area, best, trues = 0.0, 0.0, sum(is_true for _, is_true in outcomes)
    for rank in range(len(outcomes), 0, -1):
        best = max(best, trues / rank)
        if outcomes[rank - 1][1]:
            area += best
            trues -= 1
    return area / count


def work(flags: argparse.Namespace) -> None:
    """Trains with MXNet and prints its precision, and that of cooper's last weights."""
    import mxnet as mx  # pylint: disable=import-outside-toplevel

    def scenes(name: str) -> Any:
        return mx.io.ImageDetRecordIter(
            path_imgrec=f'{flags.folder}/{name}.rec', batch_size=8, data_shape=(3, 64, 64),
            mean_r=96, mean_g=96, mean_b=96, std_r=64, std_g=64, std_b=64, preprocess_threads=1,
            label_name='label', verbose=False)

    train, valid = scenes('train'), scenes('valid')
    symbol = mx.sym.load(f'{flags.prefix}-symbol.json')
    model = mx.mod.Module(symbol, label_names=['label'])
    model.bind(train.provide_data, train.provide_label)

    def load(epoch: int) -> None:
        _, args, auxs = mx.model.load_checkpoint(flags.prefix, epoch)
        model.init_params(arg_params=args, aux_params=auxs, force_init=True)

    def precision() -> float:
        outputs = model.predict(valid)
        objects, detections = outputs[3].asnumpy().tolist(), outputs[2].asnumpy().tolist()
        return statistics.mean(average_precision(objects, detections, i) for i in range(_CLASSES))

    load(flags.epochs)
    check = precision()
    load(0)
    model.init_optimizer(optimizer='adam',
                         optimizer_params={'learning_rate': 0.003, 'rescale_grad': 1.0})
    for _ in range(flags.epochs):
        train.reset()
        for batch in train:
            model.forward_backward(batch)
            model.update()
    print(json.dumps({'mxnet': precision(), 'check': check}), flush=True)


def call(command: List[str], **environment: str) -> str:
    """Returns the standard output of a program that has to succeed."""
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          env={**os.environ, **environment})
    if done.returncode != 0:
        raise RuntimeError(f'{command[0]}: {done.stderr[-500:]}')
    return done.stdout


def run(flags: argparse.Namespace, folder: str, seed: int) -> Dict[str, float]:
    """Returns the precisions of one seed."""
    prefix = f'{folder}/seed{seed}'
    text = call([flags.ssd, f'--train={folder}/train.rec', f'--valid={folder}/valid.rec',
                 f'--epochs={flags.epochs}', f'--seed={seed}', f'--save={prefix}'])
    python = flags.python or str(pathlib.Path(flags.venv).expanduser() / 'bin' / 'python')
    peer = call([python, '-W', 'ignore', __file__, '--worker', f'--prefix={prefix}',
                 f'--folder={folder}', f'--epochs={flags.epochs}'],
                MXNET_EXEC_INPLACE_GRAD_SUM_CAP='1000')
    return {'cooper': float(text.split()[-1]), **json.loads(peer.splitlines()[-1])}


def main(argv: List[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--ssd', help="cooper's program")
    parser.add_argument('--im2rec', help="cooper's program")
    parser.add_argument('--python', default='', help='with MXNet, rather than the one of --venv')
    parser.add_argument('--venv', default='~/.cache/cooper-peers', help='made by setup_venv.sh')
    parser.add_argument('--scenes', type=int, default=512)
    parser.add_argument('--epochs', type=int, default=8)
    parser.add_argument('--seeds', type=int, default=5)
    parser.add_argument('--worker', action='store_true', help=argparse.SUPPRESS)
    parser.add_argument('--prefix', help=argparse.SUPPRESS)
    parser.add_argument('--folder', help=argparse.SUPPRESS)
    flags = parser.parse_args(argv)
    if flags.worker:
        work(flags)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        for name, seed in ('train', 1), ('valid', 2):
            call([flags.ssd, f'--draw={folder}/{name}', f'--scenes={flags.scenes}', f'--seed={seed}'])
            call([flags.im2rec, '--pack-label', '--pass-through', f'{folder}/{name}',
                  f'{folder}/{name}'])
        results = []
        for seed in range(1, flags.seeds + 1):
            results.append(run(flags, folder, seed))
            print(f'seed {seed}: ' +
                  ', '.join(f'{name} {value:.4f}' for name, value in results[-1].items()), flush=True)
    for name in 'cooper', 'mxnet':
        values = [result[name] for result in results]
        print(f'{name:8} median {statistics.median(values):.4f} ({min(values):.4f} to {max(values):.4f})')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
