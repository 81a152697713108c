"""Image networks: classifiers, segmentation, detection, generators."""

import numpy
from mxnet import gluon, sym
from mxnet.gluon import nn
from mxnet.gluon.model_zoo import vision

from network_list import Input, network

IMAGE, LABEL = (2, 3, 32, 32), Input(2, below=5)


def Conv(x, filters, name, kernel=3, stride=1, norm=True, relu=True, groups=1, dilate=1):
    """A convolution that keeps the size except for its stride, with BatchNorm and ReLU."""
    pad = (kernel // 2) * dilate
    x = sym.Convolution(x, num_filter=filters, kernel=(kernel, kernel), stride=(stride, stride), pad=(pad, pad),
                        dilate=(dilate, dilate), num_group=groups, no_bias=norm, name=name)
    if norm:
        x = sym.BatchNorm(x, fix_gamma=False, eps=1e-3, name=name + "_bn")
    return sym.Activation(x, act_type="relu", name=name + "_relu") if relu else x


def Classify(x, classes=5):
    x = sym.Flatten(sym.Pooling(x, global_pool=True, kernel=(1, 1), pool_type="avg", name="pool"))
    return sym.SoftmaxOutput(sym.FullyConnected(x, num_hidden=classes, name="fc"), sym.var("softmax_label"),
                             name="softmax")


def OfGluon(family, name, make, data=IMAGE, **options):
    """Registers a network of Gluon with five classes below a softmax."""
    data = data if isinstance(data, Input) else Input(*data)
    label = Input(data.shape[0], below=5, dtype=data.dtype)

    @network(family, {"data": data, "softmax_label": label}, name=name, **options)
    def Build():  # pylint: disable=unused-variable
        return sym.SoftmaxOutput(make()(sym.var("data")), sym.var("softmax_label"), name="softmax")


ZOO = "classifiers of Gluon's model zoo"
for number, block, sizes in ((1, vision.BasicBlockV1, [8, 8, 12, 16, 24]),
                             (1, vision.BottleneckV1, [8, 16, 24, 32, 40])):
    OfGluon(ZOO, "resnet_v1_" + block.__name__[:5].lower(),
            lambda b=block, c=sizes: vision.ResNetV1(b, [1, 2, 1, 1], c, classes=5, thumbnail=True))
for block, sizes in ((vision.BasicBlockV2, [8, 8, 12, 16, 24]), (vision.BottleneckV2, [8, 16, 24, 32, 40])):
    OfGluon(ZOO, "resnet_v2_" + block.__name__[:5].lower(),
            lambda b=block, c=sizes: vision.ResNetV2(b, [1, 2, 1, 1], c, classes=5), data=(2, 3, 64, 64))
OfGluon(ZOO, "squeezenet1_0", lambda: vision.SqueezeNet("1.0", classes=5), data=(1, 3, 224, 224), train=False)
OfGluon(ZOO, "squeezenet1_1", lambda: vision.SqueezeNet("1.1", classes=5), data=(1, 3, 224, 224), train=False)
OfGluon(ZOO, "mobilenet_v1", lambda: vision.MobileNet(0.25, classes=5), data=(2, 3, 64, 64))
def MobileNetV2():
    net = vision.MobileNetV2(0.25, classes=5)
    net.cast("float64")
    return net


# In float32 its gradients are rounding errors, as BatchNorm divides by the deviation of eight values.
OfGluon(ZOO, "mobilenet_v2", MobileNetV2, data=Input(2, 3, 64, 64, dtype="float64"), dtype="float64")
OfGluon(ZOO, "densenet", lambda: vision.DenseNet(8, 4, [2, 2, 2, 2], classes=5), data=(1, 3, 224, 224))
OfGluon(ZOO, "inception_v3", lambda: vision.Inception3(classes=5), data=(1, 3, 299, 299), train=False)


CLASSIFIERS = "other classifiers"


@network(CLASSIFIERS, {"data": (4, 1, 28, 28), "softmax_label": Input(4, below=10)})
def lenet():
    x = sym.var("data")
    for i, filters in enumerate((6, 16)):
        x = sym.Convolution(x, num_filter=filters, kernel=(5, 5), name="conv%d" % i)
        x = sym.Pooling(sym.tanh(x), kernel=(2, 2), stride=(2, 2), pool_type="max")
    x = sym.tanh(sym.FullyConnected(sym.Flatten(x), num_hidden=40, name="fc1"))
    return sym.SoftmaxOutput(sym.FullyConnected(x, num_hidden=10, name="fc2"), name="softmax")


@network(CLASSIFIERS, {"data": (2, 3, 67, 67), "softmax_label": LABEL})
def alexnet():
    x = sym.var("data")
    for i, (filters, kernel, stride, pad) in enumerate([(16, 11, 4, 2), (24, 5, 1, 2), (32, 3, 1, 1), (24, 3, 1, 1)]):
        x = sym.Activation(sym.Convolution(x, num_filter=filters, kernel=(kernel, kernel), stride=(stride, stride),
                                           pad=(pad, pad), name="conv%d" % i), act_type="relu")
        if i < 2:
            x = sym.LRN(x, alpha=0.0001, beta=0.75, knorm=1, nsize=5, name="norm%d" % i)
            x = sym.Pooling(x, kernel=(3, 3), stride=(2, 2), pool_type="max")
    x = sym.Flatten(sym.Pooling(x, kernel=(3, 3), stride=(2, 2), pool_type="max"))
    x = sym.relu(sym.FullyConnected(x, num_hidden=24, name="fc1"))
    return sym.SoftmaxOutput(sym.FullyConnected(x, num_hidden=5, name="fc2"), name="softmax")


def Vgg(norm):
    x = sym.var("data")
    for stage, (count, filters) in enumerate(((1, 8), (2, 12), (2, 16))):
        for i in range(count):
            x = Conv(x, filters, "conv%d_%d" % (stage, i), norm=norm)
        x = sym.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="max")
    x = sym.relu(sym.FullyConnected(sym.Flatten(x), num_hidden=32, name="fc6"))
    return sym.SoftmaxOutput(sym.FullyConnected(x, num_hidden=5, name="fc7"), name="softmax")


network(CLASSIFIERS, {"data": IMAGE, "softmax_label": LABEL}, name="vgg")(lambda: Vgg(False))
network(CLASSIFIERS, {"data": IMAGE, "softmax_label": LABEL}, name="vgg_bn")(lambda: Vgg(True))


def InceptionBlock(x, name, norm):
    one = Conv(x, 6, name + "_1x1", 1, norm=norm)
    three = Conv(Conv(x, 6, name + "_3x3r", 1, norm=norm), 8, name + "_3x3", norm=norm)
    five = Conv(Conv(x, 3, name + "_5x5r", 1, norm=norm), 4, name + "_5x5", 5, norm=norm)
    pool = sym.Pooling(x, kernel=(3, 3), stride=(1, 1), pad=(1, 1), pool_type="max" if norm else "avg")
    return sym.concat(one, three, five, Conv(pool, 4, name + "_proj", 1, norm=norm), dim=1, name=name)


def Inception(norm):
    x = sym.Pooling(Conv(sym.var("data"), 8, "stem", norm=norm), kernel=(3, 3), stride=(2, 2), pool_type="max",
                    pooling_convention="full")
    x = InceptionBlock(InceptionBlock(x, "a", norm), "b", norm)
    return Classify(InceptionBlock(sym.Pooling(x, kernel=(3, 3), stride=(2, 2), pool_type="max"), "c", norm))


network(CLASSIFIERS, {"data": IMAGE, "softmax_label": LABEL}, name="googlenet")(lambda: Inception(False))
network(CLASSIFIERS, {"data": IMAGE, "softmax_label": LABEL}, name="inception_bn")(lambda: Inception(True))


def Stages(block, widths=(8, 16), name="unit"):
    x = Conv(sym.var("data"), widths[0], "stem")
    for stage, width in enumerate(widths):
        for i in range(2):
            x = block(x, width, "%s%d_%d" % (name, stage, i), 2 if i == 0 and stage > 0 else 1, i == 0)
    return Classify(x)


@network(CLASSIFIERS, {"data": IMAGE, "softmax_label": LABEL})
def resnext():
    def Unit(x, width, name, stride, first):
        y = Conv(Conv(x, width, name + "_a", 1), width, name + "_b", stride=stride, groups=4)
        y = Conv(y, width, name + "_c", 1, relu=False)
        return sym.relu(y + (Conv(x, width, name + "_s", 1, stride, relu=False) if first else x))
    return Stages(Unit)


@network(CLASSIFIERS, {"data": IMAGE, "softmax_label": LABEL})
def se_resnet():
    def Unit(x, width, name, stride, first):
        y = Conv(Conv(x, width, name + "_a", stride=stride), width, name + "_b", relu=False)
        s = sym.Pooling(y, global_pool=True, kernel=(1, 1), pool_type="avg")
        s = sym.relu(sym.Convolution(s, num_filter=4, kernel=(1, 1), name=name + "_down"))
        s = sym.sigmoid(sym.Convolution(s, num_filter=width, kernel=(1, 1), name=name + "_up"))
        y = sym.broadcast_mul(y, s)
        return sym.relu(y + (Conv(x, width, name + "_s", 1, stride, relu=False) if first else x))
    return Stages(Unit)


@network(CLASSIFIERS, {"data": IMAGE, "softmax_label": LABEL})
def shufflenet():
    def Unit(x, width, name, stride, first):
        del first
        if stride == 2:
            left = Conv(Conv(x, 8, name + "_l", stride=2, relu=False, groups=8), width // 2, name + "_lp", 1)
            right = x
        else:
            left = sym.slice_axis(x, axis=1, begin=0, end=width // 2)
            right = sym.slice_axis(x, axis=1, begin=width // 2, end=None)
        y = Conv(right, width // 2, name + "_a", 1)
        y = Conv(y, width // 2, name + "_b", stride=stride, relu=False, groups=width // 2)
        y = sym.concat(left, Conv(y, width // 2, name + "_c", 1), dim=1)
        y = sym.swapaxes(sym.reshape(y, (0, -4, 2, -1, -2)), 1, 2)
        return sym.reshape(y, (0, -3, -2))
    return Stages(Unit)


@network(CLASSIFIERS, {"data": IMAGE, "softmax_label": LABEL})
def efficientnet():
    def Swish(x):
        return x * sym.sigmoid(x)

    def Unit(x, width, name, stride, first):
        inner = 2 * width
        y = Swish(Conv(x, inner, name + "_e", 1, relu=False))
        y = Swish(Conv(y, inner, name + "_d", 5, stride, relu=False, groups=inner))
        s = sym.mean(y, axis=(2, 3), keepdims=True)
        s = Swish(sym.Convolution(s, num_filter=4, kernel=(1, 1), name=name + "_r"))
        y = sym.broadcast_mul(y, sym.sigmoid(sym.Convolution(s, num_filter=inner, kernel=(1, 1), name=name + "_x")))
        y = Conv(y, width, name + "_p", 1, relu=False)
        return y if first else y + x
    return Stages(Unit)


@network(CLASSIFIERS, {"data": IMAGE, "softmax_label": LABEL})
def mobilenet_v3():
    def HardSwish(x):
        return x * sym.clip(x + 3, 0, 6) / 6

    def Unit(x, width, name, stride, first):
        y = HardSwish(Conv(x, 2 * width, name + "_e", 1, relu=False))
        y = HardSwish(Conv(y, 2 * width, name + "_d", 3, stride, relu=False, groups=2 * width))
        y = Conv(y, width, name + "_p", 1, relu=False)
        return y if first else y + x
    return Stages(Unit)


@network(CLASSIFIERS, {"data": IMAGE, "softmax_label": LABEL})
def network_in_network():
    x = sym.var("data")
    for i, filters in enumerate((12, 16)):
        x = Conv(x, filters, "conv%d" % i, 5, norm=False)
        x = Conv(Conv(x, filters, "cccp%da" % i, 1, norm=False), filters, "cccp%db" % i, 1, norm=False)
        x = sym.Pooling(sym.LRN(x, nsize=3), kernel=(3, 3), stride=(2, 2), pool_type="max", pooling_convention="full")
    x = Conv(x, 5, "classes", 1, norm=False)
    return sym.SoftmaxOutput(sym.Flatten(sym.Pooling(x, global_pool=True, kernel=(1, 1), pool_type="avg")),
                             name="softmax")


@network(CLASSIFIERS, {"data": (3, 3, 12, 12), "label": Input(3, below=4)})
def maxout_svm():
    x = Conv(sym.var("data"), 12, "conv", norm=False, relu=False)
    x = sym.max(sym.reshape(x, (0, 6, 2, -1)), axis=2)
    x = sym.FullyConnected(x, num_hidden=12, name="fc1")
    x = sym.max(sym.reshape(x, (0, 4, 3)), axis=2)
    return sym.SVMOutput(sym.FullyConnected(x, num_hidden=4, name="fc2"), sym.var("label"), margin=0.5, name="svm")


@network(CLASSIFIERS, {"data": (2, 3, 16, 16), "label": Input(2, below=4)})
def group_norm_weight_standardised():
    x = sym.var("data")
    for i, filters in enumerate((8, 12)):
        w = sym.var("conv%d_weight" % i, shape=(filters, 3 if i == 0 else 8, 3, 3))
        mean = sym.mean(w, axis=(1, 2, 3), keepdims=True)
        centred = sym.broadcast_sub(w, mean)
        std = sym.sqrt(sym.mean(sym.square(centred), axis=(1, 2, 3), keepdims=True) + 1e-5)
        x = sym.Convolution(x, weight=sym.broadcast_div(centred, std), num_filter=filters, kernel=(3, 3), no_bias=True,
                            name="conv%d" % i)
        x = sym.LeakyReLU(sym.GroupNorm(x, num_groups=4, name="gn%d" % i), act_type="elu", slope=0.7)
    x = sym.FullyConnected(x, num_hidden=4, name="fc")
    return sym.MakeLoss(-sym.pick(sym.log_softmax(x), sym.var("label")))


@network(CLASSIFIERS, {"data": (2, 6, 2, 8, 8), "softmax_label": LABEL})
def video_3d():
    x = sym.var("data")
    for i, filters in enumerate((8, 8)):
        x = sym.Convolution(x, num_filter=filters, kernel=(3, 3, 3), pad=(1, 1, 1), name="conv%d" % i)
        x = sym.relu(sym.BatchNorm(x, fix_gamma=i == 1, name="bn%d" % i))
        x = sym.Pooling(x, kernel=(1, 2, 2), stride=(1, 2, 2), pool_type="max" if i else "avg")
    return sym.SoftmaxOutput(sym.FullyConnected(x, num_hidden=5, name="fc"), name="softmax")


@network(CLASSIFIERS, {"data": (2, 4, 10, 10), "softmax_label": LABEL})
def capsules():
    x = sym.Convolution(sym.var("data"), num_filter=16, kernel=(3, 3), stride=(2, 2), name="primary")
    u = sym.reshape(sym.transpose(x, axes=(0, 2, 3, 1)), (0, -1, 8))  # (2, 32, 8)

    def Squash(s):
        norm = sym.sum(sym.square(s), axis=-1, keepdims=True)
        return sym.broadcast_mul(s, norm / (1 + norm) / sym.sqrt(norm + 1e-6))

    u = sym.expand_dims(sym.expand_dims(Squash(u), 2), 4)  # (2, 32, 1, 8, 1)
    weight = sym.var("route_weight", shape=(1, 32, 5, 8, 4))
    votes = sym.sum(sym.broadcast_mul(u, weight), axis=3)  # (2, 32, 5, 4)
    logits = sym.BlockGrad(sym.sum(votes * 0, axis=3, keepdims=True))
    for i in range(3):
        coupling = sym.softmax(logits, axis=2)
        v = Squash(sym.sum(sym.broadcast_mul(coupling, votes), axis=1, keepdims=True))  # (2, 1, 5, 4)
        if i < 2:
            logits = logits + sym.sum(sym.broadcast_mul(votes, v), axis=3, keepdims=True)
    length = sym.sqrt(sym.sum(sym.square(sym.reshape(v, (0, 5, 4))), axis=2) + 1e-6)
    hot = sym.one_hot(sym.var("softmax_label"), depth=5)
    loss = hot * sym.square(sym.maximum(0, 0.9 - length)) + 0.5 * (1 - hot) * sym.square(sym.maximum(0, length - 0.1))
    return sym.Group([sym.MakeLoss(sym.sum(loss, axis=1)), sym.BlockGrad(length)])


@network(CLASSIFIERS, {"data": (2, 3, 16, 16), "softmax_label": LABEL})
def non_local():
    x = Conv(sym.var("data"), 8, "stem", stride=2)
    q, k, v = (sym.reshape(sym.Convolution(x, num_filter=4, kernel=(1, 1), name=n), (0, 0, -1)) for n in "qkv")
    weights = sym.softmax(sym.batch_dot(q, k, transpose_a=True), axis=-1)
    y = sym.reshape_like(sym.batch_dot(v, weights, transpose_b=True), sym.slice_like(x, sym.zeros((1, 4)), axes=(1,)))
    return Classify(x + sym.Convolution(y, num_filter=8, kernel=(1, 1), name="out"))


@network(CLASSIFIERS, {"data": (2, 12, 12, 3), "softmax_label": LABEL}, train=False,
         note="MXNet's CPU kernels have no channels-last convolutions: the network transposes")
def channels_last_input():
    x = sym.transpose(sym.var("data"), axes=(0, 3, 1, 2))
    x = sym.Pooling(Conv(x, 8, "conv"), kernel=(2, 2), stride=(2, 2), pool_type="sum")
    x = sym.Pooling(x, kernel=(2, 2), pool_type="lp", p_value=2)
    return Classify(x)


@network(CLASSIFIERS, {"data": (3, 3, 12, 12), "softmax_label": Input(3, below=5)})
def spatial_transformer():
    data = sym.var("data")
    loc = sym.FullyConnected(sym.tanh(Conv(data, 4, "loc", stride=2, norm=False, relu=False)), num_hidden=6, name="theta")
    x = sym.SpatialTransformer(data, loc, target_shape=(10, 10), transform_type="affine", sampler_type="bilinear")
    return Classify(Conv(x, 8, "conv"))


@network(CLASSIFIERS, {"data": (2, 3, 16, 16), "softmax_label": LABEL})
def stochastic_depth_at_rest():
    x = Conv(sym.var("data"), 8, "stem")
    for i in range(3):
        y = sym.Dropout(Conv(x, 8, "unit%d" % i), p=0.0)
        x = x + (1 - 0.1 * i) * y
    return Classify(sym.Dropout(x, p=0.0, mode="always"))


SEGMENTATION = "segmentation"
PIXELS = Input(2, 16, 16, below=4)


def PixelSoftmax(x):
    return sym.SoftmaxOutput(x, sym.var("softmax_label"), multi_output=True, use_ignore=True, ignore_label=3,
                             normalization="valid", name="softmax")


@network(SEGMENTATION, {"data": (2, 3, 16, 16), "softmax_label": PIXELS})
def unet():
    skips, x = [], sym.var("data")
    for i, filters in enumerate((6, 8)):
        x = Conv(x, filters, "down%d" % i)
        skips.append(x)
        x = sym.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="max")
    x = Conv(x, 10, "bottom")
    for i, filters in ((1, 8), (0, 6)):
        x = sym.Deconvolution(x, num_filter=filters, kernel=(2, 2), stride=(2, 2), name="up%d" % i)
        x = Conv(sym.concat(skips[i], x, dim=1), filters, "merge%d" % i)
    return PixelSoftmax(sym.Convolution(x, num_filter=4, kernel=(1, 1), name="classes"))


@network(SEGMENTATION, {"data": (2, 3, 16, 16), "softmax_label": PIXELS})
def fcn_crop():
    data = sym.var("data")
    low = sym.Pooling(Conv(data, 6, "a", norm=False), kernel=(2, 2), stride=(2, 2), pool_type="max")
    high = sym.Pooling(Conv(low, 8, "b", norm=False), kernel=(2, 2), stride=(2, 2), pool_type="max")
    up = sym.Deconvolution(sym.Convolution(high, num_filter=4, kernel=(1, 1), name="score"), num_filter=4,
                           kernel=(4, 4), stride=(2, 2), num_group=4, no_bias=True, name="up")
    x = sym.Crop(up, low, offset=(1, 1)) + sym.Convolution(low, num_filter=4, kernel=(1, 1), name="score2")
    x = sym.Deconvolution(x, num_filter=4, kernel=(4, 4), stride=(2, 2), no_bias=True, name="up2")
    return PixelSoftmax(sym.Crop(x, data, center_crop=True))


@network(SEGMENTATION, {"data": (2, 3, 16, 16), "softmax_label": PIXELS})
def hourglass():
    def Level(x, depth):
        skip = Conv(x, 8, "skip%d" % depth, 1)
        y = Conv(sym.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="avg"), 8, "low%d" % depth)
        y = Level(y, depth - 1) if depth else y
        y = sym.UpSampling(y, scale=2, sample_type="nearest", num_args=1)
        return skip + y
    return PixelSoftmax(sym.Convolution(Level(sym.var("data"), 2), num_filter=4, kernel=(1, 1), name="classes"))


@network(SEGMENTATION, {"data": (2, 3, 16, 16), "softmax_label": PIXELS})
def pspnet():
    x = Conv(sym.var("data"), 8, "stem", stride=2)
    levels = [x]
    for size in (1, 2, 4):
        y = sym.contrib.AdaptiveAvgPooling2D(x, output_size=(size, size))
        levels.append(sym.contrib.BilinearResize2D(Conv(y, 4, "level%d" % size, 1, norm=size > 1), height=8, width=8))
    x = sym.Convolution(sym.concat(*levels, dim=1), num_filter=4, kernel=(1, 1), name="classes")
    return PixelSoftmax(sym.contrib.BilinearResize2D(x, height=16, width=16))


@network(SEGMENTATION, {"data": (2, 3, 16, 16), "softmax_label": PIXELS})
def deeplab_aspp():
    x = Conv(sym.var("data"), 8, "stem")
    branches = [Conv(x, 4, "aspp%d" % rate, dilate=rate) for rate in (1, 2, 4)]
    pooled = sym.mean(x, axis=(2, 3), keepdims=True)
    branches.append(sym.broadcast_like(sym.Convolution(pooled, num_filter=4, kernel=(1, 1), name="image"), branches[0]))
    return PixelSoftmax(sym.Convolution(sym.concat(*branches, dim=1), num_filter=4, kernel=(1, 1), name="classes"))


@network(SEGMENTATION, {"data": (2, 3, 8, 8), "softmax_label": Input(2, 16, 16, below=4)})
def bilinear_upsampling():
    x = Conv(sym.var("data"), 4, "conv")
    x = sym.UpSampling(x, sym.var("up_weight"), scale=2, sample_type="bilinear", num_filter=4, num_args=2)
    return PixelSoftmax(x)


DETECTION = "detection"
OBJECTS = numpy.array([[[0, 0.1, 0.1, 0.5, 0.4], [1, 0.3, 0.2, 0.9, 0.9]], [[1, 0.4, 0.5, 0.8, 0.9], [-1] * 5]], "float32")
ROIS = numpy.array([[0, 1, 2, 11, 9], [0, 4, 0, 15, 13], [1, 0, 0, 7, 15], [1, 3, 5, 12, 12]], "float32")


@network(DETECTION, {"data": (2, 3, 32, 32), "label": Input(values=OBJECTS)})
def ssd():
    layer, locations, classes, anchors = Conv(sym.var("data"), 6, "stem", stride=2), [], [], []
    for scale, sizes in enumerate(["(0.3, 0.4)", "(0.6, 0.8)"]):
        layer = Conv(layer, 6, "conv%d" % scale, stride=2, norm=False)
        for list_, filters, name in ((locations, 3 * 4, "loc"), (classes, 3 * 3, "cls")):
            made = sym.Convolution(layer, num_filter=filters, kernel=(3, 3), pad=(1, 1), name=name + str(scale))
            list_.append(sym.Flatten(sym.transpose(made, axes=(0, 2, 3, 1))))
        anchors.append(sym.contrib.MultiBoxPrior(layer, sizes=sizes, ratios="(1, 2)", clip=scale == 1))
    loc, cls = sym.concat(*locations, dim=1), sym.concat(*classes, dim=1)
    cls = sym.transpose(sym.reshape(cls, (0, -1, 3)), axes=(0, 2, 1))
    anchor = sym.concat(*anchors, dim=1)
    target = sym.contrib.MultiBoxTarget(anchor, sym.var("label"), cls, overlap_threshold=0.3, negative_mining_ratio=3)
    prob = sym.SoftmaxOutput(cls, target[2], ignore_label=-1, use_ignore=True, multi_output=True, grad_scale=2,
                             normalization="valid", name="cls_prob")
    loss = sym.MakeLoss(sym.smooth_l1(target[1] * (loc - target[0]), scalar=1), normalization="valid", grad_scale=0.5)
    found = sym.contrib.MultiBoxDetection(prob, loc, anchor, threshold=0.3, nms_topk=9, nms_threshold=0.4)
    return sym.Group([prob, loss, sym.BlockGrad(found)])


@network(DETECTION, {"data": (1, 3, 32, 32), "im_info": Input(values=[[32, 32, 1]])}, train=False)
def faster_rcnn():
    x = Conv(Conv(sym.var("data"), 8, "a", stride=2), 8, "b", stride=2)
    rpn = Conv(x, 8, "rpn", norm=False)
    score = sym.Convolution(rpn, num_filter=2 * 6, kernel=(1, 1), name="rpn_cls")
    boxes = sym.Convolution(rpn, num_filter=4 * 6, kernel=(1, 1), name="rpn_box")
    prob = sym.softmax(sym.reshape(score, (0, 2, -1, 0)), axis=1)
    prob = sym.reshape(prob, (0, 12, -1, 0))
    rois = sym.contrib.Proposal(prob, boxes, sym.var("im_info"), feature_stride=4, scales="(2, 4)", ratios="(0.5, 1, 2)",
                                rpn_pre_nms_top_n=60, rpn_post_nms_top_n=8, threshold=0.6, rpn_min_size=2)
    pooled = sym.ROIPooling(x, rois, pooled_size=(3, 3), spatial_scale=0.25)
    hidden = sym.relu(sym.FullyConnected(pooled, num_hidden=16, name="fc"))
    return sym.Group([rois, sym.softmax(sym.FullyConnected(hidden, num_hidden=4, name="cls")),
                      sym.FullyConnected(hidden, num_hidden=16, name="box")])


@network(DETECTION, {"data": (2, 3, 16, 16), "label": Input(4, below=3)}, values={"rois": ROIS})
def fast_rcnn():
    pooled = sym.ROIPooling(Conv(sym.var("data"), 6, "conv"), sym.var("rois", shape=ROIS.shape), pooled_size=(3, 3), spatial_scale=1.0)
    hidden = sym.relu(sym.FullyConnected(pooled, num_hidden=16, name="fc"))
    boxes = sym.FullyConnected(hidden, num_hidden=4, name="box")
    return sym.Group([sym.SoftmaxOutput(sym.FullyConnected(hidden, num_hidden=3, name="cls"), sym.var("label")),
                      sym.MakeLoss(sym.smooth_l1(boxes, scalar=3), grad_scale=0.25)])


@network(DETECTION, {"data": (2, 3, 16, 16), "mask_label": Input(4, 1, 8, 8, below=2)}, values={"rois": ROIS})
def mask_rcnn():
    x = Conv(sym.var("data"), 6, "conv", stride=2)
    top = Conv(x, 6, "top", stride=2)
    x = x + sym.UpSampling(top, scale=2, sample_type="nearest", num_args=1)
    pooled = sym.contrib.ROIAlign(x, sym.var("rois", shape=ROIS.shape), pooled_size=(4, 4), spatial_scale=0.5, sample_ratio=2)
    mask = sym.Deconvolution(Conv(pooled, 6, "head", norm=False), num_filter=1, kernel=(2, 2), stride=(2, 2), name="mask")
    return sym.LogisticRegressionOutput(mask, sym.var("mask_label"))


@network(DETECTION, {"data": (2, 3, 16, 16), "label": Input(4, below=3)}, values={"rois": ROIS})
def deformable_rfcn():
    x = Conv(sym.var("data"), 6, "stem")
    offset = sym.Convolution(x, num_filter=18, kernel=(3, 3), pad=(1, 1), name="offset")
    x = sym.contrib.DeformableConvolution(x, offset, num_filter=8, kernel=(3, 3), pad=(1, 1), no_bias=True, name="deform")
    maps = sym.Convolution(sym.relu(x), num_filter=3 * 9, kernel=(1, 1), name="maps")
    pooled = sym.contrib.ROIAlign(maps, sym.var("rois", shape=ROIS.shape), pooled_size=(3, 3), spatial_scale=1.0, position_sensitive=True)
    return sym.SoftmaxOutput(sym.mean(pooled, axis=(2, 3)), sym.var("label"))


@network(DETECTION, {"data": (2, 3, 16, 16)}, train=False)
def yolo():
    x = sym.LeakyReLU(Conv(Conv(sym.var("data"), 8, "a", stride=2), 8, "b", stride=2, relu=False), slope=0.1)
    x = sym.Convolution(x, num_filter=3 * 7, kernel=(1, 1), name="out")
    x = sym.reshape(sym.transpose(x, axes=(0, 2, 3, 1)), (0, -1, 7))
    centre, size, score, classes = (sym.slice_axis(x, axis=2, begin=a, end=b)
                                    for a, b in ((0, 2), (2, 4), (4, 5), (5, 7)))
    scores = sym.broadcast_mul(sym.sigmoid(score), sym.sigmoid(classes))
    ids = sym.expand_dims(sym.argmax(scores, axis=2), 2)
    found = sym.concat(ids, sym.max(scores, axis=2, keepdims=True), sym.sigmoid(centre) - 0.3 * sym.exp(size),
                       sym.sigmoid(centre) + 0.3 * sym.exp(size), dim=2)
    return sym.contrib.box_nms(found, overlap_thresh=0.4, valid_thresh=0.01, topk=20, coord_start=2, score_index=1,
                               id_index=0)


@network(DETECTION, {"left": (2, 2, 12, 12), "right": (2, 2, 12, 12), "flow_label": (2, 2, 12, 12)})
def flownet():
    left, right, weight, bias = (sym.var(name) for name in ("left", "right", "conv_weight", "conv_bias"))
    a, b = (sym.Convolution(x, weight, bias, num_filter=4, kernel=(3, 3), pad=(1, 1), name="conv%d" % i)
            for i, x in enumerate((left, right)))
    cost = sym.Correlation(a, b, kernel_size=1, max_displacement=2, stride1=1, stride2=1, pad_size=2)
    flow = sym.Convolution(sym.relu(cost), num_filter=2, kernel=(3, 3), pad=(1, 1), name="flow")
    warped = sym.BilinearSampler(right, sym.GridGenerator(flow, transform_type="warp"))
    error = sym.sqrt(sym.square(flow - sym.var("flow_label")) + 0.01)
    return sym.Group([sym.MakeLoss(sym.mean(error, axis=(1, 2, 3))),
                      sym.MakeLoss(sym.mean(sym.abs(warped - left), axis=(1, 2, 3)), grad_scale=0.1)])


@network(DETECTION, {"data": (2, 3, 16, 16), "heat_label": Input(2, 2, 8, 8, range=(0, 1))})
def centernet_focal():
    x = sym.Convolution(Conv(sym.var("data"), 8, "a", stride=2), num_filter=2, kernel=(3, 3), pad=(1, 1), name="heat")
    p, y = sym.clip(sym.sigmoid(x), 1e-4, 1 - 1e-4), sym.var("heat_label")
    is_peak = y > 0.9
    loss = is_peak * sym.log(p) * sym.square(1 - p) + (1 - is_peak) * sym.log(1 - p) * sym.square(p) * (1 - y) ** 4
    peaks = sym.Pooling(p, kernel=(3, 3), pad=(1, 1), pool_type="max")
    best = sym.topk(sym.reshape(sym.broadcast_equal(peaks, p) * p, (0, -1)), k=5, ret_typ="value")
    return sym.Group([sym.MakeLoss(-sym.sum(loss) / 4), sym.BlockGrad(best)])


GENERATORS = "generators, autoencoders, style"


@network(GENERATORS, {"noise": (3, 8, 1, 1)})
def dcgan_generator():
    x = sym.var("noise")
    for i, filters in enumerate((12, 8)):
        x = sym.Deconvolution(x, num_filter=filters, kernel=(4, 4), stride=(1, 1) if i == 0 else (2, 2),
                              pad=(0, 0) if i == 0 else (1, 1), no_bias=True, name="up%d" % i)
        x = sym.relu(sym.BatchNorm(x, fix_gamma=True, name="bn%d" % i))
    return sym.tanh(sym.Deconvolution(x, num_filter=3, kernel=(4, 4), stride=(2, 2), pad=(1, 1), adj=(1, 1), name="out"))


@network(GENERATORS, {"data": (3, 3, 16, 16), "label": Input(3, below=2)})
def dcgan_discriminator():
    x = sym.var("data")
    for i, filters in enumerate((8, 12)):
        x = sym.Convolution(x, num_filter=filters, kernel=(4, 4), stride=(2, 2), pad=(1, 1), no_bias=True, name="d%d" % i)
        x = sym.LeakyReLU(sym.BatchNorm(x, fix_gamma=False, name="bn%d" % i) if i else x, act_type="leaky", slope=0.2)
    x = sym.Flatten(sym.Convolution(x, num_filter=1, kernel=(4, 4), name="out"))
    return sym.LogisticRegressionOutput(sym.reshape(x, (-1,)), sym.var("label"))


@network(GENERATORS, {"data": Input(4, 20, range=(0, 1))})
def autoencoder():
    x = data = sym.var("data")
    for i, size in enumerate((12, 4, 12, 20)):
        x = sym.FullyConnected(x, num_hidden=size, name="fc%d" % i)
        x = sym.Activation(x, act_type="sigmoid") if i < 3 else x
    return sym.LinearRegressionOutput(x, data)


@network(GENERATORS, {"data": (4, 16), "eps": (4, 3)})
def variational_autoencoder():
    data = sym.var("data")
    hidden = sym.Activation(sym.FullyConnected(data, num_hidden=12, name="enc"), act_type="softrelu")
    mean, log_var = sym.split(sym.FullyConnected(hidden, num_hidden=6, name="code"), num_outputs=2, axis=1)
    z = mean + sym.exp(0.5 * log_var) * sym.var("eps")
    out = sym.FullyConnected(sym.Activation(sym.FullyConnected(z, num_hidden=12, name="dec"), act_type="softsign"),
                             num_hidden=16, name="out")
    kl = -0.5 * sym.sum(1 + log_var - sym.square(mean) - sym.exp(log_var), axis=1)
    return sym.MakeLoss(kl + sym.sum(sym.square(out - data), axis=1), name="elbo")


def Reflect(x, pad):
    return sym.Pad(x, mode="reflect", pad_width=(0, 0, 0, 0, pad, pad, pad, pad))


@network(GENERATORS, {"data": (2, 3, 16, 16), "target_label": (2, 8, 8, 8)})
def style_transfer():
    x = sym.Convolution(Reflect(sym.var("data"), 1), num_filter=6, kernel=(3, 3), stride=(2, 2), name="down")
    x = sym.relu(sym.InstanceNorm(x, eps=1e-5, name="in1"))
    y = sym.InstanceNorm(sym.Convolution(Reflect(x, 1), num_filter=6, kernel=(3, 3), name="res"), name="in2")
    x = sym.UpSampling(x + y, scale=2, sample_type="nearest", num_args=1)
    image = sym.tanh(sym.Convolution(Reflect(x, 1), num_filter=3, kernel=(3, 3), name="image"))
    features = sym.relu(sym.Convolution(image, num_filter=8, kernel=(3, 3), pad=(1, 1), stride=(2, 2), name="vgg"))
    flat = sym.reshape(features, (0, 0, -1))
    gram = sym.batch_dot(flat, flat, transpose_b=True) / 64
    target = sym.reshape(sym.var("target_label"), (0, 0, -1))
    target_gram = sym.batch_dot(target, target, transpose_b=True) / 64
    tv = sym.mean(sym.abs(sym.slice(image, begin=(None, None, 1), end=(None, None, None)) -
                          sym.slice(image, begin=(None, None, None), end=(None, None, -1))))
    return sym.Group([sym.MakeLoss(sym.mean(sym.square(gram - target_gram)), grad_scale=10), sym.MakeLoss(tv), image])


@network(GENERATORS, {"data": (2, 3, 16, 16)})
def cyclegan_generator():
    x = sym.Convolution(Reflect(sym.var("data"), 3), num_filter=4, kernel=(7, 7), name="c7")
    x = sym.relu(sym.InstanceNorm(x, name="i0"))
    x = sym.relu(sym.InstanceNorm(sym.Convolution(x, num_filter=8, kernel=(3, 3), stride=(2, 2), pad=(1, 1), name="d"),
                                  name="i1"))
    for i in range(2):
        y = sym.Convolution(Reflect(x, 1), num_filter=8, kernel=(3, 3), name="r%d" % i)
        x = x + sym.InstanceNorm(y, name="ri%d" % i)
    x = sym.Deconvolution(x, num_filter=4, kernel=(3, 3), stride=(2, 2), pad=(1, 1), target_shape=(16, 16), name="u")
    return sym.tanh(sym.Convolution(Reflect(sym.relu(x), 3), num_filter=3, kernel=(7, 7), name="o"))


@network(GENERATORS, {"data": (2, 1, 8, 8), "image_label": (2, 1, 16, 16)})
def super_resolution():
    x = sym.Convolution(sym.var("data"), num_filter=8, kernel=(5, 5), pad=(2, 2), name="a")
    x = x + sym.LeakyReLU(x, act_type="prelu", name="prelu")  # in place MXNet gives gamma a wrong gradient
    x = sym.Convolution(x, num_filter=4, kernel=(3, 3), pad=(1, 1), name="b")
    return sym.MAERegressionOutput(sym.depth_to_space(x, block_size=2), sym.var("image_label"))


@network(GENERATORS, {"data": (2, 3, 8, 8), "style": (2, 6)})
def stylegan_block():
    w = sym.relu(sym.FullyConnected(sym.var("style"), num_hidden=8, name="map"))
    x = sym.UpSampling(sym.var("data"), scale=2, sample_type="nearest", num_args=1)
    for i in range(2):
        x = sym.Convolution(x, num_filter=6, kernel=(3, 3), pad=(1, 1), name="conv%d" % i)
        mean = sym.mean(x, axis=(2, 3), keepdims=True)
        x = sym.broadcast_sub(x, mean)
        x = sym.broadcast_mul(x, sym.rsqrt(sym.mean(sym.square(x), axis=(2, 3), keepdims=True) + 1e-5))
        scale, shift = sym.split(sym.reshape(sym.FullyConnected(w, num_hidden=12, name="style%d" % i), (0, 0, 1, 1)),
                                 num_outputs=2, axis=1)
        x = sym.LeakyReLU(sym.broadcast_add(sym.broadcast_mul(x, 1 + scale), shift), act_type="selu")
    return x


@network(GENERATORS, {"data": (2, 3, 16, 16)}, name="gluon_pix2pix")
def Pix2Pix():
    class Unet(gluon.HybridBlock):
        """A block of pix2pix: down, an inner one, up, beside its input."""

        def __init__(self, inner, outer, block=None, **kwargs):
            super().__init__(**kwargs)
            with self.name_scope():
                self.body = nn.HybridSequential()
                self.body.add(nn.LeakyReLU(0.2), nn.Conv2D(inner, 4, 2, 1, use_bias=False), nn.BatchNorm())
                if block is not None:
                    self.body.add(block)
                self.body.add(nn.Activation("relu"), nn.Conv2DTranspose(outer, 4, 2, 1), nn.BatchNorm(scale=False))

        def hybrid_forward(self, F, x):  # pylint: disable=arguments-differ
            return F.concat(x, self.body(x), dim=1)

    return Unet(6, 4, Unet(8, 6, Unet(8, 8)))(sym.var("data"))
