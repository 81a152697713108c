#ifndef COOPER_EXECUTOR_KERNELS_RANDOM_PDF_KERNELS_H_
#define COOPER_EXECUTOR_KERNELS_RANDOM_PDF_KERNELS_H_

// Kernels of the operators _random_pdf_*, templates over the device, which pdf.cc and pdf.cu
// instantiate. A Device is a struct of static functions, which apply the functions of
// pdf_functions.h:
//
//   Density<Distribution>(c, inputs)    output 0, for each sample
//   Gradient<Distribution>(c, inputs)   the outputs, for each distribution
//   DirichletDensity(c, inputs)         output 0, for each vector
//   DirichletGradient(c, inputs)        the outputs, for each element of alpha

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/random/pdf_functions.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/random/pdf_param.h"

namespace cooper {

// The inputs of a density: of the operator, or of its gradient, whose first input is ograd. Views
// of the node's arrays; does not own them.
struct PdfInputs {
  const ArrayView& sample;
  const ArrayView& first;
  const ArrayView& second;  // first if the distribution has one parameter
  int64_t size;             // elements of a vector; 1 for numbers
  bool is_log;

  // Return the number of distributions, of densities (elements of the output), and of samples of
  // each distribution. Requires at least one distribution and vectors that are not empty.
  int64_t distributions() const { return first.size() / size; }
  int64_t densities() const { return sample.size() / size; }
  int64_t draws() const { return densities() / distributions(); }
};
// Returns the inputs of a node whose samples are input number `sample`. With `vectors`, the last
// axis of the parameters is that of a vector.
inline PdfInputs PdfInputsOf(const KernelContext& c, int sample, bool vectors = false) {
  const ArrayView& first = c.inputs[sample + 1];
  return {c.inputs[sample], first, c.inputs.back(),
          vectors ? first.shape[first.shape.rank() - 1] : 1, c.param<PdfParam>().is_log};
}

// The kernels of one device. Each returns early if there is nothing to compute, so that a Device
// need not handle empty arrays. Errors: kInvalidArgument for samples of Dirichlet's distribution
// without elements; else those of the Device.
template <typename Device>
struct PdfKernels {
  // Runs _random_pdf_*: a density for each sample, in any order.
  template <typename Distribution>
  static absl::Status Density(const KernelContext& c) {
    if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
    return Device::template Density<Distribution>(c, PdfInputsOf(c, PdfArrays::kSample));
  }

  // Runs _backward__random_pdf_*, also with samples of no elements: gradients of parameters are
  // then 0.
  template <typename Distribution>
  static absl::Status Gradient(const KernelContext& c) {
    const PdfInputs inputs = PdfInputsOf(c, PdfGradientArrays::kSample);
    if (inputs.first.size() == 0) return absl::OkStatus();
    return Device::template Gradient<Distribution>(c, inputs);
  }

  // Runs _random_pdf_dirichlet, whose output has one element for each vector.
  static absl::Status Dirichlet(const KernelContext& c) {
    if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
    const PdfInputs inputs = PdfInputsOf(c, PdfArrays::kSample, /*vectors=*/true);
    if (inputs.size == 0) return absl::InvalidArgumentError("vectors without elements");
    return Device::DirichletDensity(c, inputs);
  }

  // Runs its gradient. Needs the workspace of PrepareDirichletGradient.
  static absl::Status DirichletGradient(const KernelContext& c) {
    const PdfInputs inputs = PdfInputsOf(c, PdfGradientArrays::kSample, /*vectors=*/true);
    if (inputs.first.size() == 0) return absl::OkStatus();
    return Device::DirichletGradient(c, inputs);
  }

  // The workspace holds the factor of each vector's gradient. The factor is in double: ograd, times
  // the density unless is_log.
  static absl::StatusOr<Prepared> PrepareDirichletGradient(const PrepareContext& c) {
    return Prepared{.workspace_bytes = c.inputs[PdfGradientArrays::kOgrad].size() *
                                       static_cast<int64_t>(sizeof(double))};
  }

  // Registers the kernels. Call it from a static initializer, once for each device.
  // `dtypes` are the floating dtypes that the device reads and writes.
  static bool Register(DeviceType device, DTypeSet dtypes) {
    using Negative = NegativeBinomialPdf;
    using Generalized = GeneralizedNegativeBinomialPdf;
    [[maybe_unused]] const KernelRegistrar kernels[] = {
        {"_random_pdf_uniform", device, dtypes, Density<UniformPdf>},
        {"_random_pdf_normal", device, dtypes, Density<NormalPdf>},
        {"_random_pdf_gamma", device, dtypes, Density<GammaPdf>},
        {"_random_pdf_exponential", device, dtypes, Density<ExponentialPdf>},
        {"_random_pdf_poisson", device, dtypes, Density<PoissonPdf>},
        {"_random_pdf_negative_binomial", device, dtypes, Density<Negative>},
        {"_random_pdf_generalized_negative_binomial", device, dtypes, Density<Generalized>},
        {"_random_pdf_dirichlet", device, dtypes, Dirichlet},
        {"_backward_pdf_uniform", device, dtypes, Gradient<UniformPdf>},
        {"_backward_pdf_normal", device, dtypes, Gradient<NormalPdf>},
        {"_backward_pdf_gamma", device, dtypes, Gradient<GammaPdf>},
        {"_backward_pdf_exponential", device, dtypes, Gradient<ExponentialPdf>},
        {"_backward_pdf_poisson", device, dtypes, Gradient<PoissonPdf>},
        {"_backward_pdf_negative_binomial", device, dtypes, Gradient<Negative>},
        {"_backward_pdf_generalized_negative_binomial", device, dtypes, Gradient<Generalized>},
        {"_backward_pdf_dirichlet", device, dtypes, DirichletGradient, PrepareDirichletGradient},
    };
    return true;
  }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_RANDOM_PDF_KERNELS_H_
