#!/usr/bin/env python3
"""Draws the JSON of cooper's programs: charts.py FILE.json... -o report.html

| JSON of | report |
| --- | --- |
| bucket_report --json | lengths, padding, the recommended buckets, their memory |
| plot_memory --json | the memory plan: each value as a box over steps and offsets |
| lm_train --json | perplexity, speed, time and memory by bucket of a training run |
| benchmarks/peers/compare.py --json (one or several) | speeds of cooper and its peers |
| ctc_main, image_shapes_main, load_main (examples) | the pictures of docs/tutorials |

An output that ends in .html is one file that loads nothing: text, tables, and charts as SVG inside
it, for light and dark browsers. An output that ends in .svg is the chart alone, for documents with
a single one. Equal input gives equal files.

Needs matplotlib 3.6 or newer: apt-get install python3-matplotlib, or pip install matplotlib.
"""

import argparse
import html
import io
import json
import math
import re
import sys
import textwrap
from bisect import bisect_left
from collections import Counter
from itertools import accumulate

try:
    import matplotlib
    from matplotlib import pyplot, ticker
    from matplotlib.collections import PatchCollection
    from matplotlib.colors import to_rgba
    from matplotlib.patches import Patch, Rectangle
except ImportError:
    matplotlib = None

INK = '#123456'  # text and axes; written as currentColor, which is dark or light as the page is
BLUE, ORANGE, GREEN, GRAY = '#3182ce', '#dd7e22', '#2f9e5f', '#8b949e'
KIND_COLOURS = {'activation': BLUE, 'gradient': ORANGE, 'workspace': GREEN}
MAX_LABELS = 20   # above or below the bars of a chart
MAX_ROWS = 25     # of the values that are live at the peak
SCHEMES = 'color: #1f2328; background: #ffffff', 'color: #e6edf3; background: #0d1117'
STYLE = '''
:root { color-scheme: light dark; %s; }
@media (prefers-color-scheme: dark) { :root { %s; } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 54rem; margin: 0 auto; padding: 1rem; }
dl { display: flex; flex-wrap: wrap; gap: .3rem 2rem; } dt { opacity: .7; font-size: .85rem; }
dd { margin: 0; font-size: 1.2rem; font-weight: 600; } figure { margin: 1.5rem 0; }
figcaption { opacity: .8; } svg { max-width: 100%%; height: auto; }
pre { background: #8882; padding: .6rem; white-space: pre-wrap; overflow-wrap: anywhere; }
div { overflow-x: auto; } table { border-collapse: collapse; font-size: .9rem; }
td, th { padding: .15rem .7rem; text-align: right; border-bottom: 1px solid #8884; }
td:first-child, th:first-child { text-align: left; overflow-wrap: anywhere; }
''' % SCHEMES


class ChartError(Exception):
    """The input is no document that can be drawn."""


def escape(text):
    """Escapes text for HTML and SVG; control characters are written as in Python, "\\n"."""
    text = re.sub('[\x00-\x1f\x7f-\x9f]', lambda match: repr(match[0])[1:-1], str(text))
    return html.escape(text)


def count(number, noun=''):
    """Returns "1,234", or "1 bucket", "2 buckets"."""
    return f'{round(number):,}' + (f' {noun}{"" if number == 1 else "s"}' if noun else '')


def percent(share):
    return f'{100 * share:.1f} %'


def size(number):
    """Returns bytes in decimal units: "9,999 B", "20.5 KB", "1.14 MB"."""
    return (f'{number:,} B' if number < 1e4 else f'{number / 1e3:.1f} KB' if number < 1e6 else
            f'{number / 1e6:.2f} MB')


def cost(tokens):
    return f'{tokens:g}' if tokens < 100 else count(tokens)


def ratio(part, whole):
    return part / whole if whole else 0.0


def padding(row):
    """Returns the share of the padded tokens that are not real."""
    return ratio(row['padded_tokens'] - row['tokens'], row['padded_tokens'])


def totals(rows, *names):
    return {name: sum(row[name] or 0 for row in rows) for name in names}


# The parts of a page: HTML, and charts as (caption, matplotlib figure).

def tag(name, text):
    return f'<{name}>{escape(text)}</{name}>'


def facts(pairs):
    return '<dl>' + ''.join(f'<div>{tag("dt", name)}{tag("dd", value)}</div>'
                            for name, value in pairs) + '</dl>'


def table(header, rows):
    lines = [''.join(tag('th', cell) for cell in header)]
    lines += [''.join(tag('td', cell) for cell in row) for row in rows]
    return '<div><table>\n<tr>' + '</tr>\n<tr>'.join(lines) + '</tr>\n</table></div>'


TOOLTIPS = []  # texts that appear over shapes; the SVG id of a shape is its text's position


def add_tooltip(artist, text):
    artist.set_gid(f'tip{len(TOOLTIPS)}')
    TOOLTIPS.append(text)


def new_chart(height=2.6, grid='y', **axes):
    """Returns a figure, and its axes with properties such as xlabel."""
    fig, ax = pyplot.subplots(figsize=(8, height), layout='constrained')
    ax.grid(axis=grid, color=GRAY, alpha=0.3, linewidth=0.7)
    ax.set(**axes)
    return fig, ax


def mark(ax, x, text, colour, **style):
    """Draws a vertical line with a text above it."""
    ax.axvline(x, color=colour, linewidth=1.2)
    ax.annotate(text, (x, 1), (0, 3), xycoords=('data', 'axes fraction'), ha='center', fontsize=8,
                textcoords='offset points', **style)


def bars(names, heights, axis, unit='', form='{:,.1f}', marked=-1):
    """Returns a chart with a bar for each name; the marked one has another colour."""
    # A few bars are not as wide as the page.
    fig, ax = new_chart(xlim=(-0.7, max(len(names), 8) - 0.3), xlabel=axis, ylabel=unit.strip())
    for i, (name, height) in enumerate(zip(names, heights)):
        bar = ax.bar(i, height, color=ORANGE if i == marked else BLUE)[0]
        add_tooltip(bar, f'{axis} {name}: {form.format(height)}{unit}')
        if len(names) <= MAX_LABELS or i == marked:
            ax.text(i, height, form.format(height), ha='center', va='bottom', fontsize=8)
    step = math.ceil(len(names) / MAX_LABELS)
    ax.set_xticks(range(step - 1, len(names), step), names[step - 1::step])
    ax.margins(y=0.12)
    return fig


# Reports on buckets.

def length_axis(counts, max_bins):
    """Returns (width of a bin, last length) for [(length, count)].

    A few very long samples must not compress the chart of all others: if the longest has more than
    twice the length that 99.5 % do not exceed, the axis ends at that length.
    """
    lengths, numbers = zip(*sorted(counts))
    seen = list(accumulate(numbers))
    common = lengths[bisect_left(seen, math.ceil(0.995 * seen[-1]))]
    end = max(common if lengths[-1] > 2 * common else lengths[-1], 1)
    power = 10 ** math.floor(math.log10(max(end / max_bins, 1)))
    width = next(factor * power for factor in (1, 2, 5, 10) if factor * power * max_bins >= end)
    return width, math.ceil(end / width) * width


def histogram(document):
    (width, end), noun, by_bin = length_axis(document['lengths'], 120), document['noun'], Counter()
    for length, number in document['lengths']:
        by_bin[(length - 1) // width if length <= end else -1] += number
    beyond = by_bin.pop(-1, 0)
    fig, ax = new_chart(3.2, xlim=(0.5, end + 0.5), xlabel='length', ylabel=f'{noun}s')
    for index, number in sorted(by_bin.items()):
        bar = ax.bar(index * width + 0.5, number, width, align='edge', color=BLUE)[0]
        to = f' to {count((index + 1) * width)}' if width > 1 else ''
        add_tooltip(bar, f'length {count(index * width + 1)}{to}: {count(number, noun)}')
    boundaries = [row['bucket'][0] for row in document['buckets']]
    for boundary in boundaries:
        if boundary <= end:
            mark(ax, boundary + 0.5, count(boundary), ORANGE, rotation=90)
    text = (f'Number of {noun}s by length{f", {count(width)} lengths in a bar" if width > 1 else ""}. '
            'The lines are the recommended boundaries: everything to the left of a line, up to the '
            'line before, is padded to it.')
    text += f' Not shown: {count(beyond, noun)} of more than {count(end)}.' if beyond else ''
    outside = ', '.join(count(boundary) for boundary in boundaries if boundary > end)
    return text + (f' Boundaries beyond the chart: {outside}.' if outside else ''), fig


def cells(ax, alphas, width, height, colour):
    """Draws {corner: opacity} as rectangles, without those that cannot be seen."""
    alphas = {corner: alpha for corner, alpha in alphas.items() if alpha >= 0.01}
    ax.add_collection(PatchCollection(
        [Rectangle(corner, width, height) for corner in alphas], linewidth=0,
        facecolors=[to_rgba(colour, alpha) for alpha in alphas.values()]))


def pair_map(document):
    axes = document.get('axes', ['first length', 'second length'])
    (width, end), (height, top) = [
        length_axis([(pair[i], pair[2]) for pair in document['lengths']], 60) for i in (0, 1)]
    binned = Counter()
    for first, second, number in document['lengths']:
        corner = (max(first - 1, 0) // width * width + 0.5,
                  max(second - 1, 0) // height * height + 0.5)
        binned[corner if first <= end and second <= top else None] += number
    beyond, most = binned.pop(None, 0), max(binned.values())
    fig, ax = new_chart(5, 'both', xlim=(0.5, end + 0.5), ylim=(0.5, top + 0.5), xlabel=axes[0],
                        ylabel=axes[1])
    cells(ax, {corner: 0.15 + 0.85 * (number / most) ** 0.5 for corner, number in binned.items()},
          width, height, BLUE)  # rare pairs stay visible
    for number, row in enumerate(document['buckets'], 1):
        first, second = row['bucket'] if isinstance(row, dict) else row
        ax.add_patch(Rectangle((0.5, 0.5), first, second, fill=False, edgecolor=ORANGE))
        if first <= end and second <= top:
            ax.text(first, second, str(number), ha='right', va='top', fontweight='bold')
    text = ('Pairs by their two lengths, with more colour where there are more of them. Each bucket '
            'is a box, with its number at its corner.')
    return text + (f' Not shown: {count(beyond, "longer pair")}.' if beyond else ''), fig


def recommendation(document):
    """Returns the recommended number of buckets with its reasons, as a text."""
    best, by_number, options = document['recommended'], document['by_number'], document['options']
    text = (f'{count(best, "bucket")} {"leaves" if best == 1 else "leave"} '
            f'{percent(by_number[best - 1]["padding"])} padding')
    if best > 1:
        text += f'; a single one would leave {percent(by_number[0]["padding"])}'
    if best < len(by_number):
        saved = by_number[best - 1]['cost'] - by_number[best]['cost']
        text += (f'. One more would save {cost(saved)} padded tokens, less than a bucket is worth '
                 f'(bucket_cost, {cost(options["bucket_cost"])}).')
    elif best < options['max_buckets']:
        text += '. More buckets would save nothing.'
    else:
        text += '. More are not allowed (max_buckets).'
    left_over = sum(row['fill_no_batch'] or 0 for row in document['buckets'])
    if left_over:
        text += (f' {count(left_over, document["noun"])} {"fills" if left_over == 1 else "fill"} '
                 f'no batch of {count(options["batch_size"])}.')
    return text


def longest_bucket(document):
    """Returns a note if a few very long samples cause much of the padding, else nothing."""
    rows, last = document['buckets'], document['buckets'][-1]
    total, others = [totals(part, 'samples', 'tokens', 'padded_tokens') for part in (rows, rows[:-1])]
    samples = ratio(last['samples'], total['samples'])
    lost = ratio(last['padded_tokens'] - last['tokens'], total['padded_tokens'] - total['tokens'])
    if len(rows) == 1 or len(last['bucket']) > 1 or lost < max(0.1, 10 * samples):
        return []
    return [tag('p', f'The longest bucket has {percent(samples)} of the {document["noun"]}s and '
                f'{percent(lost)} of the padding; all others together have '
                f'{percent(padding(others))} padding. A max_length of '
                f'{count(rows[-2]["bucket"][0])} chooses buckets without it.')]


def buckets_in_use(document):
    rows, noun, by_number = document['buckets_in_use'], document['noun'], document['by_number']
    if not rows:
        return []
    total = totals(rows, 'samples', 'tokens', 'padded_tokens')
    text = (f'The buckets in use, {", ".join(str(row["bucket"][0]) for row in rows)}, leave '
            f'{percent(padding(total))} padding, and leave out '
            f'{count(document["all"]["samples"] - total["samples"], noun)}.')
    if len(rows) <= len(by_number):
        text += (f' The best {len(rows)} leave {percent(by_number[len(rows) - 1]["padding"])} '
                 f'padding, and leave out {count(document["discarded"], noun)}.')
    return [tag('p', text)]


def bucket_name(row):
    lengths = row['bucket']
    return count(lengths[0]) if len(lengths) == 1 else f'({", ".join(map(str, lengths))})'


def bucket_table(document):
    rows, batch, memory = document['buckets'], document['options']['batch_size'], document.get('memory')
    header = ['number', 'bucket', document['noun'] + 's', 'share', 'real tokens', 'padding',
              'share of padding']
    header += [f'batches of {count(batch)}', 'fill no batch'] if batch else []
    header += ['planned memory'] if memory else []
    total = totals(rows, 'samples', 'tokens', 'padded_tokens', 'fill_no_batch')
    body = []
    for i, row in enumerate(rows + [total]):
        line = ['all', ''] if row is total else [i + 1, bucket_name(row)]
        line += [count(row['samples']), percent(ratio(row['samples'], total['samples'])),
                 count(row['tokens']), count(row['padded_tokens'] - row['tokens']),
                 percent(padding(row))]
        if batch:
            line += [count((row['samples'] - row['fill_no_batch']) // batch),
                     count(row['fill_no_batch'])]
        if memory:
            line.append(size(memory['arena'] if row is total else memory['planned'][i]))
        body.append(line)
    return table(header, body)


def bucket_memory(document):
    memory = document.get('memory')
    if not memory:
        return []
    unit, scale = (' MB', 1e6) if memory['arena'] >= 1e6 else (' KB', 1e3)
    fig = bars([bucket_name(row) if len(row['bucket']) == 1 else str(i)
                for i, row in enumerate(document['buckets'], 1)],
               [planned / scale for planned in memory['planned']], 'bucket', unit, '{:,.2f}',
               memory['planned'].index(max(memory['planned'])))
    return [tag('h2', 'Memory'),
            (f'Memory that is planned for a batch of {count(memory["batch_size"])}, '
             f'{"with" if memory["training"] else "without"} gradients. All buckets share one arena, '
             'as large as the largest, which is marked.', fig),
            tag('p', f'{memory["network"]}: {size(memory["arena"])} of the arena, '
                      f'{size(memory["parameters"])} of parameters'
                      f'{" with their gradients" if memory["training"] else ""}, '
                      f'{size(memory["inputs"])} of one batch.'
                      f'{" States of the optimizer come on top." if memory["training"] else ""}')]


def left_out(document):
    noun, options = document['noun'], document['options']
    longer = f'longer than {count(options["max_length"])} (max_length)'
    lines = [f'{count(document[name], what)} {text}' for name, what, text in (
        ('empty', f'empty {noun}', 'without a token: nothing to learn.'),
        ('discarded', noun, f'{longer}: left out.'),
        ('truncated', noun, f'{longer}: the end is cut off.'),
        ('split', noun, f'{longer}: split, and each piece counted.'),
        ('lost_tokens', 'token', 'lost so, '
         f'{percent(ratio(document["lost_tokens"], document["all"]["tokens"]))} of all.'),
    ) if document[name]]
    left_over = sum(row['fill_no_batch'] or 0 for row in document['buckets'])
    if left_over:
        lines.append(f'{count(left_over, noun)} that fill no batch wait for another epoch\'s order; '
                     'with last_batch = kPad they come in batches with rows of padding.')
    lines += [f'Bucket {bucket_name(row)} fills no batch: without kPad it is never served.'
              for row in document['buckets'] if row['samples'] < options['batch_size']]
    return '<ul>' + ''.join(tag('li', line) for line in lines or ['Nothing.']) + '</ul>'


def bucket_report(document):
    noun, by_number, options = document['noun'], document['by_number'], document['options']
    best, pairs = document['recommended'], len(document['lengths'][0]) > 2
    sides = [[(row[i], row[-1]) for row in document['lengths']] for i in range(1 + pairs)]
    means = [sum(length * number for length, number in side) / document['all']['samples']
             for side in sides]
    page = [
        facts([(noun + 's', count(document['all']['samples'])),
               ('tokens', count(document['all']['tokens'])),
               ('mean length', ', '.join(f'{mean:,.1f}' for mean in means)),
               ('longest', ', '.join(count(max(side)[0]) for side in sides)),
               ('recommended', count(best, 'bucket')),
               ('padding', percent(by_number[best - 1]['padding']))]),
        tag('h2', 'Recommendation'), tag('p', recommendation(document)),
        *longest_bucket(document), *buckets_in_use(document)]
    if document['flags']:
        page += [tag('p', 'Flags of lm_train:'), tag('pre', document['flags'])]
    page += [tag('p', 'C++:'), tag('pre', document['code']), tag('h2', 'Lengths'),
             pair_map(document) if pairs else histogram(document), tag('h2', 'Number of buckets')]
    numbers = [str(i + 1) for i in range(len(by_number))]
    if len(numbers) == 1:
        page.append(tag('p', 'One bucket is as good as any number of them.'))
    else:
        one, overhead = by_number[0]['cost'], options['step_overhead']
        step = 'its length' + (f' + {cost(overhead)} (step_overhead)' if overhead else '')
        page += [('Padding: the share of the computed tokens that are not real, for the best choice '
                  'of each number of buckets. The recommended number is marked.',
                  bars(numbers, [100 * choice['padding'] for choice in by_number], 'buckets', ' %',
                       marked=best - 1)),
                 ('Expected real tokens per second relative to one bucket, if a step costs '
                  f'{step}: {ratio(one, document["min_cost"]):.2f} without any padding.',
                  bars(numbers, [ratio(one, choice['cost']) for choice in by_number], 'buckets',
                       '×', '{:.2f}', best - 1))]
    page += [tag('h2', 'Recommended buckets'), bucket_table(document), *bucket_memory(document),
             tag('h2', 'What is left out'), left_out(document),
             tag('p', 'Options of bucket_report: ' + ', '.join(
                 f'{name} {cost(value) if isinstance(value, float) else value}'
                 for name, value in options.items()) + '.')]
    return f'Buckets for {document["source"]}', page


# Memory plans.

def memory_picture(document, live):
    unit, name = (1e3, 'KB') if document['arena_bytes'] < 1e7 else (1e6, 'MB')
    peak, steps, arena = document['peak_step'], document['num_steps'], document['arena_bytes']
    fig, ax = new_chart(5, xlim=(0, max(steps, 1)), ylim=(0, max(arena, 1) / unit), xlabel='step',
                        ylabel=f'offset in the arena ({name})')
    for value in document['values']:
        first, last, offset = value['first'], value['last'], value['offset']
        box = ax.add_patch(Rectangle(
            (first, offset / unit), last + 1 - first, value['bytes'] / unit, linewidth=0.4,
            edgecolor='white', facecolor=KIND_COLOURS[value['kind']],
            alpha=1 if first <= peak <= last else 0.4))
        add_tooltip(box, f'{value["name"]}: {value["kind"]}, {size(value["bytes"])}, steps {first} '
                         f'to {last}, from byte {count(offset)} on')
    for number, value in enumerate(live[:MAX_ROWS], 1):
        width, height = value['last'] + 1 - value['first'], value['bytes']
        if height >= arena / 25 and width >= steps * len(str(number)) / 80:  # else no space
            ax.text(value['first'] + width / 2, (value['offset'] + height / 2) / unit, str(number),
                    ha='center', va='center', fontsize=9, color='white')
    if document['num_forward'] < steps:
        mark(ax, document['num_forward'], 'backward pass', GRAY)
    ax.xaxis.set_major_locator(ticker.MaxNLocator(10, integer=True))
    kinds = sorted({value['kind'] for value in document['values']})
    ax.legend([Patch(color=KIND_COLOURS[kind]) for kind in kinds], kinds, ncol=3, frameon=False,
              loc='lower left', bbox_to_anchor=(0, 1.03), fontsize=9)
    return fig


def memory_plan(document):
    values, peak, arena = document['values'], document['peak_step'], document['arena_bytes']
    live = sorted((value for value in values if value['first'] <= peak <= value['last']),
                  key=lambda value: -value['bytes'])
    total = sum(value['bytes'] for value in values)
    page = [facts([('arena', size(arena)), ('live at the peak', size(document['peak_bytes'])),
                   ('without sharing', size(total)),
                   ('saved', percent(1 - ratio(arena, total) if total else 0)),
                   ('values', count(len(values))), ('steps', count(document['num_steps']))])]
    if values:
        rows = [[value['name'], number, value['kind'], size(value['bytes']),
                 percent(value['bytes'] / document['peak_bytes']),
                 f'{value["first"]} to {value["last"]}']
                for number, value in enumerate(live[:MAX_ROWS], 1)]
        if len(live) > MAX_ROWS:
            rest = sum(value['bytes'] for value in live[MAX_ROWS:])
            rows.append([count(len(live) - MAX_ROWS, 'smaller one'), '', '', size(rest),
                         percent(rest / document['peak_bytes']), ''])
        page += [(f'Each box is a value: as wide as the steps in which it is live, as high as its '
                  f'bytes, at its place in the arena. Values that are live at step {peak}, where '
                  'most bytes are, have their full colour, and their number in the table below.',
                  memory_picture(document, live)),
                 tag('h2', f'Live at step {peak}'),
                 table(['value', 'number', 'kind', 'size', 'share', 'steps'], rows)]
    return f'Memory of {document["title"]}', page


# Training runs.

def curves(epochs, floor, value, logarithmic):
    fig, ax = new_chart(3, xlabel='epoch')
    drawn = [] if floor is None else [value(floor)]
    for name, label, colour in (('train_perplexity', 'training', BLUE),
                                ('valid_perplexity', 'validation', ORANGE)):
        # A perplexity that is not finite is null.
        points = [(epoch['epoch'], value(epoch[name])) for epoch in epochs if epoch.get(name)]
        if points:
            ax.plot(*zip(*points), marker='o', markersize=3, color=colour, label=label)
        drawn += [y for _, y in points]
    if floor is not None:
        ax.axhline(value(floor), color=GRAY, linestyle='--', label='no model can be below')
    if logarithmic and drawn:
        ax.set_yscale('log')
        ax.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)) if max(drawn) > 20 * min(drawn)
                                   else ticker.MaxNLocator(6, steps=(1, 2, 5, 10)))
        ax.yaxis.set_minor_locator(ticker.NullLocator())
        ax.yaxis.set_major_formatter(ticker.StrMethodFormatter('{x:,g}'))
    ax.xaxis.set_major_locator(ticker.MaxNLocator(16, integer=True, min_n_ticks=1))
    if drawn:
        ax.legend(frameon=False)
    return fig


def training_buckets(epochs):
    """Returns the totals of each bucket over the epochs."""
    buckets = {}
    for epoch in epochs:
        for key, bucket in epoch['buckets'].items():
            total = buckets.setdefault(key, Counter())
            total.update(batches=bucket['batches'], tokens=bucket['real_tokens'],
                         padded_tokens=bucket['padded_tokens'],
                         seconds=bucket['ms_per_batch'] * bucket['batches'] / 1e3)
            total['planned'], total['evaluation'] = (bucket['planned_bytes'],
                                                     bucket.get('evaluation_bytes', 0))
    return buckets


# The activities of a stream: the key of the seconds, a name, a colour.
DATA_TIMES = (('read_seconds', 'reading', GREEN), ('decode_seconds', 'decoding', '#8a63d2'),
              ('batch_seconds', 'making batches', GRAY), ('peer_seconds', 'other parts', INK))


def data_table(epochs):
    """Returns the counts and times of the training data by epoch, for a stream."""
    columns = ('samples', 'discarded', 'truncated', 'split', 'left_over', 'pool_samples',
               'pool_bytes')
    times = ('wait_seconds', *(name for name, _, _ in DATA_TIMES))
    return table(['epoch', *(name.replace('_', ' ') for name in columns), 'padding',
                  'waiting for it, s', *(f'{label}, s' for _, label, _ in DATA_TIMES),
                  'training, s'],
                 [[str(epoch['epoch']), *(count(epoch['data'][name]) for name in columns),
                   percent(epoch['data']['padding']),
                   *(f'{epoch["data"].get(name, 0):,.2f}' for name in times),
                   f'{epoch["seconds"]:,.2f}'] for epoch in epochs])


def data_times(epochs):
    """Returns a chart with a bar for each epoch and activity, of training and of the data."""
    rows = [('training steps', BLUE, [max(epoch['seconds'] - epoch['data']['wait_seconds'], 0)
                                      for epoch in epochs])]
    rows += [(label, colour, [epoch['data'].get(name, 0) for epoch in epochs])
             for name, label, colour in (('wait_seconds', 'waiting for data', ORANGE), *DATA_TIMES)]
    rows = [row for row in rows if any(row[2])]
    fig, ax = new_chart(3, xlabel='epoch', ylabel='s', yscale='log')
    for i, (label, colour, seconds) in enumerate(rows):
        for epoch, height in zip(epochs, seconds):
            bar = ax.bar(epoch['epoch'] + 0.8 * ((i + 0.5) / len(rows) - 0.5), height,
                         0.8 / len(rows), color=colour, label=label if epoch is epochs[0] else None)
            add_tooltip(bar[0], f'epoch {epoch["epoch"]}: {label}, {height:,.3f} s')
    ax.yaxis.set_major_formatter(ticker.StrMethodFormatter('{x:,g}'))
    ax.xaxis.set_major_locator(ticker.MaxNLocator(16, integer=True, min_n_ticks=1))
    if rows:
        ax.legend(frameon=False, ncol=3, loc='lower center', bbox_to_anchor=(0.5, 1))
    return fig


def training_run(epochs):
    last, buckets = epochs[-1], training_buckets(epochs)
    floor, arena, rows = last.get('perplexity_floor'), last['arena_bytes'], list(buckets.values())
    total = {**totals(rows, 'batches', 'tokens', 'padded_tokens', 'seconds'), 'planned': arena,
             'evaluation': 0}

    def speed(bucket):
        return count(ratio(bucket['tokens'], bucket['seconds']))

    def milliseconds(bucket):
        return 1e3 * ratio(bucket['seconds'], bucket['batches'])

    waits = [epoch['data']['wait_seconds'] for epoch in epochs if 'data' in epoch]
    data = [('waiting for data', f'{sum(waits):,.1f} s')] if waits else []
    perplexities = [(title, f'{last[name]:,.2f}') for name, title in (
        ('train_perplexity', 'train perplexity'), ('valid_perplexity', 'validation perplexity'),
        ('perplexity_floor', 'no model is below')) if last.get(name)]
    page = [facts([('epochs', last['epoch']), *perplexities, ('real tokens/s', speed(total)),
                   ('padding', percent(padding(total))), ('arena', size(arena)), *data]),
            tag('h2', 'Perplexity and loss'),
            ('Perplexity: the number of words among which a model that knows as much would have to '
             'guess. The scale is logarithmic.', curves(epochs, floor, lambda value: value, True)),
            ('Loss of a word: the logarithm of the perplexity.',
             curves(epochs, floor, math.log, False)),
            tag('h2', 'Speed'),
            ('Real tokens per second of training. Padding is computed too and not counted.',
             bars([str(epoch['epoch']) for epoch in epochs],
                  [ratio(epoch['real_tokens'], epoch['seconds']) for epoch in epochs], 'epoch',
                  form='{:,.0f}'))]
    if total['batches']:
        unit, scale = (' MB', 1e6) if arena >= 1e6 else (' KB', 1e3)
        form = '{:,.3f}' if max(map(milliseconds, rows)) < 1 else '{:,.1f}'
        page.append(tag('h2', 'Buckets'))
        for title, heights, *style in (
                ('Padding: the share of the computed tokens that are not real.',
                 [100 * padding(row) for row in rows], ' %'),
                ('The share of the training time that each bucket took.',
                 [100 * ratio(row['seconds'], total['seconds']) for row in rows], ' %'),
                ('Milliseconds of a training step.', map(milliseconds, rows), ' ms', form),
                (f'Memory of the training plan. All buckets share one arena of {size(arena)}.',
                 [row['planned'] / scale for row in rows], unit, '{:,.2f}')):
            page.append((title, bars(list(buckets), heights, 'bucket', *style)))
        page.append(table(
            ['bucket', 'batches', 'real tokens', 'padding tokens', 'padding', 'ms per batch',
             'real tokens/s', 'training plan', 'validation plan'],
            [[key, count(row['batches']), count(row['tokens']),
              count(row['padded_tokens'] - row['tokens']), percent(padding(row)),
              form.format(milliseconds(row)), speed(row),
              *(size(row[plan]) if row[plan] else '' for plan in ('planned', 'evaluation'))]
             for key, row in [*buckets.items(), ('all', total)]]))
    if waits:
        streamed = [epoch for epoch in epochs if 'data' in epoch]
        page += [tag('h2', 'Data'),
                 ('Data: the seconds of training, of waiting for data, and of the work for the data. '
                  'The scale is logarithmic.', data_times(streamed)),
                 data_table(streamed)]
    page += [tag('h2', 'Flags'), tag('pre', ' '.join(last.get('arguments', [])))]
    return 'Training of a language model', page


# Benchmarks beside other frameworks.

LIMIT = 'gemm-limit'  # the worker of compare.py that computes only the matrix products


def join(documents):
    """Returns one document with the works of all, which must agree in machine and versions."""
    joined, known = {**documents[0], 'works': {}, 'versions': {}}, {}
    for document in documents:
        told = {name: document['machine'][name] for name in ('cpu', 'cores', 'kernel')}
        for name, value in {**told, 'revision': document['revision'], **document['versions']}.items():
            if known.setdefault(name, value) != value:
                raise ChartError(f'{name}: {value}, and {known[name]} in another file')
        for name in document['works']:
            if name in joined['works']:
                raise ChartError(f'{name} is in two files')
        joined['versions'].update(document['versions'])
        joined['works'].update(document['works'])
    return joined


def speeds_of(work):
    return [(worker, result['speed']) for worker, result in work['workers'].items()
            if 'speed' in result and worker != LIMIT]


def speed_panel(ax, name, work):
    speeds, limit = speeds_of(work), work['workers'].get(LIMIT, {}).get('speed', {}).get('median', 0)
    for row, (worker, speed) in enumerate(speeds):
        colour = {'cooper-fused': '#90c2f0'}.get(worker, BLUE if 'cooper' in worker else GRAY)
        bar = ax.barh(row, speed['median'], color=colour)[0]
        add_tooltip(bar, f'{worker}: {speed["median"]:,.0f} ({speed["min"]:,.0f} to '
                         f'{speed["max"]:,.0f}) {work["unit"]}')
        ax.plot([speed['min'], speed['max']], [row, row], color=INK, linewidth=1)
        ax.text(speed['max'], row, f' {ticker.EngFormatter(places=1, sep="")(speed["median"])}',
                va='center', fontsize=8)
    if limit:
        ax.axvline(limit, color=INK, linestyle='--', linewidth=1)
    ax.set_yticks(range(len(speeds)), [worker for worker, _ in speeds])
    ax.set(ylim=(len(speeds) - 0.5, -0.6),
           xlim=(0, 1.14 * max([speed['max'] for _, speed in speeds] + [limit])))
    ax.set_title(textwrap.fill(f'{name}: {work["title"]}', 60), loc='left', fontsize=9)
    ax.set_xlabel(work['unit'], fontsize=8)
    ax.xaxis.set_major_locator(ticker.MaxNLocator(5))
    ax.xaxis.set_major_formatter(ticker.EngFormatter(sep=''))
    ax.tick_params(labelsize=8)
    ax.grid(axis='x', color=GRAY, alpha=0.3, linewidth=0.7)


def peers(documents):
    document = join(documents)
    works = {name: work for name, work in document['works'].items() if speeds_of(work)}
    if not works:
        raise ChartError('no work has a measured worker')
    most = max(len(work['workers']) for work in works.values())
    lines = math.ceil(len(works) / 2)
    fig, axes = pyplot.subplots(lines, 2, squeeze=False, layout='constrained',
                                figsize=(10, lines * (0.9 + 0.24 * most) + 1.2))
    for ax in axes.flat[len(works):]:
        ax.set_axis_off()
    for ax, (name, work) in zip(axes.flat, works.items()):
        speed_panel(ax, name, work)
    machine = document['machine']
    libraries = {f'cooper {version} ({document["revision"]})' if name.startswith('cooper-') else
                 version for name, version in document['versions'].items() if name != LIMIT}
    rounds = ' or '.join(map(str, sorted({work['rounds'] for work in works.values()})))
    noted = [name for name, work in works.items() if work['notes']]
    footer = [f'Read with care, because compare.py noted something: {", ".join(noted)}.'] if noted else []
    footer += [f'Bars: medians over {rounds} rounds in which all take turns; lines: minimum to '
               'maximum. Longer is faster.',
               'Dashed: the matrix products of the step alone, with the library that cooper uses.',
               f'{machine["cpu"]}, {machine["cores"]} cores, {" ".join(machine["isa"])}, '
               f'{machine["memory_gb"]:.0f} GiB, Linux {machine["kernel"]}; float32',
               f'{", ".join(sorted(libraries))}; {document["date"][:10]}']
    fig.supxlabel('\n'.join(footer), fontsize=8, x=0.01, ha='left')
    return 'A bucketed language model on the CPU', [('', fig)]


# Pictures of the examples.

def line_reading(document):
    fig, axes = pyplot.subplots(2, 1, figsize=(8, 4), layout='constrained', sharex=True,
                                height_ratios=(1, 1.4))
    image, classes = document['image'], document['classes']
    for ax, rows, colours in ((axes[0], image, [INK] * len(image)), (
            axes[1], document['probabilities'], [BLUE] + [ORANGE] * (len(classes) - 1))):
        for y, row in enumerate(rows):
            cells(ax, {(x, y): min(value, 1) for x, value in enumerate(row)}, 1, 1, colours[y])
        ax.set(xlim=(0, len(image[0])), ylim=(len(rows), 0))
    axes[0].set_title('read: ' + ' '.join(document['read']), loc='left', fontsize=10)
    axes[0].set_yticks([])
    axes[1].set_yticks([y + 0.5 for y in range(len(classes))], classes)
    axes[1].set_title('probability of each class by column', loc='left', fontsize=10)
    return 'An image of digits', [('', fig)]


def latencies(document):
    end = math.ceil(max(1.2 * document['p99'], 4))
    fig, ax = new_chart(3, xlim=(0, end), xlabel='milliseconds from a request to its answer',
                        ylabel='requests')
    ax.hist(document['milliseconds'], bins=4 * end, range=(0, end), color=BLUE)
    mark(ax, document['p50'], 'half of all', ORANGE)
    mark(ax, document['p99'], '99 %', ORANGE)
    return 'Time from a request to its answer', [('', fig)]


REPORTS = {'bucket_report': bucket_report, 'memory_plan': memory_plan, 'latencies': latencies,
           'line_reading': line_reading,
           'pair_map': lambda document: ('Pairs of lengths and their buckets', [pair_map(document)])}


def read_documents(path):
    """Returns the JSON of a file, which has one value, or one on each line."""
    with open(path, encoding='utf-8') as file:
        text = file.read()
    try:
        return [json.loads(text)]
    except ValueError:
        return [json.loads(line) for line in text.splitlines()]


def report_of(documents):
    """Returns the title of the documents' report and its parts."""
    try:
        first = documents[0]
        if 'works' in first:
            return peers(documents)
        if 'epoch' in first:
            return training_run(documents)
        if len(documents) > 1:
            raise ChartError('several documents, of which only one can be drawn')
        return REPORTS[first['kind']](first)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError, ZeroDivisionError) as error:
        raise ChartError('no document of a program that is listed in --help: '
                         f'{type(error).__name__}: {error}') from error


def svg_of(fig, alone):
    """Returns a figure as SVG; alone: as a file with colours of its own."""
    out = io.StringIO()
    fig.savefig(out, format='svg', metadata={'Date': None, 'Creator': None})
    pyplot.close(fig)
    svg = out.getvalue().replace(INK, 'currentColor')
    svg = svg[svg.index('<svg'):]
    svg = re.sub(r'<g id="tip(\d+)">',
                 lambda match: f'<g><title>{escape(TOOLTIPS[int(match[1])])}</title>', svg)
    if not alone:
        return svg
    style = ('<style>svg { %s; } @media (prefers-color-scheme: dark) { svg { %s; } }</style>'
             % SCHEMES)
    end = svg.index('>') + 1
    return svg[:end] + style + svg[end:]


def render(documents, as_svg, chart=''):
    """Returns the report of the documents as HTML, or its only chart whose text begins with `chart`
    as SVG."""
    matplotlib.use('svg')
    matplotlib.rcParams.update({
        'svg.fonttype': 'none', 'svg.hashsalt': 'cooper', 'text.parse_math': False,
        'font.family': 'sans-serif', 'font.size': 10, 'axes.spines.top': False,
        'axes.spines.right': False, 'axes.axisbelow': True, 'figure.facecolor': 'none',
        'axes.facecolor': 'none', 'text.color': INK, 'axes.labelcolor': INK, 'axes.edgecolor': INK,
        'xtick.color': INK, 'ytick.color': INK})
    TOOLTIPS.clear()
    title, parts = report_of(documents)
    if as_svg:
        charts = [part[1] for part in parts
                  if isinstance(part, tuple) and part[0].startswith(chart)]
        if len(charts) != 1:
            raise ChartError(f'the report has {len(charts)} charts: write it to an .html file, or '
                             'name one by --chart')
        return svg_of(charts[0], alone=True)
    body = [f'<figure><figcaption>{escape(part[0])}</figcaption>\n{svg_of(part[1], False)}</figure>'
            if isinstance(part, tuple) else part for part in parts]
    return (f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>'
            f'{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n'
            f'<h1><bdi>{escape(title)}</bdi></h1>\n' + '\n'.join(body) + '\n</body>\n</html>\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('json', nargs='+', help='files of one program')
    parser.add_argument('-o', '--output', required=True, help='the .html or .svg file to write')
    parser.add_argument('--chart', default='', help='for .svg: the first words of a chart\'s text')
    flags = parser.parse_args()
    try:
        if matplotlib is None:
            raise ChartError('matplotlib is missing: apt-get install python3-matplotlib, or '
                             'pip install matplotlib')
        if not flags.output.endswith(('.html', '.svg')):
            raise ChartError(f'--output={flags.output}: expected a name that ends in .html or .svg')
        documents = [document for path in flags.json for document in read_documents(path)]
        text = render(documents, flags.output.endswith('.svg'), flags.chart)
        with open(flags.output, 'w', encoding='utf-8') as file:
            file.write(text)
    except (OSError, ValueError, ChartError) as error:
        print(f'charts.py: {", ".join(flags.json)}: {error}'.replace('\n', ' '), file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
