#!/usr/bin/env python3
"""Tests of the peer benchmark's own parts; needs neither peer: python3 peers_test.py."""

import os
import sys
import tempfile
import unittest

_HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, _HERE)

# pylint: disable=wrong-import-position
import protocol
import report
from worker import Worker, WorkerError

# A worker whose steps only sleep, so that the protocol is all there is.
_FAKE = f'''
import sys, time
sys.path.insert(0, {_HERE!r})
import protocol
flags = protocol.parse_flags('fake')
stream = protocol.claim_stdout()
print('a library speaks on stdout')
protocol.serve(stream, protocol.flags_batches(flags), lambda b: time.sleep(0.002),
               lambda: 1.5, 1,
               {{'peer': 'fake', 'parameters': 7}})
'''


class BatchesTest(unittest.TestCase):

    def test_first_batch_is_the_one_in_the_readme(self):
        batches = protocol.make_batches([10, 20, 30, 40, 50, 60], 32, 10000, 6, 1)
        self.assertEqual(batches[0].data[0], [3559, 445, 5098, 1873, 7290, 6099, 0, 0, 0, 0])
        self.assertEqual(batches[0].label[0], [445, 5098, 1873, 7290, 6099, 953, 0, 0, 0, 0])
        self.assertEqual([batch.tokens for batch in batches], [169, 503, 781, 1115, 1457, 1794])

    def test_lengths_fall_into_the_bucket(self):
        for batch in protocol.make_batches([5, 20, 10], 64, 50, 7, 3):
            below = {5: 0, 10: 5, 20: 10}[batch.bucket]
            self.assertEqual(batch.padded_tokens, 64 * batch.bucket)
            for data, label in zip(batch.data, batch.label):
                length = sum(token != protocol.PAD_ID for token in data)
                self.assertTrue(below < length <= batch.bucket)
                self.assertEqual(data[1:length], label[:length - 1])
                self.assertEqual(set(data[length:] + label[length:]) | {0}, {0})
                self.assertTrue(all(token < 50 for token in data + label))

    def test_batches_go_round_the_buckets(self):
        batches = protocol.make_batches([20, 10], 1, 50, 5, 1)
        self.assertEqual([batch.bucket for batch in batches], [20, 10, 20, 10, 20])


class WorkerTest(unittest.TestCase):

    def setUp(self):
        self._script = tempfile.NamedTemporaryFile('w', suffix='.py')
        self.addCleanup(self._script.close)

    def _worker(self, source, *flags, program=sys.executable):
        self._script.write(source)
        self._script.flush()
        worker = Worker('fake', [program, self._script.name, *flags])
        self.addCleanup(worker.stop)
        return worker

    def test_runs_what_it_is_told(self):
        worker = self._worker(_FAKE, '--buckets=10,20', '--batch_size=4')
        worker.start(30)
        self.assertEqual(worker.ready['parameters'], 7)
        result = worker.run(3, 30)
        self.assertEqual(result['passes'], 3)
        self.assertEqual(set(result['ms_per_step_by_bucket']), {'10', '20'})
        self.assertAlmostEqual(result['padded_tokens_per_s'] * result['elapsed_s'],
                               3 * 4 * 30, delta=3.6)  # both are rounded
        self.assertEqual(result['nll_per_token'], 1.5)

    def test_bad_command_is_answered_and_survived(self):
        worker = self._worker(_FAKE)
        worker.start(30)
        with self.assertRaisesRegex(WorkerError, 'expected .*run N'):
            worker.run(0, 30)
        self.assertEqual(worker.run(1, 30)['passes'], 1)

    def test_missing_program(self):
        with self.assertRaisesRegex(WorkerError, 'cannot start /no/such: No such file'):
            self._worker('', program='/no/such').start(5)

    def test_death_gives_the_last_line_of_stderr(self):
        worker = self._worker('raise SystemExit("no module named peer")')
        with self.assertRaisesRegex(WorkerError, 'exit status 1: no module named peer'):
            worker.start(30)

    def test_silence(self):
        worker = self._worker('input()')
        with self.assertRaisesRegex(WorkerError, 'no answer within 0.2 s'):
            worker.start(0.2)


class ReportTest(unittest.TestCase):

    def test_ratios_are_taken_within_rounds(self):
        speeds = {'cooper-lstm': [10.0, 30.0, 20.0], 'torch': [5.0, 10.0, 20.0]}
        self.assertEqual(report.ratios(speeds, ['cooper-lstm']),
                         {'cooper-lstm / torch': {'median': 2.0, 'min': 1.0, 'max': 3.0}})

    def test_absent_workers_are_in_the_table(self):
        text = report.format_work('W1', {
            'sizes': {'vocab': 10}, 'rounds': 1, 'passes_per_run': 1, 'ratios': {},
            'workers': {'torch': {'absent': 'no module'}}, 'notes': ['noisy']})
        self.assertIn('absent: no module', text)
        self.assertIn('note: noisy', text)


if __name__ == '__main__':
    unittest.main()
