"""Makes batches of sentences of similar length for PyTorch, as mx.rnn.BucketSentenceIter does."""

import bisect
from typing import Iterator, List, Tuple

import torch

from protocol import PAD_ID


class BucketBatches:
    """Batches of (data, label), both (batch_size, bucket), in a new order after each reset().

    A sentence is padded to the smallest bucket that holds it; longer ones and those that fill no
    batch are left out. A label is the next word, and padding behind a sentence's last word.
    """

    def __init__(self, sentences: List[List[int]], batch_size: int, buckets: List[int]):
        ordered = sorted(buckets)
        rows: List[List[List[int]]] = [[] for _ in ordered]
        for sentence in sentences:
            i = bisect.bisect_left(ordered, len(sentence))
            if i < len(ordered):
                rows[i].append(sentence + [PAD_ID] * (ordered[i] + 1 - len(sentence)))
        self.buckets = [bucket for bucket, own in zip(ordered, rows) if len(own) >= batch_size]
        # One column more than the bucket: data and label are the same row, one word apart.
        self._rows = [torch.tensor(own) for own in rows if len(own) >= batch_size]
        self._batch_size = batch_size
        self._batches: List[torch.Tensor] = []
        self.reset()

    def reset(self) -> None:
        """Shuffles the sentences of each bucket, and the batches."""
        batches = []
        for rows in self._rows:
            shuffled = rows[torch.randperm(len(rows))]
            full = len(rows) // self._batch_size * self._batch_size
            batches += list(shuffled[:full].split(self._batch_size))
        self._batches = [batches[i] for i in torch.randperm(len(batches)).tolist()]

    def __iter__(self) -> Iterator[Tuple[torch.Tensor, torch.Tensor]]:
        for rows in self._batches:
            yield rows[:, :-1].contiguous(), rows[:, 1:].contiguous()
