"""MXNet 1.9.1's worker: the bucketing language model of its examples, on the CPU.

--mode=unrolled stacks LSTMCells and unrolls them into one node per gate and time step, as
MXNet's lstm_bucketing example does. --mode=fused uses FusedRNNCell, one RNN operator for all
layers and steps, as its cudnn_lstm_bucketing example does. Both train through
mx.mod.BucketingModule with the largest bucket as the default key.
"""

import logging
import time
import warnings

import protocol


def _add_flags(parser):
    parser.add_argument('--mode', choices=['unrolled', 'fused'], default='unrolled')


# Before MXNet loads: the thread counts, and the stream that its messages must not reach.
FLAGS = protocol.parse_flags(__doc__, _add_flags)
STREAM = protocol.claim_stdout()
warnings.filterwarnings('ignore', category=DeprecationWarning)  # NumPy's, about MXNet's aliases

import mxnet as mx  # pylint: disable=wrong-import-position


def _recurrent_outputs(data, seq_len):
    """Embeds ids (batch, time) and runs the LSTM layers; also tells if rows come time-major."""
    def embed(ids):
        return mx.sym.Embedding(data=ids, input_dim=FLAGS.vocab, output_dim=FLAGS.num_embed,
                                name='embed')

    if FLAGS.mode == 'unrolled':
        stack = mx.rnn.SequentialRNNCell()
        for i in range(FLAGS.num_layers):
            stack.add(mx.rnn.LSTMCell(num_hidden=FLAGS.num_hidden, prefix=f'lstm_l{i}_'))
        outputs, _ = stack.unroll(seq_len, inputs=embed(data), merge_outputs=True)
        return outputs, False
    # The RNN operator works time-major. Turning the ids costs nothing; letting unroll() turn the
    # embeddings and the outputs instead would cost this peer two copies each way.
    cell = mx.rnn.FusedRNNCell(FLAGS.num_hidden, num_layers=FLAGS.num_layers, mode='lstm',
                               prefix='lstm_')
    outputs, _ = cell.unroll(seq_len, inputs=embed(mx.sym.transpose(data)), merge_outputs=True,
                             layout='TNC')
    return outputs, True


def _sym_gen(seq_len):
    """The symbol of one bucket, with the names of its data and its labels."""
    data = mx.sym.Variable('data')
    label = mx.sym.Variable('softmax_label')
    outputs, time_major = _recurrent_outputs(data, seq_len)
    pred = mx.sym.Reshape(outputs, shape=(-1, FLAGS.num_hidden))
    pred = mx.sym.FullyConnected(data=pred, num_hidden=FLAGS.vocab, name='pred')
    if time_major:
        label = mx.sym.transpose(label)
    label = mx.sym.Reshape(label, shape=(-1,))
    softmax = mx.sym.SoftmaxOutput(data=pred, label=label, name='softmax',
                                   use_ignore=FLAGS.use_ignore, ignore_label=protocol.PAD_ID)
    return softmax, ('data',), ('softmax_label',)


def _to_mxnet(batch):
    """A DataBatch whose arrays are already MXNet's, as a DataIter would hand it over."""
    shape = (FLAGS.batch_size, batch.bucket)
    return mx.io.DataBatch(
        data=[mx.nd.array(batch.data)], label=[mx.nd.array(batch.label)], pad=0,
        bucket_key=batch.bucket,
        provide_data=[mx.io.DataDesc('data', shape, layout='NT')],
        provide_label=[mx.io.DataDesc('softmax_label', shape, layout='NT')])


def _make_module(largest):
    """Binds the default bucket and gets everything ready to train."""
    module = mx.mod.BucketingModule(_sym_gen, default_bucket_key=largest.bucket_key,
                                    context=mx.cpu(), logger=logging.getLogger('quiet'))
    module.bind(data_shapes=largest.provide_data, label_shapes=largest.provide_label,
                for_training=not FLAGS.forward_only)
    module.init_params(mx.init.Xavier(factor_type='in', magnitude=2.34))
    if not FLAGS.forward_only:
        # rescale_grad becomes 1 / batch_size, Module's default.
        module.init_optimizer(optimizer='sgd', optimizer_params={
            'learning_rate': 0.01, 'momentum': 0.0, 'wd': 1e-5})
    return module


def _nll_per_token(module, batch):
    """From the softmax that the last step left in the module's output."""
    probabilities = module.get_outputs()[0]
    label = mx.nd.array(batch.label)
    if FLAGS.mode == 'fused':
        label = label.T
    label = label.reshape((-1,))
    nll = -mx.nd.log(mx.nd.pick(probabilities, label))
    if FLAGS.use_ignore:
        return float((nll * (label != protocol.PAD_ID)).sum().asscalar() / batch.tokens)
    return float(nll.mean().asscalar())


def main():
    rss_after_import = protocol.memory_mb('VmRSS')
    batches = protocol.flags_batches(FLAGS)
    mx_batches = [_to_mxnet(batch) for batch in batches]
    begin = time.perf_counter()
    module = _make_module(max(mx_batches, key=lambda batch: batch.bucket_key))
    last = [0]

    def step(b):
        if FLAGS.forward_only:
            module.forward(mx_batches[b], is_train=False)
        else:
            module.forward_backward(mx_batches[b])
            module.update()
        mx.nd.waitall()  # the engine only queues: wait for the update too, not just the outputs
        last[0] = b

    for b, _ in enumerate(batches):  # binds the other buckets
        step(b)
    protocol.serve(
        STREAM, batches, step, lambda: _nll_per_token(module, batches[last[0]]), FLAGS.warmup, {
            'peer': f'mxnet-{FLAGS.mode}',
            'version': f'MXNet {mx.__version__}',
            'threads': FLAGS.threads,
            'parameters': sum(value.size for value in module.get_params()[0].values()),
            'bind_s': round(time.perf_counter() - begin, 3),
            'rss_after_import_mb': rss_after_import,
            'features': [f.name for f in mx.runtime.Features().values() if f.enabled],
        })


if __name__ == '__main__':
    main()
