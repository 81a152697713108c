"""Computes medians, spreads and per-round ratios of a comparison, and formats them as tables."""

import math
import statistics
from typing import Any, Dict, List, Optional

LIMIT = 'gemm-limit'  # the worker that makes nothing but the matrix products


def spread(values: List[float]) -> Dict[str, float]:
    """Returns the median of the rounds with minimum and maximum."""
    return {'median': statistics.median(values), 'min': min(values), 'max': max(values)}


def ratios(speeds: Dict[str, List[float]], tops: List[str]) -> Dict[str, Dict[str, float]]:
    """Returns the speed of each worker in `tops` relative to each other one, taken within rounds.

    A ratio of two runs of one round sees the same machine, which a ratio of medians need not.

    Args:
      speeds: tokens per second by worker name, one for each round, the same rounds for all.
      tops: names of the workers to compare with the others (and not with each other).
    """
    return {
        f'{top} / {other}': spread([a / b for a, b in zip(speeds[top], speeds[other])])
        for top in tops if top in speeds
        for other in speeds if other not in tops
    }


def number_or_nan(value: Optional[float]) -> float:
    """Returns a figure of a worker as a float; cooper's JSON has null for one that is not finite."""
    return math.nan if value is None else value


def format_work(name: str, work: Dict[str, Any]) -> str:
    """Returns the tables of one work; `work` is its part of compare.py's JSON."""
    lines = [f'{name}: {work["title"]}; {work["passes_per_run"]} pass(es) a run, '
             f'{work["rounds"]} round(s)', '']
    lines.append(f'  {"worker":<16}{work["unit"]:>16}{"min":>10}{"max":>10}'
                 f'{"peak MB":>10}{"+MB":>8}{"start s":>9}')
    for worker, result in work['workers'].items():
        if 'absent' in result:
            lines.append(f'  {worker:<16}  absent: {result["absent"]}')
            continue
        speed = result['speed']
        lines.append(f'  {worker:<16}{speed["median"]:>16,.0f}{speed["min"]:>10,.0f}'
                     f'{speed["max"]:>10,.0f}{result["rss_peak_mb"]:>10,.0f}'
                     f'{result["rss_growth_mb"]:>8,.0f}{result["start_s"]:>9.1f}')
    if work['ratios']:
        lines += ['', f'  {"ratio, by round":<34}{"median":>8}{"min":>8}{"max":>8}']
        lines += [f'  {pair:<34}{r["median"]:>8.2f}{r["min"]:>8.2f}{r["max"]:>8.2f}'
                  for pair, r in work['ratios'].items()]
    lines += _format_latencies(work['workers']) + _format_perplexities(work['workers'])
    lines += [f'  note: {note}' for note in work['notes']]
    return '\n'.join(lines) + '\n'


def _format_latencies(workers: Dict[str, Any]) -> List[str]:
    """Returns a table of the milliseconds of a step by bucket: medians over the runs."""
    rows = {name: [run['ms_per_step_by_bucket'] for run in result['runs']]
            for name, result in workers.items()
            if result.get('runs') and 'ms_per_step_by_bucket' in result['runs'][0]}
    if not rows:
        return []
    buckets = sorted({bucket for runs in rows.values() for bucket in runs[0]}, key=int)
    head = ''.join(f'{bucket:>9}' for bucket in buckets)
    lines = ['', f'  {"ms a step, of bucket":<22}{head}']
    for name, runs in rows.items():
        cells = [[run[bucket] for run in runs if bucket in run] for bucket in buckets]
        lines.append(f'  {name:<22}' + ''.join(
            f'{statistics.median(cell):>9.3f}' if cell else f'{"-":>9}' for cell in cells))
    return lines


def _format_perplexities(workers: Dict[str, Any]) -> List[str]:
    """Returns the learning curves, with a column for each epoch."""
    lines = []
    for key, words in (('perplexity_by_epoch', 'training perplexity'),
                       ('valid_perplexity_by_epoch', 'validation perplexity')):
        curves = {name: [number_or_nan(value) for run in result['runs']
                         for value in run.get(key, [])]
                  for name, result in workers.items() if result.get('runs')}
        curves = {name: curve for name, curve in curves.items() if curve}
        if not curves:
            continue
        head = ''.join(f'{i + 1:>9}' for i in range(max(map(len, curves.values()))))
        lines += ['', f'  {words + ", epoch":<30}{head}']
        lines += [f'  {name:<30}' + ''.join(f'{value:>9.1f}' for value in curve)
                  for name, curve in curves.items()]
    return lines


def format_summary(works: Dict[str, Any]) -> str:
    """Returns a table for each of cooper's workers with a row for each work: speed, ratios, limit."""
    tables = []
    names = list(dict.fromkeys(name for work in works.values() for name in work['workers']))
    for top in (name for name in names if name.startswith('cooper-')):
        others = [name for name in names if not name.startswith('cooper-') and name != LIMIT]
        head = ''.join(f'{"/ " + other:>24}' for other in others)
        lines = [f'  {top:<18}{"tokens/s":>12}{head}{"of the products":>18}']
        for name, work in works.items():
            result = work['workers'].get(top, {})
            if 'speed' not in result:
                lines.append(f'  {name:<18}{"absent":>12}')
                continue
            row = f'  {name:<18}{result["speed"]["median"]:>12,.0f}'
            for other in others:
                row += f'{_format_ratio(work["ratios"].get(f"{top} / {other}")):>24}'
            limit = work['ratios'].get(f'{top} / {LIMIT}')
            row += f'{limit["median"]:>18.2f}' if limit else f'{"-":>18}'
            lines.append(row)
        tables.append('\n'.join(lines) + '\n')
    if not tables:
        return ''
    return ('Summary: padded tokens/s (of a text: its own), ratios by round as median (min-max), '
            'and the share\nof what the matrix products alone reach.\n\n' + '\n'.join(tables))


def _format_ratio(ratio: Any) -> str:
    if not ratio:
        return '-'
    return f'{ratio["median"]:.2f} ({ratio["min"]:.2f}-{ratio["max"]:.2f})'
