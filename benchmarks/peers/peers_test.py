#!/usr/bin/env python3
"""Tests the peer benchmark's own code. Needs no peer: python3 peers_test.py."""

import contextlib
import io
import os
import subprocess
import sys
import tempfile
import unittest

_HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, _HERE)

# pylint: disable=wrong-import-position
import compare
import corpus
import detector
import protocol
import report
import tables
import works
from worker import Worker, WorkerError

# A worker whose steps only sleep: the protocol without a library.
_FAKE = f'''
import sys, time
sys.path.insert(0, {_HERE!r})
import protocol
flags = protocol.parse_flags('fake')
stream = protocol.claim_stdout()
print('a library speaks on stdout')
protocol.serve_batches(stream, protocol.flags_batches(flags), lambda b: time.sleep(0.002),
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


class AveragePrecisionTest(unittest.TestCase):

    def test_counts_each_object_once(self):
        upper, lower, corner = [0, 0, 1, 0.5], [0, 0.5, 1, 1], [0, 0, 0.1, 0.1]
        objects = [[[0, *upper], [0, *lower]], [[1, *upper], [-1, 0, 0, 0, 0]]]
        for found, expected in (
                ([[0, 0.9, *upper], [0, 0.8, *lower]], 1),
                ([[0, 0.9, *upper]], 0.5),
                ([[0, 0.9, *upper], [0, 0.8, *upper], [0, 0.7, *lower]], (1 + 2 / 3) / 2),
                ([[0, 0.9, *corner], [0, 0.8, *upper]], 0.25),
                ([[1, 0.9, *upper], [-1, 0.8, *upper]], 0)):
            self.assertAlmostEqual(detector.average_precision(objects, [found, []], 0), expected)
        # A detection in another image ranks among them.
        self.assertAlmostEqual(
            detector.average_precision(objects, [[[0, 0.8, *upper]], [[0, 0.9, *upper]]], 0), 0.25)


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


def _speed(median):
    return {'median': median, 'min': 0.9 * median, 'max': 1.1 * median}


def _document():
    """Returns a small result of compare.py: one work with all kinds of workers, one without any."""
    common = {'rss_peak_mb': 50, 'rss_growth_mb': 40, 'start_s': 1.0}
    workers = {
        'cooper-unrolled': {**common, 'speed': _speed(7000.0), 'runs': [
            {'ms_per_step_by_bucket': {'20': 4.5, '5': 1.25}, 'perplexity_by_epoch': [900.0]},
            {'ms_per_step_by_bucket': {'20': 3.5, '5': 1.75}, 'perplexity_by_epoch': [700.0]}]},
        report.LIMIT: {**common, 'speed': _speed(10000.0)},
        'torch <eager>': {**common, 'speed': _speed(3500.0)},
        'mxnet-fused': {'absent': 'no module'},
    }
    work = {'title': 'training, LSTM', 'unit': 'padded tokens/s', 'rounds': 2,
            'passes_per_run': 1, 'workers': workers, 'notes': ['noisy'],
            'ratios': {'cooper-unrolled / torch <eager>': _speed(2.0),
                       f'cooper-unrolled / {report.LIMIT}': _speed(0.7)}}
    empty = {**work, 'workers': {'cooper-unrolled': {'absent': 'gone'}}, 'ratios': {}}
    return {'date': '2026-01-02T03:04:05+00:00', 'revision': 'abc',
            'machine': {'cpu': 'A & B', 'cores': 2, 'isa': ['avx2'], 'memory_gb': 7.8,
                        'kernel': '6.1'},
            'versions': {'cooper-unrolled': '0.1.0', 'torch <eager>': 'PyTorch 2'},
            'works': {'W1': work, 'W2': empty}}


class ReportTest(unittest.TestCase):

    def test_ratios_are_taken_within_rounds(self):
        speeds = {'cooper-lstm': [10.0, 30.0, 20.0], 'torch': [5.0, 10.0, 20.0]}
        self.assertEqual(report.ratios(speeds, ['cooper-lstm']),
                         {'cooper-lstm / torch': {'median': 2.0, 'min': 1.0, 'max': 3.0}})

    def test_a_work_shows_absent_workers_latencies_and_learning_curves(self):
        text = report.format_work('W1', _document()['works']['W1'])
        self.assertRegex(text, r'mxnet-fused +absent: no module')
        self.assertRegex(text, r'ms a step, of bucket +5 +20\n +cooper-unrolled +1.500 +4.000\n')
        self.assertRegex(text, r'training perplexity, epoch +1 +2\n'
                               r' +cooper-unrolled +900.0 +700.0\n')
        self.assertIn('note: noisy', text)

    def test_what_diverged_is_shown_and_noted(self):
        work = _document()['works']['W1']
        # cooper's JSON has null for NaN.
        runs = [{'perplexity_by_epoch': [900.0], 'nll_per_token': 6.8, 'other_cores': 0.0},
                {'perplexity_by_epoch': [None], 'nll_per_token': None, 'other_cores': 0.0}]
        worker = {**work['workers']['cooper-unrolled'], 'runs': runs, 'ready': {}}
        work['workers'] = {'cooper-unrolled': worker}
        self.assertRegex(report.format_work('W1', work), r'cooper-unrolled +900.0 +nan\n')
        notes = self._notes(work)
        self.assertEqual(notes, ['cooper-unrolled diverged: nll_per_token nan'])
        for run in runs:
            del run['nll_per_token']
        self.assertEqual(self._notes(work), [])

    def _notes(self, work):
        comparison = compare.Comparison([], 1)
        return compare._notes(comparison, work['workers'])  # pylint: disable=protected-access

    def test_the_summary_has_a_row_for_each_work(self):
        text = report.format_summary(_document()['works'])
        self.assertRegex(text, r'cooper-unrolled +tokens/s +/ torch <eager> +/ mxnet-fused +of the')
        self.assertRegex(text, r'W1 +7,000 +2.00 \(1.80-2.20\) +- +0.70\n')
        self.assertRegex(text, r'W2 +absent')

    def test_without_cooper_there_is_no_summary(self):
        works_of_peers = {'W1': {'workers': {'torch': {'speed': _speed(1.0)}}, 'ratios': {}}}
        self.assertEqual(report.format_summary(works_of_peers), '')


class WorksTest(unittest.TestCase):

    def _flags(self, *argv):
        return compare._parse_flags(list(argv))  # pylint: disable=protected-access

    def test_choice(self):
        self.assertEqual(self._flags().work, ['W1', 'W2', 'W3'])
        self.assertEqual(self._flags('--corpus=a').work, ['text'])
        self.assertEqual(self._flags('--work=all', '--corpus=a').work, list(works.WORKS))
        self.assertNotIn('text', self._flags('--work=all').work)

    def test_wrong_choices_are_told(self):
        for argv, words in ((['--work=W9'], 'no "W9" among all, W1'),
                            (['--work=text'], '"text" needs --corpus'),
                            (['--valid=a'], '--valid needs --corpus'),
                            (['--forward_only', '--corpus=a'], 'does not go with --corpus'),
                            (['--cooper_cells=dense'], 'no "dense" among unrolled, labels, fused'),
                            (['--rounds=0'], '--rounds: at least 1')):
            stderr = io.StringIO()
            with contextlib.redirect_stderr(stderr), self.assertRaises(SystemExit):
                self._flags(*argv)
            self.assertIn(words, stderr.getvalue())

    def test_a_file_that_cannot_be_written_is_told_before_measuring(self):
        program = [sys.executable, os.path.join(_HERE, 'compare.py'), '--json=/no/such/peers.json']
        run = subprocess.run(program, capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 2)
        self.assertRegex(run.stderr, r"^compare.py: --json: .*'/no/such/peers.json'\n$")

    def test_a_work_comes_before_the_flags(self):
        told = works.settings(self._flags('--threads=4', '--batch_size=8'), 'W3-forward-1')
        self.assertEqual((told['threads'], told['batch_size'], told['forward_only']), (4, 1, True))
        self.assertEqual(works.settings(self._flags('--threads=4'), 'W1-1-thread')['threads'], 1)

    def test_kinds_of_layers_have_workers_of_their_own(self):
        flags = self._flags('--cooper=lm_training')

        def names(work):
            # pylint: disable=protected-access
            return [worker.name
                    for worker in compare._make_workers(flags, works.settings(flags, work))]

        self.assertEqual(names('W1'), ['cooper-unrolled', 'cooper-labels', 'cooper-fused',
                                       report.LIMIT, 'mxnet-unrolled', 'mxnet-fused', 'torch'])
        self.assertEqual(names('T1'), ['cooper-labels', 'cooper-blocks', 'torch',
                                       'torch-compiled'])
        self.assertEqual(names('T1-forward'), ['cooper-labels', 'cooper-predictor',
                                               'cooper-blocks', 'torch', 'torch-compiled', 'onnx',
                                               'openvino'])

    def test_every_work_is_a_command_line_that_workers_know(self):
        flags = self._flags('--corpus=a', '--valid=b')
        for name in works.WORKS:
            told = works.settings(flags, name)
            argv, sys.argv = sys.argv, ['worker', *works.arguments(told)]
            try:
                parsed = protocol.parse_flags('fake')
            finally:
                sys.argv = argv
            for flag in ('num_hidden', 'num_embed', 'cell', 'bidirectional', 'batch_size',
                         'threads', 'forward_only', 'use_ignore'):
                self.assertEqual(getattr(parsed, flag), told[flag], f'{name}: {flag}')
            self.assertEqual(parsed.corpus, 'a' if name == 'text' else '', name)


class CorpusTest(unittest.TestCase):

    def _read(self, text, *max_sentences):
        with tempfile.NamedTemporaryFile('w', suffix='.txt', encoding='utf-8') as file:
            file.write(text)
            file.flush()
            return corpus.read_sentences(file.name, *max_sentences)

    def test_sentences_are_lines_with_words(self):
        self.assertEqual(self._read('a b\n\n  \nc  a\n'), [['a', 'b'], ['c', 'a']])
        self.assertEqual(self._read('a b\n\nc\nd\n', 2), [['a', 'b'], ['c']])
        self.assertEqual(self._read('\ufeffa b\n'), [['a', 'b']])
        with self.assertRaisesRegex(ValueError, 'no sentence'):
            self._read(' \n')

    def test_words_are_numbered_as_they_appear(self):
        ids = corpus.make_vocabulary([['b', 'a'], ['b', 'c']])
        self.assertEqual(corpus.encode([['a', 'b', 'd']], ids), [[3, 2, corpus.UNKNOWN_ID]])
        self.assertEqual(corpus.vocab_size(ids), 5)

    def test_epochs_are_summed_and_begun_anew(self):
        class Batches(list):
            resets = 0

            def reset(self):
                self.resets += 1

        batches = Batches([1, 2])
        seen = []

        def train(given, stopwatch):
            seen.extend(stopwatch.over(given))
            return 50.0 / len(seen), 10, 16

        answer = corpus.run_epochs(2, lambda: batches, train, lambda: [7.0])
        self.assertEqual((seen, batches.resets), ([1, 2, 1, 2], 1))
        self.assertEqual(answer['tokens'], 20)
        self.assertEqual(answer['perplexity_by_epoch'], [25.0, 12.5])
        self.assertEqual(answer['valid_perplexity_by_epoch'], [7.0, 7.0])
        self.assertAlmostEqual(answer['padded_tokens_per_s'] / answer['tokens_per_s'], 1.6, 2)


def _measured(cooper_s: float, mxnet_s: float, **more) -> dict:
    """Returns a row of networks.py or operators.py."""
    return {'seconds': {'cooper': [cooper_s] * 3, 'mxnet': [mxnet_s] * 3},
            'ratio': mxnet_s / cooper_s, **more}


class TablesTest(unittest.TestCase):

    def _record(self, rows, cpu='AMD EPYC'):
        return {'machine': {'cpu': cpu, 'cores': 2, 'isa': ['avx2']}, 'threads': 2, 'rows': rows}

    def test_networks(self):
        predict = _measured(.01, .02, network='vgg16', batch_size=4, mode='predict',
                            peak_mb={'cooper': 900, 'mxnet': 1200})
        predict['seconds']['onnx'] = [.0125] * 3
        page = tables.page([self._record([
            predict, _measured(.04, .02, network='vgg16', batch_size=4, mode='train')])])
        self.assertIn('AMD EPYC, 2 cores, avx2; 2 threads; medians over 3 rounds', page)
        self.assertIn('| vgg16 | 4 | 10.0 | 2.00 | 1.25 | 900 / 1200 | 40.0 | 0.50 |  |', page)
        self.assertIn('prediction beside ONNX Runtime 1.32: 1.25 over 1 rows, the least 1.25', page)

    def test_operators(self):
        page = tables.page([self._record([_measured(1e-4, 3e-4, operator='add', mode='predict'),
                                          _measured(1e-4, 5e-5, operator='sort', mode='predict')])])
        # The slowest operator comes first.
        self.assertLess(page.index('| sort | 100 | 0.50 |'), page.index('| add | 100 | 3.00 |'))
        self.assertIn('1.22 over 2 rows, the least 0.50, 1 below 0.95', page)

    def test_operators_beside_two_peers(self):
        torch = {'seconds': {'cooper': [1e-4] * 3, 'torch': [8e-5] * 3}, 'limit_s': 5e-5}
        page = tables.page([
            self._record([{**torch, 'operator': 'add', 'mode': mode} for mode in ('predict', 'train')]),
            self._record([_measured(1e-4, 3e-4, operator='add', mode='predict')])])
        self.assertIn('# Speed beside PyTorch 2.15, MXNet 1.9.1', page)
        self.assertIn('| add | 100 | 0.80 | 3.00 | 50 % | 100 | 0.80 * |  | 50 % |', page)
        self.assertIn('training beside PyTorch 2.15: 0.80 over 1 rows, the least 0.80, 1 below 0.9', page)

    def test_runs_of_two_machines(self):
        rows = [_measured(1, 1, operator='add', mode='train')]
        with self.assertRaisesRegex(ValueError, 'runs of 2 kinds'):
            tables.page([self._record(rows), self._record(rows, cpu='Xeon')])


if __name__ == '__main__':
    unittest.main()
