#include "module/pickle/pickle_class.h"

#include "absl/algorithm/container.h"

namespace cooper {
namespace {

constexpr struct {
  absl::string_view module;
  absl::string_view name;
  PickleClass cls;
} kClasses[] = {
    {"mxnet.ndarray.ndarray", "NDArray", PickleClass::kNdarray},
    {"mxnet.ndarray", "NDArray", PickleClass::kNdarray},
    {"mxnet.ndarray.sparse", "RowSparseNDArray", PickleClass::kNdarray},
    {"mxnet.ndarray.sparse", "CSRNDArray", PickleClass::kNdarray},
    {"mxnet.numpy.multiarray", "ndarray", PickleClass::kNdarray},
    {"mxnet.numpy", "ndarray", PickleClass::kNdarray},
    {"builtins", "bytearray", PickleClass::kBytearray},
    {"__builtin__", "bytearray", PickleClass::kBytearray},
    {"builtins", "object", PickleClass::kObject},
    {"__builtin__", "object", PickleClass::kObject},
    {"_codecs", "encode", PickleClass::kEncode},
    {"copyreg", "_reconstructor", PickleClass::kReconstructor},
    {"copy_reg", "_reconstructor", PickleClass::kReconstructor},
    {"numpy", "dtype", PickleClass::kDtype},
    {"numpy.core.multiarray", "scalar", PickleClass::kScalar},
};

constexpr absl::string_view kOptimizers[] = {
    "AdaDelta", "AdaGrad", "Adam",  "Adamax",  "DCASGD", "FTML", "Ftrl",   "LAMB", "LARS",
    "LBSGD",    "NAG",     "Nadam", "RMSProp", "SGD",    "SGLD", "Signum", "ccSGD"};

constexpr absl::string_view kSchedulers[] = {"CosineScheduler", "FactorScheduler", "LRScheduler",
                                             "MultiFactorScheduler", "PolyScheduler"};

}  // namespace

std::optional<PickleClass> FindPickleClass(absl::string_view module, absl::string_view name) {
  for (const auto& known : kClasses) {
    if (known.module == module && known.name == name) return known.cls;
  }
  if ((module == "mxnet.optimizer.optimizer" || module == "mxnet.optimizer") &&
      absl::c_linear_search(kOptimizers, name)) {
    return PickleClass::kOptimizer;
  }
  if (module == "mxnet.lr_scheduler" && absl::c_linear_search(kSchedulers, name)) {
    return PickleClass::kScheduler;
  }
  return std::nullopt;
}

}  // namespace cooper
