#!/usr/bin/env python3
"""Compares the data of a bucketed language model alone: reading, numbering, bucketing, padding.

    ./bazelw build //benchmarks:stream_pipeline
    benchmarks/peers/stream_corpus.py --text=train.txt --sentences=1000000 --folder=corpus
    benchmarks/peers/streams.py --cooper=bazel-bin/benchmarks/stream_pipeline \\
      --train='corpus/shard-*.txt' --words=train.txt

All pad the same sentences to the same buckets, with as many rows as fit into --tokens_per_batch
words, and make arrays of words and of the next words. Workers take turns for --rounds rounds; each
makes one epoch. `torch` is PyTorch's DataLoader with two workers over a list of lines: batches of
sentences of one bucket from a shuffled order, numbered and padded by the workers; the time to read
the files is left out. `tf` is tf.data: TextLineDataset, a lookup table, shuffle and
bucket_by_sequence_length, with parallel calls and prefetching.
"""

import argparse
import glob
import json
import random
import statistics
import subprocess
import sys
import time
from typing import Any, Dict, Iterator, List

UNKNOWN_ID = 1


def word_ids(path: str) -> Dict[str, int]:
    ids: Dict[str, int] = {}
    with open(path, encoding='utf-8') as text:
        for line in text:
            for word in line.split():
                ids.setdefault(word, len(ids) + 2)
    return ids


def bucket_of(buckets: List[int], length: int) -> int:
    """Returns the shortest bucket that holds the length, or 0."""
    return next((bucket for bucket in buckets if length <= bucket), 0)


def torch_batches(flags: argparse.Namespace) -> Iterator[Any]:
    """Yields (data, label) and the number of their sentences."""
    import torch  # pylint: disable=import-outside-toplevel

    ids = word_ids(flags.words)
    lines: List[str] = []
    for path in sorted(glob.glob(flags.train)):
        with open(path, encoding='utf-8') as text:
            lines += text.read().splitlines()
    lengths = [bucket_of(flags.buckets, line.count(' ') + 1) for line in lines]
    yield None

    def sampler() -> Iterator[List[int]]:
        waiting: Dict[int, List[int]] = {bucket: [] for bucket in flags.buckets}
        order = list(range(len(lines)))
        random.shuffle(order)
        for i in order:
            bucket = lengths[i]
            if bucket == 0:
                continue
            waiting[bucket].append(i)
            if len(waiting[bucket]) == flags.tokens_per_batch // bucket:
                yield waiting[bucket]
                waiting[bucket] = []

    def collate(batch: List[List[str]]) -> Any:
        bucket = bucket_of(flags.buckets, max(len(words) for words in batch))
        numbers = [[ids.get(word, UNKNOWN_ID) for word in words] for words in batch]
        data = torch.tensor([row + [0] * (bucket - len(row)) for row in numbers],
                            dtype=torch.float32)
        label = torch.zeros_like(data)
        label[:, :-1] = data[:, 1:]
        return data, label

    class Lines(torch.utils.data.Dataset):
        def __len__(self) -> int:
            return len(lines)

        def __getitem__(self, i: int) -> List[str]:
            return lines[i].split()

    loader = torch.utils.data.DataLoader(Lines(), batch_sampler=sampler(), collate_fn=collate,
                                         num_workers=2)
    for data, _ in loader:
        yield data.shape


def tf_batches(flags: argparse.Namespace) -> Iterator[Any]:
    import tensorflow as tf  # pylint: disable=import-outside-toplevel

    ids = word_ids(flags.words)
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(list(ids), list(ids.values()), value_dtype=tf.int32),
        UNKNOWN_ID)
    buckets = flags.buckets
    files = tf.data.Dataset.list_files(flags.train, shuffle=True)
    lines = files.interleave(tf.data.TextLineDataset, cycle_length=2,
                             num_parallel_calls=tf.data.AUTOTUNE, deterministic=False)

    def numbers(texts):  # of many lines at a time: one by one takes several times as long
        words = tf.strings.split(texts)
        return words.with_values(table.lookup(words.values)).to_tensor(), words.row_lengths()

    sentences = lines.batch(1024).map(numbers, num_parallel_calls=tf.data.AUTOTUNE,
                                      deterministic=False)
    sentences = sentences.unbatch().map(lambda words, length: words[:length],
                                        num_parallel_calls=tf.data.AUTOTUNE, deterministic=False)
    sentences = sentences.filter(lambda words: tf.size(words) <= buckets[-1])
    batches = sentences.shuffle(16384).bucket_by_sequence_length(
        tf.size, [bucket + 1 for bucket in buckets],
        [max(1, flags.tokens_per_batch // bucket) for bucket in buckets] + [1],
        pad_to_bucket_boundary=True, drop_remainder=True)

    def shift(words):
        data = tf.cast(words, tf.float32)
        return data, tf.pad(data[:, 1:], [[0, 0], [0, 1]])

    yield None
    for data, _ in batches.map(shift).prefetch(tf.data.AUTOTUNE):
        yield data.shape


def work(flags: argparse.Namespace) -> None:
    """Runs one epoch of a peer and prints its sentences and seconds."""
    batches = {'torch': torch_batches, 'tf': tf_batches}[flags.worker](flags)
    next(batches)
    samples = words = 0
    start = time.perf_counter()
    for shape in batches:
        samples += int(shape[0])
        words += int(shape[0]) * int(shape[1])
    print(json.dumps({'samples': samples, 'words': words, 'seconds': time.perf_counter() - start}), flush=True)


def run(flags: argparse.Namespace, worker: str) -> float:
    """Returns the sentences per second of one epoch."""
    common = [f'--train={flags.train}', f'--words={flags.words}',
              f'--buckets={",".join(map(str, flags.buckets))}',
              f'--tokens_per_batch={flags.tokens_per_batch}']
    command = {'cooper': [flags.cooper, '--epochs=1'],
               'cooper-prefetch': [flags.cooper, '--epochs=1', '--prefetch'],
               'torch': [flags.torch_python, __file__, '--worker=torch'],
               'tf': [flags.tf_python, __file__, '--worker=tf']}[worker]
    done = subprocess.run(command + common, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f'{worker}: {done.stderr[-500:]}')
    result = json.loads(done.stdout.splitlines()[-1])
    return result['samples'] / result['seconds']


def main(argv: List[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--cooper', default='')
    parser.add_argument('--torch_python', default='', help='a Python with torch')
    parser.add_argument('--tf_python', default='', help='a Python with tensorflow')
    parser.add_argument('--train', required=True)
    parser.add_argument('--words', required=True, help='text whose words get numbers')
    parser.add_argument('--buckets', default=[6, 9, 12, 16, 20, 26, 36, 50, 70, 110],
                        type=lambda text: [int(item) for item in text.split(',')])
    parser.add_argument('--tokens_per_batch', type=int, default=4096)
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--worker', choices=['torch', 'tf'], help=argparse.SUPPRESS)
    flags = parser.parse_args(argv)
    if flags.worker:
        work(flags)
        return 0
    workers = [name for name, program in (('cooper', flags.cooper),
                                          ('cooper-prefetch', flags.cooper),
                                          ('torch', flags.torch_python),
                                          ('tf', flags.tf_python)) if program]
    speeds: Dict[str, List[float]] = {worker: [] for worker in workers}
    for turn in range(flags.rounds):
        for i in range(len(workers)):
            worker = workers[(turn + i) % len(workers)]
            speeds[worker].append(run(flags, worker))
            print(f'round {turn + 1}: {worker} {speeds[worker][-1]:,.0f}', file=sys.stderr, flush=True)
    print(f'{"worker":16} {"sentences/s":>12} {"from":>12} {"to":>12}   cooper / worker')
    for worker, own in speeds.items():
        line = f'{worker:16} {statistics.median(own):12,.0f} {min(own):12,.0f} {max(own):12,.0f}'
        if worker != 'cooper' and 'cooper' in speeds:
            ratios = [ours / theirs for ours, theirs in zip(speeds['cooper'], own)]
            line += f'   {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})'
        print(line)
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
