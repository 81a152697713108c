"""Recurrent networks, attention, Transformers, text and audio."""

from mxnet import gluon, rnn, sym

from network_list import Input, network

RECURRENT = "recurrent networks"
VOCABULARY, STEPS, BATCH, HIDDEN = 11, 5, 3, 6
TOKENS = Input(BATCH, STEPS, below=VOCABULARY)


def Embed(name="data", size=HIDDEN, vocabulary=VOCABULARY):
    return sym.Embedding(sym.var(name), input_dim=vocabulary, output_dim=size, name=name + "_embed")


def LanguageLoss(outputs, hidden=HIDDEN):
    prediction = sym.FullyConnected(sym.reshape(outputs, (-1, hidden)), num_hidden=VOCABULARY, name="pred")
    return sym.SoftmaxOutput(prediction, sym.reshape(sym.var("softmax_label"), (-1,)), name="softmax")


def OfCell(name, make, hidden=HIDDEN):
    """Registers a language model of an unrolled cell of mx.rnn."""
    @network(RECURRENT, {"data": TOKENS, "softmax_label": TOKENS}, name=name)
    def Build():  # pylint: disable=unused-variable
        outputs, _ = make().unroll(STEPS, Embed(), merge_outputs=True)
        return LanguageLoss(outputs, hidden)


def Stack(*cells):
    stack = rnn.SequentialRNNCell()
    for cell in cells:
        stack.add(cell)
    return stack


OfCell("lm_rnn", lambda: rnn.RNNCell(HIDDEN, activation="tanh", prefix="rnn_"))
OfCell("lm_lstm", lambda: Stack(rnn.LSTMCell(HIDDEN, prefix="l0_"), rnn.LSTMCell(HIDDEN, prefix="l1_", forget_bias=2.0)))
OfCell("lm_gru", lambda: rnn.GRUCell(HIDDEN, prefix="gru_"))
OfCell("lm_residual", lambda: Stack(rnn.LSTMCell(HIDDEN, prefix="l0_"), rnn.ResidualCell(rnn.GRUCell(HIDDEN, prefix="g_"))))
OfCell("lm_bidirectional", lambda: rnn.BidirectionalCell(rnn.LSTMCell(HIDDEN, prefix="f_"),
                                                         rnn.GRUCell(HIDDEN, prefix="b_")), 2 * HIDDEN)
OfCell("lm_zoneout_at_rest", lambda: rnn.ZoneoutCell(rnn.LSTMCell(HIDDEN, prefix="z_"), zoneout_outputs=0.0,
                                                     zoneout_states=0.0))


def OfFused(name, mode, layers=2, bidirectional=False):
    """Registers a language model of one RNN operator."""
    @network(RECURRENT, {"data": TOKENS, "softmax_label": TOKENS}, name=name, ranges={"p_parameters": (-0.4, 0.4)},
             onednn=True)
    def Build():  # pylint: disable=unused-variable
        cell = rnn.FusedRNNCell(HIDDEN, num_layers=layers, mode=mode, bidirectional=bidirectional, prefix="p_")
        outputs, _ = cell.unroll(STEPS, Embed(), merge_outputs=True, layout="NTC")
        return LanguageLoss(outputs, HIDDEN * (2 if bidirectional else 1))


OfFused("fused_lstm", "lstm")
OfFused("fused_lstm_bidirectional", "lstm", bidirectional=True)
OfFused("fused_gru", "gru", 1)
OfFused("fused_gru_bidirectional", "gru", bidirectional=True)
OfFused("fused_rnn_relu", "rnn_relu")
OfFused("fused_rnn_tanh_bidirectional", "rnn_tanh", 1, bidirectional=True)


@network(RECURRENT, {"data": TOKENS}, train=False, ranges={"parameters": (-0.4, 0.4)}, onednn=True,
         note="MXNet trains projections on GPUs only")
def fused_lstm_projection():
    x = sym.swapaxes(Embed(), 0, 1)
    state = sym.zeros((1, BATCH, 4))
    out = sym.RNN(x, sym.var("parameters"), state, sym.zeros((1, BATCH, HIDDEN)), state_size=HIDDEN, num_layers=1,
                  mode="lstm", projection_size=4, state_outputs=True, name="rnn")
    return sym.Group([out[0], out[1], out[2]])


@network(RECURRENT, {"data": TOKENS, "length": Input(values=[5, 2, 3]), "label": Input(BATCH, below=3)})
def classifier_by_length():
    cells = Stack(rnn.LSTMCell(HIDDEN, prefix="l0_"), rnn.LSTMCell(4, prefix="l1_"))
    outputs, _ = cells.unroll(STEPS, Embed(), merge_outputs=True, layout="NTC")
    outputs = sym.swapaxes(outputs, 0, 1)
    length = sym.var("length")
    last = sym.SequenceLast(outputs, length, use_sequence_length=True)
    mean = sym.broadcast_div(sym.sum(sym.SequenceMask(outputs, length, use_sequence_length=True), axis=0),
                             sym.reshape(length, (-1, 1)))
    both = sym.concat(last, mean, dim=1)
    return sym.SoftmaxOutput(sym.FullyConnected(both, num_hidden=3, name="fc"), sym.var("label"))


@network(RECURRENT, {"data": TOKENS, "length": Input(values=[5, 2, 3]), "label": TOKENS})
def tagger_reversed():
    x, length = sym.swapaxes(Embed(), 0, 1), sym.var("length")
    forward, _ = rnn.GRUCell(HIDDEN, prefix="f_").unroll(STEPS, x, layout="TNC", merge_outputs=True)
    turned = sym.SequenceReverse(x, length, use_sequence_length=True)
    backward, _ = rnn.GRUCell(HIDDEN, prefix="b_").unroll(STEPS, turned, layout="TNC", merge_outputs=True)
    backward = sym.SequenceReverse(backward, length, use_sequence_length=True)
    x = sym.swapaxes(sym.concat(forward, backward, dim=2), 0, 1)
    scores = sym.FullyConnected(x, num_hidden=VOCABULARY, flatten=False, name="tags")
    return sym.SoftmaxOutput(scores, sym.var("label"), preserve_shape=True, use_ignore=True, ignore_label=0,
                             normalization="valid")


def OfGluonLayer(name, layer):
    """Registers a recurrent layer of Gluon below a dense one."""
    @network(RECURRENT, {"data": (STEPS, BATCH, 4)}, name=name, onednn=True)
    def Build():  # pylint: disable=unused-variable
        net = gluon.nn.HybridSequential()
        net.add(layer(), gluon.nn.Dense(3, flatten=False, activation="tanh"))
        net.initialize()
        return net(sym.var("data"))


OfGluonLayer("gluon_lstm", lambda: gluon.rnn.LSTM(HIDDEN, 2, bidirectional=True))
OfGluonLayer("gluon_gru", lambda: gluon.rnn.GRU(HIDDEN, 1))


@network(RECURRENT, {"data": (2, 3, 2, 6, 6)})
def conv_lstm():
    cell = rnn.ConvLSTMCell((2, 2, 6, 6), num_hidden=3, h2h_kernel=(3, 3), i2h_kernel=(3, 3), i2h_pad=(1, 1),
                            prefix="conv_lstm_")
    outputs, _ = cell.unroll(3, sym.var("data"), layout="NTC", merge_outputs=False,
                             begin_state=[sym.zeros((2, 3, 6, 6)), sym.zeros((2, 3, 6, 6))])
    return sym.Convolution(outputs[-1], num_filter=2, kernel=(1, 1), name="out")


@network(RECURRENT, {"data": (2, 12, 5), "target_label": (2, 5)})
def lstnet():
    data = sym.var("data")
    x = sym.Convolution(sym.expand_dims(data, 1), num_filter=6, kernel=(3, 5), name="conv")
    x = sym.transpose(sym.reshape(sym.relu(x), (0, 0, -1)), axes=(0, 2, 1))  # (2, 10, 6)
    outputs, _ = rnn.GRUCell(5, prefix="gru_").unroll(10, x, merge_outputs=False)
    skip_cell = rnn.GRUCell(3, prefix="skip_")
    skip, _ = skip_cell.unroll(5, sym.reshape(sym.swapaxes(sym.reshape(x, (2, 5, 2, 6)), 1, 2), (4, 5, 6)),
                               merge_outputs=False)
    joined = sym.concat(outputs[-1], sym.reshape(skip[-1], (2, 6)), dim=1)
    dense = sym.FullyConnected(joined, num_hidden=5, name="fc")
    recent = sym.transpose(sym.slice_axis(data, axis=1, begin=8, end=12), axes=(0, 2, 1))
    linear = sym.reshape(sym.FullyConnected(sym.reshape(recent, (-3, 0)), num_hidden=1, name="ar"), (-1, 5))
    return sym.LinearRegressionOutput(dense + linear, sym.var("target_label"))


@network(RECURRENT, {"data": (2, 4, 3), "target_label": (2, 4)})
def deep_ar():
    outputs, _ = rnn.LSTMCell(5, prefix="lstm_").unroll(4, sym.var("data"), merge_outputs=True)
    mean = sym.reshape(sym.FullyConnected(outputs, num_hidden=1, flatten=False, name="mean"), (0, -1))
    scale = 0.1 + sym.Activation(sym.reshape(sym.FullyConnected(outputs, num_hidden=1, flatten=False, name="scale"),
                                             (0, -1)), act_type="softrelu")
    error = sym.square((sym.var("target_label") - mean) / scale)
    return sym.MakeLoss(sym.mean(0.5 * error + sym.log(scale), axis=1))


CONTROL = "control flow"


@network(CONTROL, {"data": TOKENS, "softmax_label": TOKENS})
def foreach_lstm():
    cell = rnn.LSTMCell(HIDDEN, prefix="lstm_")
    zeros = [sym.zeros((BATCH, HIDDEN)), sym.zeros((BATCH, HIDDEN))]
    outputs, _ = sym.contrib.foreach(cell, sym.swapaxes(Embed(), 0, 1), zeros, name="loop")
    return LanguageLoss(sym.swapaxes(outputs, 0, 1))


@network(CONTROL, {"data": (4, 2, 5), "h": (2, 3)})
def foreach_two_layers():
    w = sym.square(sym.var("w_weight", shape=(2, 3)))

    def Step(x, states):
        x = sym.tanh(sym.FullyConnected(x, num_hidden=3, name="i2h") + states[0] * w)
        return [x, sym.sum(x, axis=1)], [x]

    outputs, last = sym.contrib.foreach(Step, sym.var("data"), [sym.var("h")], name="loop")
    back, _ = sym.contrib.foreach(lambda x, s: (x + s[0], [0.5 * x + s[0]]), sym.reverse(outputs[0], axis=0), last,
                                  name="back")
    return sym.Group([sym.FullyConnected(back, num_hidden=2, flatten=False, name="out"), outputs[1]])


@network(CONTROL, {"data": (4, 5)}, shapes={"w_weight": (5, 5), "v_weight": (5, 5), "b_bias": (5,)})
def while_loop_iteration():
    w = sym.var("w_weight", shape=(5, 5))
    data = sym.FullyConnected(sym.var("data"), sym.var("v_weight"), sym.var("b_bias"), num_hidden=5, name="fc")

    def Body(i, x):
        x = sym.tanh(sym.dot(x, w))
        return [x], [i + 1, x]

    outputs, (_, last) = sym.contrib.while_loop(lambda i, x: sym.sum(i) < 12, Body, [sym.sum(data * 0, axis=1), data],
                                                max_iterations=3, name="loop")
    return sym.Group([sym.sum(outputs[0], axis=0), last])


@network(CONTROL, {"data": (4, 5), "choice": Input(values=[0.5])}, shapes={"w_weight": (5, 5), "v_weight": (6, 5)})
def cond_of_two_layers():
    # MXNet leaves gradients of values that are computed before the choice unwritten.
    data, weight = sym.var("data"), sym.var("w_weight")

    def Layer(x):
        return sym.FullyConnected(x, weight, num_hidden=5, no_bias=True)

    x = sym.contrib.cond(sym.var("choice"), lambda: sym.tanh(Layer(data)), lambda: sym.relu(Layer(data * data)), name="choose")
    return sym.FullyConnected(x, sym.var("v_weight"), num_hidden=6, no_bias=True, name="fc")


ATTENTION = "sequence to sequence, attention"


def Attend(query, keys, values):
    """Returns the values that a query (batch, hidden) attends to, and the weights."""
    scores = sym.batch_dot(keys, sym.expand_dims(query, 2))
    weights = sym.softmax(scores, axis=1)
    return sym.reshape(sym.batch_dot(weights, values, transpose_a=True), (0, -1)), weights


@network(ATTENTION, {"source": TOKENS, "target": Input(BATCH, 4, below=VOCABULARY),
                     "softmax_label": Input(BATCH, 4, below=VOCABULARY)})
def seq2seq_attention():
    encoder = rnn.BidirectionalCell(rnn.GRUCell(3, prefix="ef_"), rnn.GRUCell(3, prefix="eb_"))
    keys, _ = encoder.unroll(STEPS, Embed("source"), merge_outputs=True)
    decoder, target = rnn.LSTMCell(HIDDEN, prefix="d_"), sym.split(Embed("target"), num_outputs=4, axis=1)
    states, outputs = [sym.mean(keys, axis=1), sym.zeros((BATCH, HIDDEN))], []
    for t in range(4):
        context, _ = Attend(states[0], keys, keys)
        out, states = decoder(sym.concat(sym.reshape(target[t], (0, -1)), context, dim=1), states)
        outputs.append(sym.expand_dims(out, 1))
    return LanguageLoss(sym.concat(*outputs, dim=1))


@network(ATTENTION, {"source": TOKENS, "target": Input(BATCH, 4, below=VOCABULARY),
                     "softmax_label": Input(BATCH, 4, below=VOCABULARY)})
def seq2seq_plain():
    _, states = rnn.LSTMCell(HIDDEN, prefix="e_").unroll(STEPS, sym.reverse(Embed("source"), axis=1))
    outputs, _ = rnn.LSTMCell(HIDDEN, prefix="d_").unroll(4, Embed("target"), begin_state=states, merge_outputs=True)
    return LanguageLoss(outputs)


@network(ATTENTION, {"data": Input(2, 3, 4, below=VOCABULARY), "label": Input(2, below=3)})
def hierarchical_attention():
    words = sym.reshape(Embed(), (-3, 0, 0))
    outputs, _ = rnn.GRUCell(4, prefix="w_").unroll(4, words, merge_outputs=True)
    u = sym.tanh(sym.FullyConnected(outputs, num_hidden=4, flatten=False, name="u"))
    scores = sym.softmax(sym.FullyConnected(u, num_hidden=1, flatten=False, no_bias=True, name="context"), axis=1)
    sentences = sym.reshape(sym.sum(sym.broadcast_mul(outputs, scores), axis=1), (-4, 2, 3, 0))
    outputs, _ = rnn.GRUCell(4, prefix="s_").unroll(3, sentences, merge_outputs=True)
    return sym.SoftmaxOutput(sym.FullyConnected(sym.max(outputs, axis=1), num_hidden=3, name="fc"), sym.var("label"))


@network(ATTENTION, {"story": Input(2, 4, 3, below=VOCABULARY), "question": Input(2, 3, below=VOCABULARY),
                     "label": Input(2, below=VOCABULARY)})
def memory_network():
    table, answers = sym.var("a_weight"), sym.var("c_weight")

    def Look(words, weight):
        return sym.Embedding(words, weight, input_dim=VOCABULARY, output_dim=5)

    story, hop = sym.var("story"), sym.var("hop_weight")
    state = sym.sum(Look(sym.var("question"), table), axis=1)
    memory, out = sym.sum(Look(story, table), axis=2), sym.sum(Look(story, answers), axis=2)
    for i in range(2):
        found, _ = Attend(state, memory, out)
        state = found + sym.FullyConnected(state, hop, num_hidden=5, no_bias=True, name="hop%d" % i)
    return sym.SoftmaxOutput(sym.dot(state, answers, transpose_b=True), sym.var("label"))


@network(ATTENTION, {"data": (2, 4, 3), "choice_label": Input(2, below=4)})
def pointer_network():
    outputs, states = rnn.LSTMCell(5, prefix="e_").unroll(4, sym.var("data"), merge_outputs=True)
    query = sym.FullyConnected(states[0], num_hidden=5, name="query")
    keys = sym.FullyConnected(outputs, num_hidden=5, flatten=False, name="key")
    scores = sym.FullyConnected(sym.tanh(sym.broadcast_add(keys, sym.expand_dims(query, 1))), num_hidden=1, flatten=False,
                                no_bias=True, name="v")
    return sym.SoftmaxOutput(sym.reshape(scores, (0, -1)), sym.var("choice_label"))


TRANSFORMERS = "Transformers"
UNITS, HEADS = 8, 2


def FeedForward(x, name, activation="gelu"):
    y = sym.FullyConnected(x, num_hidden=16, flatten=False, name=name + "_ffn1")
    y = sym.LeakyReLU(y, act_type="gelu") if activation == "gelu" else sym.relu(y)
    y = sym.FullyConnected(y, num_hidden=UNITS, flatten=False, name=name + "_ffn2")
    return sym.LayerNorm(x + y, name=name + "_ffn_ln", eps=1e-5)


def SelfAttention(x, name, mask=None):
    """`x`: (steps, batch, units); the mask is (batch * heads, steps, steps)."""
    qkv = sym.FullyConnected(x, num_hidden=3 * UNITS, flatten=False, name=name + "_qkv")
    scores = sym.contrib.interleaved_matmul_selfatt_qk(qkv, heads=HEADS)
    scores = scores if mask is None else sym.broadcast_add(scores, mask)
    context = sym.contrib.interleaved_matmul_selfatt_valatt(qkv, sym.softmax(scores, axis=-1), heads=HEADS)
    y = sym.FullyConnected(context, num_hidden=UNITS, flatten=False, name=name + "_proj")
    return sym.LayerNorm(x + y, name=name + "_ln", eps=1e-5)


@network(TRANSFORMERS, {"data": TOKENS, "segment": Input(BATCH, STEPS, below=2), "length": Input(values=[5, 2, 3]),
                        "position": Input(values=[[0, 2], [1, 0], [2, 1]]),
                        "masked_label": Input(BATCH, 2, below=VOCABULARY), "next_label": Input(BATCH, below=2)})
def bert():
    embedded = Embed(size=UNITS) + Embed("segment", UNITS, 2)
    embedded = sym.broadcast_add(embedded, sym.var("position_weight", shape=(1, STEPS, UNITS)))
    x = sym.swapaxes(sym.LayerNorm(embedded, name="embed_ln"), 0, 1)
    steps = sym.arange(0, STEPS)
    visible = sym.broadcast_lesser(sym.reshape(steps, (1, 1, -1)), sym.reshape(sym.var("length"), (-1, 1, 1)))
    mask = sym.repeat((visible - 1) * 1e4, repeats=HEADS, axis=0)
    for i in range(2):
        x = FeedForward(SelfAttention(x, "layer%d" % i, mask), "layer%d" % i)
    x = sym.swapaxes(x, 0, 1)
    pooled = sym.tanh(sym.FullyConnected(sym.reshape(sym.slice_axis(x, axis=1, begin=0, end=1), (0, -1)), num_hidden=UNITS,
                                         name="pooler"))
    batch = sym.repeat(sym.arange(0, BATCH), repeats=2)
    at = sym.stack(batch, sym.reshape(sym.var("position"), (-1,)), axis=0)
    masked = sym.LayerNorm(sym.LeakyReLU(sym.FullyConnected(sym.gather_nd(x, at), num_hidden=UNITS, name="transform"),
                                         act_type="gelu"), name="transform_ln")
    words = sym.FullyConnected(masked, num_hidden=VOCABULARY, name="decoder")
    return sym.Group([sym.SoftmaxOutput(words, sym.reshape(sym.var("masked_label"), (-1,)), name="masked"),
                      sym.SoftmaxOutput(sym.FullyConnected(pooled, num_hidden=2, name="nsp"), sym.var("next_label"))])


@network(TRANSFORMERS, {"source": TOKENS, "target": Input(BATCH, 4, below=VOCABULARY),
                        "softmax_label": Input(BATCH, 4, below=VOCABULARY)})
def transformer_translation():
    memory = FeedForward(SelfAttention(sym.swapaxes(Embed("source", UNITS), 0, 1), "enc"), "enc", "relu")
    x = sym.swapaxes(Embed("target", UNITS), 0, 1)
    rows = sym.arange(0, 4)
    causal = sym.expand_dims(sym.broadcast_greater(sym.reshape(rows, (1, -1)), sym.reshape(rows, (-1, 1))) * -1e4, 0)
    x = SelfAttention(x, "dec", causal)
    q = sym.FullyConnected(x, num_hidden=UNITS, flatten=False, name="cross_q")
    kv = sym.FullyConnected(memory, num_hidden=2 * UNITS, flatten=False, name="cross_kv")
    weights = sym.softmax(sym.contrib.interleaved_matmul_encdec_qk(q, kv, heads=HEADS), axis=-1)
    y = sym.contrib.interleaved_matmul_encdec_valatt(kv, weights, heads=HEADS)
    x = FeedForward(sym.LayerNorm(x + sym.FullyConnected(y, num_hidden=UNITS, flatten=False, name="cross_o"), name="cross_ln"),
                    "dec", "relu")
    return LanguageLoss(sym.swapaxes(x, 0, 1), UNITS)


@network(TRANSFORMERS, {"data": TOKENS, "softmax_label": TOKENS})
def gpt():
    x = sym.broadcast_add(Embed(size=UNITS), sym.var("position_weight", shape=(1, STEPS, UNITS)))
    rows = sym.arange(0, STEPS)
    causal = sym.expand_dims(sym.broadcast_greater(sym.reshape(rows, (1, -1)), sym.reshape(rows, (-1, 1))) * -1e4, 0)
    for i in range(2):
        y = sym.LayerNorm(x, name="ln%d" % i)
        q, k, v = (sym.reshape(sym.transpose(sym.reshape(
            sym.FullyConnected(y, num_hidden=UNITS, flatten=False, name="%s%d" % (n, i)), (0, 0, HEADS, -1)),
            axes=(0, 2, 1, 3)), (-3, 0, 0)) for n in "qkv")
        weights = sym.softmax(sym.broadcast_add(sym.batch_dot(q, k, transpose_b=True) / 2, causal))
        y = sym.transpose(sym.reshape(sym.batch_dot(weights, v), (-4, -1, HEADS, 0, 0)), axes=(0, 2, 1, 3))
        x = x + sym.FullyConnected(sym.reshape(y, (0, 0, -3)), num_hidden=UNITS, flatten=False, name="o%d" % i)
        y = sym.FullyConnected(sym.LayerNorm(x, name="fln%d" % i), num_hidden=16, flatten=False, name="up%d" % i)
        y = 0.5 * y * (1 + sym.tanh(0.79788456 * (y + 0.044715 * y ** 3)))
        x = x + sym.FullyConnected(y, num_hidden=UNITS, flatten=False, name="down%d" % i)
    return LanguageLoss(x, UNITS)


@network(TRANSFORMERS, {"data": TOKENS, "softmax_label": TOKENS})
def mixture_of_experts():
    x = sym.reshape(Embed(size=UNITS), (-1, UNITS))
    gate = sym.softmax(sym.FullyConnected(x, num_hidden=4, no_bias=True, name="gate"))
    chosen = gate * sym.topk(gate, k=2, ret_typ="mask")
    chosen = sym.broadcast_div(chosen, sym.sum(chosen, axis=1, keepdims=True))
    experts = [sym.expand_dims(sym.FullyConnected(sym.relu(sym.FullyConnected(x, num_hidden=10, name="up%d" % i)),
                                                  num_hidden=UNITS, name="down%d" % i), 1) for i in range(4)]
    y = sym.sum(sym.broadcast_mul(sym.concat(*experts, dim=1), sym.expand_dims(chosen, 2)), axis=1)
    load = sym.sum(sym.mean(chosen, axis=0) * sym.mean(gate, axis=0))
    return sym.Group([LanguageLoss(x + y, UNITS), sym.MakeLoss(4 * load, grad_scale=0.1)])


@network(TRANSFORMERS, {"data": (2, 3, 16, 16), "softmax_label": Input(2, below=5)})
def vision_transformer():
    x = sym.Convolution(sym.var("data"), num_filter=UNITS, kernel=(4, 4), stride=(4, 4), name="patches")
    x = sym.swapaxes(sym.reshape(x, (0, 0, -1)), 1, 2)
    first = sym.broadcast_axis(sym.var("class_weight", shape=(1, 1, UNITS)), axis=0, size=2)
    x = sym.swapaxes(sym.broadcast_add(sym.concat(first, x, dim=1), sym.var("place_weight", shape=(1, 17, UNITS))), 0, 1)
    x = FeedForward(SelfAttention(x, "layer"), "layer")
    x = sym.reshape(sym.slice_axis(x, axis=0, begin=0, end=1), (-3, 0))
    return sym.SoftmaxOutput(sym.FullyConnected(x, num_hidden=5, name="head"), name="softmax")


@network(TRANSFORMERS, {"data": (2, 6, 4), "target_label": (2, 3)})
def set_transformer():
    x = sym.FullyConnected(sym.var("data"), num_hidden=UNITS, flatten=False, name="in")
    seeds = sym.broadcast_axis(sym.var("seed_weight", shape=(1, 3, UNITS)), axis=0, size=2)
    weights = sym.softmax(sym.linalg.gemm2(seeds, x, transpose_b=True, alpha=0.35))
    pooled = sym.linalg.gemm2(weights, x)
    return sym.LinearRegressionOutput(sym.reshape(sym.FullyConnected(pooled, num_hidden=1, flatten=False, name="o"), (0, -1)),
                                      sym.var("target_label"))


TEXT = "text, audio"


@network(TEXT, {"data": Input(2, 10, below=VOCABULARY), "softmax_label": Input(2, below=3)})
def text_cnn():
    x = sym.expand_dims(Embed(), 1)
    pooled = [sym.max(sym.relu(sym.Convolution(x, num_filter=4, kernel=(size, HIDDEN), name="conv%d" % size)), axis=2)
              for size in (2, 3, 4)]
    x = sym.Dropout(sym.Flatten(sym.concat(*pooled, dim=1)), p=0.0)
    return sym.SoftmaxOutput(sym.FullyConnected(x, num_hidden=3, name="fc"), name="softmax")


@network(TEXT, {"data": Input(2, 16, below=VOCABULARY), "softmax_label": Input(2, below=3)})
def char_cnn():
    x = sym.swapaxes(sym.one_hot(sym.var("data"), depth=VOCABULARY), 1, 2)
    for i, (kernel, pool) in enumerate(((3, 2), (3, 1))):
        x = sym.relu(sym.Convolution(x, num_filter=6, kernel=(kernel,), name="conv%d" % i))
        x = sym.Pooling(x, kernel=(pool,), stride=(pool,), pool_type="max")
    x = sym.LeakyReLU(sym.FullyConnected(x, num_hidden=8, name="fc1"), act_type="leaky")
    return sym.SoftmaxOutput(sym.FullyConnected(x, num_hidden=3, name="fc2"), name="softmax")


@network(TEXT, {"data": Input(4, 6, below=VOCABULARY), "label": Input(4, below=2)})
def fast_text():
    x = sym.mean(Embed(), axis=1)
    score = sym.reshape(sym.FullyConnected(x, num_hidden=1, name="fc"), (-1,))
    return sym.LogisticRegressionOutput(score, sym.var("label"))


@network(TEXT, {"centre": Input(4, below=VOCABULARY), "context": Input(4, 3, below=VOCABULARY),
                "hit_label": Input(4, 3, below=2)})
def word2vec_nce():
    centre = sym.expand_dims(Embed("centre"), 1)
    scores = sym.reshape(sym.batch_dot(Embed("context"), centre, transpose_b=True), (0, -1))
    return sym.LogisticRegressionOutput(scores, sym.var("hit_label"))


@network(TEXT, {"data": (2, 2, 20), "target_label": Input(2, 20, below=5)})
def wavenet():
    x = sym.Convolution(sym.var("data"), num_filter=6, kernel=(1,), name="in")
    skips = []
    for i in range(3):
        padded = sym.concat(sym.zeros((2, 6, 2 ** i)), x, dim=2)
        a, b = (sym.Convolution(padded, num_filter=6, kernel=(2,), dilate=(2 ** i,), name="%s%d" % (n, i))
                for n in ("filter", "gate"))
        z = sym.tanh(a) * sym.sigmoid(b)
        skips.append(sym.Convolution(z, num_filter=6, kernel=(1,), name="skip%d" % i))
        x = x + sym.Convolution(z, num_filter=6, kernel=(1,), name="res%d" % i)
    x = sym.Convolution(sym.relu(sym.add_n(*skips)), num_filter=5, kernel=(1,), name="out")
    return sym.SoftmaxOutput(x, sym.var("target_label"), multi_output=True)


@network(TEXT, {"data": (2, 1, 8, 12), "label": Input(values=[[1, 2, 1], [3, 0, 0]])}, rtol=2e-3)
def ocr_ctc():
    x = sym.relu(sym.Convolution(sym.var("data"), num_filter=4, kernel=(3, 3), pad=(1, 1), name="conv"))
    x = sym.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="max")
    x = sym.transpose(x, axes=(3, 0, 1, 2))
    x = sym.reshape(x, (0, 0, -1))
    outputs, _ = rnn.BidirectionalCell(rnn.LSTMCell(4, prefix="f_"), rnn.LSTMCell(4, prefix="b_")).unroll(
        6, x, layout="TNC", merge_outputs=True)
    scores = sym.FullyConnected(outputs, num_hidden=4, flatten=False, name="pred")
    return sym.Group([sym.MakeLoss(sym.CTCLoss(scores, sym.var("label"))), sym.BlockGrad(sym.softmax(scores))])


@network(TEXT, {"data": (2, 10, 6), "data_length": Input(values=[4, 3]), "label": Input(values=[[0, 1, 0], [2, 0, 0]]),
                "length": Input(values=[3, 1])}, rtol=2e-3, ranges={"g_parameters": (-0.4, 0.4)}, onednn=True)
def deep_speech():
    x = sym.Convolution(sym.expand_dims(sym.var("data"), 1), num_filter=4, kernel=(3, 3), stride=(2, 1), pad=(0, 1), name="c")
    x = sym.clip(sym.BatchNorm(x, fix_gamma=False, name="bn"), 0, 20)
    x = sym.reshape(sym.transpose(x, axes=(2, 0, 1, 3)), (0, 0, -1))
    outputs, _ = rnn.FusedRNNCell(5, mode="gru", bidirectional=True, prefix="g_").unroll(4, x, layout="TNC",
                                                                                        merge_outputs=True)
    scores = sym.FullyConnected(outputs, num_hidden=4, flatten=False, name="pred")
    return sym.MakeLoss(sym.CTCLoss(scores, sym.var("label"), sym.var("data_length"), sym.var("length"),
                                    use_data_lengths=True, use_label_lengths=True, blank_label="last"))


@network(TEXT, {"data": (2, 6, 5)})
def tacotron_highway():
    x = sym.swapaxes(sym.var("data"), 1, 2)
    bank = [sym.Convolution(x, num_filter=3, kernel=(k,), pad=(k // 2,), name="bank%d" % k) for k in (1, 3, 5)]
    x = sym.Pooling(sym.relu(sym.concat(*bank, dim=1)), kernel=(3,), pad=(1,), stride=(1,), pool_type="max")
    x = sym.FullyConnected(sym.swapaxes(x, 1, 2), num_hidden=5, flatten=False, name="proj")
    for i in range(2):
        h = sym.relu(sym.FullyConnected(x, num_hidden=5, flatten=False, name="h%d" % i))
        t = sym.sigmoid(sym.FullyConnected(x, num_hidden=5, flatten=False, name="t%d" % i))
        x = h * t + x * (1 - t)
    outputs, _ = rnn.GRUCell(4, prefix="gru_").unroll(6, x, merge_outputs=True)
    return outputs
