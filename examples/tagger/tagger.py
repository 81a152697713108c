#!/usr/bin/env python3
"""The MXNet twin of tagger.cc: data of the same kind, network and training with MXNet 1.9.1.

For readers who come from MXNet, and for the comparison of sizes (examples/sizes_test.sh).
"""

import random

import mxnet as mx
import numpy as np


def make_tagged_sentences(count, seed):
    """Returns sentences of 1 to 15 words with their tags.

    A word's tag encodes whether the previous word's id is even and whether the next one's is.
    """
    rng = random.Random(seed)
    words = [[rng.randint(1, 20) for _ in range(rng.randint(1, 15))] for _ in range(count)]
    tags = []
    for sentence in words:
        even = [False] + [word % 2 == 0 for word in sentence] + [False]
        tags.append([before + 2 * behind for before, behind in zip(even, even[2:])])
    return words, tags


class TaggerIter(mx.io.DataIter):
    """Serves shuffled batches of padded sentences; the last batch of a bucket is smaller."""

    def __init__(self, words, tags, seed, batch_size=16, buckets=(5, 10, 15)):
        super().__init__(batch_size)
        self.words, self.tags = words, tags
        self.rng = random.Random(seed)
        self.default_bucket_key = max(buckets)
        self.provide_data, self.provide_label = self.describe(batch_size, max(buckets))
        self.members = {key: [] for key in buckets}
        for i, sentence in enumerate(words):
            self.members[min(key for key in buckets if key >= len(sentence))].append(i)
        self.reset()

    @staticmethod
    def describe(batch_size, key):
        return ([("data", (batch_size, key)), ("length", (batch_size,))],
                [("softmax_label", (batch_size, key))])

    def reset(self):
        self.batches = []
        for key, members in self.members.items():
            self.rng.shuffle(members)
            for begin in range(0, len(members), self.batch_size):
                self.batches.append((key, members[begin:begin + self.batch_size]))
        self.rng.shuffle(self.batches)

    def next(self):
        if not self.batches:
            raise StopIteration
        key, index = self.batches.pop()
        data = np.zeros((len(index), key))
        label = np.full((len(index), key), -1)
        lengths = [len(self.words[i]) for i in index]
        for row, (i, length) in enumerate(zip(index, lengths)):
            data[row, :length] = self.words[i]
            label[row, :length] = self.tags[i]
        provide_data, provide_label = self.describe(len(index), key)
        return mx.io.DataBatch([mx.nd.array(data), mx.nd.array(lengths)], [mx.nd.array(label)],
                               pad=0, index=index, bucket_key=key, provide_data=provide_data,
                               provide_label=provide_label)


def tagger_network(key):
    """Maps data (N, T) and length (N,) to probabilities (N, T, tags)."""
    embed = mx.sym.Embedding(mx.sym.Variable("data"), input_dim=21, output_dim=16, name="embed")
    # The cells of mx.rnn know no lengths. Those of Gluon do, and take symbols too.
    cell = mx.gluon.rnn.BidirectionalCell(mx.gluon.rnn.GRUCell(16, prefix="l_"),
                                          mx.gluon.rnn.GRUCell(16, prefix="r_"))
    both, _ = cell.unroll(key, embed, merge_outputs=True, valid_length=mx.sym.Variable("length"))
    scores = mx.sym.FullyConnected(both, num_hidden=4, flatten=False, name="tag")
    softmax = mx.sym.SoftmaxOutput(scores, ignore_label=-1, use_ignore=True, preserve_shape=True,
                                   name="softmax")
    return softmax, ("data", "length"), ("softmax_label",)


def token_accuracy(label, pred):
    """Counts like mx.metric.Accuracy, without padding, which that metric cannot exclude."""
    real = label != -1
    return (pred.argmax(axis=2) == label)[real].sum(), real.sum()


def train_tagger(words, tags, num_epoch):
    mx.random.seed(1)
    batches = TaggerIter(words, tags, seed=1)
    model = mx.mod.BucketingModule(tagger_network, batches.default_bucket_key)
    model.fit(batches, eval_metric=mx.metric.np(token_accuracy), optimizer="adam",
              optimizer_params={"learning_rate": 0.02}, initializer=mx.init.Xavier(),
              num_epoch=num_epoch)
    return model


def tag_sentences(model, words, tags):
    """Returns the predicted tags of each sentence, in the order of `words`; does not use `tags`."""
    found = [None] * len(words)
    for outputs, _, batch in model.iter_predict(TaggerIter(words, tags, seed=0)):
        best = outputs[0].asnumpy().argmax(axis=2)
        for row, i in enumerate(batch.index):
            found[i] = best[row, :len(words[i])].tolist()
    return found


def main():
    model = train_tagger(*make_tagged_sentences(1000, 1), num_epoch=8)
    words, tags = make_tagged_sentences(301, 2)
    found = tag_sentences(model, words, tags)
    right = sum(a == b for a, b in zip(found, tags))
    print("%d of %d sentences are tagged without a fault" % (right, len(tags)))


if __name__ == "__main__":
    main()
