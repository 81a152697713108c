"""PyTorch's worker for networks.py --gpu: torchvision's networks, eager, on a GPU, by cuDNN."""

import argparse
import sys

import torch
import torchvision
from torch.nn import functional

import passes

# torchvision's networks by the names of MXNet's model zoo.
NETWORKS = {
    'resnet18_v1': 'resnet18', 'resnet50_v1': 'resnet50', 'resnet152_v1': 'resnet152',
    'vgg16': 'vgg16', 'inceptionv3': 'inception_v3', 'alexnet': 'alexnet',
    'mobilenetv2_1.0': 'mobilenet_v2', 'densenet121': 'densenet121',
    'squeezenet1.0': 'squeezenet1_0'
}


def _make(name: str) -> torch.nn.Module:
    more = {'aux_logits': False, 'init_weights': False} if name == 'inceptionv3' else {}
    network = getattr(torchvision.models, NETWORKS[name])(weights=None, **more)
    # MXNet's first versions of residual networks have the stride in a block's first convolution.
    for block in network.modules():
        if isinstance(block, torchvision.models.resnet.Bottleneck):
            block.conv1.stride, block.conv2.stride = block.conv2.stride, block.conv1.stride
    return network.cuda()


class _Bound:
    """A network and a batch, on the GPU."""

    def __init__(self, name: str, shape, train: bool):
        self._train = train
        self._network = _make(name).train(train)
        self._data = torch.rand(shape, device='cuda')
        self._labels = torch.zeros(shape[0], dtype=torch.int64, device='cuda')
        self.run(3)

    def _pass(self) -> None:
        if not self._train:
            with torch.inference_mode():
                functional.softmax(self._network(self._data), dim=1)
            return
        self._network.zero_grad()
        functional.cross_entropy(self._network(self._data), self._labels).backward()

    def run(self, count: int) -> None:
        for _ in range(count):
            self._pass()
        torch.cuda.synchronize()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--network', required=True, choices=NETWORKS)
    parser.add_argument('--shapes', required=True, help='data:32,3,224,224')
    parser.add_argument('--train', action='store_true')
    parser.add_argument('--threads', type=int, default=2)
    flags = parser.parse_args()
    torch.set_num_threads(flags.threads)
    torch.backends.cudnn.allow_tf32 = False  # as cooper
    shape = [int(extent) for extent in flags.shapes.split(':')[1].split(',')]
    bound = _Bound(flags.network, shape, flags.train)
    passes.serve(bound.run, peer='torch', version=torch.__version__,
                 device=torch.cuda.get_device_name())
    return 0


if __name__ == '__main__':
    sys.exit(main())
