// Operators that are not exported, with the reasons.

#include "module/onnx/node_export.h"

namespace cooper {
namespace {

const OnnxFamilyRegistrar kUpdates("optimizer", "it updates parameters, which prediction does not");
const OnnxFamilyRegistrar kRandom("random", "it draws random numbers, which no two programs share");
const OnnxRegistrar kRandomChanges({"_image_random_brightness", "_image_random_color_jitter",
                                    "_image_random_contrast", "_image_random_flip_left_right",
                                    "_image_random_flip_top_bottom", "_image_random_hue",
                                    "_image_random_lighting", "_image_random_saturation",
                                    "_shuffle"},
                                   "it draws random numbers, which no two programs share", nullptr);
const OnnxFamilyRegistrar kLoops(
    "control", "loops and choices are not exported; unroll them, or use a recurrent cell");
const OnnxFamilyRegistrar kNumpy("numpy",
                                 "no rule has been written for NumPy's names (module/onnx/ops)");

const OnnxRegistrar kTraining({"CTCLoss", "softmax_cross_entropy", "_contrib_MultiBoxTarget",
                               "_fc_softmax_label_probability", "_grad_sum"},
                              "it is for training; choose the outputs of a prediction", nullptr);
const OnnxRegistrar kPasses({"_blocked_batch_norm", "_blocked_convolution", "_fc_softmax_output",
                             "_fc_softmax_output_transposed", "_folded_batch_norm",
                             "_fully_connected_transposed", "_fused_convolution",
                             "_fused_convolution_sum", "_int8_convolution", "_int8_fully_connected",
                             "_pack_rnn_weight", "_packed_weight", "_prepared_rnn",
                             "_quantized_weight", "_winograd_weight", "_CrossDeviceCopy", "_guard",
                             "_keep_if", "_select"},
                            "only the executor inserts it; symbol files do not have it", nullptr);
const OnnxRegistrar kFunctions({"Custom"}, "its functions are those of the program", nullptr);
const OnnxRegistrar kSameShapes({"_contrib_boolean_mask"},
                                "the number of its rows depends on the values of its inputs",
                                nullptr);
const OnnxRegistrar kNoCounterpart({"erfinv", "gamma", "gammaln", "khatri_rao", "Correlation",
                                    "_linalg_extractdiag", "_linalg_extracttrian", "_linalg_gelqf",
                                    "_linalg_inverse", "_linalg_makediag", "_linalg_maketrian",
                                    "_linalg_potrf", "_linalg_potri", "_linalg_slogdet",
                                    "_linalg_sumlogdiag", "_linalg_syevd", "_linalg_trmm",
                                    "_linalg_trsm"},
                                   "ONNX has no operator for it", nullptr);
const OnnxRegistrar kOtherRule({"ROIPooling", "_contrib_ROIAlign"},
                               "ONNX's operator of the name takes the image of a box, and bins, by "
                               "another rule",
                               nullptr);
const OnnxRegistrar kNotWritten({"BilinearSampler",
                                 "GridGenerator",
                                 "SequenceBatchNorm",
                                 "SpatialTransformer",
                                 "_contrib_DeformableConvolution",
                                 "_contrib_DeformablePSROIPooling",
                                 "_contrib_ModulatedDeformableConvolution",
                                 "_contrib_MultiProposal",
                                 "_contrib_PSROIPooling",
                                 "_contrib_Proposal",
                                 "_contrib_SparseEmbedding",
                                 "_contrib_bipartite_matching",
                                 "_contrib_box_decode",
                                 "_contrib_box_encode",
                                 "_contrib_box_iou",
                                 "_contrib_dequantize",
                                 "_contrib_index_array",
                                 "_contrib_index_copy",
                                 "_contrib_quantize",
                                 "_contrib_quantize_asym",
                                 "_contrib_quantize_v2",
                                 "_contrib_quantized_act",
                                 "_contrib_quantized_batch_norm",
                                 "_contrib_quantized_concat",
                                 "_contrib_quantized_conv",
                                 "_contrib_quantized_elemwise_add",
                                 "_contrib_quantized_elemwise_mul",
                                 "_contrib_quantized_embedding",
                                 "_contrib_quantized_flatten",
                                 "_contrib_quantized_fully_connected",
                                 "_contrib_quantized_pooling",
                                 "_contrib_requantize",
                                 "_contrib_round_ste",
                                 "_contrib_sign_ste",
                                 "_histogram",
                                 "_image_adjust_lighting",
                                 "_image_crop",
                                 "_image_flip_left_right",
                                 "_image_flip_top_bottom",
                                 "_image_normalize",
                                 "_image_resize",
                                 "_image_to_tensor",
                                 "_linalg_det",
                                 "_random_pdf_dirichlet",
                                 "_random_pdf_exponential",
                                 "_random_pdf_gamma",
                                 "_random_pdf_generalized_negative_binomial",
                                 "_random_pdf_negative_binomial",
                                 "_random_pdf_normal",
                                 "_random_pdf_poisson",
                                 "_random_pdf_uniform",
                                 "_ravel_multi_index",
                                 "_scatter_set_nd",
                                 "_sg_mkldnn_conv",
                                 "_sg_mkldnn_fully_connected",
                                 "_sg_mkldnn_selfatt_qk",
                                 "_sg_mkldnn_selfatt_valatt",
                                 "_slice_assign",
                                 "_slice_assign_scalar",
                                 "_sparse_retain",
                                 "_square_sum",
                                 "_unravel_index",
                                 "all_finite",
                                 "col2im",
                                 "diag",
                                 "im2col",
                                 "multi_all_finite",
                                 "multi_sum_sq",
                                 "reset_arrays",
                                 "scatter_nd"},
                                "no rule has been written for it (module/onnx/ops)", nullptr);

}  // namespace
}  // namespace cooper
