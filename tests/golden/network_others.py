"""Recommenders, metric learning, reinforcement learning, probabilistic models, graphs; NumPy mode, int8, loops."""

import mxnet
import numpy
from mxnet import gluon, sym
from mxnet.gluon import nn

from network_list import Input, network

RECOMMENDERS = "recommenders"
USERS, ITEMS = 7, 9
USER, ITEM, SCORE = Input(4, below=USERS), Input(4, below=ITEMS), Input(4, range=(1, 5))


def Embed(data, size=4, count=USERS, name=None):
    data, name = (sym.var(data), data) if isinstance(data, str) else (data, name)
    return sym.Embedding(data, input_dim=count, output_dim=size, name=name + "_embed")


@network(RECOMMENDERS, {"user": USER, "item": ITEM, "score_label": SCORE})
def matrix_factorization():
    item = sym.var("item")
    product = sym.sum(Embed("user") * Embed(item, count=ITEMS, name="item"), axis=1)
    bias = sym.Embedding(item, input_dim=ITEMS, output_dim=1, name="bias")
    return sym.LinearRegressionOutput(product + sym.reshape(bias, (-1,)), sym.var("score_label"))


@network(RECOMMENDERS, {"user": USER, "item": ITEM, "hit_label": Input(4, below=2)})
def neural_collaborative_filtering():
    user = sym.var("user")
    product = Embed(user, name="user") * Embed("item", count=ITEMS)
    user = Embed(user, name="user_mlp")
    x = sym.concat(user, product, dim=1)
    for i, size in enumerate((8, 4)):
        x = sym.relu(sym.FullyConnected(x, num_hidden=size, name="fc%d" % i))
    score = sym.reshape(sym.FullyConnected(sym.concat(x, product, dim=1), num_hidden=1, name="out"), (-1,))
    return sym.LogisticRegressionOutput(score, sym.var("hit_label"))


@network(RECOMMENDERS, {"fields": Input(4, 3, below=10), "values": (4, 3), "label": Input(4, below=2)})
def factorization_machine():
    fields, values = sym.var("fields"), sym.expand_dims(sym.var("values"), 2)
    linear = sym.sum(sym.broadcast_mul(sym.Embedding(fields, input_dim=10, output_dim=1, name="w"), values), axis=(1, 2))
    v = sym.broadcast_mul(sym.Embedding(fields, input_dim=10, output_dim=4, name="v"), values)
    pairs = 0.5 * sym.sum(sym.square(sym.sum(v, axis=1)) - sym.sum(sym.square(v), axis=1), axis=1)
    bias = sym.var("bias", shape=(1,))
    return sym.LogisticRegressionOutput(sym.broadcast_add(linear + pairs, bias), sym.var("label"))


@network(RECOMMENDERS, {"fields": Input(4, 3, below=10), "dense": (4, 5), "label": Input(4, below=2)})
def deep_fm():
    v = sym.Embedding(sym.var("fields"), input_dim=10, output_dim=4, name="v")
    pairs = 0.5 * sym.sum(sym.square(sym.sum(v, axis=1)) - sym.sum(sym.square(v), axis=1), axis=1, keepdims=True)
    x = sym.concat(sym.Flatten(v), sym.var("dense"), dim=1)
    for i in range(2):
        x = sym.BatchNorm(sym.FullyConnected(x, num_hidden=6, name="fc%d" % i), fix_gamma=False, name="bn%d" % i)
        x = sym.LeakyReLU(x, act_type="elu", slope=0.5)
    score = sym.FullyConnected(x, num_hidden=1, name="out") + pairs
    return sym.LogisticRegressionOutput(sym.reshape(score, (-1,)), sym.var("label"))


@network(RECOMMENDERS, {"wide": Input(4, 12, below=2), "deep": (4, 5), "softmax_label": Input(4, below=2)})
def wide_and_deep():
    wide = sym.dot(sym.var("wide"), sym.var("wide_weight", shape=(12, 2)))
    deep = sym.FullyConnected(sym.tanh(sym.FullyConnected(sym.var("deep"), num_hidden=6, name="d1")), num_hidden=2, name="d2")
    return sym.SoftmaxOutput(wide + deep, name="softmax")


@network(RECOMMENDERS, {"dense": (3, 4), "fields": Input(3, 4, below=10), "label": Input(3, below=2)})
def dlrm_interactions():
    bottom = sym.relu(sym.FullyConnected(sym.var("dense"), num_hidden=4, name="bottom"))
    x = sym.concat(sym.expand_dims(bottom, 1), sym.Embedding(sym.var("fields"), input_dim=10, output_dim=4, name="v"), dim=1)
    pairs = sym.Flatten(sym.linalg.syrk(x, transpose=False))
    score = sym.FullyConnected(sym.concat(bottom, pairs, dim=1), num_hidden=1, name="top")
    return sym.LogisticRegressionOutput(sym.reshape(score, (-1,)), sym.var("label"))


METRIC = "metric learning, losses"


@network(METRIC, {"query": (4, 6), "document": (4, 6)})
def dssm_cosine():
    def Tower(name):
        return sym.L2Normalization(sym.tanh(sym.FullyConnected(sym.var(name), num_hidden=4, name=name + "_fc")))
    scores = sym.dot(Tower("query"), Tower("document"), transpose_b=True) * 5
    return sym.softmax_cross_entropy(scores, sym.arange(0, 4))


@network(METRIC, {"left": (4, 6), "right": (4, 6), "same_label": Input(4, below=2)})
def siamese_contrastive():
    weight, bias = sym.var("fc_weight"), sym.var("fc_bias")
    a, b = (sym.FullyConnected(sym.var(n), weight, bias, num_hidden=3, name="fc_" + n) for n in ("left", "right"))
    square = sym.sum(sym.square(a - b), axis=1)
    same = sym.var("same_label")
    return sym.MakeLoss(same * square + (1 - same) * sym.square(sym.relu(1 - sym.sqrt(square + 1e-6))))


@network(METRIC, {"data": (6, 5), "label": Input(6, below=3)})
def center_loss_and_arcface():
    features = sym.FullyConnected(sym.var("data"), num_hidden=4, name="fc")
    label = sym.var("label")
    centres = sym.Embedding(label, input_dim=3, output_dim=4, name="centre")
    weight = sym.L2Normalization(sym.var("class_weight", shape=(3, 4)))
    cosine = sym.FullyConnected(sym.L2Normalization(features), weight, num_hidden=3, no_bias=True)
    angle = sym.arccos(sym.clip(cosine, -0.99, 0.99))
    hot = sym.one_hot(label, depth=3)
    logits = 4 * sym.where(hot, sym.cos(angle + 0.3), cosine)
    return sym.Group([sym.SoftmaxOutput(logits, label), sym.MakeLoss(sym.sum(sym.square(features - centres), axis=1),
                                                                     grad_scale=0.1)])


def OfGluonLoss(name, make, label):
    """Registers a dense layer below a loss of Gluon."""
    @network(METRIC, {"data": (4, 5), "label": label}, name="loss_" + name)
    def Build():  # pylint: disable=unused-variable
        prediction = sym.FullyConnected(sym.var("data"), num_hidden=3, name="fc")
        return sym.MakeLoss(make()(prediction, sym.var("label")))


SAME, CLASSES, SIGNS = Input(4, 3), Input(4, below=3), Input(4, 3, below=2)
for loss_name, loss, label in (
        ("l1", gluon.loss.L1Loss, SAME), ("l2", gluon.loss.L2Loss, SAME), ("huber", gluon.loss.HuberLoss, SAME),
        ("softmax_ce", gluon.loss.SoftmaxCELoss, CLASSES), ("sigmoid_bce", gluon.loss.SigmoidBCELoss, SIGNS),
        ("logistic", lambda: gluon.loss.LogisticLoss(label_format="binary"), SIGNS),
        ("kl_div", lambda: gluon.loss.KLDivLoss(from_logits=False), Input(4, 3, range=(0.1, 0.9))),
        ("hinge", gluon.loss.HingeLoss, SAME), ("squared_hinge", gluon.loss.SquaredHingeLoss, SAME),
        ("poisson_nll", lambda: gluon.loss.PoissonNLLLoss(), Input(4, 3, below=6))):
    OfGluonLoss(loss_name, loss, label)


@network(METRIC, {"anchor": (3, 5), "positive": (3, 5), "negative": (3, 5), "cosine_label": Input(values=[1, -1, 1])})
def triplet_and_cosine():
    weight = sym.var("fc_weight")
    a, p, n = (sym.FullyConnected(sym.var(x), weight, num_hidden=4, no_bias=True, name=x + "_fc")
               for x in ("anchor", "positive", "negative"))
    return sym.Group([sym.MakeLoss(gluon.loss.TripletLoss(margin=2)(a, p, n)),
                      sym.MakeLoss(gluon.loss.CosineEmbeddingLoss()(a, n, sym.var("cosine_label")))])


@network(METRIC, {"data": (4, 6), "first_label": Input(4, below=3), "second_label": Input(4, 2)})
def multi_task():
    x = sym.relu(sym.FullyConnected(sym.var("data"), num_hidden=6, name="shared"))
    return sym.Group([sym.SoftmaxOutput(sym.FullyConnected(x, num_hidden=3, name="a"), sym.var("first_label"), grad_scale=0.5,
                                        smooth_alpha=0.1),
                      sym.MAERegressionOutput(sym.FullyConnected(x, num_hidden=2, name="b"), sym.var("second_label")),
                      sym.MakeLoss(sym.norm(x), grad_scale=0.01)])


DECISIONS = "reinforcement learning, probabilistic models, graphs"


@network(DECISIONS, {"data": (4, 5), "action": Input(4, below=3), "target_label": (4,)})
def dueling_q():
    x = sym.relu(sym.FullyConnected(sym.var("data"), num_hidden=8, name="fc"))
    advantage = sym.FullyConnected(x, num_hidden=3, name="advantage")
    advantage = sym.broadcast_sub(advantage, sym.mean(advantage, axis=1, keepdims=True))
    q = sym.broadcast_add(advantage, sym.FullyConnected(x, num_hidden=1, name="value"))
    error = sym.pick(q, sym.var("action"), axis=1) - sym.var("target_label")
    return sym.Group([sym.MakeLoss(sym.smooth_l1(error, scalar=1)), sym.BlockGrad(sym.argmax(q, axis=1))])


@network(DECISIONS, {"data": (4, 5), "action": Input(4, below=3), "reward_label": (4,)})
def actor_critic():
    x = sym.tanh(sym.FullyConnected(sym.var("data"), num_hidden=8, name="fc"))
    logits = sym.log_softmax(sym.FullyConnected(x, num_hidden=3, name="policy"), axis=-1)
    value = sym.reshape(sym.FullyConnected(x, num_hidden=1, name="value"), (-1,))
    advantage = sym.var("reward_label") - value
    entropy = -sym.sum(logits * sym.exp(logits), axis=1)
    policy = -sym.pick(logits, sym.var("action")) * sym.BlockGrad(advantage) - 0.01 * entropy
    return sym.Group([sym.MakeLoss(policy), sym.MakeLoss(0.5 * sym.square(advantage))])


@network(DECISIONS, {"data": (4, 5), "action": (4, 2), "old": (4,), "gain_label": (4,)})
def ppo_gaussian():
    mean = sym.FullyConnected(sym.tanh(sym.FullyConnected(sym.var("data"), num_hidden=6, name="fc")), num_hidden=2, name="mu")
    log_std = sym.var("log_std_weight", shape=(1, 2))
    z = sym.broadcast_div(sym.var("action") - mean, sym.exp(log_std))
    log_p = sym.sum(sym.broadcast_sub(-0.5 * sym.square(z), log_std), axis=1)
    ratio, gain = sym.exp(sym.clip(log_p - sym.var("old"), -2, 2)), sym.var("gain_label")
    return sym.MakeLoss(-sym.minimum(ratio * gain, sym.clip(ratio, 0.8, 1.2) * gain))


@network(DECISIONS, {"data": (4, 3), "target_label": (4, 1)})
def mixture_density():
    x = sym.tanh(sym.FullyConnected(sym.var("data"), num_hidden=6, name="fc"))
    weight, mean, width = (sym.FullyConnected(x, num_hidden=3, name=n) for n in ("weight", "mean", "width"))
    z = sym.broadcast_sub(mean, sym.var("target_label")) * sym.exp(-width)
    log_p = sym.log_softmax(weight) - 0.5 * sym.square(z) - width
    top = sym.max(log_p, axis=1, keepdims=True)
    return sym.MakeLoss(-sym.log(sym.sum(sym.exp(sym.broadcast_sub(log_p, top)), axis=1)) - sym.reshape(top, (-1,)))


@network(DECISIONS, {"data": (4, 6)})
def coupling_flow():
    x, log_det = sym.var("data"), []
    for i in range(2):
        a, b = sym.split(x, num_outputs=2, axis=1)
        hidden = sym.tanh(sym.FullyConnected(a, num_hidden=6, name="h%d" % i))
        scale = sym.tanh(sym.FullyConnected(hidden, num_hidden=3, name="s%d" % i))
        b = b * sym.exp(scale) + sym.FullyConnected(hidden, num_hidden=3, name="t%d" % i)
        log_det.append(sym.sum(scale, axis=1))
        x = sym.concat(b, a, dim=1)
    return sym.MakeLoss(0.5 * sym.sum(sym.square(x), axis=1) - sym.add_n(*log_det))


@network(DECISIONS, {"data": (5, 2), "target_label": (5, 1)})
def gaussian_process():
    x = sym.FullyConnected(sym.var("data"), num_hidden=2, name="fc")
    square = sym.sum(sym.square(x), axis=1, keepdims=True)
    distance = sym.broadcast_add(square, sym.transpose(square)) - 2 * sym.dot(x, x, transpose_b=True)
    factor = sym.linalg.potrf(sym.exp(-0.5 * distance) + 0.5 * sym.eye(5))
    solved = sym.linalg.trsm(factor, sym.var("target_label"))
    return sym.MakeLoss(0.5 * sym.sum(sym.square(solved)) + sym.linalg.sumlogdiag(factor))


@network(DECISIONS, {"data": (4, 6), "label": Input(4, below=3)})
def graph_convolution():
    links = sym.var("links_weight", shape=(4, 4))
    links = sym.broadcast_add(sym.sigmoid(links), sym.eye(4))
    degree = sym.rsqrt(sym.sum(links, axis=1, keepdims=True))
    links = sym.broadcast_mul(sym.broadcast_mul(links, degree), sym.transpose(degree))
    x = sym.var("data")
    for i, size in enumerate((5, 3)):
        x = sym.dot(links, sym.FullyConnected(x, num_hidden=size, no_bias=True, name="gc%d" % i))
        x = sym.relu(x) if i == 0 else x
    return sym.SoftmaxOutput(x, sym.var("label"))


@network(DECISIONS, {"data": (4, 5)})
def deep_embedded_clustering():
    z = sym.FullyConnected(sym.var("data"), num_hidden=2, name="enc")
    centres = sym.var("centre_weight", shape=(1, 3, 2))
    q = 1 / (1 + sym.sum(sym.square(sym.broadcast_sub(sym.expand_dims(z, 1), centres)), axis=2))
    q = sym.broadcast_div(q, sym.sum(q, axis=1, keepdims=True))
    p = sym.broadcast_div(sym.square(q), sym.sum(q, axis=0, keepdims=True))
    p = sym.BlockGrad(sym.broadcast_div(p, sym.sum(p, axis=1, keepdims=True)))
    return sym.MakeLoss(sym.sum(p * sym.log(p / q), axis=1))


@network(DECISIONS, {"data": (6, 4), "edges": Input(values=[[0, 1, 2, 3, 4, 5, 0], [1, 2, 3, 4, 5, 0, 3]])})
def message_passing():
    x, edges = sym.var("data"), sym.var("edges")
    source, sink = (sym.reshape(sym.slice_axis(edges, axis=0, begin=i, end=i + 1), (-1,)) for i in (0, 1))
    messages = sym.relu(sym.FullyConnected(sym.concat(sym.take(x, source), sym.take(x, sink), dim=1), num_hidden=4, name="m"))
    summed = sym.dot(sym.one_hot(sink, depth=6), messages, transpose_a=True)
    return sym.FullyConnected(sym.concat(x, summed, dim=1), num_hidden=2, name="out")


@network(DECISIONS, {"data": (2, 4, 4)})
def batched_linear_algebra():
    x = sym.var("data")
    spd = sym.linalg.syrk(x) + sym.broadcast_axis(sym.expand_dims(sym.eye(4), 0), axis=0, size=2)
    inverse = sym.linalg.potri(sym.linalg.potrf(spd))
    q, weight = sym.linalg.trmm(sym.linalg.potrf(spd), x), sym.var("mix_weight", shape=(2, 4, 4))
    return sym.linalg.gemm(inverse, q, weight, transpose_b=True, alpha=0.5, beta=2.0)


NUMPY = "NumPy mode"


def OfNumpy(name, data, make, label=None):
    """Registers a network of Gluon in NumPy mode."""
    inputs = {"data": data}
    if label is not None:
        inputs["label"] = label

    @network(NUMPY, inputs, name=name, numpy=True)
    def Build():  # pylint: disable=unused-variable
        net = make()
        arrays = [sym.var(n).as_np_ndarray() for n in inputs]
        return net(*arrays)


class NumpyMlp(nn.HybridBlock):
    """Dense layers below a loss."""

    def __init__(self, loss):
        super().__init__()
        self.body = nn.HybridSequential()
        self.body.add(nn.Dense(8, activation="tanh"), nn.LayerNorm(), nn.Dense(3))
        self.loss = loss

    def hybrid_forward(self, F, x, label):  # pylint: disable=arguments-differ
        return self.loss(self.body(x), label)


class NumpyAttention(nn.HybridBlock):
    """Attention by einsum."""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value = (nn.Dense(6, flatten=False, use_bias=False) for _ in range(3))

    def hybrid_forward(self, F, x):  # pylint: disable=arguments-differ
        scores = F.np.einsum("bik,bjk->bij", self.query(x), self.key(x)) / 2.4
        mixed = F.np.einsum("bij,bjk->bik", F.npx.softmax(scores, axis=-1), self.value(x))
        return F.np.concatenate([mixed, F.np.tanh(x)], axis=-1)


class NumpyFunctions(nn.HybridBlock):
    """Functions of mx.np around a dense layer."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(4, flatten=False)

    def hybrid_forward(self, F, x):  # pylint: disable=arguments-differ
        y = self.dense(x)
        centred = y - F.np.mean(y, axis=0, keepdims=True)
        spread = F.np.sqrt(F.np.mean(F.np.square(centred), axis=0) + 0.1)
        z = F.np.where(centred > 0, centred / spread, F.np.exp(centred) - 1)
        z = F.np.matmul(z, F.np.swapaxes(z, -1, -2))
        return F.np.log1p(F.np.exp(z)) * F.np.maximum(z, F.np.sin(z)) + F.np.tanh(z) ** 2


def NumpyCnn():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(4, 3, padding=1), nn.BatchNorm(), nn.Activation("relu"), nn.MaxPool2D(2), nn.Conv2D(6, 3),
            nn.LeakyReLU(0.1), nn.GlobalAvgPool2D(), nn.Flatten(), nn.Dropout(0.0), nn.Dense(3))
    return net


OfNumpy("numpy_mlp_softmax", (4, 5), lambda: NumpyMlp(gluon.loss.SoftmaxCELoss()), Input(4, below=3))
OfNumpy("numpy_mlp_l2", (4, 5), lambda: NumpyMlp(gluon.loss.L2Loss()), Input(4, 3))
OfNumpy("numpy_mlp_bce", (4, 5), lambda: NumpyMlp(gluon.loss.SigmoidBCELoss()), Input(4, 3, below=2))
OfNumpy("numpy_cnn", (2, 3, 10, 10), NumpyCnn)
OfNumpy("numpy_attention", (2, 4, 5), NumpyAttention)
OfNumpy("numpy_functions", (2, 3, 5), NumpyFunctions)


@network(NUMPY, {"data": (3, 5)}, numpy=True)
def numpy_scalar():
    """A parameter whose shape only NumPy mode has."""
    temperature = sym.var("temperature_weight", shape=()).as_np_ndarray()
    x = sym.FullyConnected(sym.var("data"), num_hidden=4, name="dense").as_np_ndarray()
    return sym.np.tanh(x * temperature) + temperature


INT8 = "int8"


def Quantize(build, shape):
    """Returns a network that MXNet quantises, and its arrays.

    It stays in float32 below the first convolution, since the wheel's quantised one reads uint8 alone.
    """
    from make_network_cases import Fill, RangeOf  # pylint: disable=import-outside-toplevel
    symbol = build()
    args, _, auxs = symbol.infer_shape(data=shape)

    def Arrays(names, shapes):
        return {n: mxnet.nd.array(Fill(n, s, *RangeOf(n, s))) for n, s in zip(names, shapes) if n != "data"}

    batches = mxnet.io.NDArrayIter({"data": mxnet.nd.array(Fill("data", shape, 0, 1))}, batch_size=shape[0])
    quantised, args, auxs = mxnet.contrib.quantization.quantize_model(
        symbol, Arrays(symbol.list_arguments(), args), Arrays(symbol.list_auxiliary_states(), auxs), label_names=None,
        ctx=mxnet.cpu(), excluded_sym_names=["conv1", "conv2", "conv3"], calib_mode="naive", calib_data=batches, num_calib_examples=shape[0], quantized_dtype="auto")
    return quantised, {name: array.asnumpy() for name, array in list(args.items()) + list(auxs.items())}


def SmallNet():
    x = sym.Convolution(sym.var("data"), num_filter=8, kernel=(3, 3), pad=(1, 1), name="conv0")
    x = sym.Activation(x, act_type="relu", name="relu0")
    x = sym.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="max", name="pool0")
    x = sym.Convolution(x, num_filter=8, kernel=(3, 3), pad=(1, 1), name="conv1")
    x = sym.Activation(x, act_type="relu", name="relu1")
    x = sym.Flatten(sym.Pooling(x, global_pool=True, kernel=(1, 1), pool_type="avg", name="pool1"), name="flat")
    return sym.softmax(sym.FullyConnected(x, num_hidden=5, name="fc"), name="softmax")


def ResidualNet():
    def Unit(x, name):
        return sym.Convolution(x, num_filter=8, kernel=(3, 3), pad=(1, 1), name=name)
    x = sym.Activation(Unit(sym.var("data"), "conv0"), act_type="relu", name="relu0")
    y = Unit(sym.Activation(Unit(x, "conv1"), act_type="relu", name="relu1"), "conv2")
    x = sym.Activation(sym.elemwise_add(x, y, name="sum"), act_type="relu", name="relu2")
    x = sym.concat(x, Unit(x, "conv3"), dim=1, name="concat")
    x = sym.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="avg", name="pool")
    return sym.FullyConnected(sym.Flatten(x, name="flat"), num_hidden=5, name="fc")


for int8_name, int8_build, int8_shape in (("int8_plain", SmallNet, (2, 4, 8, 8)), ("int8_residual", ResidualNet, (2, 4, 8, 8))):
    network(INT8, {"data": Input(*int8_shape, range=(0, 1))}, name=int8_name, train=False, onednn=True, rtol=2e-2)(
        lambda build=int8_build, shape=int8_shape: Quantize(build, shape))
