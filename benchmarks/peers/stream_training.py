#!/usr/bin/env python3
"""Compares training from a stream of shards with training from the same sentences in memory.

    ./bazelw build //tools/lm_train
    benchmarks/peers/stream_training.py --lm_train=bazel-bin/tools/lm_train/lm_train --text=train.txt

Draws --sentences sentences from the text and writes them as one file, which lm_train holds in memory (a
BucketSentenceIter), and as compressed shards, which it reads while it trains (a BucketStream, a pool of --pool_samples
sentences). Both train the same network in the same buckets, in turns for --rounds rounds of --epochs epochs; the first
epoch of each run, in which the programs of the buckets are compiled, is left out. Prints the real words per second,
which do not count padding, the share of padding, and the share of the time that the training waited for the stream.
"""

import argparse
import gzip
import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
from typing import Any, Dict, List

BUCKETS = '6,9,12,16,20,26,36,50,70'


def write_corpus(flags: argparse.Namespace, folder: pathlib.Path) -> None:
    with open(flags.text, encoding='utf-8') as text:
        lines = [line for line in text if line.strip()]
    drawn = random.Random(1).choices(lines, k=flags.sentences)
    (folder / 'all.txt').write_text(''.join(drawn), encoding='utf-8')
    for shard in range(flags.shards):
        path = folder / f'shard-{shard:03}.txt{flags.ending}'
        part = ''.join(drawn[shard::flags.shards]).encode('utf-8')
        if flags.ending == '.gz':
            part = gzip.compress(part)
        path.write_bytes(part)
        if flags.ending == '.zst':
            packed = subprocess.run(['zstd', '-q', '-c', path], capture_output=True, check=True).stdout
            path.write_bytes(packed)


def run(flags: argparse.Namespace, train: str, folder: pathlib.Path) -> List[Dict[str, Any]]:
    """Returns the figures of the epochs but the first."""
    figures = folder / 'figures.json'
    figures.unlink(missing_ok=True)
    command = [flags.lm_train, f'--train={train}', f'--json={figures}', f'--num_epochs={flags.epochs}',
               f'--buckets={BUCKETS}', f'--max_words={flags.max_words}', f'--pool_samples={flags.pool_samples}',
               f'--num_hidden={flags.num_hidden}', f'--num_embed={flags.num_hidden}']
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr[-500:])
    return [json.loads(line) for line in figures.read_text(encoding='utf-8').splitlines()][1:]


def main(argv: List[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--lm_train', required=True)
    parser.add_argument('--text', required=True)
    parser.add_argument('--sentences', type=int, default=6000)
    parser.add_argument('--shards', type=int, default=16)
    parser.add_argument('--ending', choices=['', '.gz', '.zst'], default='.gz', help='of the shards')
    parser.add_argument('--pool_samples', type=int, default=4096)
    parser.add_argument('--max_words', type=int, default=10000)
    parser.add_argument('--num_hidden', type=int, default=200)
    parser.add_argument('--epochs', type=int, default=3)
    parser.add_argument('--rounds', type=int, default=3)
    flags = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_corpus(flags, folder)
        trains = {'memory': str(folder / 'all.txt'), 'stream': str(folder / f'shard-*.txt{flags.ending}')}
        epochs: Dict[str, List[Dict[str, Any]]] = {kind: [] for kind in trains}
        for turn in range(flags.rounds):
            for kind in sorted(trains, reverse=turn % 2 == 1):
                epochs[kind] += run(flags, trains[kind], folder)
                print(f'round {turn + 1}: {kind} {epochs[kind][-1]["real_tokens_per_s"]:,.0f}', file=sys.stderr,
                      flush=True)
    print(f'{"":8} {"words/s":>9} {"from":>9} {"to":>9} {"padding":>8} {"waiting":>8}')
    for kind, own in epochs.items():
        speeds = [epoch['real_tokens_per_s'] for epoch in own]
        padding = 1 - sum(epoch['real_tokens'] for epoch in own) / sum(epoch['padded_tokens'] for epoch in own)
        waiting = (sum(epoch.get('data', {}).get('wait_seconds', 0) for epoch in own) /
                   sum(epoch['seconds'] for epoch in own))
        print(f'{kind:8} {statistics.median(speeds):9,.0f} {min(speeds):9,.0f} {max(speeds):9,.0f} '
              f'{100 * padding:7.2f}% {100 * waiting:7.2f}%')
    ratios = [stream['real_tokens_per_s'] / memory['real_tokens_per_s']
              for stream, memory in zip(epochs['stream'], epochs['memory'])]
    print(f'stream / memory: {statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
