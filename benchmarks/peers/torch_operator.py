"""PyTorch's worker for operators.py --peer=torch: single operators, eager, on CPU or GPU."""

import argparse
import ast
import json
import sys
import time
from typing import Any, Callable, Dict, List

import torch
from torch.nn import functional

try:
    import torchvision
except ImportError:  # its operators are then errors
    torchvision = None

Tensor = torch.Tensor
Attrs = Dict[str, Any]
_DEVICE = 'cpu'  # or 'cuda', by the flag


def _convolution(x: List[Tensor], a: Attrs) -> Tensor:
    rank = len(a['kernel'])
    one = (1,) * rank
    function = (functional.conv1d, functional.conv2d, functional.conv3d)[rank - 1]
    return function(*x, stride=a.get('stride', one), padding=a.get('pad', (0,) * rank),
                    dilation=a.get('dilate', one), groups=a.get('num_group', 1))


def _pooling(x: List[Tensor], a: Attrs) -> Tensor:
    average = a['pool_type'] == 'avg'
    if a.get('global_pool'):
        return (functional.adaptive_avg_pool2d if average else functional.adaptive_max_pool2d)(
            x[0], 1)
    function = functional.avg_pool2d if average else functional.max_pool2d
    return function(x[0], a['kernel'], a.get('stride', (1, 1)), a.get('pad', (0, 0)))


def _batch_norm(x: List[Tensor], a: Attrs, training: bool) -> Tensor:
    data, gamma, beta, mean, variance = x
    return functional.batch_norm(data, mean.detach(), variance.detach(), gamma, beta, training,
                                 eps=1e-3)


def _l2_normalization(x: List[Tensor], a: Attrs) -> Tensor:
    return functional.normalize(x[0].flatten(1), dim=1).view_as(x[0])


def _leaky_relu(x: List[Tensor], a: Attrs) -> Tensor:
    kind = a['act_type']
    if kind == 'prelu':
        return functional.prelu(*x)
    return {'leaky': lambda v: functional.leaky_relu(v, 0.25), 'elu': functional.elu,
            'gelu': functional.gelu, 'selu': functional.selu}[kind](x[0])


def _activation(x: List[Tensor], a: Attrs) -> Tensor:
    if a['act_type'] == 'softrelu':
        return functional.softplus(x[0])
    return getattr(torch, a['act_type'])(x[0])


def _roi_align(x: List[Tensor], a: Attrs) -> Tensor:
    return torchvision.ops.roi_align(x[0], x[1], a['pooled_size'], a['spatial_scale'],
                                     a.get('sample_ratio', -1))


def _roi_pooling(x: List[Tensor], a: Attrs) -> Tensor:
    return torchvision.ops.roi_pool(x[0], x[1], a['pooled_size'], a['spatial_scale'])


def _sequence_mask(x: List[Tensor], a: Attrs) -> Tensor:
    steps = torch.arange(x[0].shape[0], device=_DEVICE)
    mask = (steps[:, None] >= x[1][None, :])[:, :, None]
    return x[0].masked_fill(mask, 0)


def _ctc_loss(x: List[Tensor], a: Attrs) -> Tensor:
    steps, batch, _ = x[0].shape
    lengths = torch.full((batch,), steps, dtype=torch.int64)
    label_lengths = torch.full((batch,), x[1].shape[1], dtype=torch.int64)
    labels = x[1].long() % (x[0].shape[2] - 1) + 1
    return functional.ctc_loss(functional.log_softmax(x[0], dim=2), labels, lengths,
                               label_lengths, reduction='none')


def _selfatt_qk(x: List[Tensor], a: Attrs) -> Tensor:
    steps, batch, width = x[0].shape
    heads = a['heads']
    q, k, _ = x[0].view(steps, batch * heads, 3, width // heads // 3).unbind(2)
    return torch.bmm(q.transpose(0, 1) / (width // heads // 3)**0.5, k.permute(1, 2, 0))


def _nms(x: List[Tensor], a: Attrs) -> Tensor:
    return torchvision.ops.nms(x[0][:, 2:].contiguous(), x[0][:, 1].contiguous(),
                               a['overlap_thresh'])


def _pad(x: List[Tensor], a: Attrs) -> Tensor:
    widths = list(a['pad_width'])[4:]
    return functional.pad(x[0], widths[2:] + widths[:2],
                          {'constant': 'constant', 'reflect': 'reflect', 'edge': 'replicate'}[
                              a['mode']])


def _deformable_convolution(x: List[Tensor], a: Attrs) -> Tensor:
    return torchvision.ops.deform_conv2d(x[0], x[1], x[-1], padding=a['pad'],
                                         mask=x[2] if len(x) == 4 else None)


def _khatri_rao(x: List[Tensor], a: Attrs) -> Tensor:
    return (x[0][:, None] * x[1][None]).flatten(0, 1)


def _multinomial(x: List[Tensor], a: Attrs) -> Tensor:
    return torch.multinomial(x[0], a['shape'][0], replacement=True)


def _density(kind: str) -> Callable[[List[Tensor], Attrs], Tensor]:
    """Returns the density of a distribution with one parameter or two for each row of samples."""
    def density(x: List[Tensor], a: Attrs) -> Tensor:
        parameters = [value.unsqueeze(1) for value in x[1:]]
        return getattr(torch.distributions, kind)(
            *parameters, validate_args=False).log_prob(x[0]).exp()
    return density


_UNARY = {
    'exp': torch.exp, 'sqrt': torch.sqrt, 'square': torch.square, 'erf': torch.erf,
    'gammaln': torch.lgamma, 'sin': torch.sin, 'log1p': torch.log1p, 'log': torch.log,
    'expm1': torch.expm1, '_npi_logical_not': torch.logical_not, '_npi_isnan': torch.isnan,
    '_npi_nan_to_num': torch.nan_to_num, '_np_diag': torch.diag, 'hard_sigmoid': functional.hardsigmoid,
    '_npi_tril': torch.tril, '_np_diagflat': torch.diagflat,
}
_BINARY = {
    '_npi_hypot': torch.hypot, '_npi_arctan2': torch.atan2, '_npi_copysign': torch.copysign,
    '_npi_ldexp': torch.ldexp, '_npi_mod': torch.remainder, '_npi_lcm': torch.lcm,
    '_npi_bitwise_xor': torch.bitwise_xor, '_npi_add': torch.add, '_npi_true_divide': torch.div,
    '_npi_greater': torch.gt, '_npi_solve': torch.linalg.solve, '_np_dot': torch.matmul, '_npi_matmul': torch.matmul,
    '_contrib_allclose': torch.isclose,
}

# PyTorch's equivalent of each MXNet operator, as a function of the inputs and attributes.
OPERATORS: Dict[str, Callable[[List[Tensor], Attrs], Tensor]] = {
    **{name: lambda x, a, f=f: f(x[0]) for name, f in _UNARY.items()},
    **{name: lambda x, a, f=f: f(*x) for name, f in _BINARY.items()},
    'Convolution': _convolution,
    'Deconvolution': lambda x, a: functional.conv_transpose2d(
        x[0], x[1], stride=a['stride'], padding=a['pad']),
    'Pooling': _pooling,
    '_contrib_AdaptiveAvgPooling2D': lambda x, a: functional.adaptive_avg_pool2d(
        x[0], a.get('output_size', 1)),
    '_contrib_BilinearResize2D': lambda x, a: functional.interpolate(
        x[0], (a['height'], a['width']), mode='bilinear', align_corners=True),
    'LayerNorm': lambda x, a: functional.layer_norm(x[0], x[0].shape[-1:], x[1], x[2]),
    'InstanceNorm': lambda x, a: functional.instance_norm(x[0], weight=x[1], bias=x[2]),
    'L2Normalization': _l2_normalization,
    'LRN': lambda x, a: functional.local_response_norm(x[0], a['nsize'], k=2),
    'FullyConnected': lambda x, a: functional.linear(*x),
    'softmax': lambda x, a: functional.softmax(x[0], dim=-1),
    'log_softmax': lambda x, a: functional.log_softmax(x[0], dim=-1),
    'Activation': _activation,
    '_power': lambda x, a: torch.pow(x[0], x[1]),
    'LeakyReLU': _leaky_relu,
    'Dropout': lambda x, a: functional.dropout(x[0], a['p'], training=True),
    '_random_uniform_like': lambda x, a: torch.rand_like(x[0]),
    '_random_normal_like': lambda x, a: torch.randn_like(x[0]),
    '_random_gamma_like': lambda x, a: torch._standard_gamma(
        torch.full_like(x[0], a['alpha'])),
    '_random_poisson_like': lambda x, a: torch.poisson(torch.full_like(x[0], a['lam'])),
    'elemwise_add': lambda x, a: x[0] + x[1],
    'elemwise_mul': lambda x, a: x[0] * x[1],
    'broadcast_add': lambda x, a: x[0] + x[1],
    'broadcast_mul': lambda x, a: x[0] * x[1],
    'add_n': lambda x, a: torch.stack(x).sum(0) if len(x) > 9 else sum(x[1:], x[0]),
    'where': lambda x, a: torch.where(x[0] != 0, x[1], x[2]),
    'clip': lambda x, a: torch.clamp(x[0], a['a_min'], a['a_max']),
    'smooth_l1': lambda x, a: functional.smooth_l1_loss(
        x[0], torch.zeros_like(x[0]), reduction='none'),
    'sum': lambda x, a: x[0].sum(a['axis']) if 'axis' in a else x[0].sum(),
    'mean': lambda x, a: x[0].mean(a['axis']),
    'max': lambda x, a: x[0].amax(a['axis']),
    'norm': lambda x, a: x[0].norm(dim=a.get('axis')),
    'argmax': lambda x, a: x[0].argmax(a['axis']),
    '_np_cumsum': lambda x, a: x[0].cumsum(a['axis']),
    'sort': lambda x, a: x[0].sort(-1).values,
    'argsort': lambda x, a: x[0].argsort(-1),
    'topk': lambda x, a: x[0].topk(a['k']).indices,
    'Embedding': lambda x, a: functional.embedding(x[0].long(), x[1]),
    'take': lambda x, a: x[0][x[1].long()],
    'one_hot': lambda x, a: functional.one_hot(x[0].long(), a['depth']).float(),
    'pick': lambda x, a: x[0].gather(1, x[1].long()[:, None]).squeeze(1),
    'gather_nd': lambda x, a: x[0][x[1].long()[0]],
    'transpose': lambda x, a: x[0].permute(a.get('axes', (1, 0))).contiguous(),
    'SwapAxis': lambda x, a: x[0].transpose(a['dim1'], a['dim2']).contiguous(),
    'slice_axis': lambda x, a: x[0].narrow(
        a['axis'], a['begin'], a['end'] - a['begin']).contiguous(),
    'reverse': lambda x, a: x[0].flip(a['axis']),
    'tile': lambda x, a: x[0].repeat(a['reps']),
    'repeat': lambda x, a: x[0].repeat_interleave(a['repeats'], a['axis']),
    'Pad': _pad,
    'Concat': lambda x, a: torch.cat(x, a['dim']),
    'stack': lambda x, a: torch.stack(x, a['axis']),
    'UpSampling': lambda x, a: functional.interpolate(x[0], scale_factor=a['scale']),
    'depth_to_space': lambda x, a: functional.pixel_shuffle(x[0], a['block_size']),
    'dot': lambda x, a: x[0] @ x[1],
    'batch_dot': lambda x, a: torch.bmm(*x),
    'ROIPooling': _roi_pooling,
    '_contrib_ROIAlign': _roi_align,
    '_contrib_box_nms': _nms,
    'BilinearSampler': lambda x, a: functional.grid_sample(
        x[0], x[1].permute(0, 2, 3, 1), align_corners=True),
    'im2col': lambda x, a: functional.unfold(x[0], a['kernel'], padding=a['pad']),
    'SequenceMask': _sequence_mask,
    '_linalg_potrf': lambda x, a: torch.linalg.cholesky(x[0]),
    '_linalg_trsm': lambda x, a: torch.linalg.solve_triangular(x[0].tril(), x[1], upper=False),
    '_linalg_inverse': lambda x, a: torch.linalg.inv(x[0]),
    '_linalg_det': lambda x, a: torch.linalg.det(x[0]),
    '_linalg_syrk': lambda x, a: x[0] @ x[0].mT,
    'CTCLoss': _ctc_loss,
    '_contrib_DeformableConvolution': _deformable_convolution,
    '_contrib_ModulatedDeformableConvolution': _deformable_convolution,
    '_contrib_PSROIPooling': lambda x, a: torchvision.ops.ps_roi_pool(
        x[0], x[1], a['pooled_size'], a['spatial_scale']),
    '_contrib_box_iou': lambda x, a: torchvision.ops.box_iou(*x),
    '_npi_greater_scalar': lambda x, a: x[0] > a['scalar'],
    '_npi_where': lambda x, a: torch.where(x[0] != 0, x[1], x[2]),
    '_npi_around': lambda x, a: torch.round(x[0], decimals=a['decimals']),
    '_npi_var': lambda x, a: x[0].var(a['axis'], correction=0),
    '_npi_std': lambda x, a: x[0].std(a['axis'], correction=0),
    '_np_sum': lambda x, a: x[0].sum(a['axis']),
    '_np_prod': lambda x, a: x[0].prod(a['axis'][0]),
    '_npi_norm': lambda x, a: torch.linalg.vector_norm(x[0], dim=a['axis']),
    '_np_all': lambda x, a: x[0].all(a['axis'][0]),
    '_npi_argmax': lambda x, a: x[0].argmax(a['axis']),
    '_np_roll': lambda x, a: x[0].roll(a['shift'], a['axis']),
    '_np_moveaxis': lambda x, a: x[0].movedim(a['source'], a['destination']).contiguous(),
    '_np_diagonal': lambda x, a: x[0].diagonal(0, a['axis1'], a['axis2']).contiguous(),
    '_npi_pad': lambda x, a: functional.pad(
        x[0], [width for axis in a['pad_width'][::-1] for width in axis]),
    '_npi_flip': lambda x, a: x[0].flip(a['axis']),
    '_npi_concatenate': lambda x, a: torch.cat(x, a['axis']),
    '_npi_tensordot': lambda x, a: torch.tensordot(
        x[0], x[1], (a['a_axes_summed'], a['b_axes_summed'])),
    '_npi_average': lambda x, a: (x[0] * x[1]).sum(a['axis']) / x[1].sum(a['axis']),
    '_npi_diff': lambda x, a: x[0].diff(),
    '_npi_rot90': lambda x, a: torch.rot90(x[0], a['k'], a['axes']).contiguous(),
    '_np_trace': lambda x, a: x[0].diagonal(0, a['axis1'], a['axis2']).sum(-1),
    '_npi_cholesky': lambda x, a: torch.linalg.cholesky(x[0]),
    '_npi_eigh': lambda x, a: torch.linalg.eigh(x[0]).eigenvectors,
    '_npi_eigvalsh': lambda x, a: torch.linalg.eigvalsh(x[0]),
    '_npi_exponential': lambda x, a: torch.empty_like(x[0]).exponential_() * x[0],
    '_npi_gamma': lambda x, a: torch._standard_gamma(x[0]) * x[1],
    '_npi_bernoulli': lambda x, a: torch.bernoulli(x[0]),
    '_npi_unique': lambda x, a: torch.unique(x[0]),
    '_npx_nonzero': lambda x, a: torch.nonzero(x[0]),
    '_npi_bincount': lambda x, a: torch.bincount(x[0]),
    '_npi_einsum': lambda x, a: torch.einsum(a['subscripts'], *x),
    '_sample_multinomial': _multinomial,
    '_shuffle': lambda x, a: x[0][torch.randperm(x[0].shape[0])],
    '_random_pdf_uniform': _density('Uniform'),
    '_random_pdf_normal': _density('Normal'),
    '_random_pdf_gamma': _density('Gamma'),
    '_random_pdf_exponential': _density('Exponential'),
    '_random_pdf_poisson': _density('Poisson'),
    '_random_pdf_dirichlet': _density('Dirichlet'),
    '_histogram': lambda x, a: torch.histc(x[0], a['bin_cnt'], *a['range']),
    '_contrib_boolean_mask': lambda x, a: x[0][x[1] != 0],
    '_contrib_index_copy': lambda x, a: x[0].index_copy(0, x[1].long(), x[2]),
    'scatter_nd': lambda x, a: x[0].new_zeros(a['shape']).index_copy(0, x[1][0].long(), x[0]),
    'khatri_rao': _khatri_rao,
    '_contrib_div_sqrt_dim': lambda x, a: x[0] / x[0].shape[-1]**0.5,
    '_linalg_gelqf': lambda x, a: torch.linalg.qr(x[0].mT)[0].mT,
    '_linalg_syevd': lambda x, a: torch.linalg.eigh(x[0]).eigenvectors,
    '_contrib_interleaved_matmul_selfatt_qk': _selfatt_qk,
}


def _parameter_shapes(op: str, data: tuple, attrs: Attrs) -> List[tuple]:
    """Returns the shapes of the inputs that the command omits."""
    if op == 'Convolution':
        filters = attrs['num_filter']
        return [(filters, data[1] // attrs.get('num_group', 1), *attrs['kernel']), (filters,)]
    if op == 'Deconvolution':
        return [(data[1], attrs['num_filter'], *attrs['kernel'])]
    if op == 'FullyConnected':
        return [(attrs['num_hidden'], data[1]), (attrs['num_hidden'],)]
    if op == 'Embedding':
        return [(attrs['input_dim'], attrs['output_dim'])]
    if op == 'SoftmaxOutput':
        return [data[:1]]
    channels = data[-1:] if op == 'LayerNorm' else data[1:2]
    return [channels] * 4


def _make_input(name: str, dims: tuple) -> Tensor:
    """Returns values of the kind that benchmarks/networks.cc draws for inputs of this name."""
    for prefix in ('uint8', 'int32', 'int8'):
        if name.startswith(prefix):
            return torch.randint(1, 101, dims, device=_DEVICE, dtype=getattr(torch, prefix))
    value = torch.rand(dims, device=_DEVICE) - 0.5
    if name.startswith('positive'):
        return value + 1
    if name.startswith('probabilities'):
        return (value + 1) / dims[-1]
    if len(dims) == 1 and name.endswith('_var') and name != 'op_moving_var':
        return torch.ones(dims, device=_DEVICE)
    if name.startswith('ids'):
        return torch.randint(0, 1000, dims, device=_DEVICE).float()
    if name.startswith('definite'):
        return value + dims[-1] * torch.eye(dims[-1], device=_DEVICE)
    if name.startswith('rois'):
        first = (value[:, 1:3] + 0.5) * 400
        return torch.cat([value[:, :1] * 0, first, first + 20 + 200 * (value[:, 3:] + 0.5)], dim=1)
    if name.startswith('boxes'):
        first = value[:, 2:4] + 0.5
        return torch.cat([value[:, :1] * 0, value[:, 1:2] + 0.5, first, first + 0.05], dim=1)
    return value + 1 if name == 'op_moving_var' else value


def _value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text


class Bound:
    """An operator of a symbol file and its inputs, on the device. Raises KeyError for unknown operators."""

    def __init__(self, path: str, shapes: str, train: bool):
        with open(path, encoding='utf-8') as file:
            nodes = json.load(file)['nodes']
        self._op = nodes[-1]['op']
        self._attrs = {k: _value(v) for k, v in nodes[-1].get('attrs', {}).items()}
        self._train = train
        given = [item.split(':') for item in shapes.split(';')]
        dims = [tuple(map(int, dims.split(','))) for _, dims in given]
        dims += _parameter_shapes(self._op, dims[0], self._attrs)[:len(nodes) - 1 - len(dims)]
        names = [node['name'] for node in nodes[:-1]]
        fixed = [name.startswith(('ids', 'rois')) or (name == 'data' and len(names) > 1)
                 for name in names]
        self._inputs = []
        for name, dim, still in zip(names, dims, fixed):
            value = _make_input(name, dim)
            trained = (train and not still and value.is_floating_point() and
                       not name.startswith(('op_moving', 'op_label')))
            self._inputs.append(value.requires_grad_(trained))
        self._head = None
        self.run(3)

    def _forward(self) -> Tensor:
        if self._op == 'BatchNorm':
            return _batch_norm(self._inputs, self._attrs, self._train)
        if self._op == 'SoftmaxOutput':
            data, label = self._inputs
            if self._train:
                return functional.cross_entropy(data, label.long(), reduction='none')
            return functional.softmax(data, dim=1)
        return OPERATORS[self._op](self._inputs, self._attrs)

    def _pass(self) -> None:
        if not self._train:
            with torch.inference_mode():
                self._forward()
            return
        output = self._forward()
        if self._head is None:
            self._head = torch.ones_like(output)
        inputs = [value for value in self._inputs if value.requires_grad]
        torch.autograd.grad(output, inputs, self._head)

    def run(self, passes: int) -> None:
        """Runs the passes and returns when the device has done them."""
        for _ in range(passes):
            self._pass()
        if _DEVICE == 'cuda':
            torch.cuda.synchronize()


def _answer(words: List[str], bound: Bound) -> tuple:
    if words[0] == 'bind':
        return {'ready': True}, Bound(words[1], words[2], words[3] == 'train')
    begin = time.perf_counter()
    bound.run(int(words[1]))
    return {'passes': int(words[1]), 'elapsed_s': time.perf_counter() - begin}, bound


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--threads', type=int, default=2)
    parser.add_argument('--device', choices=('cpu', 'cuda'), default='cpu')
    flags = parser.parse_args()
    global _DEVICE
    _DEVICE = flags.device
    torch.set_num_threads(flags.threads)
    torch.backends.cudnn.allow_tf32 = False  # as cooper
    name = torch.cuda.get_device_name() if _DEVICE == 'cuda' else 'cpu'
    print(json.dumps({'ready': True, 'peer': 'torch', 'version': torch.__version__,
                      'device': name}), flush=True)
    bound = None
    for line in sys.stdin:
        words = line.split()
        if words == ['quit']:
            break
        try:
            answer, bound = _answer(words, bound)
        except Exception as error:  # pylint: disable=broad-except
            answer = {'error': f'{type(error).__name__} {error}'.splitlines()[0][:200]}
        print(json.dumps(answer), flush=True)
    return 0


if __name__ == '__main__':
    sys.exit(main())
