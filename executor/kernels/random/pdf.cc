// Kernels of densities for CPUs.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "absl/status/status.h"
#include "executor/kernels/loops/element_block.h"
#include "executor/kernels/loops/elemwise_loop.h"
#include "executor/kernels/loops/vector_math.h"
#include "executor/kernels/random/pdf_functions.h"
#include "executor/kernels/random/pdf_kernels.h"
#include "executor/kernels/reducers/lane_sum.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/cpu_level.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

// A logarithm of a density takes as long as some dozen additions.
constexpr int64_t kGrain = 512;
// Samples are computed in blocks, by loops that become vector instructions.
constexpr int64_t kBlock = 256;

// Calls fn(first, n) for blocks of n <= size samples from begin to end.
template <typename Fn>
void ForEachBlock(int64_t begin, int64_t end, const Fn& fn, int64_t size = kBlock) {
  for (int64_t first = begin; first < end; first += size) fn(first, std::min(size, end - first));
}

// Whether densities depend on the sample.
template <typename Distribution>
constexpr bool kReadsSamples = !std::is_same_v<Distribution, UniformPdf>;

// Replaces n samples by their densities. `distribution` is a copy, which x cannot overlap.
template <typename Distribution>
void ComputeDensities(const Distribution distribution, bool is_log, int64_t n, double* x) {
  if constexpr (!kReadsSamples<Distribution>) {
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

// Computes the terms of n samples' gradients by x, a and b: derivatives of the logarithm of the
// density times `scale`. `distribution` is a copy, which the terms cannot overlap.
template <typename Distribution>
void ComputeTerms(const Distribution distribution, int64_t n, const double* x, const double* scale,
                  double* by_x, double* by_a, double* by_b) {
  COOPER_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < n; ++i) {
    const PdfDerivatives by = distribution.Derivatives(x[i]);
    by_x[i] = scale[i] * by.x;
    by_a[i] = scale[i] * by.a;
    by_b[i] = scale[i] * by.b;
  }
}

// Arrays are read and written as blocks of doubles, so that the code is compiled once for all
// dtypes.

// Reads n elements from element `first` on.
void Load(const ArrayView& from, int64_t first, int64_t n, double* values) {
  LoadBlock(ElementAt(from.data, from.dtype, first), from.dtype, n, values);
}

// Stores n elements from element `first` of an output on, which the node need not have.
void Store(const KernelContext& c, size_t output, int64_t first, int64_t n, const double* values) {
  if (output >= c.outputs.size()) return;
  const ArrayView& to = c.outputs[output];
  StoreBlock(values, n, c.reqs[output], ElementAt(to.data, to.dtype, first), to.dtype);
}

// Reads single elements, of parameters.
struct Reader {
  const ArrayView* array;
  double operator[](int64_t i) const {
    double value;
    Load(*array, i, 1, &value);
    return value;
  }
};

template <typename Distribution>
Distribution DistributionAt(const PdfInputs& inputs, int64_t k) {
  const PdfCall<Reader> call{
      {&inputs.sample}, {&inputs.first}, {&inputs.second}, inputs.draws(), inputs.is_log};
  return DistributionOf<Distribution>(call, k);
}

// Computes PdfGradientOf in blocks.
template <typename Distribution>
void StoreGradients(const KernelContext& c, const PdfInputs& inputs, int64_t k) {
  const auto distribution = DistributionAt<Distribution>(inputs, k);
  const int64_t draws = inputs.draws();
  double sum_a = 0, sum_b = 0;
  ForEachBlock(k * draws, (k + 1) * draws, [&](int64_t begin, int64_t n) {
    double x[kBlock], scale[kBlock], ograd[kBlock], by_x[kBlock], by_a[kBlock], by_b[kBlock];
    Load(inputs.sample, begin, n, x);
    Load(c.inputs[PdfGradientArrays::kOgrad], begin, n, ograd);
    RunAtCpuLevel([&] {
      std::copy_n(x, n, scale);
      if (inputs.is_log) {
        std::fill_n(scale, n, 1.0);
      } else {
        ComputeDensities(distribution, /*is_log=*/false, n, scale);
      }
      for (int64_t i = 0; i < n; ++i) scale[i] *= ograd[i];
      ComputeTerms(distribution, n, x, scale, by_x, by_a, by_b);
      sum_a += LaneSum<double>(n, [&](int64_t i) { return by_a[i]; });
      sum_b += LaneSum<double>(n, [&](int64_t i) { return by_b[i]; });
    });
    Store(c, 0, begin, n, by_x);
  });
  Store(c, 1, k, 1, &sum_a);
  Store(c, 2, k, 1, &sum_b);
}

// Dirichlet's distributions.

// Calls fn(k, begin, end) for parts of the densities of each distribution k. Threads share the
// parts, which depend on the shapes alone.
template <typename Fn>
void ForEachPart(const PdfInputs& inputs, const Fn& fn) {
  constexpr int64_t kPart = 16 * kBlock;
  const int64_t draws = inputs.draws(), most = std::max<int64_t>(1, kPart / inputs.size);
  const int64_t parts = (draws + most - 1) / most;
  ParallelForPlain(inputs.distributions() * parts, kGrain / (draws * inputs.size + 1) + 1,
                   [&](int64_t begin, int64_t end) {
                     for (int64_t part = begin; part < end; ++part) {
                       const int64_t k = part / parts, first = k * draws + part % parts * most;
                       fn(k, first, std::min(first + most, (k + 1) * draws));
                     }
                   });
}

// Returns the sum of fn(x) over n elements x of an array, from element `first` on.
template <typename Fn>
double SumOf(const ArrayView& array, int64_t first, int64_t n, const Fn& fn) {
  double sum = 0;
  ForEachBlock(first, first + n, [&](int64_t begin, int64_t count) {
    double terms[kBlock];
    Load(array, begin, count, terms);
    RunAtCpuLevel([&] {
      for (int64_t j = 0; j < count; ++j) terms[j] = fn(terms[j]);
      sum += LaneSum<double>(count, [&](int64_t j) { return terms[j]; });
    });
  });
  return sum;
}

// Returns the sum of parameters k of Dirichlet's distributions.
double DirichletSum(const PdfInputs& inputs, int64_t k) {
  return SumOf(inputs.first, k * inputs.size, inputs.size, [](double a) { return a; });
}

// Computes the logarithms of the Dirichlet densities of n vectors from vector i on, which have
// parameters k and the factor with the logarithm `factor`. n is 1, or n vectors are at most a
// block.
void DirichletLogs(const PdfInputs& inputs, int64_t k, double factor, int64_t i, int64_t n,
                   double* logs) {
  const int64_t size = inputs.size;
  std::fill_n(logs, n, factor);
  ForEachBlock(0, size, [&](int64_t first, int64_t count) {
    double a[kBlock], x[kBlock];
    Load(inputs.first, k * size + first, count, a);
    Load(inputs.sample, i * size + first, n * count, x);
    RunAtCpuLevel([&] {
      for (int64_t j = 0; j < n * count; ++j) x[j] = VectorLog(x[j]);
      for (int64_t v = 0; v < n; ++v) {
        const double* const row = x + v * count;
        logs[v] += LaneSum<double>(count, [&](int64_t j) { return (a[j] - 1) * row[j]; });
      }
    });
  });
}

// Calls fn(i, n, densities) with the Dirichlet densities of n vectors from vector i on, for blocks
// of all vectors.
template <typename Fn>
void ForEachDirichlet(const PdfInputs& inputs, const Fn& fn) {
  const int64_t size = inputs.size;
  ForEachPart(inputs, [&](int64_t k, int64_t begin, int64_t end) {
    const double factor =
        VectorLogGamma(DirichletSum(inputs, k)) -
        SumOf(inputs.first, k * size, size, [](double a) { return VectorLogGamma(a); });
    const auto run = [&](int64_t i, int64_t n) {
      double logs[kBlock];
      DirichletLogs(inputs, k, factor, i, n, logs);
      if (!inputs.is_log) {
        RunAtCpuLevel([&] {
          for (int64_t v = 0; v < n; ++v) logs[v] = VectorExp(logs[v]);
        });
      }
      fn(i, n, logs);
    };
    ForEachBlock(begin, end, run, std::max<int64_t>(1, kBlock / size));
  });
}

// The most elements of a Dirichlet distribution whose gradients are computed at a time: as many as
// the widest vector has.
constexpr int64_t kColumns = 8;

// Stores the gradients of parameters [j, j + n) of distribution k, n <= kColumns, and of the same
// elements of its samples. scales[i] is the head gradient of vector i, times its density unless
// is_log.
void StoreDirichletGradients(const KernelContext& c, const PdfInputs& inputs, const double* scales,
                             int64_t k, int64_t j, int64_t n) {
  const int64_t size = inputs.size, draws = inputs.draws();
  const double psi_sum = VectorDigamma(DirichletSum(inputs, k));
  double a[kColumns], psi[kColumns], sums[kColumns] = {};
  Load(inputs.first, k * size + j, n, a);
  for (int64_t l = 0; l < n; ++l) psi[l] = psi_sum - VectorDigamma(a[l]);
  const auto run = [&](int64_t begin, int64_t rows) {
    // Calls move(first, n, values) for runs of adjacent elements of the samples.
    const auto for_each_run = [&](double* values, const auto& move) {
      if (n == size) return move(begin * size, rows * n, values);
      for (int64_t v = 0; v < rows; ++v) move((begin + v) * size + j, n, values + v * n);
    };
    double x[kBlock], log_x[kBlock];
    for_each_run(x, [&](int64_t first, int64_t count, double* values) {
      Load(inputs.sample, first, count, values);
    });
    RunAtCpuLevel([&] {
      for (int64_t i = 0; i < rows * n; ++i) log_x[i] = VectorLog(x[i]);
      for (int64_t v = 0; v < rows; ++v) {
        const double scale = scales[begin + v];
        for (int64_t l = 0; l < n; ++l) sums[l] += scale * (log_x[v * n + l] + psi[l]);
        for (int64_t l = 0; l < n; ++l) x[v * n + l] = scale * (a[l] - 1) / x[v * n + l];
      }
    });
    for_each_run(x, [&](int64_t first, int64_t count, const double* values) {
      Store(c, 0, first, count, values);
    });
  };
  ForEachBlock(k * draws, (k + 1) * draws, run, kBlock / kColumns);
  Store(c, 1, k * size + j, n, sums);
}

struct Cpu {
  template <typename Distribution>
  static absl::Status Density(const KernelContext& c, const PdfInputs& inputs) {
    const int64_t draws = inputs.draws();
    ParallelForPlain(inputs.densities(), kGrain, [&](int64_t begin, int64_t end) {
      while (begin < end) {
        const int64_t k = begin / draws, stop = std::min(end, (k + 1) * draws);
        const auto distribution = DistributionAt<Distribution>(inputs, k);
        ForEachBlock(begin, stop, [&](int64_t first, int64_t n) {
          double x[kBlock];
          if (kReadsSamples<Distribution>) Load(inputs.sample, first, n, x);
          RunAtCpuLevel([&] { ComputeDensities(distribution, inputs.is_log, n, x); });
          Store(c, 0, first, n, x);
        });
        begin = stop;
      }
    });
    return absl::OkStatus();
  }

  template <typename Distribution>
  static absl::Status Gradient(const KernelContext& c, const PdfInputs& inputs) {
    ParallelForPlain(inputs.distributions(), kGrain / (inputs.draws() + 1) + 1,
                     [&](int64_t begin, int64_t end) {
                       for (int64_t k = begin; k < end; ++k) {
                         StoreGradients<Distribution>(c, inputs, k);
                       }
                     });
    return absl::OkStatus();
  }

  static absl::Status DirichletDensity(const KernelContext& c, const PdfInputs& inputs) {
    ForEachDirichlet(inputs, [&](int64_t first, int64_t n, const double* densities) {
      Store(c, 0, first, n, densities);
    });
    return absl::OkStatus();
  }

  static absl::Status DirichletGradient(const KernelContext& c, const PdfInputs& inputs) {
    const ArrayView& ograd = c.inputs[PdfGradientArrays::kOgrad];
    auto* const scales = static_cast<double*>(c.workspace);
    if (inputs.is_log) {
      Load(ograd, 0, inputs.densities(), scales);
    } else {
      ForEachDirichlet(inputs, [&](int64_t first, int64_t n, const double* densities) {
        Load(ograd, first, n, scales + first);
        for (int64_t i = 0; i < n; ++i) scales[first + i] *= densities[i];
      });
    }
    const int64_t size = inputs.size, parts = (size + kColumns - 1) / kColumns;
    ParallelForPlain(inputs.distributions() * parts,
                     kGrain / (inputs.draws() * kColumns + size) + 1,
                     [&](int64_t begin, int64_t end) {
                       for (int64_t part = begin; part < end; ++part) {
                         const int64_t j = part % parts * kColumns;
                         StoreDirichletGradients(c, inputs, scales, part / parts, j,
                                                 std::min(kColumns, size - j));
                       }
                     });
    return absl::OkStatus();
  }
};

[[maybe_unused]] const bool kRegistered = PdfKernels<Cpu>::Register(DeviceType::kCpu, kFloats);

}  // namespace
}  // namespace cooper
