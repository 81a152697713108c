// Kernels of densities for CPUs.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "absl/status/status.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/kernels/loops/vector_math.h"
#include "executor/kernels/random/pdf_functions.h"
#include "executor/kernels/random/pdf_kernels.h"
#include "executor/kernels/reducers/lane_sum.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

// A logarithm of a density takes as long as some dozen additions.
constexpr int64_t kGrain = 512;
// Samples are computed in blocks, by loops that become vector instructions.
constexpr int64_t kBlock = 256;

// Calls fn(first, n) for blocks of n samples from begin to end.
template <typename Fn>
void ForEachBlock(int64_t begin, int64_t end, const Fn& fn) {
  for (int64_t first = begin; first < end; first += kBlock)
    fn(first, std::min(kBlock, end - first));
}

// Replaces n samples by their densities. `distribution` is a copy, which x cannot overlap.
template <typename Distribution>
void ComputeDensities(const Distribution distribution, bool is_log, int64_t n, double* x) {
  if constexpr (std::is_same_v<Distribution, UniformPdf>) {
    std::fill_n(x, n, PdfOf(distribution, 0, is_log));
    return;
  }
  double logs[kBlock];
  for (int64_t i = 0; i < n; ++i) logs[i] = distribution.Log(x[i]);
  if (is_log) {
    std::copy_n(logs, n, x);
  } else {
    for (int64_t i = 0; i < n; ++i) x[i] = VectorExp(logs[i]);
  }
}

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
  // Stores n values from element `first` on.
  void Put(int64_t first, int64_t n, const double* values) const {
    if (req == WriteReq::kNull) return;
    T* const to = data + first;
    using C = ComputeType<T>;
    if (req == WriteReq::kAdd) {
      for (int64_t i = 0; i < n; ++i) Store(to + i, static_cast<C>(values[i]), /*add=*/true);
    } else {
      for (int64_t i = 0; i < n; ++i) Store(to + i, static_cast<C>(values[i]), /*add=*/false);
    }
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

// Computes PdfGradientOf in blocks.
template <typename Distribution, typename T>
void GradientOf(const PdfCall<Reader<T>>& call, const Reader<T>& ograd, const Writer<T>& sample,
                const Writer<T>& first, const Writer<T>& second, int64_t k) {
  const auto distribution = DistributionOf<Distribution>(call, k);
  double sum_a = 0, sum_b = 0;
  ForEachBlock(k * call.draws, (k + 1) * call.draws, [&](int64_t begin, int64_t n) {
    double x[kBlock], scale[kBlock], by_x[kBlock], by_a[kBlock], by_b[kBlock];
    for (int64_t i = 0; i < n; ++i) x[i] = scale[i] = call.sample[begin + i];
    if (call.is_log) {
      std::fill_n(scale, n, 1.0);
    } else {
      ComputeDensities(distribution, /*is_log=*/false, n, scale);
    }
    for (int64_t i = 0; i < n; ++i) scale[i] *= ograd[begin + i];
    for (int64_t i = 0; i < n; ++i) {
      const PdfDerivatives by = distribution.Derivatives(x[i]);
      by_x[i] = scale[i] * by.x;
      by_a[i] = scale[i] * by.a;
      by_b[i] = scale[i] * by.b;
    }
    sample.Put(begin, n, by_x);
    sum_a += LaneSum<double>(n, [&](int64_t i) { return by_a[i]; });
    sum_b += LaneSum<double>(n, [&](int64_t i) { return by_b[i]; });
  });
  first(k, sum_a);
  second(k, sum_b);
}

struct Cpu {
  template <typename Distribution>
  static absl::Status Density(const KernelContext& c, const PdfInputs& inputs) {
    return DispatchFloat(c.outputs[0].dtype, [&](auto type) {
      using T = typename decltype(type)::type;
      const auto call = CallOf<T>(inputs);
      const Writer<T> out = WriterOf<T>(c, 0);
      ParallelFor(inputs.densities(), kGrain, [&](int64_t begin, int64_t end) {
        while (begin < end) {
          const int64_t k = begin / call.draws, stop = std::min(end, (k + 1) * call.draws);
          const auto distribution = DistributionOf<Distribution>(call, k);
          ForEachBlock(begin, stop, [&](int64_t first, int64_t n) {
            double x[kBlock];
            for (int64_t i = 0; i < n; ++i) x[i] = call.sample[first + i];
            ComputeDensities(distribution, call.is_log, n, x);
            out.Put(first, n, x);
          });
          begin = stop;
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
      ParallelFor(inputs.distributions(), kGrain / (call.draws + 1) + 1,
                  [&](int64_t begin, int64_t end) {
                    for (int64_t k = begin; k < end; ++k) {
                      GradientOf<Distribution>(call, ograd, sample, first, second, k);
                    }
                  });
    });
  }

  // Calls fn(i, density) for the vectors of [begin, end).
  template <typename T, typename Fn>
  static void ForEachDirichlet(const PdfCall<Reader<T>>& call, int64_t size, int64_t begin,
                               int64_t end, const Fn& fn) {
    while (begin < end) {
      const int64_t k = begin / call.draws, stop = std::min(end, (k + 1) * call.draws);
      const double factor = DirichletLogFactor(call, size, k);
      for (; begin < stop; ++begin) fn(begin, DirichletPdfOf(call, size, k, factor, begin));
    }
  }

  static absl::Status DirichletDensity(const KernelContext& c, const PdfInputs& inputs) {
    return DispatchFloat(c.outputs[0].dtype, [&](auto type) {
      using T = typename decltype(type)::type;
      const auto call = CallOf<T>(inputs);
      const Writer<T> out = WriterOf<T>(c, 0);
      ParallelFor(inputs.densities(), kGrain / inputs.size + 1, [&](int64_t begin, int64_t end) {
        ForEachDirichlet(call, inputs.size, begin, end, out);
      });
    });
  }

  static absl::Status DirichletGradient(const KernelContext& c, const PdfInputs& inputs) {
    return DispatchFloat(c.outputs[0].dtype, [&](auto type) {
      using T = typename decltype(type)::type;
      const auto call = CallOf<T>(inputs);
      const Reader<T> ograd{c.inputs[PdfGradientArrays::kOgrad].as<T>()};
      auto* const scales = static_cast<double*>(c.workspace);
      ParallelFor(inputs.densities(), kGrain / inputs.size + 1, [&](int64_t begin, int64_t end) {
        if (call.is_log) {
          for (int64_t i = begin; i < end; ++i) scales[i] = ograd[i];
        } else {
          ForEachDirichlet(call, inputs.size, begin, end,
                           [&](int64_t i, double density) { scales[i] = ograd[i] * density; });
        }
      });
      const Writer<T> sample = WriterOf<T>(c, 0), first = WriterOf<T>(c, 1);
      ParallelFor(inputs.first.size(), kGrain / (call.draws + inputs.size) + 1,
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
