#!/usr/bin/env python3
"""The MXNet twin of seq2seq.cc: data of the same kind, network and training with MXNet 1.9.1.

For readers who come from MXNet, and for the comparison of sizes (examples/sizes_test.sh).
"""

import random

import mxnet as mx
import numpy as np

BEGIN, END, FIRST_WORD, NUM_WORDS = 1, 2, 3, 20
VOCAB = FIRST_WORD + NUM_WORDS


def make_sentence_pairs(count, seed):
    """Returns sentences of 2 to 9 words with their "translations".

    These are the words in reverse order with other ids; every fifth word becomes two words.
    """
    rng = random.Random(seed)
    pairs = []
    for _ in range(count):
        source = [FIRST_WORD + rng.randrange(NUM_WORDS) for _ in range(rng.randint(2, 9))]
        target = [BEGIN]
        for word in reversed(source):
            number = word - FIRST_WORD
            target.append(FIRST_WORD + (number * 7 + 3) % NUM_WORDS)
            if number % 5 == 0:
                target.append(FIRST_WORD + (number + 1) % NUM_WORDS)
        pairs.append((source, target + [END]))
    return pairs


class PairIter(mx.io.DataIter):
    """Serves shuffled batches with keys (source length, target length).

    A bucket's last batch is filled with rows of padding.
    """

    def __init__(self, pairs, batch_size=32,
                 buckets=((4, 7), (4, 10), (7, 10), (7, 14), (9, 12), (9, 20))):
        super().__init__(batch_size)
        self.rng = random.Random(1)
        self.default_bucket_key = max(buckets)
        self.provide_data, self.provide_label = self.describe(self.default_bucket_key)
        self.members = {key: [] for key in buckets}
        for source, target in pairs:
            fitting = [key for key in buckets if key[0] >= len(source) and key[1] >= len(target)]
            self.members[min(fitting, key=sum)].append((source, target))
        self.reset()

    def describe(self, key):
        source, target = (self.batch_size, key[0]), (self.batch_size, key[1])
        return ([("source", source), ("target", target), ("source_length", (self.batch_size,))],
                [("softmax_label", target)])

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
        key, pairs = self.batches.pop()
        sources = np.zeros((self.batch_size, key[0]))
        targets = np.zeros((self.batch_size, key[1]))
        lengths = np.ones(self.batch_size)
        for row, (source, target) in enumerate(pairs):
            sources[row, :len(source)] = source
            targets[row, :len(target)] = target
            lengths[row] = len(source)
        labels = np.zeros_like(targets)
        labels[:, :-1] = targets[:, 1:]
        provide_data, provide_label = self.describe(key)
        return mx.io.DataBatch([mx.nd.array(sources), mx.nd.array(targets), mx.nd.array(lengths)],
                               [mx.nd.array(labels)], pad=self.batch_size - len(pairs),
                               bucket_key=key, provide_data=provide_data,
                               provide_label=provide_label)


def embed(name, words):
    return mx.sym.Embedding(words, input_dim=VOCAB, output_dim=24, name=name)


def attend(decoder, encoder, encoder_length):
    """Returns for each step of `decoder` (N, T, C) the mean of `encoder` (N, S, C), weighted by the
    softmax of their products; padding has no weight."""
    scores = mx.sym.batch_dot(encoder, decoder, transpose_b=True)  # (N, S, T)
    masked = mx.sym.SequenceMask(scores, encoder_length, use_sequence_length=True, axis=1,
                                 value=-1e9)
    return mx.sym.batch_dot(mx.sym.softmax(masked, axis=1), encoder, transpose_a=True)


def seq2seq_network(key):
    """Maps source (N, S), source_length (N,) and target (N, T) to probabilities (N, T, words)."""
    source_length = mx.sym.Variable("source_length")
    # The cells of mx.rnn know no lengths. Those of Gluon do, and take symbols too.
    encoder = mx.gluon.rnn.BidirectionalCell(mx.gluon.rnn.GRUCell(24, prefix="encoder_l_"),
                                             mx.gluon.rnn.GRUCell(24, prefix="encoder_r_"))
    encoded, states = encoder.unroll(key[0], embed("source_embed", mx.sym.Variable("source")),
                                     merge_outputs=True, valid_length=source_length)
    decoder = mx.gluon.rnn.GRUCell(48, prefix="decoder_")
    decoded, _ = decoder.unroll(key[1], embed("target_embed", mx.sym.Variable("target")),
                                begin_state=[mx.sym.concat(*states)], merge_outputs=True)
    context = attend(decoded, encoded, source_length)
    hidden = mx.sym.FullyConnected(mx.sym.concat(decoded, context, dim=2), num_hidden=48,
                                   flatten=False, name="hidden")
    scores = mx.sym.FullyConnected(mx.sym.Activation(hidden, act_type="tanh"), num_hidden=VOCAB,
                                   flatten=False, name="scores")
    softmax = mx.sym.SoftmaxOutput(scores, ignore_label=0, use_ignore=True, preserve_shape=True,
                                   name="softmax")
    return softmax, ("source", "target", "source_length"), ("softmax_label",)


def token_accuracy(label, pred):
    """Counts like mx.metric.Accuracy, without padding, which that metric cannot exclude."""
    real = label != 0
    return (pred.argmax(axis=2) == label)[real].sum(), real.sum()


def train_seq2seq(pairs, num_epoch):
    mx.random.seed(1)
    batches = PairIter(pairs)
    model = mx.mod.BucketingModule(seq2seq_network, batches.default_bucket_key)
    model.fit(batches, eval_metric=mx.metric.np(token_accuracy), optimizer="adam",
              optimizer_params={"learning_rate": 0.01}, initializer=mx.init.Xavier(),
              num_epoch=num_epoch)
    return model


def score_seq2seq(model, pairs):
    """Returns the share of the targets' words, end tokens included, that are predicted from the correct previous words."""
    return model.score(PairIter(pairs), mx.metric.np(token_accuracy))[0][1]


def main():
    model = train_seq2seq(make_sentence_pairs(4000, 1), num_epoch=10)
    accuracy = score_seq2seq(model, make_sentence_pairs(500, 2))
    print("%.2f %% of the words are right" % (100 * accuracy))


if __name__ == "__main__":
    main()
