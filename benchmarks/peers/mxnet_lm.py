"""MXNet 1.9.1's worker: the bucketing language model of its examples, on the CPU.

--mode=unrolled stacks cells and unrolls them into one node per gate and time step, as MXNet's
lstm_bucketing example does. --mode=fused uses FusedRNNCell, one RNN operator for all layers and
steps, as its cudnn_lstm_bucketing example does. Both train through mx.mod.BucketingModule with
the largest bucket as the default key.
"""

import logging
import random
import time
import warnings

import corpus
import protocol


def _add_flags(parser):
    parser.add_argument('--mode', choices=['unrolled', 'fused'], default='unrolled')


# Before MXNet loads: the thread counts, and the stream that its messages must not reach.
FLAGS = protocol.parse_flags(__doc__, _add_flags)
STREAM = protocol.claim_stdout()
warnings.filterwarnings('ignore', category=DeprecationWarning)  # NumPy's, about MXNet's aliases

import mxnet as mx  # pylint: disable=wrong-import-position
import numpy as np  # pylint: disable=wrong-import-position

_FUSED = FLAGS.mode == 'fused'
# The RNN operator works time-major. A text's batches come so, as in the example; of the protocol's
# the ids are turned, which costs nothing. Letting unroll() turn the embeddings and the outputs
# instead would cost this peer two copies each way.
_LAYOUT = 'TN' if _FUSED and FLAGS.corpus else 'NT'


def _unrolled_cells():
    cell = {'lstm': mx.rnn.LSTMCell, 'gru': mx.rnn.GRUCell}[FLAGS.cell]
    stack = mx.rnn.SequentialRNNCell()
    for i in range(FLAGS.num_layers):
        forward = cell(num_hidden=FLAGS.num_hidden, prefix=f'{FLAGS.cell}_l{i}_')
        if not FLAGS.bidirectional:
            stack.add(forward)
            continue
        backward = cell(num_hidden=FLAGS.num_hidden, prefix=f'{FLAGS.cell}_r{i}_')
        stack.add(mx.rnn.BidirectionalCell(forward, backward,
                                           output_prefix=f'{FLAGS.cell}_bi_l{i}_'))
    return stack


def _recurrent_outputs(data, seq_len):
    """Embeds ids and runs the layers. Returns rows in the order of the labels of _sym_gen."""
    def embed(ids):
        return mx.sym.Embedding(data=ids, input_dim=FLAGS.vocab, output_dim=FLAGS.num_embed,
                                name='embed')

    if not _FUSED:
        outputs, _ = _unrolled_cells().unroll(seq_len, inputs=embed(data), merge_outputs=True)
        return outputs
    ids = data if _LAYOUT == 'TN' else mx.sym.transpose(data)
    cell = mx.rnn.FusedRNNCell(FLAGS.num_hidden, num_layers=FLAGS.num_layers, mode=FLAGS.cell,
                               bidirectional=FLAGS.bidirectional, prefix=f'{FLAGS.cell}_')
    outputs, _ = cell.unroll(seq_len, inputs=embed(ids), merge_outputs=True, layout='TNC')
    return outputs


def _sym_gen(seq_len):
    """Returns the symbol of one bucket, with the names of its data and its labels."""
    data = mx.sym.Variable('data')
    label = mx.sym.Variable('softmax_label')
    outputs = _recurrent_outputs(data, seq_len)
    features = FLAGS.num_hidden * (2 if FLAGS.bidirectional else 1)
    pred = mx.sym.Reshape(outputs, shape=(-1, features))
    pred = mx.sym.FullyConnected(data=pred, num_hidden=FLAGS.vocab, name='pred')
    if _FUSED and _LAYOUT == 'NT':
        label = mx.sym.transpose(label)
    label = mx.sym.Reshape(label, shape=(-1,))
    softmax = mx.sym.SoftmaxOutput(data=pred, label=label, name='softmax',
                                   use_ignore=FLAGS.use_ignore, ignore_label=protocol.PAD_ID)
    return softmax, ('data',), ('softmax_label',)


def _data_batch(data, label, bucket):
    """Returns a DataBatch such as a DataIter returns."""
    return mx.io.DataBatch(
        data=[data], label=[label], pad=0, bucket_key=bucket,
        provide_data=[mx.io.DataDesc('data', data.shape, layout=_LAYOUT)],
        provide_label=[mx.io.DataDesc('softmax_label', label.shape, layout=_LAYOUT)])


def _make_module(bucket, provide_data, provide_label):
    """Returns a module that is bound to the default bucket and ready to train."""
    module = mx.mod.BucketingModule(_sym_gen, default_bucket_key=bucket,
                                    context=mx.cpu(), logger=logging.getLogger('quiet'))
    module.bind(data_shapes=provide_data, label_shapes=provide_label,
                for_training=not FLAGS.forward_only)
    module.init_params(mx.init.Xavier(factor_type='in', magnitude=2.34))
    if not FLAGS.forward_only:
        # rescale_grad becomes 1 / batch_size, Module's default.
        module.init_optimizer(optimizer='sgd', optimizer_params={
            'learning_rate': FLAGS.lr, 'momentum': 0.0, 'wd': 1e-5})
    return module


class Passes:
    """Runs passes over the protocol's batches, which are converted to MXNet's arrays beforehand."""

    def __init__(self, batches):
        self._batches = batches
        self._mx_batches = [
            _data_batch(mx.nd.array(batch.data), mx.nd.array(batch.label), batch.bucket)
            for batch in batches]
        largest = max(self._mx_batches, key=lambda batch: batch.bucket_key)
        self.module = _make_module(largest.bucket_key, largest.provide_data,
                                   largest.provide_label)
        self._last = 0
        for b, _ in enumerate(batches):  # binds the other buckets
            self.step(b)

    def step(self, b):
        if FLAGS.forward_only:
            self.module.forward(self._mx_batches[b], is_train=False)
        else:
            self.module.forward_backward(self._mx_batches[b])
            self.module.update()
        mx.nd.waitall()  # the engine only queues: wait for the update too, not just the outputs
        self._last = b

    def nll_per_token(self):
        """Returns the mean loss, from the softmax that the last step left in the module's output."""
        batch = self._batches[self._last]
        label = mx.nd.array(batch.label)
        if _FUSED:
            label = label.T
        label = label.reshape((-1,))
        nll = -mx.nd.log(mx.nd.pick(self.module.get_outputs()[0], label))
        if FLAGS.use_ignore:
            return float((nll * (label != protocol.PAD_ID)).sum().asscalar() / batch.tokens)
        return float(nll.mean().asscalar())


class Epochs:
    """Runs epochs over a text, with the iterator and the metric of the example."""

    def __init__(self):
        words = corpus.read_sentences(FLAGS.corpus, FLAGS.max_sentences)
        ids = corpus.make_vocabulary(words)
        FLAGS.vocab = corpus.vocab_size(ids)
        train = self._batches(corpus.encode(words, ids))
        if not train.idx:
            raise SystemExit(f'{FLAGS.corpus}: no bucket fills a batch')
        self._valid = None
        if FLAGS.valid:
            self._valid = self._batches(corpus.encode(corpus.read_sentences(FLAGS.valid), ids))
        self.module = _make_module(train.default_bucket_key, train.provide_data,
                                   train.provide_label)
        self._warm_up([train.buckets[i] for i in sorted({i for i, _ in train.idx})])

    @staticmethod
    def _batches(encoded):
        return mx.rnn.BucketSentenceIter(encoded, FLAGS.batch_size, buckets=list(FLAGS.buckets),
                                         invalid_label=protocol.PAD_ID, layout=_LAYOUT)

    def _warm_up(self, buckets):
        """Binds and runs every bucket, and leaves the parameters unchanged."""
        for bucket in buckets:
            shape = (FLAGS.batch_size, bucket) if _LAYOUT == 'NT' else (bucket, FLAGS.batch_size)
            ids = mx.nd.zeros(shape)
            self.module.forward_backward(_data_batch(ids, ids, bucket))
        mx.nd.waitall()

    def _read(self):
        encoded, _ = mx.rnn.encode_sentences(
            corpus.read_sentences(FLAGS.corpus, FLAGS.max_sentences),
            invalid_label=protocol.PAD_ID, start_label=corpus.FIRST_WORD_ID)
        return self._batches(encoded)

    def _train(self, batches, stopwatch):
        metric = mx.metric.Perplexity(ignore_label=protocol.PAD_ID)
        padded = 0
        for batch in stopwatch.over(batches):
            self.module.forward_backward(batch)
            self.module.update()
            self.module.update_metric(metric, batch.label)
            padded += batch.label[0].size
        mx.nd.waitall()
        return metric.get()[1], int(metric.num_inst), padded

    def _validate(self):
        if self._valid is None:
            return []
        metric = mx.metric.Perplexity(ignore_label=protocol.PAD_ID)
        return [value for _, value in self.module.score(self._valid, metric)]

    def run(self, epochs):
        """Returns the answer to the command "run"."""
        return corpus.run_epochs(epochs, self._read, self._train, self._validate)


def main():
    rss_after_import = protocol.memory_mb('VmRSS')
    mx.random.seed(FLAGS.seed)  # initial values
    np.random.seed(FLAGS.seed)  # the iterator's order of sentences, and
    random.seed(FLAGS.seed)     # of batches
    batches = [] if FLAGS.corpus else protocol.flags_batches(FLAGS)
    begin = time.perf_counter()
    work = Epochs() if FLAGS.corpus else Passes(batches)
    ready = {
        'peer': f'mxnet-{FLAGS.mode}',
        'version': f'MXNet {mx.__version__}',
        'threads': FLAGS.threads,
        'vocab': FLAGS.vocab,
        'parameters': sum(value.size for value in work.module.get_params()[0].values()),
        'bind_s': round(time.perf_counter() - begin, 3),
        'rss_after_import_mb': rss_after_import,
        'features': [f.name for f in mx.runtime.Features().values() if f.enabled],
    }
    if FLAGS.corpus:
        protocol.serve(STREAM, work.run, ready)
        return
    protocol.serve_batches(STREAM, batches, work.step, work.nll_per_token, FLAGS.warmup, ready)


if __name__ == '__main__':
    main()
