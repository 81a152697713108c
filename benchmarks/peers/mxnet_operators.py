"""Rows of operators.py beyond the layers of networks: boxes, images, int8, NumPy's names, densities, control flow.

One row for each kernel; operators that share one are left out.
"""

from typing import Dict, List, Tuple

_IMAGE = (4, 64, 56, 56)
_PHOTO = {'uint8_data': (480, 640, 3)}
_ROWS = (2048, 512)
_TWO = {'lhs': _ROWS, 'rhs': _ROWS}
_DRAWS = (64, 4096)
_RANGE = {'min': (1,), 'max': (1,)}


def _ranges(*names: str) -> Dict[str, tuple]:
    """Returns the inputs that are the ranges of quantized arrays."""
    return {f'{bound}_{name}': (1,) for name in names for bound in ('min', 'max')}


def _int8_conv(image: tuple, filters: int, kernel: int) -> tuple:
    shapes = {'uint8_data': image, 'int8_weight': (filters, image[1], kernel, kernel)}
    return ('_contrib_quantized_conv', {**shapes, **_ranges('data', 'weight')},
            {'kernel': (kernel, kernel), 'pad': (kernel // 2, kernel // 2), 'num_filter': filters,
             'no_bias': True})


# Rows in the form of operators.OPERATORS. A symbol file in place of an operator is taken with other numbers for the
# attributes that are given.
MXNET_OPERATORS: List[Tuple[str, str, Dict[str, tuple], dict]] = [
    # Layers of ResNet-50 and of its classifier.
    ('int8 conv 3x3 64', *_int8_conv(_IMAGE, 64, 3)),
    ('int8 conv 3x3 256', *_int8_conv((4, 256, 14, 14), 256, 3)),
    ('int8 conv 3x3 512', *_int8_conv((4, 512, 7, 7), 512, 3)),
    ('int8 conv 1x1 64', *_int8_conv(_IMAGE, 256, 1)),
    ('int8 conv 1x1 512', *_int8_conv((4, 512, 28, 28), 256, 1)),
    ('int8 conv one 3x3 64', *_int8_conv((1, 64, 56, 56), 64, 3)),
    ('int8 conv one 3x3 512', *_int8_conv((1, 512, 7, 7), 512, 3)),
    ('int8 conv one 1x1 64', *_int8_conv((1, 64, 56, 56), 256, 1)),
    *((f'int8 fully connected {batch}', '_contrib_quantized_fully_connected',
       {'uint8_data': (batch, 2048), 'int8_weight': (1000, 2048), **_ranges('data', 'weight')},
       {'num_hidden': 1000, 'no_bias': True}) for batch in (1, 4, 32)),
    ('quantize', '_contrib_quantize_v2', {'data': _IMAGE}, {'out_type': 'int8'}),
    ('quantize calibrated', '_contrib_quantize_v2', {'data': _IMAGE},
     {'out_type': 'uint8', 'min_calib_range': 0, 'max_calib_range': 1}),
    ('requantize', '_contrib_requantize', {'int32_data': _IMAGE, **_RANGE}, {}),
    ('requantize calibrated', '_contrib_requantize', {'int32_data': _IMAGE, **_RANGE},
     {'min_calib_range': -1, 'max_calib_range': 1}),
    ('dequantize', '_contrib_dequantize', {'int8_data': _IMAGE, **_RANGE}, {}),
    ('int8 relu', '_contrib_quantized_act', {'int8_data': _IMAGE, **_RANGE}, {'act_type': 'relu'}),
    ('int8 flatten', '_contrib_quantized_flatten', {'int8_data': _IMAGE, **_RANGE}, {}),
    ('int8 max pool', '_contrib_quantized_pooling', {'int8_data': (4, 64, 112, 112), **_RANGE},
     {'kernel': (3, 3), 'stride': (2, 2), 'pad': (1, 1), 'pool_type': 'max'}),
    ('int8 global avg pool', '_contrib_quantized_pooling', {'int8_data': (4, 2048, 7, 7), **_RANGE},
     {'kernel': (1, 1), 'global_pool': True, 'pool_type': 'avg'}),
    ('int8 add', '_contrib_quantized_elemwise_add',
     {'int8_lhs': _IMAGE, 'int8_rhs': _IMAGE, **_ranges('lhs', 'rhs')},
     {'min_calib_range': -2, 'max_calib_range': 2}),
    ('int8 concat', '_contrib_quantized_concat',
     {'int8_x0': _IMAGE, 'int8_x1': _IMAGE, **_ranges('x0', 'x1')}, {'dim': 1, 'num_args': 2}),

    ('deformable conv', '_contrib_DeformableConvolution',
     {'x': (1, 64, 56, 56), 'offset': (1, 18, 56, 56), 'weight': (64, 64, 3, 3)},
     {'kernel': (3, 3), 'pad': (1, 1), 'num_filter': 64, 'no_bias': True}),
    ('modulated deformable conv', '_contrib_ModulatedDeformableConvolution',
     {'x': (1, 64, 56, 56), 'offset': (1, 18, 56, 56), 'mask': (1, 9, 56, 56),
      'weight': (64, 64, 3, 3)},
     {'kernel': (3, 3), 'pad': (1, 1), 'num_filter': 64, 'no_bias': True}),
    ('box iou', '_contrib_box_iou', {'lhs': (1000, 4), 'rhs': (1000, 4)}, {}),
    ('box nms', '_contrib_box_nms', {'boxes': (4, 1000, 6)},
     {'overlap_thresh': 0.5, 'id_index': 0, 'score_index': 1, 'coord_start': 2}),
    ('box encode', '_contrib_box_encode',
     {'samples': (4, 2000), 'matches': (4, 2000), 'anchors': (4, 2000, 4), 'refs': (4, 20, 4),
      'means': (4,), 'stds_var': (4,)}, {}),
    ('box decode', '_contrib_box_decode', {'x': (4, 2000, 4), 'anchors': (1, 2000, 4)}, {}),
    ('bipartite matching', '_contrib_bipartite_matching', {'data': (16, 100, 50)},
     {'threshold': 1e-12}),
    ('multibox prior', '_contrib_MultiBoxPrior', {'data': (1, 512, 38, 38)},
     {'sizes': (0.2, 0.3), 'ratios': (1, 2, 0.5)}),
    ('multibox target', '_contrib_MultiBoxTarget',
     {'anchors': (1, 5776, 4), 'labels': (4, 10, 5), 'scores': (4, 21, 5776)}, {}),
    ('multibox detection', '_contrib_MultiBoxDetection',
     {'scores': (4, 21, 5776), 'x': (4, 23104), 'anchors': (1, 5776, 4)}, {'nms_topk': 400}),
    ('proposal', '_contrib_Proposal',
     {'scores': (1, 24, 38, 50), 'x': (1, 48, 38, 50), 'image_sizes': (1, 3)}, {}),
    ('psroi pooling', '_contrib_PSROIPooling', {'x': (1, 1029, 38, 50), 'rois': (100, 5)},
     {'spatial_scale': 0.0625, 'output_dim': 21, 'pooled_size': 7}),
    ('deformable psroi pooling', '_contrib_DeformablePSROIPooling',
     {'x': (1, 1029, 38, 50), 'rois': (100, 5), 'trans': (100, 2, 7, 7)},
     {'spatial_scale': 0.0625, 'output_dim': 21, 'pooled_size': 7, 'group_size': 7,
      'part_size': 7, 'sample_per_part': 4, 'trans_std': 0.1}),
    ('roi align', '_contrib_ROIAlign', {'x': (1, 256, 38, 50), 'rois': (128, 5)},
     {'pooled_size': (7, 7), 'spatial_scale': 0.0625, 'sample_ratio': 2}),

    ('to tensor', '_image_to_tensor', _PHOTO, {}),
    ('image normalize', '_image_normalize', {'data': (4, 3, 480, 640)},
     {'mean': (0.5, 0.5, 0.5), 'std': (0.2, 0.2, 0.2)}),
    ('image crop', '_image_crop', _PHOTO, {'x': 30, 'y': 20, 'width': 224, 'height': 224}),
    ('image resize', '_image_resize', _PHOTO, {'size': (224, 224)}),
    ('image flip left right', '_image_flip_left_right', _PHOTO, {}),
    ('image flip top bottom', '_image_flip_top_bottom', _PHOTO, {}),
    ('image brightness', '_image_random_brightness', _PHOTO, {'min_factor': 0.5, 'max_factor': 1.5}),
    ('image contrast', '_image_random_contrast', _PHOTO, {'min_factor': 0.5, 'max_factor': 1.5}),
    ('image saturation', '_image_random_saturation', _PHOTO, {'min_factor': 0.5, 'max_factor': 1.5}),
    ('image hue', '_image_random_hue', _PHOTO, {'min_factor': 0.5, 'max_factor': 1.5}),
    ('image lighting', '_image_adjust_lighting', _PHOTO, {'alpha': (0.1, 0.1, 0.1)}),

    ('np hypot', '_npi_hypot', _TWO, {}),
    ('np arctan2', '_npi_arctan2', _TWO, {}),
    ('np copysign', '_npi_copysign', _TWO, {}),
    ('np ldexp', '_npi_ldexp', _TWO, {}),
    ('np mod', '_npi_mod', _TWO, {}),
    ('np lcm', '_npi_lcm', {'int32_lhs': _ROWS, 'int32_rhs': _ROWS}, {}),
    ('np bitwise xor', '_npi_bitwise_xor', {'int32_lhs': _ROWS, 'int32_rhs': _ROWS}, {}),
    ('np add', '_npi_add', _TWO, {}),
    ('np add of rows', '_npi_add', {'lhs': _ROWS, 'rhs': (1, 512)}, {}),
    ('np true divide', '_npi_true_divide', _TWO, {}),
    ('np greater', '_npi_greater', _TWO, {}),
    ('np greater scalar', '_npi_greater_scalar', {'data': _ROWS}, {'scalar': 0.1}),
    ('np logical not', '_npi_logical_not', {'data': _ROWS}, {}),
    ('np isnan', '_npi_isnan', {'data': _ROWS}, {}),
    ('np where', '_npi_where', {'condition': _ROWS, 'x': _ROWS, 'y': _ROWS}, {}),
    ('np around', '_npi_around', {'data': _ROWS}, {'decimals': 2}),
    ('np nan to num', '_npi_nan_to_num', {'data': _ROWS}, {}),
    ('np cbrt', '_npi_cbrt', {'data': _ROWS}, {}),
    ('np var', '_npi_var', {'data': _ROWS}, {'axis': (1,)}),
    ('np std', '_npi_std', {'data': _ROWS}, {'axis': (0,)}),
    ('np sum', '_np_sum', {'data': _ROWS}, {'axis': (1,)}),
    ('np prod', '_np_prod', {'data': _ROWS}, {'axis': (1,)}),
    ('np norm', '_npi_norm', {'data': _ROWS}, {'axis': (1,)}),
    ('np all', '_np_all', {'data': _ROWS}, {'axis': (1,)}),
    ('np argmax', '_npi_argmax', {'data': _ROWS}, {'axis': 1}),
    ('np roll', '_np_roll', {'data': _ROWS}, {'shift': 7, 'axis': 1}),
    ('np moveaxis', '_np_moveaxis', {'data': _IMAGE}, {'source': (1,), 'destination': (3,)}),
    ('np diag', '_np_diag', {'data': _ROWS}, {}),
    ('np diagonal', '_np_diagonal', {'data': (64, 128, 128)}, {'axis1': 1, 'axis2': 2}),
    ('np pad', '_npi_pad', {'data': _IMAGE},
     {'pad_width': ((0, 0), (0, 0), (2, 2), (2, 2)), 'mode': 'constant'}),
    ('np tril', '_npi_tril', {'data': (1024, 1024)}, {}),
    ('np flip', '_npi_flip', {'data': _ROWS}, {'axis': (1,)}),
    ('np concatenate', '_npi_concatenate', _TWO, {'axis': 1, 'num_args': 2}),
    ('np dot', '_np_dot', {'lhs': (512, 512), 'rhs': (512, 512)}, {}),
    ('np matmul', '_npi_matmul', {'lhs': (64, 60, 64), 'rhs': (64, 64, 60)}, {}),
    ('np tensordot', '_npi_tensordot', {'lhs': (64, 32, 64), 'rhs': (64, 64, 32)},
     {'a_axes_summed': (1, 2), 'b_axes_summed': (2, 0)}),
    ('np einsum', '_npi_einsum', {'lhs': (128, 128), 'rhs': (128, 128)},
     {'subscripts': 'ij,jk->ik', 'num_args': 2, 'optimize': 0}),
    ('np einsum of batches', '_npi_einsum', {'lhs': (32, 16, 64), 'rhs': (32, 64, 16)},
     {'subscripts': 'bij,bjk->bik', 'num_args': 2, 'optimize': 1}),

    ('multinomial', '_sample_multinomial', {'probabilities': (64, 1000)}, {'shape': (100,)}),
    ('shuffle', '_shuffle', {'data': (10000, 64)}, {}),
    ('pdf uniform', '_random_pdf_uniform',
     {'positive': _DRAWS, 'low': (64,), 'high_var': (64,)}, {}),
    ('pdf normal', '_random_pdf_normal',
     {'positive': _DRAWS, 'mu_var': (64,), 'sigma_var': (64,)}, {}),
    ('pdf gamma', '_random_pdf_gamma',
     {'positive': _DRAWS, 'alpha_var': (64,), 'beta_var': (64,)}, {}),
    ('pdf exponential', '_random_pdf_exponential', {'positive': _DRAWS, 'lam_var': (64,)}, {}),
    ('pdf poisson', '_random_pdf_poisson', {'positive': _DRAWS, 'lam_var': (64,)}, {}),
    ('pdf negative binomial', '_random_pdf_negative_binomial',
     {'positive': _DRAWS, 'k_var': (64,), 'p_var': (64,)}, {}),
    ('pdf generalized', '_random_pdf_generalized_negative_binomial',
     {'positive': _DRAWS, 'mu_var': (64,), 'alpha_var': (64,)}, {}),
    ('pdf dirichlet', '_random_pdf_dirichlet',
     {'positive': (64, 512, 8), 'positive_alpha': (64, 8)}, {}),

    ('histogram', '_histogram', {'data': (1000, 1000)}, {'bin_cnt': 100, 'range': (-0.5, 0.5)}),
    ('boolean mask', '_contrib_boolean_mask', {'x': (4096, 256), 'ids': (4096,)}, {}),
    ('index array', '_contrib_index_array', {'data': (512, 512)}, {}),
    ('index copy', '_contrib_index_copy', {'x': (10000, 64), 'ids': (256,), 'new': (256, 64)}, {}),
    ('scatter_nd', 'scatter_nd', {'x': (4096, 200), 'ids': (1, 4096)}, {'shape': (1000, 200)}),
    ('allclose', '_contrib_allclose', _TWO, {}),
    ('khatri rao', 'khatri_rao', {'x0': (64, 100), 'x1': (64, 100)}, {'num_args': 2}),
    ('hard sigmoid', 'hard_sigmoid', {'data': _ROWS}, {}),
    ('div sqrt dim', '_contrib_div_sqrt_dim', {'data': _ROWS}, {}),
    ('gelqf', '_linalg_gelqf', {'data': (16, 64, 64)}, {}),
    ('syevd', '_linalg_syevd', {'definite': (16, 64, 64)}, {}),

    # 30 steps of an LSTM cell and of a running sum; 3 of 5 steps; the second of two branches.
    ('foreach lstm', 'tests/golden/ops/_foreach/lstm/symbol.json',
     {'data': (30, 32, 200), 'h': (32, 200), 'c': (32, 200)}, {'num_hidden': 800}),
    ('foreach sum', 'tests/golden/ops/_foreach/sums/symbol.json',
     {'data': (30, 32, 650), 'begin': (32, 650), 'k': (32, 650)}, {}),
    ('while loop', 'tests/golden/ops/_while_loop/ends/symbol.json',
     {'i': (1,), 'x': _ROWS, 'w': _ROWS}, {}),
    ('cond', 'tests/golden/ops/_cond/then/symbol.json', {'p': (1,), 'a': _ROWS, 'b': _ROWS}, {}),
]
# The operators without a gradient.
PREDICT_ONLY = {
    'allclose', 'bipartite matching', 'box decode', 'box encode', 'box iou', 'box nms', 'histogram',
    'index array', 'multibox detection', 'multibox prior', 'multibox target', 'multinomial',
    'np all', 'np argmax', 'np around', 'np bitwise xor', 'np greater', 'np greater scalar',
    'np isnan', 'np lcm', 'np logical not', 'proposal', 'shuffle',
    *(name for name, _, inputs, _ in MXNET_OPERATORS
      if any(key.startswith(('uint8', 'int8', 'int32')) for key in inputs) or 'quantize' in name)
}
