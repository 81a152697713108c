#include "module/parameters/finite.h"

#include <atomic>
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "module/parameters/device_reduction.h"
#include "ndarray/array/on_cpu.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

// Fewest elements per thread: fewer are read faster than another thread wakes up.
constexpr int64_t kGrain = 32768;

// `exponent` is the mask of T's exponent bits, all of which are set in NaN and infinity. Comparing
// integers lets the compiler vectorize the loop.
template <typename T, typename Bits>
bool AllFinite(const NDArray& array, Bits exponent) {
  const T* const values = static_cast<const T*>(array.raw_data());
  std::atomic<bool> finite = true;
  ParallelFor(array.size(), kGrain, [values, exponent, &finite](int64_t begin, int64_t end) {
    Bits found = 0;
    for (int64_t i = begin; i < end; ++i) {
      found |= static_cast<Bits>((std::bit_cast<Bits>(values[i]) & exponent) == exponent);
    }
    if (found != 0) finite.store(false, std::memory_order_relaxed);
  });
  return finite;
}

}  // namespace

absl::StatusOr<bool> IsFinite(const NDArray& array) {
  if (array.is_null() || !IsFloating(array.dtype())) return true;
  if (!array.context().is_cpu()) {
    COOPER_ASSIGN_OR_RETURN(const std::vector<float> all,
                            ReduceOnDevice("all_finite", {}, {array}, 1));
    if (!all.empty()) return all[0] != 0;
  }
  COOPER_ASSIGN_OR_RETURN(const NDArray on_cpu, OnCpu(array));
  switch (array.dtype()) {
    case DType::kFloat32:
      return AllFinite<float>(on_cpu, uint32_t{0x7f800000});
    case DType::kFloat64:
      return AllFinite<double>(on_cpu, uint64_t{0x7ff0000000000000});
    case DType::kFloat16:
      return AllFinite<Float16>(on_cpu, uint16_t{0x7c00});
    case DType::kBfloat16:
      return AllFinite<BFloat16>(on_cpu, uint16_t{0x7f80});
    default:
      return true;
  }
}

absl::StatusOr<FiniteCheck> FiniteCheck::Create(const Context& context) {
  // The kernel reads as many arrays as it is given.
  COOPER_ASSIGN_OR_RETURN(OpCall call, MakeOpCall("multi_all_finite", {{"num_arrays", "1"}}, 1));
  COOPER_ASSIGN_OR_RETURN(Invocation invocation,
                          Invocation::Create(std::move(call), context.device_type));
  COOPER_ASSIGN_OR_RETURN(NDArray finite, NDArray::Zeros({1}, DType::kFloat32, context));
  FiniteCheck check(std::move(invocation), std::move(finite));
  // Allocates the workspace, whose size no array changes: a recording must not.
  COOPER_RETURN_IF_ERROR(check.invocation_.SetArrays({&check.finite_}, {&check.finite_}));
  return check;
}

absl::Status FiniteCheck::EnqueueFn(absl::Span<const NDArray> arrays, DeviceQueue* queue) {
  std::vector<const NDArray*> inputs;
  for (const NDArray& array : arrays) {
    if (!array.is_null() && IsFloating(array.dtype())) inputs.push_back(&array);
  }
  COOPER_RETURN_IF_ERROR(invocation_.SetArrays(inputs, {&finite_}));
  return invocation_.Run(queue);
}

absl::StatusOr<bool> FiniteCheck::AllFinite() const {
  COOPER_ASSIGN_OR_RETURN(const std::vector<float> all, finite_.ToVector<float>());
  return all[0] != 0;
}

absl::StatusOr<NonFiniteElements> CountNonFinite(const NDArray& array) {
  NonFiniteElements found;
  if (array.is_null() || !IsFloating(array.dtype())) return found;
  COOPER_ASSIGN_OR_RETURN(const std::vector<double> values, array.ToVector<double>());
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) continue;
    if (found.count++ == 0) found.first = static_cast<int64_t>(i);
  }
  return found;
}

namespace {

absl::StatusOr<bool> AreFinite(const std::vector<NDArray>& arrays) {
  for (const NDArray& array : arrays) {
    COOPER_ASSIGN_OR_RETURN(const bool finite, IsFinite(array));
    if (!finite) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<std::string> FindNonFiniteGrad(const Parameters& parameters,
                                              absl::Span<const std::string> names) {
  for (const std::string& name : names) {
    const ParameterArrays* const arrays = parameters.Find(ParameterKind::kArg, name);
    if (arrays == nullptr) continue;
    COOPER_ASSIGN_OR_RETURN(const bool finite, AreFinite(arrays->grads));
    if (!finite) return name;
  }
  return std::string();
}

absl::Status CheckValuesFinite(const Parameters& parameters) {
  for (const ParameterKind kind : {ParameterKind::kArg, ParameterKind::kAux}) {
    for (const auto& [name, arrays] : parameters.all(kind)) {
      const bool is_fixed = absl::c_all_of(arrays.grads, [](const auto& g) { return g.is_null(); });
      if (kind == ParameterKind::kArg && is_fixed) continue;
      COOPER_ASSIGN_OR_RETURN(const bool finite, AreFinite(arrays.values));
      if (!finite) return NotFiniteError("the parameter", name);
    }
  }
  return absl::OkStatus();
}

absl::Status NotFiniteError(absl::string_view what, absl::string_view name) {
  return absl::OutOfRangeError(
      absl::StrCat(what, " '", name, "' has elements that are not finite"));
}

}  // namespace cooper
