#!/usr/bin/env python3
"""Draws what compare.py measured as bars in an SVG file: chart.py peers.json docs/benchmark.svg

Several files, of other works on the same machine with the same programs, go into one picture.

A panel for each work, with its own axis from 0, a bar for each worker (median over rounds, with
a line from minimum to maximum) and a dashed line at what the matrix products alone reach. Under
them: machine, versions, date. Text and shapes only; colours follow the reader's light or dark mode.
"""

import argparse
import json
import math
import sys
from typing import Any, Dict, List, Tuple
from xml.sax.saxutils import escape

from report import LIMIT

_WIDTH = 960
_MARGIN = 20
_COLUMNS = 2
_PANEL_WIDTH = (_WIDTH - (_COLUMNS + 1) * _MARGIN) / _COLUMNS
_NAMES_WIDTH = 112  # of the workers' names, left of the bars
_VALUES_WIDTH = 52  # of the figures, right of the longest bar
_BAR = 15
_BAR_STEP = 21
_HEAD = 44  # of a panel, above its bars
_AXIS = 34  # of a panel, below its bars
_LINE = 16
_TITLE = 58

# Without CSS variables, which not every viewer of SVG knows.
_STYLE = '''
  text { font: 12px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; }
  .title { font-size: 16px; font-weight: 600; }
  .head { font-weight: 600; }
  .faint, .value { font-size: 11px; }
  .limit { stroke-dasharray: 4 3; }
  .page { fill: #ffffff; }
  text { fill: #1f2328; }
  .faint { fill: #59636e; }
  .grid { stroke: #d9dee3; }
  .spread, .limit { stroke: #1f2328; }
  .cooper { fill: #3182ce; }
  .cooper2 { fill: #90c2f0; }
  .peer { fill: #b4bac1; }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117; }
    text { fill: #f0f6fc; }
    .faint { fill: #9198a1; }
    .grid { stroke: #30363d; }
    .spread, .limit { stroke: #f0f6fc; }
    .cooper { fill: #4493f8; }
    .cooper2 { fill: #1f5fb0; }
    .peer { fill: #6e7681; }
  }
'''


class ChartError(Exception):
    """The input is not a result of compare.py, or has no bars."""


def _text(x: float, y: float, words: str, kind: str = '', anchor: str = 'start') -> str:
    style = f' class="{kind}"' if kind else ''
    where = '' if anchor == 'start' else f' text-anchor="{anchor}"'
    return f'<text x="{x:.1f}" y="{y:.1f}"{style}{where}>{escape(words)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


def axis_step(largest: float) -> float:
    """The distance of ticks: 1, 2 or 5 times a power of ten, for two to five of them."""
    power = 10 ** math.floor(math.log10(largest))
    return next(factor * power for factor in (0.2, 0.5, 1, 2) if largest / (factor * power) <= 5.5)


def _scale(value: float) -> Tuple[float, str]:
    """The value in thousands or millions, with their letter, if three digits do not show it."""
    for unit, letter in ((1e6, 'M'), (1e3, 'k')):
        if value >= 0.9995 * unit:
            return value / unit, letter
    return value, ''


def figure(value: float) -> str:
    """Three digits: 7.18k for 7180."""
    scaled, letter = _scale(value)
    return f'{scaled:#.3g}'.rstrip('.') + letter


def tick(value: float) -> str:
    """As short as it goes: 5k for 5000."""
    scaled, letter = _scale(value)
    return f'{scaled:g}{letter}'


def _bars(work: Dict[str, Any]) -> List[Tuple[str, Dict[str, float]]]:
    """Names and speeds of the workers that were measured, without the products."""
    return [(name, result['speed']) for name, result in work['workers'].items()
            if 'speed' in result and name != LIMIT]


def _limit(work: Dict[str, Any]) -> float:
    """Returns the speed of the matrix products alone; 0 if it was not measured."""
    return work['workers'].get(LIMIT, {}).get('speed', {}).get('median', 0.0)


def _panel_height(work: Dict[str, Any]) -> float:
    return _HEAD + _BAR_STEP * len(_bars(work)) + _AXIS


def _panel(name: str, work: Dict[str, Any], left: float, top: float) -> List[str]:
    bars, limit = _bars(work), _limit(work)
    origin = left + _NAMES_WIDTH
    width = _PANEL_WIDTH - _NAMES_WIDTH - _VALUES_WIDTH
    largest = max([speed['max'] for _, speed in bars] + [limit])
    bottom = top + _HEAD + _BAR_STEP * len(bars)

    def x_of(value):
        return origin + width * value / largest

    shapes = [_text(left, top + 14, name, 'head'), _text(left, top + 31, work['title'], 'faint')]
    step = axis_step(largest)
    for i in range(int(largest / step) + 1):
        shapes.append(_line(x_of(i * step), top + _HEAD - 4, x_of(i * step), bottom, 'grid'))
        shapes.append(_text(x_of(i * step), bottom + 13, tick(i * step), 'faint', 'middle'))
    shapes.append(_text(origin + width / 2, bottom + 27, work['unit'], 'faint', 'middle'))
    for row, (worker, speed) in enumerate(bars):
        y = top + _HEAD + _BAR_STEP * row
        kind = {'cooper-unrolled': 'cooper', 'cooper-labels': 'cooper',
                'cooper-fused': 'cooper2'}.get(worker, 'peer')
        middle = y + _BAR / 2
        shapes += [
            _text(origin - 6, y + 12, worker, anchor='end'),
            f'<rect x="{origin:.1f}" y="{y:.1f}" width="{x_of(speed["median"]) - origin:.1f}" '
            f'height="{_BAR}" class="{kind}"><title>{escape(worker)}: {speed["median"]:,.0f} '
            f'({speed["min"]:,.0f} to {speed["max"]:,.0f}) {escape(work["unit"])}</title></rect>',
            _line(x_of(speed['min']), middle, x_of(speed['max']), middle, 'spread'),
            _text(left + _PANEL_WIDTH, y + 12, figure(speed['median']), 'value', 'end')]
    if limit:
        shapes.append(_line(x_of(limit), top + _HEAD - 8, x_of(limit), bottom, 'limit'))
    return shapes


def _footer(document: Dict[str, Any]) -> List[str]:
    machine = document['machine']
    libraries = {version if not name.startswith('cooper-') else
                 f'cooper {version} ({document["revision"]})'
                 for name, version in document['versions'].items() if name != LIMIT}
    noted = [name for name, work in document['works'].items() if work['notes']]
    doubts = [f'To be taken with care, as compare.py noted: {", ".join(noted)}.'] if noted else []
    rounds = sorted({work['rounds'] for work in document['works'].values()})
    return doubts + [
        'Bars: medians over ' + ' or '.join(map(str, rounds)) + ' rounds in which all take turns; '
        'lines across them: minimum to maximum. Longer is faster.',
        'Dashed: the matrix products of the step alone, with the same library of products as '
        'cooper.',
        f'{machine["cpu"]}, {machine["cores"]} cores, {" ".join(machine["isa"])}, '
        f'{machine["memory_gb"]:.0f} GiB, Linux {machine["kernel"]}; float32',
        f'{", ".join(sorted(libraries))}; {document["date"][:10]}',
    ]


def _lasting(document: Dict[str, Any]) -> Dict[str, Any]:
    """Returns the part of the machine's description that does not change between runs."""
    return {key: value for key, value in document['machine'].items() if key != 'load_average'}


def join(documents: List[Dict[str, Any]]) -> Dict[str, Any]:
    """One document with all works; raises ChartError if they are not alike in all else."""
    if len(documents) == 1:
        return documents[0]
    try:
        joined = {**documents[0], 'works': {}, 'versions': {}}
        for document in documents:
            for key, here, first in (('machine', _lasting(document), _lasting(joined)),
                                     ('revision', document['revision'], joined['revision'])):
                if here != first:
                    raise ChartError(f'{key}: {here}, and {first} in the first file')
            for name, version in document['versions'].items():
                if joined['versions'].setdefault(name, version) != version:
                    raise ChartError(f'{name}: {version}, and {joined["versions"][name]} before')
            for name, work in document['works'].items():
                if name in joined['works']:
                    raise ChartError(f'{name} is in two files')
                joined['works'][name] = work
    except (KeyError, TypeError, AttributeError) as error:
        raise ChartError(f'not a result of compare.py: {type(error).__name__}: {error}') from error
    return joined


def draw(document: Dict[str, Any]) -> str:
    """The chart of compare.py's document; raises ChartError if it has no bars."""
    try:
        works = {name: work for name, work in document['works'].items() if _bars(work)}
        if not works:
            raise ChartError('no work has a measured worker')
        shapes = [_text(_MARGIN, 26, 'A bucketed language model on the CPU', 'title'),
                  _text(_MARGIN, 44, 'Embedding, 2 recurrent layers, projection, softmax: '
                        'cooper beside MXNet and PyTorch', 'faint')]
        names, top = list(works), float(_TITLE)
        for begin in range(0, len(names), _COLUMNS):
            row = names[begin:begin + _COLUMNS]
            for column, name in enumerate(row):
                left = _MARGIN + column * (_PANEL_WIDTH + _MARGIN)
                shapes += _panel(name, works[name], left, top)
            top += max(_panel_height(works[name]) for name in row) + 6
        for line in _footer({**document, 'works': works}):
            top += _LINE
            shapes.append(_text(_MARGIN, top, line, 'faint'))
    except (KeyError, TypeError, AttributeError, ValueError, ZeroDivisionError) as error:
        raise ChartError(f'not a result of compare.py: {type(error).__name__}: {error}') from error
    height = top + _MARGIN
    return '\n'.join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height:.0f}" '
        f'viewBox="0 0 {_WIDTH} {height:.0f}" role="img" '
        'aria-label="Tokens per second of cooper, MXNet and PyTorch">',
        f'<style>{_STYLE}</style>',
        f'<rect class="page" width="{_WIDTH}" height="{height:.0f}"/>', *shapes, '</svg>', ''])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('json', nargs='+', help="compare.py's --json")
    parser.add_argument('svg', help='the file to write')
    flags = parser.parse_args()
    try:
        documents = []
        for path in flags.json:
            with open(path, encoding='utf-8') as text:
                documents.append(json.load(text))
        chart = draw(join(documents))
        with open(flags.svg, 'w', encoding='utf-8') as out:
            out.write(chart)
    except (OSError, ValueError, ChartError) as error:
        print(f'chart.py: {", ".join(flags.json)}: {error}', file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
