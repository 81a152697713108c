#include "executor/kernels/rnn/packed_step.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/rnn/rnn_cells.h"
#include "executor/kernels/rnn/rnn_matrix_ops.h"
#include "ndarray/threads/cpu_level.h"
#include "ndarray/threads/parallel.h"
#include "ndarray/threads/profiler.h"
#include "ndarray/threads/vector_length.h"
#include "symbol/ops/rnn/rnn_layout.h"

namespace cooper {
namespace {

constexpr int kFeatures = static_cast<int>(kPackedFeatures);
constexpr int kMaxGates = 4;

// Functions that keep sums in registers must be inlined into one function.
#define COOPER_ALWAYS_INLINE __attribute__((always_inline))

template <int kLanes>
struct VectorOf {
  typedef float Type __attribute__((vector_size(kLanes * sizeof(float))));  // NOLINT: no `using`
};

// The number of panels whose sums are consumed while they are in the cache.
constexpr int64_t kMaxPanels = 8;

// The sums of these panels for one row, by gate.
using Sums = float[kMaxGates][kMaxPanels * kFeatures];

// Computes sums[row][gate][at + j] = sum over k of rows[row][k] * panel[k][gate][j], in the order
// of k.
template <int kLanes, int kGates, int kRows>
COOPER_ALWAYS_INLINE inline void Multiply(const float* panel, int64_t depth,
                                          const float* const* rows, Sums* sums, int64_t at) {
  using Vector = typename VectorOf<kLanes>::Type;
  for (int part = 0; part < kFeatures; part += kLanes) {
    Vector sum[kRows * kGates] = {};
    Vector weight[kGates];
    const float* from = panel + part;
    // Indices are compile-time constants, so that the arrays are registers.
    const auto add = [&]<size_t... kGate, size_t... kSum>(std::index_sequence<kGate...>,
                                                          std::index_sequence<kSum...>, int64_t k)
        COOPER_ALWAYS_INLINE {
      (std::memcpy(&weight[kGate], from + kGate * kFeatures, sizeof(Vector)), ...);
      ((sum[kSum] += weight[kSum % kGates] * rows[kSum / kGates][k]), ...);
    };
    for (int64_t k = 0; k < depth; ++k, from += kGates * kFeatures) {
      add(std::make_index_sequence<kGates>(), std::make_index_sequence<kRows * kGates>(), k);
    }
    for (int r = 0; r < kRows; ++r) {
      for (int g = 0; g < kGates; ++g) {
        std::memcpy(sums[r][g] + at + part, &sum[r * kGates + g], sizeof(Vector));
      }
    }
  }
}

// Runs the cells of features [first, first + count) of one row. It is not a template over the
// number of rows: compilers contract products and sums differently in each instantiation, and a
// row's bits would then depend on the batch.
void RunCells(const PackedStep& step, int64_t first, int64_t count, const Sums& sums,
              const PackedStepRow& row) {
  const int64_t n = step.hidden;
  const float* const slots = row.slots + first;
  const float* const bias = step.bias + first;
  float* const h = row.h + first;
  const float *const s0 = sums[0], *const s1 = sums[1], *const s2 = sums[2], *const s3 = sums[3];
  if (step.mode == RNNMode::kGru) {
    const float* const h_prev = row.h_prev + first;
    RunAtCpuLevel([=] {
      COOPER_CELL_LOOP
      for (int64_t j = 0; j < count; ++j) {
        GruSlots<float> s = {s0[j] + (slots[j] + bias[j]), s1[j] + (slots[n + j] + bias[n + j]),
                             s2[j] + bias[2 * n + j], slots[3 * n + j] + bias[3 * n + j]};
        GruCell(s, h_prev[j], h[j]);
      }
    });
    return;
  }
  const float* const c_prev = row.c_prev + first;
  float* const c = row.c + first;
  const auto run = [=, clip = step.clip]<bool kClip>(std::bool_constant<kClip>) {
    RunAtCpuLevel([=] {
      COOPER_CELL_LOOP
      for (int64_t j = 0; j < count; ++j) {
        LstmSlots<float> s = {s0[j] + (slots[j] + bias[j]), s1[j] + (slots[n + j] + bias[n + j]),
                              s2[j] + (slots[2 * n + j] + bias[2 * n + j]),
                              s3[j] + (slots[3 * n + j] + bias[3 * n + j])};
        LstmCell<kClip>(clip, s, c_prev[j], c[j], h[j]);
      }
    });
  };
  if (step.clip.enabled) {
    run(std::true_type());
  } else {
    run(std::false_type());
  }
}

// The number of rows whose sums, together with the weights of an element, fit in the registers: 32
// registers of AVX-512, else 16.
template <int kLanes, int kGates>
inline constexpr int kRowsAtATime = kLanes == 16 ? 24 / kGates : 8 / kGates;

// Calls fn(row, sums, panel, panels) for each row with the sums of `panels` panels from `panel` on,
// until all panels [first, end) are done. row(i) returns the address of row i.
template <int kLanes, int kGates, typename RowFn, typename Fn>
COOPER_ALWAYS_INLINE inline void ForEachSums(const float* weight, int64_t depth, int64_t count,
                                             int64_t first, int64_t end, const RowFn& row,
                                             const Fn& fn) {
  constexpr int kMax = kRowsAtATime<kLanes, kGates>;
  // The bytes of the panels that stay in the cache while all rows use them.
  constexpr int64_t kCacheBytes = 256 << 10;
  const int64_t panel_size = depth * kGates * kFeatures;
  const auto bytes = panel_size * static_cast<int64_t>(sizeof(float));
  const int64_t near =
      std::clamp<int64_t>(kCacheBytes / std::max<int64_t>(bytes, 1), 1, kMaxPanels);
  alignas(64) Sums sums[kMax];
  for (int64_t begin = first; begin < end; begin += near) {
    const int64_t near_end = std::min(begin + near, end);
    // Blocks have about the same size, because a single remaining row would read the weight for
    // itself.
    for (int64_t i = 0, size = 0; i < count; i += size) {
      const int64_t blocks = (count - i + kMax - 1) / kMax;
      size = (count - i + blocks - 1) / blocks;
      const auto run = [&]<int kRows>(std::integral_constant<int, kRows>) COOPER_ALWAYS_INLINE {
        const float* at[kRows];
        for (int r = 0; r < kRows; ++r) at[r] = row(i + r);
        for (int64_t panel = begin; panel < near_end; ++panel) {
          Multiply<kLanes, kGates, kRows>(weight + panel * panel_size, depth, at, sums,
                                          (panel - begin) * kFeatures);
        }
      };
      const auto choose = [&]<int... kLess>(std::integer_sequence<int, kLess...>)
          COOPER_ALWAYS_INLINE {
        ((size == kLess + 1 ? run(std::integral_constant<int, kLess + 1>()) : void()), ...);
      };
      choose(std::make_integer_sequence<int, kMax>());
      for (int64_t r = 0; r < size; ++r) fn(i + r, sums[r], begin, near_end);
    }
  }
}

// Returns the number of features in the panels [first, end).
int64_t Features(int64_t hidden, int64_t first, int64_t end) {
  return std::min(end * kPackedFeatures, hidden) - first * kPackedFeatures;
}

template <int kLanes, int kGates>
COOPER_ALWAYS_INLINE inline void RunSteps(const PackedStep& step,
                                          absl::Span<const PackedStepRow> rows, int64_t first,
                                          int64_t end) {
  ForEachSums<kLanes, kGates>(
      step.weight, step.hidden, static_cast<int64_t>(rows.size()), first, end,
      [&](int64_t i) COOPER_ALWAYS_INLINE { return rows[i].h_prev; },
      [&](int64_t i, const Sums& sums, int64_t begin, int64_t panels_end) {
        RunCells(step, begin * kFeatures, Features(step.hidden, begin, panels_end), sums, rows[i]);
      });
}

template <int kLanes, int kGates>
COOPER_ALWAYS_INLINE inline void RunInputs(const PackedInputProduct& p, const float* input,
                                           int64_t rows, int64_t first, int64_t end, float* slots) {
  // gru's n goes to slot 3: only the recurrent product fills slot 2.
  constexpr int kSlots[] = {0, 1, kGates == 3 ? 3 : 2, 3};
  ForEachSums<kLanes, kGates>(
      p.weight, p.depth, rows, first, end,
      [&](int64_t i) COOPER_ALWAYS_INLINE { return input + i * p.depth; },
      [&](int64_t i, const Sums& sums, int64_t begin, int64_t panels_end) {
        float* const row = slots + i * kMaxGates * p.hidden + begin * kFeatures;
        for (int g = 0; g < kGates; ++g) {
          std::copy_n(sums[g], Features(p.hidden, begin, panels_end), row + kSlots[g] * p.hidden);
        }
      });
}

}  // namespace

void PackRNNWeight(const float* weight, int gates, int64_t hidden, int64_t depth, float* packed) {
  const int64_t row = gates * kPackedFeatures;
  ParallelForPlain(NumPackedPanels(hidden), RowGrain(depth * row), [&](int64_t begin, int64_t end) {
    for (int64_t panel = begin; panel < end; ++panel) {
      const int64_t first = panel * kPackedFeatures;
      const int64_t size = std::min(kPackedFeatures, hidden - first);
      float* const to = packed + panel * depth * row;
      if (size < kPackedFeatures) std::fill_n(to, depth * row, 0.0F);
      for (int g = 0; g < gates; ++g) {
        TransposeInto(weight + (g * hidden + first) * depth, size, depth, to + g * kPackedFeatures,
                      row);
      }
    }
  });
}

void PackedInputProduct::Run(const float* input, int64_t rows, float* slots) const {
  // The multiplications that justify another thread.
  constexpr int64_t kMinProducts = 1 << 18;
  const int64_t of_row = PackedWeightSize(gates, hidden, depth);
  const auto run = [&](int64_t row, int64_t count, int64_t first, int64_t end) {
    AddProfileFlops(2 * count * gates * depth * Features(hidden, first, end));
    const float* const from = input + row * depth;
    float* const to = slots + row * kMaxGates * hidden;
    RunAtVectorLength([&](auto lanes) {
      constexpr int kLanes = decltype(lanes)::value;
      if (gates == 4) {
        RunInputs<kLanes, 4>(*this, from, count, first, end, to);
      } else {
        RunInputs<kLanes, 3>(*this, from, count, first, end, to);
      }
    });
  };
  // With many rows, the rows are split; each thread then reads the whole weight.
  constexpr int64_t kManyRows = 64;
  const int64_t panels = NumPackedPanels(hidden);
  if (rows >= kManyRows) {
    ParallelForPlain(rows,
                     std::max<int64_t>(kManyRows / 2, kMinProducts / std::max<int64_t>(of_row, 1)),
                     [&](int64_t begin, int64_t end) { run(begin, end - begin, 0, panels); });
  } else {
    ParallelForPlain(panels, 1 + kMinProducts * panels / (rows * of_row + 1),
                     [&](int64_t begin, int64_t end) { run(0, rows, begin, end); });
  }
}

void PackedStep::Run(absl::Span<const PackedStepRow> rows, int64_t first, int64_t end) const {
  const int gates = RNNNumGates(mode);
  AddProfileFlops(2 * static_cast<int64_t>(rows.size()) * gates * hidden *
                  Features(hidden, first, end));
  RunAtVectorLength([&](auto lanes) {
    constexpr int kLanes = decltype(lanes)::value;
    if (gates == 4) {
      RunSteps<kLanes, 4>(*this, rows, first, end);
    } else {
      RunSteps<kLanes, 3>(*this, rows, first, end);
    }
  });
}

}  // namespace cooper
