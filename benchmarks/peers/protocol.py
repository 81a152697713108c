"""The code that workers of the peer benchmark share: flags, batches, the stdin/stdout protocol.

A worker is a program that trains (or only evaluates) one language model with one library. It gets
the model's sizes as flags, binds everything, warms up, announces that it is ready, and then sleeps
until a command comes on stdin. protocol.md describes the protocol for workers in other languages.

Nothing here imports NumPy or a peer: thread counts must be in the environment before they load.
"""

import argparse
import dataclasses
import json
import os
import sys
import time
from typing import Any, Callable, Dict, List, Optional, TextIO

# Read by OpenMP, MKL, OpenBLAS and oneDNN when they are loaded.
_THREAD_VARIABLES = ('OMP_NUM_THREADS', 'MKL_NUM_THREADS', 'OPENBLAS_NUM_THREADS')

PAD_ID = 0  # fills a sentence up to its bucket; the ignored label under --use_ignore


@dataclasses.dataclass(frozen=True)
class Batch:
    """One training step's input; data and label are (batch_size, bucket) nested lists of ids."""
    bucket: int
    data: List[List[int]]
    label: List[List[int]]
    tokens: int  # how many positions are not padding

    @property
    def padded_tokens(self) -> int:
        return len(self.data) * self.bucket


class Lcg:
    """Knuth's 64-bit linear congruential generator; the high 31 bits of each state are drawn."""

    def __init__(self, seed: int):
        self._state = seed

    def draw(self) -> int:
        self._state = (self._state * 6364136223846793005 + 1442695040888963407) % 2**64
        return self._state >> 33


def make_batches(buckets: List[int], batch_size: int, vocab: int, num_batches: int,
                 seed: int) -> List[Batch]:
    """Returns the batches of one pass; the formula is part of the protocol (protocol.md).

    Batch b belongs to buckets[b % len(buckets)]. Each of its rows draws a length that falls into
    that bucket and then length + 1 ids: data is the first `length` of them, label the last.
    """
    ordered = sorted(buckets)
    below = dict(zip(ordered, [0] + ordered))
    lcg = Lcg(seed)
    batches = []
    for b in range(num_batches):
        bucket = buckets[b % len(buckets)]
        data, label, tokens = [], [], 0
        for _ in range(batch_size):
            length = bucket - lcg.draw() % (bucket - below[bucket])
            ids = [1 + lcg.draw() % (vocab - 1) for _ in range(length + 1)]
            padding = [PAD_ID] * (bucket - length)
            data.append(ids[:-1] + padding)
            label.append(ids[1:] + padding)
            tokens += length
        batches.append(Batch(bucket, data, label, tokens))
    return batches


def parse_flags(description: str, add_flags: Optional[Callable] = None) -> argparse.Namespace:
    """Parses a worker's command line and puts --threads into the environment."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument('--vocab', type=int, default=10000)
    parser.add_argument('--num_hidden', type=int, default=200)
    parser.add_argument('--num_embed', type=int, default=200)
    parser.add_argument('--num_layers', type=int, default=2)
    parser.add_argument('--cell', choices=['lstm', 'gru', 'transformer'],
                        default='lstm')
    parser.add_argument('--bidirectional', action='store_true')
    parser.add_argument('--lr', type=float, default=0.01)
    parser.add_argument('--corpus', default='', help='train on this text, a sentence a line')
    parser.add_argument('--valid', default='', help='validate with this text after each epoch')
    parser.add_argument('--max_sentences', type=int, default=-1,
                        help='read so many of the corpus; negative: all')
    parser.add_argument('--batch_size', type=int, default=32)
    parser.add_argument('--buckets', type=lambda text: [int(x) for x in text.split(',')],
                        default=[10, 20, 30, 40, 50, 60])
    parser.add_argument('--batches', type=int, default=0,
                        help='steps in one pass; 0 means one for each bucket')
    parser.add_argument('--seed', type=int, default=1, help='of the token ids')
    parser.add_argument('--threads', type=int, default=2)
    parser.add_argument('--warmup', type=int, default=2, help='passes before ready')
    parser.add_argument('--forward_only', action='store_true',
                        help='evaluate without gradients and update')
    parser.add_argument('--use_ignore', action='store_true',
                        help='padded positions count neither in the loss nor in the gradient')
    parser.add_argument('--serve', action='store_true',
                        help='accepted for symmetry with cooper; a worker here always serves')
    if add_flags:
        add_flags(parser)
    flags = parser.parse_args()
    if flags.corpus and flags.forward_only:
        parser.error('--corpus does not go with --forward_only')
    if flags.valid and not flags.corpus:
        parser.error('--valid needs --corpus')
    flags.use_ignore = flags.use_ignore or bool(flags.corpus)
    for name in _THREAD_VARIABLES:
        os.environ[name] = str(flags.threads)
    return flags


def flags_batches(flags: argparse.Namespace) -> List[Batch]:
    """Returns the batches of one pass that the flags describe."""
    return make_batches(flags.buckets, flags.batch_size, flags.vocab,
                        flags.batches or len(flags.buckets), flags.seed)


def memory_mb(field: str) -> float:
    """Returns a size from /proc/self/status: 'VmHWM' is the peak resident set, 'VmRSS' the present one."""
    with open('/proc/self/status', encoding='ascii') as status:
        for line in status:
            if line.startswith(field + ':'):
                return round(int(line.split()[1]) / 1024, 1)
    return 0.0


def claim_stdout() -> TextIO:
    """Returns the protocol's stream, and redirects what libraries print to stderr."""
    protocol = os.fdopen(os.dup(1), 'w', encoding='utf-8')
    os.dup2(2, 1)
    return protocol


def _run_passes(batches: List[Batch], step: Callable[[int], None], passes: int) -> Dict[str, Any]:
    """Times `passes` passes over the batches; step(b) returns when all work of batch b is done."""
    seconds: Dict[int, float] = {}
    steps: Dict[int, int] = {}
    begin = time.perf_counter()
    before = begin
    for _ in range(passes):
        for b, batch in enumerate(batches):
            step(b)
            now = time.perf_counter()
            seconds[batch.bucket] = seconds.get(batch.bucket, 0.0) + now - before
            steps[batch.bucket] = steps.get(batch.bucket, 0) + 1
            before = now
    elapsed = before - begin
    return {
        'passes': passes,
        'elapsed_s': round(elapsed, 6),
        'padded_tokens_per_s': round(passes * sum(b.padded_tokens for b in batches) / elapsed, 1),
        'tokens_per_s': round(passes * sum(b.tokens for b in batches) / elapsed, 1),
        'ms_per_step_by_bucket': {str(bucket): round(1e3 * seconds[bucket] / steps[bucket], 3)
                                  for bucket in sorted(seconds)},
    }


def say(stream: TextIO, message: Dict[str, Any]) -> None:
    """Answers with one line of JSON."""
    print(json.dumps(message), file=stream, flush=True)


def serve(stream: TextIO, run: Callable[[int], Dict[str, Any]], ready: Dict[str, Any]) -> None:
    """Announces `ready`, and answers commands on stdin until "quit" or its end.

    Args:
      stream: from claim_stdout.
      run: makes so many passes and returns the answer, to which the peak memory is added.
      ready: what the worker says of itself: peer, version, parameters, ...
    """
    say(stream, {'ready': True, 'rss_peak_mb': memory_mb('VmHWM'), **ready})
    for line in sys.stdin:
        words = line.split()
        if not words:
            continue
        if words == ['quit']:
            return
        if len(words) == 2 and words[0] == 'run' and words[1].isdigit() and int(words[1]) > 0:
            result = run(int(words[1]))
            say(stream, {**result, 'rss_peak_mb': memory_mb('VmHWM')})
        else:
            say(stream, {'error': f'expected "run N" with N > 0, or "quit", got "{line.strip()}"'})


def serve_batches(stream: TextIO, batches: List[Batch], step: Callable[[int], None],
                  nll: Callable[[], float], warmup: int, ready: Dict[str, Any]) -> None:
    """Warms up and serves passes over the batches.

    Args:
      stream: from claim_stdout.
      batches: of one pass.
      step: runs batch b and returns when its result can be read.
      nll: mean negative log likelihood per counted token in the last step; called outside timing.
      warmup: passes to run first; at least one, so that every bucket is bound.
      ready: as for serve().
    """

    def run(passes: int) -> Dict[str, Any]:
        result = _run_passes(batches, step, passes)
        return {**result, 'nll_per_token': round(nll(), 5)}

    begin = time.perf_counter()
    _run_passes(batches, step, max(1, warmup))
    serve(stream, run, {'warmup_s': round(time.perf_counter() - begin, 3), **ready})
