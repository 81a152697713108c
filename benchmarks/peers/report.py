"""Medians, spreads and per-round ratios of a comparison, and the tables that show them."""

import statistics
from typing import Any, Dict, List


def spread(values: List[float]) -> Dict[str, float]:
    """The median of the rounds, with their extremes."""
    return {'median': statistics.median(values), 'min': min(values), 'max': max(values)}


def ratios(speeds: Dict[str, List[float]], tops: List[str]) -> Dict[str, Dict[str, float]]:
    """Speed of each worker in `tops` over each other one, taken within rounds.

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


def format_work(name: str, work: Dict[str, Any]) -> str:
    """The table of one work; `work` is its part of compare.py's JSON."""
    sizes = ', '.join(f'{key} {value}' for key, value in work['sizes'].items())
    lines = [f'{name}: {sizes}; {work["passes_per_run"]} pass(es) a run, '
             f'{work["rounds"]} rounds', '']
    lines.append(f'  {"worker":<16}{"padded tokens/s":>16}{"min":>10}{"max":>10}'
                 f'{"peak MB":>10}{"+MB":>8}{"start s":>9}')
    for worker, result in work['workers'].items():
        if 'absent' in result:
            lines.append(f'  {worker:<16}  absent: {result["absent"]}')
            continue
        speed = result['padded_tokens_per_s']
        lines.append(f'  {worker:<16}{speed["median"]:>16,.0f}{speed["min"]:>10,.0f}'
                     f'{speed["max"]:>10,.0f}{result["rss_peak_mb"]:>10,.0f}'
                     f'{result["rss_growth_mb"]:>8,.0f}{result["start_s"]:>9.1f}')
    if work['ratios']:
        lines += ['', f'  {"ratio, by round":<34}{"median":>8}{"min":>8}{"max":>8}']
        lines += [f'  {pair:<34}{r["median"]:>8.2f}{r["min"]:>8.2f}{r["max"]:>8.2f}'
                  for pair, r in work['ratios'].items()]
    lines += [f'  note: {note}' for note in work['notes']]
    return '\n'.join(lines) + '\n'
