// Kernels of densities for CPUs.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/kernels/loops/elemwise_loop.h"
#include "executor/kernels/random/pdf_functions.h"
#include "executor/kernels/random/pdf_kernels.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

// A logarithm of a density takes as long as some dozen additions.
constexpr int64_t kGrain = 512;

template <typename T>
struct Reader {
  const T* data;
  double operator[](int64_t i) const { return Load(data[i]); }
};

template <typename T>
struct Writer {
  T* data;
  WriteReq req;
  void operator()(int64_t i, double value) const {
    if (req == WriteReq::kNull) return;
    Store(data + i, static_cast<ComputeType<T>>(value), req == WriteReq::kAdd);
  }
};

template <typename T>
PdfCall<Reader<T>> CallOf(const PdfInputs& inputs) {
  return {{inputs.sample.as<T>()},
          {inputs.first.as<T>()},
          {inputs.second.as<T>()},
          inputs.draws(),
          inputs.is_log};
}

template <typename T>
Writer<T> WriterOf(const KernelContext& c, size_t output) {
  if (output >= c.outputs.size()) return {nullptr, WriteReq::kNull};
  return {c.outputs[output].as<T>(), c.reqs[output]};
}

struct Cpu {
  template <typename Distribution>
  static absl::Status Density(const KernelContext& c, const PdfInputs& inputs) {
    return DispatchFloat(c.outputs[0].dtype, [&](auto type) {
      using T = typename decltype(type)::type;
      const auto call = CallOf<T>(inputs);
      const Writer<T> out = WriterOf<T>(c, 0);
      ParallelFor(inputs.densities(), kGrain, [=](int64_t begin, int64_t end) {
        // The samples of a distribution, or all, if each has its own: a loop without divisions,
        // which compilers vectorise.
        const int64_t step = call.draws == 1 ? 1 : 0;
        while (begin < end) {
          const int64_t k = begin / call.draws;
          const int64_t last = step == 1 ? end : std::min(end, (k + 1) * call.draws);
          COOPER_INDEPENDENT_ITERATIONS
          for (int64_t i = begin; i < last; ++i) {
            out(i, PdfOf<Distribution>(call, i, k + (i - begin) * step));
          }
          begin = last;
        }
      });
    });
  }

  template <typename Distribution>
  static absl::Status Gradient(const KernelContext& c, const PdfInputs& inputs) {
    return DispatchFloat(c.outputs[0].dtype, [&](auto type) {
      using T = typename decltype(type)::type;
      const auto call = CallOf<T>(inputs);
      const Reader<T> ograd{c.inputs[PdfGradientArrays::kOgrad].as<T>()};
      const Writer<T> sample = WriterOf<T>(c, 0), first = WriterOf<T>(c, 1),
                      second = WriterOf<T>(c, 2);
      ParallelForPlain(inputs.distributions(), kGrain / (call.draws + 1) + 1,
                       [&](int64_t begin, int64_t end) {
                         for (int64_t k = begin; k < end; ++k) {
                           PdfGradientOf<Distribution>(call, ograd, sample, first, second, k);
                         }
                       });
    });
  }

  static absl::Status DirichletDensity(const KernelContext& c, const PdfInputs& inputs) {
    return DispatchFloat(c.outputs[0].dtype, [&](auto type) {
      using T = typename decltype(type)::type;
      const auto call = CallOf<T>(inputs);
      const Writer<T> out = WriterOf<T>(c, 0);
      ParallelForPlain(inputs.densities(), kGrain / inputs.size + 1,
                       [&](int64_t begin, int64_t end) {
                         for (int64_t i = begin; i < end; ++i) {
                           out(i, DirichletPdfOf(call, inputs.size, i));
                         }
                       });
    });
  }

  static absl::Status DirichletGradient(const KernelContext& c, const PdfInputs& inputs) {
    return DispatchFloat(c.outputs[0].dtype, [&](auto type) {
      using T = typename decltype(type)::type;
      const auto call = CallOf<T>(inputs);
      const Reader<T> ograd{c.inputs[PdfGradientArrays::kOgrad].as<T>()};
      auto* const scales = static_cast<double*>(c.workspace);
      ParallelForPlain(
          inputs.densities(), kGrain / inputs.size + 1, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
              const double density = call.is_log ? 1 : DirichletPdfOf(call, inputs.size, i);
              scales[i] = ograd[i] * density;
            }
          });
      const Writer<T> sample = WriterOf<T>(c, 0), first = WriterOf<T>(c, 1);
      ParallelForPlain(inputs.first.size(), kGrain / (call.draws + inputs.size) + 1,
                       [&](int64_t begin, int64_t end) {
                         for (int64_t at = begin; at < end; ++at) {
                           DirichletGradientOf(call, scales, inputs.size, sample, first, at);
                         }
                       });
    });
  }
};

[[maybe_unused]] const bool kRegistered = PdfKernels<Cpu>::Register(DeviceType::kCpu, kFloats);

}  // namespace
}  // namespace cooper
