// NumPy operators that the kernels of older operators compute.

#include "executor/program/kernel_alias.h"

namespace cooper {
namespace {

const KernelAlias kAliases[] = {
    {"_np_copy", "_copy"},
    {"_npx_relu", "relu"},
    {"_npx_sigmoid", "sigmoid"},
    {"_npi_absolute", "abs"},
    {"_npi_cos", "cos"},
    {"_npi_exp", "exp"},
    {"_npi_log", "log"},
    {"_npi_log1p", "log1p"},
    {"_npi_negative", "negative"},
    {"_npi_reciprocal", "reciprocal"},
    {"_npi_sign", "sign"},
    {"_npi_sin", "sin"},
    {"_npi_sqrt", "sqrt"},
    {"_npi_square", "square"},
    {"_npi_tanh", "tanh"},
    {"_npi_add", "broadcast_add"},
    {"_npi_subtract", "broadcast_sub"},
    {"_npi_multiply", "broadcast_mul"},
    {"_npi_mod", "broadcast_mod"},
    {"_npi_power", "broadcast_power"},
    {"_npi_true_divide", "broadcast_div"},
    {"_npi_add_scalar", "_plus_scalar"},
    {"_npi_subtract_scalar", "_minus_scalar"},
    {"_npi_rsubtract_scalar", "_rminus_scalar"},
    {"_npi_multiply_scalar", "_mul_scalar"},
    {"_npi_mod_scalar", "_mod_scalar"},
    {"_npi_power_scalar", "_power_scalar"},
    {"_npi_rpower_scalar", "_rpower_scalar"},
    {"_npi_true_divide_scalar", "_div_scalar"},
    {"_npi_rtrue_divide_scalar", "_rdiv_scalar"},
    {"_npi_argmax", "argmax"},
    {"_npi_argmin", "argmin"},
    {"_npi_broadcast_to", "broadcast_to"},
    {"_npi_zeros", "_zeros"},
    {"_npi_ones", "_ones"},
    {"_npi_arange", "_arange"},
    {"_np_reshape", "Reshape"},
    {"_npx_reshape", "Reshape"},
    {"_np_squeeze", "Reshape"},
    {"_np_transpose", "transpose"},
    {"_npi_concatenate", "Concat"},
    {"_npi_stack", "stack"},
    {"_npi_flip", "reverse"},
};

}  // namespace
}  // namespace cooper
