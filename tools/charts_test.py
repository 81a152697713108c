#!/usr/bin/env python3
"""Tests that charts.py draws the numbers of every kind of document."""

import copy
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from xml.dom import minidom

import charts

ROWS = [{'bucket': [5], 'samples': 80, 'tokens': 360, 'padded_tokens': 400, 'fill_no_batch': 16},
        {'bucket': [10], 'samples': 70, 'tokens': 700, 'padded_tokens': 700, 'fill_no_batch': 6}]
BUCKETS = {
    'kind': 'bucket_report', 'source': 'a\n<b>.txt', 'noun': 'sentence',
    'options': {'max_buckets': 16, 'bucket_cost': 50.0, 'multiple_of': 1, 'step_overhead': 0.0,
                'max_length': 20, 'too_long': 'discard', 'batch_size': 32},
    'all': {'samples': 151, 'tokens': 1160}, 'in_buckets': {'samples': 150, 'tokens': 1060},
    'empty': 2, 'discarded': 1, 'truncated': 0, 'split': 0, 'lost_tokens': 100, 'recommended': 2,
    'min_cost': 1060.0, 'buckets': ROWS, 'buckets_in_use': [],
    'by_number': [{'padded_tokens': 1500, 'padding': 0.2933, 'cost': 1500.0},
                  {'padded_tokens': 1100, 'padding': 0.0364, 'cost': 1100.0},
                  {'padded_tokens': 1060, 'padding': 0.0, 'cost': 1060.0}],
    'flags': '--buckets=5,10 --batch_size=32', 'code': 'BucketSentenceIter::Create(sentences, 32)',
    'lengths': [[4, 40], [5, 40], [10, 70], [100, 1]]}
MEMORY = {'network': 'a <net>', 'batch_size': 32, 'training': True, 'planned': [1500000, 2750000],
          'arena': 2750000, 'inputs': 2560, 'parameters': 1000000}
PLAN = {'kind': 'memory_plan', 'title': 'net.json', 'arena_bytes': 202, 'num_steps': 4,
        'num_forward': 2, 'peak_step': 1, 'peak_bytes': 150, 'values': [
            {'name': 'a', 'kind': 'activation', 'bytes': 100, 'offset': 0, 'first': 0, 'last': 1},
            {'name': 'b', 'kind': 'workspace', 'bytes': 50, 'offset': 128, 'first': 1, 'last': 3},
            {'name': '<c>', 'kind': 'gradient', 'bytes': 90, 'offset': 0, 'first': 2, 'last': 2}]}
EPOCHS = [{'epoch': number, 'train_perplexity': 21 + 80 / number,
           'valid_perplexity': None if number == 2 else 22 + 70 / number, 'perplexity_floor': 20.5,
           'real_tokens': 40000, 'padded_tokens': 50000, 'seconds': 2.0, 'arena_bytes': 12340000,
           'buckets': {'30': {'batches': 8, 'real_tokens': 4000, 'padded_tokens': 5000,
                              'ms_per_batch': 37.5, 'planned_bytes': 6000000,
                              'evaluation_bytes': 1500000}},
           'arguments': ['--train=a <text>', '--lr=0.005']} for number in range(1, 9)]


def _speed(median):
    return {'speed': {'median': median, 'min': 0.9 * median, 'max': 1.1 * median}}


PEERS = {'date': '2026-01-02T03:04:05', 'revision': 'abc',
         'machine': {'cpu': 'A & B', 'cores': 2, 'isa': ['avx2'], 'memory_gb': 7.8, 'kernel': '6'},
         'versions': {'cooper-unrolled': '0.1.0', 'torch <eager>': 'PyTorch 2'},
         'works': {'W1': {'title': 'training, LSTM', 'unit': 'padded tokens/s', 'rounds': 2,
                          'notes': ['noisy'],
                          'workers': {'cooper-unrolled': _speed(7000.0),
                                      charts.LIMIT: _speed(10000.0),
                                      'torch <eager>': _speed(3500.0),
                                      'mxnet-fused': {'absent': 'no module'}}}}}


class ChartsTest(unittest.TestCase):

    def _page(self, *documents):
        page = charts.render(list(documents), as_svg=False)
        for svg in re.findall('<svg.*?</svg>', page, re.DOTALL):
            minidom.parseString(svg)
        self.assertNotRegex(page, r'<script|<image|href="http|src=|@import|url\(http')
        return page

    def _expect(self, page, *texts):
        for text in texts:
            self.assertTrue(text in page, text)  # the page itself would hide the message

    def test_buckets(self):
        page = self._page(BUCKETS)
        self._expect(
            page, '<bdi>Buckets for a\\n&lt;b&gt;.txt</bdi>', '<dt>tokens</dt><dd>1,160</dd>',
            '2 buckets leave 3.6 % padding; a single one would leave 29.3 %. One more would save '
            '40 padded tokens, less than a bucket is worth (bucket_cost, 50). '
            '22 sentences fill no batch of 32.',
            '<pre>--buckets=5,10 --batch_size=32</pre>', 'BucketSentenceIter::Create(',
            '<title>length 10: 70 sentences</title>', '<title>buckets 1: 29.3 %</title>',
            'a step costs its length: 1.42 without any padding',
            '<td>80</td><td>53.3 %</td><td>360</td><td>40</td><td>10.0 %</td><td>2</td><td>16</td>',
            '<td>150</td><td>100.0 %</td><td>1,060</td><td>40</td><td>3.6 %</td><td>4</td><td>22</td>',
            '<li>1 sentence longer than 20 (max_length): left out.</li>',
            '<li>100 tokens lost so, 8.6 % of all.</li>')
        self.assertFalse('Memory' in page)
        self.assertTrue(page == self._page(BUCKETS), 'equal documents give other pages')

    def test_buckets_with_memory_in_use_and_of_pairs(self):
        page = self._page({**BUCKETS, 'memory': MEMORY, 'buckets_in_use': ROWS[1:]})
        self._expect(page, '<title>bucket 10: 2.75 MB</title>',
                     'a &lt;net&gt;: 2.75 MB of the arena, 1.00 MB of parameters with their',
                     'The buckets in use, 10, leave 0.0 % padding, and leave out 81 sentences. '
                     'The best 1 leave 29.3 % padding, and leave out 1 sentence.')
        pairs = copy.deepcopy({**BUCKETS, 'flags': '', 'lengths': [[3, 4, 2], [10, 12, 1]]})
        for row in pairs['buckets']:
            row['bucket'] *= 2
        self._expect(self._page(pairs), '(10, 10)', 'Pairs by their two lengths',
                     '<dt>mean length</dt><dd>')

    def test_a_few_long_ones(self):
        rows = [{**ROWS[0], 'samples': 1000, 'tokens': 5000, 'padded_tokens': 5000},
                {**ROWS[1], 'bucket': [1000], 'samples': 2, 'tokens': 1090, 'padded_tokens': 2000}]
        self._expect(self._page({**BUCKETS, 'buckets': rows, 'lengths': [[5, 1000], [90, 1]]}),
                     'The longest bucket has 0.2 % of the sentences and 100.0 % of the padding; all '
                     'others together have 0.0 % padding. A max_length of 5 chooses buckets',
                     'Not shown: 1 sentence of more than 5.')

    def test_memory_plan(self):
        page = self._page(PLAN)
        self._expect(page, '<dt>arena</dt><dd>202 B</dd>', '<dt>without sharing</dt><dd>240 B</dd>',
                     '<dt>saved</dt><dd>15.8 %</dd>', '<h2>Live at step 1</h2>', 'backward pass',
                     '<td>a</td><td>1</td><td>activation</td><td>100 B</td><td>66.7 %</td>',
                     '<title>&lt;c&gt;: gradient, 90 B, steps 2 to 2, from byte 0 on</title>')
        for colour in charts.KIND_COLOURS.values():
            self.assertIn(f'fill: {colour}', page)
        self._page({**PLAN, 'values': [], 'arena_bytes': 0, 'num_steps': 0})

    def test_training(self):
        page = self._page(*EPOCHS)
        self._expect(page, '<dt>train perplexity</dt><dd>31.00</dd>', 'The scale is logarithmic',
                     '<dt>validation perplexity</dt><dd>30.75</dd>', 'no model can be below',
                     '<title>epoch 2: 20,000</title>', '<title>bucket 30: 20.0 %</title>',
                     '<td>30</td><td>64</td><td>32,000</td><td>8,000</td><td>20.0 %</td>'
                     '<td>37.5</td><td>13,333</td><td>6.00 MB</td><td>1.50 MB</td>',
                     '<pre>--train=a &lt;text&gt; --lr=0.005</pre>')
        data = {'samples': 1200, 'discarded': 3, 'truncated': 0, 'split': 0, 'left_over': 0,
                'padding': 0.2, 'pool_samples': 500, 'pool_bytes': 40000, 'wait_seconds': 0.25,
                'read_seconds': 0.5, 'decode_seconds': 0.375, 'batch_seconds': 0.125,
                'peer_seconds': 0.0}
        self._expect(self._page({**EPOCHS[0], 'data': data}),
                     '<dt>waiting for data</dt><dd>0.2 s</dd>',
                     '<td>1</td><td>1,200</td><td>3</td>', '<td>20.0 %</td><td>0.25</td>',
                     '<td>0.50</td><td>0.38</td><td>0.12</td><td>0.00</td>',
                     '<title>epoch 1: decoding, 0.375 s</title>')
        svg = charts.render([{**EPOCHS[0], 'data': data}], as_svg=True, chart='Data')
        minidom.parseString(svg)
        self._expect(svg, '<title>epoch 1: waiting for data, 0.250 s</title>')
        self._page({**EPOCHS[0], 'train_perplexity': None, 'buckets': {}, 'seconds': 0})

    def test_peers(self):
        svg = charts.render([PEERS], as_svg=True)
        minidom.parseString(svg)
        self._expect(svg, '<title>cooper-unrolled: 7,000 (6,300 to 7,700) padded tokens/s</title>',
                     'torch &lt;eager&gt;', 'A &amp; B, 2 cores', 'PyTorch 2, cooper 0.1.0 (abc); '
                     '2026-01-02', 'noted something: W1', 'prefers-color-scheme: dark')
        other = {**PEERS, 'works': {'W9': PEERS['works']['W1']}}
        self._expect(charts.render([PEERS, other], as_svg=True), 'W1: training', 'W9: training')
        for wrong, words in ((PEERS, 'W1 is in two files'),
                             ({**other, 'revision': 'def'}, 'revision: def, and abc'),
                             ({**PEERS, 'works': {}}, 'no work has')):
            with self.assertRaisesRegex(charts.ChartError, words):
                charts.render([wrong] if words.startswith('no') else [PEERS, copy.deepcopy(wrong)],
                              as_svg=True)

    def test_examples(self):
        for document, text in (
                ({'kind': 'pair_map', 'axes': ['height', 'width'], 'lengths': [[3, 4, 1]],
                  'buckets': [[3, 4]]}, 'height'),
                ({'kind': 'line_reading', 'read': ['3', '8'], 'classes': ['blank', '0'],
                  'image': [[0, 1]], 'probabilities': [[0.1, 0.9], [0.9, 0.1]]}, 'read: 3 8'),
                ({'kind': 'latencies', 'p50': 2.0, 'p99': 3.0, 'milliseconds': [2, 3]}, '99 %')):
            svg = charts.render([document], as_svg=True)
            minidom.parseString(svg)
            self.assertIn(text, svg)

    def test_axis(self):
        self.assertEqual(charts.length_axis([(1, 5)], 120), (1, 1))
        self.assertEqual(charts.length_axis([(7, 100), (250, 100)], 120), (5, 250))
        self.assertEqual(charts.length_axis([(7, 999), (1000, 1)], 120), (1, 7))

    def test_errors_are_one_line(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'a.json')
            for contents, output, words in (
                    (None, 'a.html', 'No such file'), ('{', 'a.html', 'Expecting'),
                    ('{"kind": "x"}', 'a.html', 'no document of a program .*KeyError'),
                    ('[]', 'a.html', 'no document of a program'), ('{}', 'a.pdf', 'ends in .html'),
                    (json.dumps(BUCKETS), 'a.svg', 'has 3 charts: write it to an .html file')):
                if contents is not None:
                    with open(path, 'w', encoding='utf-8') as file:
                        file.write(contents)
                output = os.path.join(folder, output)
                done = subprocess.run([sys.executable, charts.__file__, path, '-o', output],
                                      check=False, stderr=subprocess.PIPE, text=True)
                self.assertEqual(done.returncode, 1)
                self.assertRegex(done.stderr, f'^charts.py: .*{words}.*\n$')
                self.assertFalse(os.path.exists(output))


if __name__ == '__main__':
    if charts.matplotlib is None:
        print('SKIPPED: matplotlib is missing: apt-get install python3-matplotlib')
        sys.exit(0)
    unittest.main()
