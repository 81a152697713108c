#!/usr/bin/env python3
"""Writes the results of networks.py and operators.py as a page of tables.

    benchmarks/peers/tables.py networks.json operators.json > docs/mxnet_speed.md
    benchmarks/peers/tables.py torch_operators.json > docs/speed.md

The files come from --json, all on one machine and beside one peer. Rows of several files form one
table.
"""

import json
import math
import pathlib
import statistics
import sys
from typing import Any, Dict, Iterable, List

import turns

_MODES = ('predict', 'train')
_PEERS = {'mxnet': 'MXNet 1.9.1', 'torch': 'PyTorch 2.15'}
# Operators whose gradients PyTorch returns as views of the head gradient: it writes nothing.
_VIEWS = ('add', 'stack', 'sum', 'sum of columns', 'sum of few columns', 'sum of short rows',
          'swap axes')


def _mean(ratios: Iterable[float]) -> str:
    return f'{math.exp(statistics.mean(map(math.log, ratios))):.2f}'


def _row(cells: Iterable[str]) -> str:
    return '| ' + ' | '.join(cells) + ' |'


def _head(names: List[str]) -> List[str]:
    """Returns the header rows of a table whose first column is text."""
    return [_row(names), _row(['---'] + ['---:'] * (len(names) - 1))]


def _peer(row: Dict[str, Any]) -> str:
    """Returns the peer to which a row's ratio is: the first one that was measured."""
    return next(name for name in row['seconds'] if name != 'cooper')


def _times(row: Dict[str, Any], unit: float, digits: int) -> str:
    median = turns.medians(row['seconds'])
    return f'{unit * median["cooper"]:.{digits}f} / {unit * median[_peer(row)]:.{digits}f}'


def _share(row: Dict[str, Any]) -> str:
    """Returns cooper's share of the limit in percent; empty if there is none."""
    limit = row.get('limit_s')
    return f'{100 * limit / turns.medians(row["seconds"])["cooper"]:.0f} %' if limit else ''


def _onnx_ratio(row: Dict[str, Any]) -> float:
    """Returns the ratio to ONNX Runtime; 0 if it was not measured."""
    return row.get('ratios', {}).get('onnx', 0)


def _network_lines(rows: List[Dict[str, Any]]) -> List[str]:
    lines = ['## Networks', '', 'Milliseconds of a pass, cooper / MXNet, the ratio of speeds, that to ONNX '
             'Runtime where it was measured, and the peak resident sets in MB.', '']
    lines += _head(['network', 'batch', 'prediction', 'ratio', '/ ONNX Runtime', 'MB', 'training',
                    'ratio', 'MB'])
    cells = {}
    for row in rows:
        peak = row.get('peak_mb')
        cells.setdefault((row['network'], row['batch_size']), {})[row['mode']] = [
            _times(row, 1e3, 1), f'{row["ratio"]:.2f}',
            f'{peak["cooper"]:.0f} / {peak["mxnet"]:.0f}' if peak else '']
        if row['mode'] == 'predict':
            onnx = _onnx_ratio(row)
            cells[row['network'], row['batch_size']]['predict'].insert(2, f'{onnx:.2f}' if onnx else '')
    for (network, batch), modes in sorted(cells.items()):
        lines.append(_row([network, str(batch)] +
                          modes.get('predict', [''] * 4) + modes.get('train', [''] * 3)))
    return lines + ['', _means(rows)]


def _operator_lines(rows: List[Dict[str, Any]]) -> List[str]:
    peer = _peer(rows[0])
    lines = ['## Operators', '',
             f'Microseconds of a pass, cooper / {_PEERS[peer]}, the ratio of speeds, and the share that '
             "cooper reaches of the machine's limit: a copy of as many bytes as inputs and outputs (and "
             'gradients) have, or large matrix products of as many operations. Values that stay in the '
             'cache between two passes may be faster than a copy of both.', '']
    if peer == 'torch':
        lines += ['A star marks gradients that PyTorch returns as views of the head gradient, without '
                  'writing them.', '']
    lines += _head(['operator', 'prediction', 'ratio', 'of limit', 'training', 'ratio', 'of limit'])
    cells = {}
    for row in rows:
        cells.setdefault(row['operator'], {})[row['mode']] = row
    for operator, modes in sorted(cells.items(),
                                  key=lambda item: min(row['ratio'] for row in item[1].values())):
        line = [operator]
        for mode in _MODES:
            row = modes.get(mode)
            view = peer == 'torch' and mode == 'train' and operator in _VIEWS
            line += ([_times(row, 1e6, 0), f'{row["ratio"]:.2f}' + ' *' * view, _share(row)]
                     if row else [''] * 3)
        lines.append(_row(line))
    return lines + ['', _means(rows)]


def _means(rows: List[Dict[str, Any]]) -> str:
    texts = []
    least = 0.9 if _peer(rows[0]) == 'torch' else 0.95
    for mode, name in zip(_MODES, ('prediction', 'training')):
        ratios = [row['ratio'] for row in rows if row['mode'] == mode]
        if ratios:
            slower = sum(ratio < least for ratio in ratios)
            texts.append(f'{name} {_mean(ratios)} over {len(ratios)} rows, {slower} below {least}')
    onnx = [ratio for ratio in map(_onnx_ratio, rows) if ratio]
    if onnx:
        texts.append(f'beside ONNX Runtime {_mean(onnx)} over {len(onnx)} rows, the least {min(onnx):.2f}')
    return 'Geometric means: ' + '; '.join(texts) + '.'


def page(records: List[Dict[str, Any]]) -> str:
    """Returns the page for several runs. Raises ValueError for runs of several kinds."""
    settings = {(record['machine']['cpu'], record['machine']['cores'], record['threads'],
                 record.get('neighbours', 0)) for record in records}
    if len(settings) != 1:
        raise ValueError(f'runs of {len(settings)} kinds (processor, cores, threads, neighbours): '
                         f'{sorted(settings)}')
    machine = records[0]['machine']
    rows = [row for record in records for row in record['rows']]
    peers = {_peer(row) for row in rows}
    if len(peers) != 1:
        raise ValueError(f'runs beside several peers: {sorted(peers)}')
    # The measured programs have priority over others, so the load average is only reported.
    load = max(record['machine'].get('load_average', [0])[0] for record in records)
    rounds = sorted({len(row['seconds']['cooper']) for row in rows})
    lines = [
        f'# Speed beside {_PEERS[peers.pop()]}', '',
        f'{machine["cpu"]}, {machine["cores"]} cores, {", ".join(machine["isa"])}; '
        f'{records[0]["threads"]} threads; medians over {" or ".join(map(str, rounds))} rounds in '
        f'turns, load averages up to {load:.0f}. Above 1 cooper is faster. Written by `benchmarks/peers/tables.py`; '
        '[how it is measured](../benchmarks/peers/README.md#image-networks).', ''
    ]
    networks = [row for row in rows if 'network' in row]
    operators = [row for row in rows if 'operator' in row]
    if networks:
        lines += _network_lines(networks) + ['']
    if operators:
        lines += _operator_lines(operators) + ['']
    return '\n'.join(lines[:-1]) + '\n'


def main() -> int:
    if len(sys.argv) < 2 or sys.argv[1].startswith('-'):
        print(__doc__, file=sys.stderr)
        return 1
    records = [json.loads(pathlib.Path(path).read_text(encoding='utf-8')) for path in sys.argv[1:]]
    try:
        sys.stdout.write(page(records))
    except ValueError as error:
        print(f'tables.py: {error}', file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
