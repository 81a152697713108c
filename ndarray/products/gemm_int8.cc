#include "ndarray/products/gemm_int8.h"

namespace cooper {
namespace {

Int8GemmFn (*registered)() = nullptr;

}  // namespace

Int8GemmFn GetInt8Gemm() { return registered == nullptr ? nullptr : registered(); }

void RegisterInt8Gemm(Int8GemmFn (*get)()) { registered = get; }

}  // namespace cooper
