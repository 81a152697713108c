"""Times epochs over a text as MXNet and PyTorch train on it, with reading and word ids.

Nothing here imports NumPy or a peer (see protocol.py).
"""

import math
import time
from typing import Any, Callable, Dict, Iterable, Iterator, List, Tuple

UNKNOWN_ID = 1  # of every word that the training text lacks
FIRST_WORD_ID = 2

# Perplexity, words that it counts, and positions with the padding.
EpochSums = Tuple[float, int, int]


def read_sentences(path: str, max_sentences: int = -1) -> List[List[str]]:
    """Returns the words of each line that has any: of the first max_sentences, or of all if negative."""
    sentences = []
    with open(path, encoding='utf-8-sig') as text:  # as cooper, without a byte order mark
        for line in text:
            if len(sentences) == max_sentences:
                break
            words = line.split()
            if words:
                sentences.append(words)
    if not sentences:
        raise ValueError(f'{path}: the text has no sentence')
    return sentences


def make_vocabulary(sentences: List[List[str]]) -> Dict[str, int]:
    """Returns ids of the words in the order of their appearance."""
    ids: Dict[str, int] = {}
    for sentence in sentences:
        for word in sentence:
            ids.setdefault(word, len(ids) + FIRST_WORD_ID)
    return ids


def encode(sentences: List[List[str]], ids: Dict[str, int]) -> List[List[int]]:
    """Returns the ids of words; unknown words share one id."""
    return [[ids.get(word, UNKNOWN_ID) for word in sentence] for sentence in sentences]


def vocab_size(ids: Dict[str, int]) -> int:
    """Returns the number of ids in the model: the words, the unknown one, and the padding."""
    return len(ids) + FIRST_WORD_ID


class Stopwatch:
    """Adds up the time that an iterator takes to return its items."""

    def __init__(self):
        self.seconds = 0.0

    def over(self, items: Iterable) -> Iterator:
        """Yields the items, and adds the time that each takes to arrive."""
        iterator = iter(items)
        while True:
            begin = time.perf_counter()
            try:
                item = next(iterator)
            except StopIteration:
                return
            finally:
                self.seconds += time.perf_counter() - begin
            yield item


def run_epochs(epochs: int, read: Callable[[], Any],
               train: Callable[[Any, Stopwatch], EpochSums],
               validate: Callable[[], List[float]]) -> Dict[str, Any]:
    """Times epochs with all that belongs to them except the validation. Returns the answer to `run`.

    Args:
      epochs: number of epochs.
      read: reads the text and returns an iterator over batches with a method reset().
      train: trains one epoch, takes its batches through the stopwatch, and returns when all work is done.
      validate: returns the perplexity after an epoch as a list of one, or an empty list.
    """
    stopwatch = Stopwatch()
    elapsed, tokens, padded = 0.0, 0, 0
    perplexities, valid = [], []
    begin = time.perf_counter()
    batches = read()
    stopwatch.seconds += time.perf_counter() - begin
    for epoch in range(epochs):
        if epoch:
            batches.reset()
        perplexity, counted, positions = train(batches, stopwatch)
        perplexities.append(perplexity)
        tokens += counted
        padded += positions
        elapsed += time.perf_counter() - begin
        valid += validate()
        begin = time.perf_counter()
    return {
        'passes': epochs,
        'elapsed_s': round(elapsed, 6),
        'input_s': round(stopwatch.seconds, 6),
        'padded_tokens_per_s': round(padded / elapsed, 1),
        'tokens_per_s': round(tokens / elapsed, 1),
        'tokens': tokens,
        'perplexity_by_epoch': perplexities,
        'valid_perplexity_by_epoch': valid,
        'nll_per_token': round(math.log(perplexities[-1]), 5),
    }
