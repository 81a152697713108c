#!/usr/bin/env python3
"""Writes the results of networks.py and operators.py as a page of tables.

    benchmarks/peers/tables.py networks.json torch_operators.json mxnet_operators.json > docs/speed.md

The files come from --json, all on one machine. Rows of several files form one table.
"""

import json
import math
import pathlib
import statistics
import sys
from typing import Any, Dict, Iterable, List

import turns

_MODES = {'predict': 'prediction', 'train': 'training'}
_PEERS = {'torch': 'PyTorch 2.15', 'mxnet': 'MXNet 1.9.1', 'onnx': 'ONNX Runtime 1.32',
          'openvino': 'OpenVINO 2026.4'}
_LEAST = {'torch': .9, 'mxnet': .95, 'onnx': .95, 'openvino': .95}  # rows below are counted
# Operators whose gradients PyTorch returns as views of the head gradient: it writes nothing.
_VIEWS = ('add', 'concat', 'np add', 'np concatenate', 'np sum', 'stack', 'sum', 'sum of columns',
          'sum of few columns', 'sum of short rows', 'swap axes', 'transpose', 'transpose of images')


def _row(cells: Iterable[str]) -> str:
    return '| ' + ' | '.join(cells) + ' |'


def _head(names: List[str]) -> List[str]:
    """Returns the header rows of a table whose first column is text."""
    return [_row(names), _row(['---'] + ['---:'] * (len(names) - 1))]


def _peers(rows: List[Dict[str, Any]]) -> List[str]:
    """Returns the peers of the rows, in the order of _PEERS."""
    return [peer for peer in _PEERS if any(peer in row['seconds'] for row in rows)]


def _ratio(row: Dict[str, Any], peer: str) -> float:
    """Returns the median of a row's ratios to a peer, above 1 if cooper is faster; else 0."""
    return statistics.median(turns.ratios(row['seconds'], peer)) if peer in row['seconds'] else 0


def _time(row: Dict[str, Any], unit: float, digits: int) -> str:
    return f'{unit * turns.medians(row["seconds"])["cooper"]:.{digits}f}'


def _number(ratio: float) -> str:
    return f'{ratio:.2f}' if ratio else ''


def _network_lines(rows: List[Dict[str, Any]]) -> List[str]:
    peers = {mode: _peers([row for row in rows if row['mode'] == mode]) for mode in _MODES}
    lines = ['## Networks', '', "Milliseconds of a pass by cooper, the ratio of speeds to each peer's, and "
             'the peak resident sets in MB of cooper / MXNet.', '']
    head = ['network', 'batch']
    for mode, name in _MODES.items():
        head += [name] + [f'/ {_PEERS[peer]}' for peer in peers[mode]] + ['MB']
    lines += _head(head)
    cells = {}
    for row in rows:
        peak = row.get('peak_mb')
        cells.setdefault((row['network'], row['batch_size']), {})[row['mode']] = (
            [_time(row, 1e3, 1)] + [_number(_ratio(row, peer)) for peer in peers[row['mode']]] +
            [f'{peak["cooper"]:.0f} / {peak["mxnet"]:.0f}' if peak else ''])
    for (network, batch), modes in sorted(cells.items()):
        lines.append(_row([network, str(batch)] + [
            cell for mode in _MODES for cell in modes.get(mode, [''] * (len(peers[mode]) + 2))]))
    return lines + [''] + _means(rows)


def _operator_cells(rows: List[Dict[str, Any]], peers: List[str]) -> List[str]:
    """Returns the cells of an operator in one mode, one row for each peer."""
    if not rows:
        return [''] * (len(peers) + 2)
    ratios = {peer: max(_ratio(row, peer) for row in rows) for peer in peers}
    view = 'torch' in ratios and rows[0]['mode'] == 'train' and rows[0]['operator'] in _VIEWS
    limit = rows[0].get('limit_s')
    share = limit / turns.medians(rows[0]['seconds'])['cooper'] if limit else 0
    return ([_time(rows[0], 1e6, 0)] +
            [_number(ratio) + ' *' * (view and peer == 'torch') for peer, ratio in ratios.items()] +
            [f'{100 * share:.0f} %' if share else ''])


def _operator_lines(rows: List[Dict[str, Any]]) -> List[str]:
    peers = _peers(rows)
    lines = ['## Operators', '',
             "Microseconds of a pass by cooper, the ratio of speeds to each peer's, and the share that "
             "cooper reaches of the machine's limit: a copy of as many bytes as inputs and outputs (and "
             'gradients) have, or large matrix products of as many operations. Values that stay in the '
             'cache between two passes may be faster than a copy of both. The operators come by their '
             f'least ratio to {_PEERS[peers[0]]}.', '']
    if 'torch' in peers:
        lines += ['A star marks gradients that PyTorch returns as views of the head gradient, without '
                  'writing them.', '']
    head = ['operator']
    for name in _MODES.values():
        head += [name] + [f'/ {_PEERS[peer]}' for peer in peers] + ['of limit']
    lines += _head(head)
    by_operator = {}
    for row in rows:
        by_operator.setdefault(row['operator'], []).append(row)

    def least(name: str) -> float:
        return min((_ratio(row, peers[0]) or math.inf for row in by_operator[name]))

    for name in sorted(by_operator, key=least):
        lines.append(_row([name] + [
            cell for mode in _MODES for cell in _operator_cells(
                [row for row in by_operator[name] if row['mode'] == mode], peers)]))
    return lines + [''] + _means(rows)


def _means(rows: List[Dict[str, Any]]) -> List[str]:
    """Returns lines with the geometric mean of each mode and peer, and how many rows are slow."""
    lines = ['Geometric means:', '']
    for mode, name in _MODES.items():
        for peer in _peers(rows):
            ratios = [_ratio(row, peer) for row in rows if row['mode'] == mode and peer in row['seconds']]
            if ratios:
                mean = math.exp(statistics.mean(map(math.log, ratios)))
                slower = sum(ratio < _LEAST[peer] for ratio in ratios)
                lines.append(f'- {name} beside {_PEERS[peer]}: {mean:.2f} over {len(ratios)} rows, the '
                             f'least {min(ratios):.2f}, {slower} below {_LEAST[peer]}')
    return lines


def page(records: List[Dict[str, Any]]) -> str:
    """Returns the page for several runs. Raises ValueError for runs of several kinds."""
    settings = {(record['machine']['cpu'], record['machine']['cores'], record['threads'],
                 record.get('neighbours', 0)) for record in records}
    if len(settings) != 1:
        raise ValueError(f'runs of {len(settings)} kinds (processor, cores, threads, neighbours): '
                         f'{sorted(settings)}')
    machine = records[0]['machine']
    rows = [row for record in records for row in record['rows']]
    # The measured programs have priority over others, so the load average is only reported.
    load = max(record['machine'].get('load_average', [0])[0] for record in records)
    rounds = sorted({len(row['seconds']['cooper']) for row in rows})
    lines = [
        '# Speed beside ' + ', '.join(_PEERS[peer] for peer in _peers(rows)), '',
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
