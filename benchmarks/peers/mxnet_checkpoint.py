#!/usr/bin/env python3
"""Computes with MXNet 1.9.1 the perplexity of a checkpoint that lm_train wrote.

    mxnet_checkpoint.py PREFIX EPOCH --train=TEXT --valid=TEXT [--batch_size=32]

It must be the validation perplexity that lm_train printed after that epoch: of all sentences
that are not longer than the longest bucket.
"""

import argparse
import math

import mxnet as mx
import numpy as np


def read(path):
    with open(path, encoding='utf-8-sig') as text:
        return [line.split() for line in text if line.strip()]


def encode(train, valid):
    """Returns ids from 2 on in the order of appearance in `train`; 1 is any word that it lacks."""
    ids = {}
    for sentence in train:
        for word in sentence:
            ids.setdefault(word, len(ids) + 2)
    return [[ids.get(word, 1) for word in sentence] for sentence in valid]


def bucket_of(length, keys):
    return next((key for key in sorted(keys) if length <= key), None)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('prefix')
    parser.add_argument('epoch', type=int)
    parser.add_argument('--train', required=True)
    parser.add_argument('--valid', required=True)
    parser.add_argument('--batch_size', type=int, default=32)
    flags = parser.parse_args()

    keys = [int(key) for key in mx.nd.load(flags.prefix + '.buckets')[0].asnumpy()]
    saved = mx.nd.load('%s-%04d.params' % (flags.prefix, flags.epoch))
    params = {name.split(':', 1)[1]: array for name, array in saved.items()}
    buckets = {key: [] for key in keys}
    for sentence in encode(read(flags.train), read(flags.valid)):
        key = bucket_of(len(sentence), keys)
        if key is not None:
            buckets[key].append(sentence)

    loss, count = 0.0, 0
    for key, sentences in buckets.items():
        symbol = mx.sym.load('%s-%d-symbol.json' % (flags.prefix, key))
        module = mx.mod.Module(symbol, ['data'], ['softmax_label'])
        shape = (flags.batch_size, key)
        module.bind([('data', shape)], [('softmax_label', shape)], for_training=False)
        module.set_params(params, {})
        for begin in range(0, len(sentences), flags.batch_size):
            data = np.zeros(shape)
            for row, sentence in enumerate(sentences[begin:begin + flags.batch_size]):
                data[row, :len(sentence)] = sentence
            label = np.zeros(shape)
            label[:, :-1] = data[:, 1:]
            module.forward(mx.io.DataBatch([mx.nd.array(data)], [mx.nd.array(label)]))
            probabilities = module.get_outputs()[0].asnumpy()
            flat = label.reshape(-1).astype(int)
            real = flat != 0
            loss -= np.log(probabilities[np.arange(flat.size), flat][real]).sum()
            count += int(real.sum())
    print('perplexity %.2f over %d words' % (math.exp(loss / count), count))


if __name__ == '__main__':
    main()
