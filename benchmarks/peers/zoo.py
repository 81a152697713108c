"""Image networks for networks.py: MXNet's model zoo, and networks of its examples.

For the latter only the architecture matters: weights are random, and there is no dropout before the classifier.
"""

from mxnet.gluon import nn
from mxnet.gluon.model_zoo import vision


def _conv(channels: int, kernel: int, stride: int = 1, norm: bool = True, groups: int = 1,
          relu: bool = True) -> nn.HybridSequential:
    """Returns a convolution that keeps the size except for its stride, batch norm and ReLU."""
    block = nn.HybridSequential()
    block.add(nn.Conv2D(channels, kernel, stride, kernel // 2, groups=groups, use_bias=not norm))
    if norm:
        block.add(nn.BatchNorm())
    if relu:
        block.add(nn.Activation('relu'))
    return block


def _chain(*blocks) -> nn.HybridSequential:
    chain = nn.HybridSequential()
    chain.add(*blocks)
    return chain


class _Concat(nn.HybridBlock):
    """Branches over one input, concatenated along the channels."""

    def __init__(self, *branches):
        super().__init__()
        self._branches = branches
        for branch in branches:
            self.register_child(branch)

    def hybrid_forward(self, F, x):  # pylint: disable=arguments-differ,invalid-name
        return F.concat(*[branch(x) for branch in self._branches], dim=1)


class _Residual(nn.HybridBlock):
    """relu(body + shortcut)."""

    def __init__(self, body, shortcut):
        super().__init__()
        self.body = body
        self.shortcut = shortcut

    def hybrid_forward(self, F, x):  # pylint: disable=arguments-differ,invalid-name
        return F.relu(self.body(x) + (self.shortcut(x) if self.shortcut else x))


def _resnext50():
    """ResNeXt-50, 32 x 4d (Xie et al., 2017)."""
    net = _chain(_conv(64, 7, 2), nn.MaxPool2D(3, 2, 1))
    for stage, blocks in enumerate((3, 4, 6, 3)):
        width = 128 << stage
        for i in range(blocks):
            stride = 2 if i == 0 and stage > 0 else 1
            body = _chain(_conv(width, 1), _conv(width, 3, stride, groups=32),
                          _conv(2 * width, 1, relu=False))
            net.add(_Residual(body, _conv(2 * width, 1, stride, relu=False) if i == 0 else None))
    net.add(nn.GlobalAvgPool2D(), nn.Dense(1000))
    return net


# Widths by module: 1x1, 3x3 reduced and 3x3, 5x5 reduced and 5x5, after the pooling. None is a
# pooling between modules.
_GOOGLENET = [(64, 96, 128, 16, 32, 32), (128, 128, 192, 32, 96, 64), None,
              (192, 96, 208, 16, 48, 64), (160, 112, 224, 24, 64, 64),
              (128, 128, 256, 24, 64, 64), (112, 144, 288, 32, 64, 64),
              (256, 160, 320, 32, 128, 128), None, (256, 160, 320, 32, 128, 128),
              (384, 192, 384, 48, 128, 128)]


def _googlenet():
    """Returns GoogLeNet (Szegedy et al., 2014), without side classifiers and normalization, as in MXNet's example."""
    def conv(*arguments):
        return _conv(*arguments, norm=False)
    net = _chain(conv(64, 7, 2), nn.MaxPool2D(3, 2, 1), conv(64, 1), conv(192, 3),
                 nn.MaxPool2D(3, 2, 1))
    for module in _GOOGLENET:
        if module is None:
            net.add(nn.MaxPool2D(3, 2, 1))
            continue
        one, three_in, three, five_in, five, pooled = module
        net.add(_Concat(conv(one, 1), _chain(conv(three_in, 1), conv(three, 3)),
                        _chain(conv(five_in, 1), conv(five, 5)),
                        _chain(nn.MaxPool2D(3, 1, 1), conv(pooled, 1))))
    net.add(nn.GlobalAvgPool2D(), nn.Dense(1000))
    return net


# Widths by module: 1x1, 3x3 reduced and 3x3, two 3x3 reduced and their width, after the pooling.
# (.., 0) halves the size.
_INCEPTION_BN = [(64, 64, 64, 64, 96, 32), (64, 64, 96, 64, 96, 64), (0, 128, 160, 64, 96, 0),
                 (224, 64, 96, 96, 128, 128), (192, 96, 128, 96, 128, 128),
                 (160, 128, 160, 128, 160, 128), (96, 128, 192, 160, 192, 128),
                 (0, 128, 192, 192, 256, 0), (352, 192, 320, 160, 224, 128),
                 (352, 192, 320, 192, 224, 128)]


def _inception_bn():
    """Returns Inception with batch normalization (Ioffe and Szegedy, 2015). As in MXNet's example it has 128 channels after the
    poolings of its sixth and seventh module, where the paper has 96."""
    net = _chain(_conv(64, 7, 2), nn.MaxPool2D(3, 2, 1), _conv(64, 1), _conv(192, 3),
                 nn.MaxPool2D(3, 2, 1))
    for i, (one, three_in, three, double_in, double, pooled) in enumerate(_INCEPTION_BN):
        stride = 1 if one else 2
        three_branch = _chain(_conv(three_in, 1), _conv(three, 3, stride))
        double_branch = _chain(_conv(double_in, 1), _conv(double, 3), _conv(double, 3, stride))
        if not one:
            net.add(_Concat(three_branch, double_branch, nn.MaxPool2D(3, 2, 1)))
            continue
        last = i == len(_INCEPTION_BN) - 1
        pool = nn.MaxPool2D(3, 1, 1) if last else nn.AvgPool2D(3, 1, 1)
        net.add(_Concat(_conv(one, 1), three_branch, double_branch, _chain(pool, _conv(pooled, 1))))
    net.add(nn.GlobalAvgPool2D(), nn.Dense(1000))
    return net


_EXAMPLES = {'resnext50': _resnext50, 'googlenet': _googlenet, 'inception_bn': _inception_bn}


def get_model(name: str):
    """Returns a network that is not initialised; its output has 1,000 classes."""
    return _EXAMPLES[name]() if name in _EXAMPLES else vision.get_model(name)
