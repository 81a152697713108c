// Kernels of densities for GPUs. A gradient's thread adds up the draws of its distribution in
// order, so equal inputs give equal bits.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/random/pdf_functions.h"
#include "executor/kernels/random/pdf_kernels.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

struct Reader {
  const void* data;
  DType dtype;
  __device__ double operator[](int64_t i) const { return LoadElement<double>(data, dtype, i); }
};

struct Writer {
  void* data;
  DType dtype;
  WriteReq req;
  __device__ void operator()(int64_t i, double value) const {
    if (req == WriteReq::kNull) return;
    StoreElement(data, dtype, i, value, req == WriteReq::kAdd);
  }
};

using Call = PdfCall<Reader>;

Reader ReaderOf(const ArrayView& array) { return {array.data, array.dtype}; }

Call CallOf(const PdfInputs& inputs) {
  return {ReaderOf(inputs.sample), ReaderOf(inputs.first), ReaderOf(inputs.second), inputs.draws(),
          inputs.is_log};
}

Writer WriterOf(const KernelContext& c, size_t output) {
  if (output >= c.outputs.size()) return {nullptr, DType::kFloat32, WriteReq::kNull};
  return {c.outputs[output].data, c.outputs[output].dtype, c.reqs[output]};
}

template <typename Distribution>
__global__ void Densities(int64_t count, Call call, Writer out) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const auto distribution = DistributionOf<Distribution>(call, i / call.draws);
    out(i, PdfOf(distribution, call.sample[i], call.is_log));
  }
}

template <typename Distribution>
__global__ void Gradients(int64_t count, Call call, Reader ograd, Writer sample, Writer first,
                          Writer second) {
  for (int64_t k = FirstElement(); k < count; k += ElementStep()) {
    PdfGradientOf<Distribution>(call, ograd, sample, first, second, k);
  }
}

__global__ void DirichletDensities(int64_t count, Call call, int64_t size, Writer out) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    out(i, DirichletPdfOf(call, size, i));
  }
}

__global__ void DirichletScales(int64_t count, Call call, int64_t size, Reader ograd,
                                double* scales) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    scales[i] = ograd[i] * (call.is_log ? 1 : DirichletPdfOf(call, size, i));
  }
}

__global__ void DirichletGradients(int64_t count, Call call, const double* scales, int64_t size,
                                   Writer sample, Writer first) {
  for (int64_t at = FirstElement(); at < count; at += ElementStep()) {
    DirichletGradientOf(call, scales, size, sample, first, at);
  }
}

struct Gpu {
  template <typename Distribution>
  static absl::Status Density(const KernelContext& c, const PdfInputs& inputs) {
    const int64_t count = inputs.densities();
    return LaunchElements(c, count, Densities<Distribution>, count, CallOf(inputs), WriterOf(c, 0));
  }

  template <typename Distribution>
  static absl::Status Gradient(const KernelContext& c, const PdfInputs& inputs) {
    const int64_t count = inputs.distributions();
    return LaunchElements(c, count, Gradients<Distribution>, count, CallOf(inputs),
                          ReaderOf(c.inputs[PdfGradientArrays::kOgrad]), WriterOf(c, 0),
                          WriterOf(c, 1), WriterOf(c, 2));
  }

  static absl::Status DirichletDensity(const KernelContext& c, const PdfInputs& inputs) {
    const int64_t count = inputs.densities();
    return LaunchElements(c, count, DirichletDensities, count, CallOf(inputs), inputs.size,
                          WriterOf(c, 0));
  }

  static absl::Status DirichletGradient(const KernelContext& c, const PdfInputs& inputs) {
    const int64_t vectors = inputs.densities(), elements = inputs.first.size();
    auto* const scales = static_cast<double*>(c.workspace);
    COOPER_RETURN_IF_ERROR(LaunchElements(c, vectors, DirichletScales, vectors, CallOf(inputs),
                                          inputs.size,
                                          ReaderOf(c.inputs[PdfGradientArrays::kOgrad]), scales));
    return LaunchElements(c, elements, DirichletGradients, elements, CallOf(inputs), scales,
                          inputs.size, WriterOf(c, 0), WriterOf(c, 1));
  }
};

[[maybe_unused]] const bool kRegistered = PdfKernels<Gpu>::Register(DeviceType::kGpu, kCudaFloats);

}  // namespace
}  // namespace cooper
