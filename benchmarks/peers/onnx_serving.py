"""ONNX Runtime behind a queue: answers //benchmarks:serving's commands, a sentence at a time.

Each of --servers threads takes the sentence that has waited longest; a run computes with --threads.
"""

import math
import queue
import sys
import threading
import time

import protocol

# Before ONNX Runtime loads: the thread counts, and the stream that its messages must not reach.
FLAGS = protocol.parse_flags(
    __doc__, lambda parser: parser.add_argument('--servers', type=int, default=2,
                                                help='sentences that are computed at a time'))
STREAM = protocol.claim_stdout()

import numpy  # pylint: disable=wrong-import-position
import onnxruntime  # pylint: disable=wrong-import-position

from onnx_model import LanguageModel  # pylint: disable=wrong-import-position

_SENTENCES = 997


def _sentences():
    """Returns the sentences of serving.cc: lengths from 1 to the longest bucket, no padding."""
    draws = protocol.Lcg(FLAGS.seed)
    sentences = []
    for _ in range(_SENTENCES):
        length = 1 + draws.draw() % max(FLAGS.buckets)
        words = [1 + draws.draw() % (FLAGS.vocab - 1) for _ in range(length)]
        sentences.append(numpy.array([words], numpy.int64))
    return sentences


class Serving:
    """Threads that answer the sentences of a queue."""

    def __init__(self):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = FLAGS.threads
        options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(
            LanguageModel(FLAGS).make().SerializeToString(), options,
            providers=['CPUExecutionProvider'])
        self._sentences = _sentences()
        self._queue = queue.SimpleQueue()
        self._changed = threading.Condition()
        self._under_way = 0
        self._latencies = []
        for sentence in self._sentences:
            self._run(sentence)
        for _ in range(FLAGS.servers):
            threading.Thread(target=self._serve, daemon=True).start()

    def callers(self, count, seconds):
        """Measures the throughput of threads that call the session directly."""
        start = time.perf_counter()
        answered = [0] * count

        def ask(caller):
            i = caller * _SENTENCES // count
            while time.perf_counter() - start < seconds:
                self._run(self._sentences[i % _SENTENCES])
                answered[caller] += 1
                i += 1

        threads = [threading.Thread(target=ask, args=(i,)) for i in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        elapsed = time.perf_counter() - start
        return {'elapsed_s': elapsed, 'requests_per_s': sum(answered) / elapsed}

    def clients(self, count, seconds):
        """Measures throughput and latency with `count` sentences in flight."""
        start = time.perf_counter()
        i = 0
        while time.perf_counter() - start < seconds:
            with self._changed:
                self._changed.wait_for(lambda: self._under_way < count)
            self._submit(i, time.perf_counter())
            i += 1
        return self._finish(start)

    def load(self, rate, seconds):
        """Measures the latency of sentences that come at random times."""
        draws = protocol.Lcg(FLAGS.seed)
        start = due = time.perf_counter()
        i = 0
        while True:
            due += -math.log((draws.draw() + 1) / 2**31) / rate
            if due - start > seconds:
                return self._finish(start)
            time.sleep(max(0, due - time.perf_counter()))
            self._submit(i, due)
            i += 1

    def _run(self, sentence):
        return self._session.run(None, {'data': sentence})

    def _submit(self, i, due):
        with self._changed:
            self._under_way += 1
        self._queue.put((self._sentences[i % _SENTENCES], due))

    def _serve(self):
        while True:
            sentence, due = self._queue.get()
            self._run(sentence)
            with self._changed:
                self._latencies.append(time.perf_counter() - due)
                self._under_way -= 1
                self._changed.notify()

    def _finish(self, start):
        with self._changed:
            self._changed.wait_for(lambda: self._under_way == 0)
            elapsed = time.perf_counter() - start
            latencies, self._latencies = sorted(self._latencies), []

        def at(share):
            index = min(int(share * len(latencies)), len(latencies) - 1)
            return 1e3 * latencies[index] if latencies else 0.0

        return {'elapsed_s': elapsed, 'requests': len(latencies),
                'requests_per_s': len(latencies) / elapsed,
                'p50_ms': at(0.5), 'p99_ms': at(0.99), 'max_ms': at(1)}


def main():
    serving = Serving()
    protocol.say(STREAM, {'ready': True, 'peer': 'onnx'})
    for line in sys.stdin:
        words = line.split()
        if words == ['quit']:
            break
        try:
            command, number, seconds = words[0], float(words[1]), float(words[2])
            if command == 'load':
                result = serving.load(number, seconds)
            else:
                result = {'callers': serving.callers,
                          'clients': serving.clients}[command](int(number), seconds)
        except (IndexError, KeyError, ValueError):
            result = {'error': f'expected "callers N S", "clients N S", "load R S", got {line!r}'}
        protocol.say(STREAM, result)


if __name__ == '__main__':
    main()
