"""The works that compare.py measures: the sizes of the model, and the passes."""

import argparse
from typing import Any, Dict, List

TEXT = 'text'  # the work whose sentences are --corpus

# Four blocks with heads of 64 features, as examples/transformer: padding is masked, so it must not
# count. Plain SGD diverges at the rate of the recurrent layers.
_TRANSFORMER: Dict[str, Any] = {'cell': 'transformer', 'num_layers': 4, 'use_ignore': True,
                                'lr': 0.001}

# Models with two recurrent layers of the width of the embedding: a word model, a character model, a
# small model in which overheads dominate, and a large one in which GEMM does. Then other layers,
# one thread, and the forward pass alone, for a batch and for one sentence (latency). T1 is a causal
# Transformer.
WORKS: Dict[str, Dict[str, Any]] = {
    'W1': {'vocab': 10000, 'num_hidden': 200},
    'W2': {'vocab': 100, 'num_hidden': 200},
    'W3': {'vocab': 1000, 'num_hidden': 64},
    'W4': {'vocab': 10000, 'num_hidden': 650},
    'W1-gru': {'vocab': 10000, 'num_hidden': 200, 'cell': 'gru'},
    'W1-bi': {'vocab': 10000, 'num_hidden': 200, 'bidirectional': True},
    'W1-1-thread': {'vocab': 10000, 'num_hidden': 200, 'threads': 1},
    'W1-forward': {'vocab': 10000, 'num_hidden': 200, 'forward_only': True},
    'W1-forward-1': {'vocab': 10000, 'num_hidden': 200, 'forward_only': True, 'batch_size': 1},
    'W3-forward-1': {'vocab': 1000, 'num_hidden': 64, 'forward_only': True, 'batch_size': 1},
    'T1': {'vocab': 10000, 'num_hidden': 256, **_TRANSFORMER},
    'T1-forward': {'vocab': 10000, 'num_hidden': 256, 'forward_only': True, **_TRANSFORMER},
    TEXT: {'num_hidden': 200, 'use_ignore': True},
}

_FROM_FLAGS = ('batch_size', 'buckets', 'threads', 'lr', 'seed', 'warmup', 'forward_only',
               'use_ignore')
_OF_TEXT = ('corpus', 'valid', 'max_sentences')


def choose(names: List[str], has_corpus: bool) -> List[str]:
    """Returns the works that --work selects, with "all" expanded. Raises ValueError for others."""
    if not names:
        return [TEXT] if has_corpus else ['W1', 'W2', 'W3']
    if names == ['all']:
        return [name for name in WORKS if name != TEXT or has_corpus]
    for name in names:
        if name not in WORKS:
            raise ValueError(f'no "{name}" among all, {", ".join(WORKS)}')
        if name == TEXT and not has_corpus:
            raise ValueError(f'"{TEXT}" needs --corpus')
    return names


def settings(flags: argparse.Namespace, name: str) -> Dict[str, Any]:
    """Returns the flags of every worker of the work, by the names of the protocol.

    The settings of the work override the command line's flags.
    """
    work = WORKS[name]
    of_flags = _FROM_FLAGS + (_OF_TEXT if name == TEXT else ())
    return {'cell': 'lstm', 'bidirectional': False, 'num_layers': 2,
            'num_embed': work['num_hidden'],
            **{flag: getattr(flags, flag) for flag in of_flags}, **work}


def arguments(told: Dict[str, Any]) -> List[str]:
    """Returns settings as a command line."""
    given = [f'--{name}={value}' for name, value in told.items()
             if not isinstance(value, bool) and value != '']
    return given + [f'--{name}' for name, value in told.items() if value is True] + ['--serve']


def title(told: Dict[str, Any]) -> str:
    """Returns a line that describes the work."""
    parts = ['forward pass' if told['forward_only'] else 'training']
    if told['bidirectional']:
        parts.append('bidirectional')
    parts += [told['cell'].upper(), f'vocabulary {told["vocab"]:,}' if 'vocab' in told else 'a text',
              f'hidden {told["num_hidden"]}', f'batch {told["batch_size"]}',
              f'{told["threads"]} thread' + ('s' if told['threads'] != 1 else '')]
    return ', '.join(parts)
