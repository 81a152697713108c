#include "executor/kernels/launch/run_kernel.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "executor/kernels/launch/block_limit.h"
#include "executor/kernels/launch/kernel_queue.h"
#include "gtest/gtest.h"
#include "ndarray/base/philox.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// The limit of blocks along each axis of a grid, so that threads loop over the small arrays of
// tests.
constexpr int64_t kBlocks = 2;

absl::StatusOr<NDArray> CopyOn(const Context& context, const NDArray& array) {
  COOPER_ASSIGN_OR_RETURN(NDArray copy, NDArray::Empty(array.shape(), array.dtype(), context));
  COOPER_RETURN_IF_ERROR(copy.CopyFrom(array));
  return copy;
}

// Returns bytes for memory that a kernel must not rely on: as floats they are NaN.
absl::StatusOr<NDArray> UnsetBytes(const Context& context, int64_t bytes) {
  COOPER_ASSIGN_OR_RETURN(NDArray unset, NDArray::Empty({bytes}, DType::kUint8));
  std::memset(unset.raw_data(), 0xff, bytes);
  return CopyOn(context, unset);
}

// Returns a copy that is a view from the second element of another array.
absl::StatusOr<NDArray> UnalignedCopyOn(const Context& context, const NDArray& array) {
  const int64_t size = array.shape().num_elements();
  COOPER_ASSIGN_OR_RETURN(const NDArray whole, NDArray::Empty({size + 1}, array.dtype(), context));
  COOPER_ASSIGN_OR_RETURN(const NDArray rest, whole.Slice(1, size + 1));
  COOPER_ASSIGN_OR_RETURN(NDArray view, rest.Reshape(array.shape()));
  COOPER_RETURN_IF_ERROR(view.CopyFrom(array));
  return view;
}

}  // namespace

absl::StatusOr<std::vector<NDArray>> RunKernelOn(const Context& context, const KernelRun& run) {
  COOPER_ASSIGN_OR_RETURN(const Kernel* kernel, FindKernel(run.kernel, context.device_type));
  std::vector<NDArray> arrays;
  std::vector<ArrayView> views;
  for (const auto* list : {&run.inputs, &run.outputs}) {
    for (const NDArray& array : *list) {
      COOPER_ASSIGN_OR_RETURN(
          NDArray copy, run.unaligned ? UnalignedCopyOn(context, array) : CopyOn(context, array));
      arrays.push_back(copy);
      views.push_back({.data = copy.raw_data(), .shape = copy.shape(), .dtype = copy.dtype()});
    }
  }
  for (size_t i = 0; i < run.reqs.size(); ++i) {
    if (run.reqs[i] == WriteReq::kNull) views[run.inputs.size() + i].data = nullptr;
  }
  const absl::Span<const ArrayView> all = views;
  PrepareContext prepare{.call = run.call,
                         .inputs = all.subspan(0, run.inputs.size()),
                         .outputs = all.subspan(run.inputs.size()),
                         .reqs = run.reqs,
                         .context = context};
  COOPER_ASSIGN_OR_RETURN(const Prepared prepared, PrepareKernel(*kernel, prepare));
  // The bytes after the workspace must stay unchanged.
  constexpr int64_t kGuardBytes = 4096;
  COOPER_ASSIGN_OR_RETURN(const NDArray workspace,
                          UnsetBytes(context, prepared.workspace_bytes + kGuardBytes));
  COOPER_ASSIGN_OR_RETURN(const auto queue, MakeKernelQueue(context));
  const ScopedBlockLimit few_blocks(kBlocks);
  COOPER_RETURN_IF_ERROR(kernel->run({.call = run.call,
                                      .inputs = prepare.inputs,
                                      .outputs = prepare.outputs,
                                      .reqs = run.reqs,
                                      .workspace = workspace.raw_data(),
                                      .state = prepared.state.get(),
                                      .is_train = run.is_train,
                                      .random = Philox(3, 4),
                                      .context = context,
                                      .queue = queue.get()}));
  COOPER_ASSIGN_OR_RETURN(const NDArray scratch, CopyAfter(queue.get(), workspace));
  const auto* const bytes = static_cast<const unsigned char*>(scratch.raw_data());
  if (!std::all_of(bytes + prepared.workspace_bytes, bytes + scratch.size_bytes(),
                   [](unsigned char byte) { return byte == 0xff; })) {
    return absl::InternalError(absl::StrCat(run.kernel, " writes beyond the ",
                                            prepared.workspace_bytes,
                                            " bytes of workspace that it has requested"));
  }
  std::vector<NDArray> results;
  for (const NDArray& array : arrays) {
    COOPER_ASSIGN_OR_RETURN(NDArray copy, CopyAfter(queue.get(), array));
    results.push_back(copy);
  }
  return results;
}

NDArray RandomArray(const Shape& shape, DType dtype, double magnitude, uint64_t seed) {
  NDArray array = *NDArray::Empty(shape, dtype);
  const Philox random(seed);
  DispatchDType(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < shape.num_elements(); ++i) {
      static_cast<T*>(array.raw_data())[i] =
          ConvertElement<T>((random.UniformAt(i) * 2.0 - 1.0) * magnitude);
    }
  });
  return array;
}

void ExpectClose(const NDArray& actual, const NDArray& expected, double roundings,
                 const std::string& what) {
  ASSERT_EQ(actual.shape(), expected.shape()) << what;
  ASSERT_EQ(actual.dtype(), expected.dtype()) << what;
  const auto numbers = [](const NDArray& array) {
    std::vector<double> values(array.shape().num_elements());
    DispatchDType(array.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      for (size_t i = 0; i < values.size(); ++i) {
        values[i] = ConvertElement<double>(static_cast<const T*>(array.raw_data())[i]);
      }
    });
    return values;
  };
  const std::vector<double> a = numbers(actual), e = numbers(expected);
  double magnitude = 1;
  for (double x : e) {
    if (std::isfinite(x)) magnitude = std::max(magnitude, std::fabs(x));
  }
  const double epsilon = expected.dtype() == DType::kFloat64    ? 0x1p-53
                         : expected.dtype() == DType::kFloat16  ? 0x1p-11
                         : expected.dtype() == DType::kBfloat16 ? 0x1p-8
                                                                : 0x1p-24;
  const double tolerance = roundings * epsilon * magnitude;
  int shown = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(e[i])) continue;
    if (std::fabs(a[i] - e[i]) <= tolerance || a[i] == e[i]) continue;
    ADD_FAILURE() << what << " at " << i << ": " << a[i] << ", expected " << e[i] << " within "
                  << tolerance;
    if (++shown == 5) return;
  }
}

}  // namespace cooper
