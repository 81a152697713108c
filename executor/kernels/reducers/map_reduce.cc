#include "executor/kernels/reducers/map_reduce.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "executor/kernels/loops/broadcast_as.h"
#include "executor/kernels/loops/broadcast_plan.h"
#include "executor/kernels/loops/element_block.h"
#include "executor/kernels/loops/unary_functions.h"
#include "executor/kernels/reducers/reduce_loops.h"
#include "executor/kernels/reducers/reducers.h"
#include "ndarray/threads/cpu_level.h"
#include "ndarray/threads/element_ranges.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

constexpr int64_t kGrain = 16384;

// Returns the loops that reduce elements themselves.
const ReducerLoops& PlainLoops(Reducer reducer) {
  switch (reducer) {
    case Reducer::kSum:
      break;
    case Reducer::kProduct:
      return kReducerLoops<Reducer::kProduct, Same>;
    case Reducer::kMax:
      return kReducerLoops<Reducer::kMax, Same>;
    case Reducer::kMin:
      return kReducerLoops<Reducer::kMin, Same>;
  }
  return kReducerLoops<Reducer::kSum, Same>;
}

// One reduction in compute type C. The plan's last operand is the output.
template <typename C>
class Reduce {
 public:
  Reduce(const Reduction& reduction, absl::Span<const ElemwiseOperand> operands,
         const BroadcastPlan& plan, C* acc)
      : plain_(PlainLoops(reduction.reducer).of<C>()),
        loops_(reduction.loops == nullptr ? plain_ : reduction.loops->of<C>()),
        map_(reduction.map == nullptr || reduction.loops != nullptr ? nullptr
                                                                    : reduction.map->of<C>()),
        operands_(operands),
        plan_(plan),
        target_(static_cast<int>(operands.size())),
        acc_(acc) {}

  // Reduces into acc, which has `size` elements.
  void Run(int64_t size) {
    std::fill_n(acc_, size, loops_.initial);
    if (plan_.num_elements() == 0) return;
    if (size == 1) {
      RunWhole();
      return;
    }
    if (IsMatrix(1, 0)) return RunRows();
    if (IsMatrix(0, 1) && plan_.extents[1] <= kNarrow) return RunFewColumns();
    // Threads share the output along its longest axis.
    int axis = -1;
    for (int a = 0; a < plan_.rank; ++a) {
      const bool kept = plan_.strides[target_][a] != 0;
      if (kept && (axis < 0 || plan_.extents[a] > plan_.extents[axis])) axis = a;
    }
    const int64_t extent = plan_.extents[axis];
    const int64_t slice = plan_.num_elements() / extent;
    ParallelForPlain(extent, std::max<int64_t>(1, kGrain / slice), [&](int64_t begin, int64_t end) {
      BroadcastPlan part = plan_;
      part.extents[axis] = end - begin;
      std::array<int64_t, BroadcastPlan::kMaxOperands> base = {};
      for (int k = 0; k <= target_; ++k) base[k] = begin * plan_.strides[k][axis];
      if (ReducesColumns()) {
        WalkColumns(part, base.data());
      } else {
        Walk(part, base.data(), 0, part.num_elements(), acc_);
      }
    });
  }

 private:
  // Rows with up to kNarrow columns are read whole, as parts of all rows.
  static constexpr int64_t kNarrow = kElementBlock;

  // Returns whether the only operand is a contiguous matrix of type C, and the output has these
  // strides.
  bool IsMatrix(int64_t row_stride, int64_t column_stride) const {
    return map_ == nullptr && operands_[0].dtype == DTypeOf<C>() && plan_.rank == 2 &&
           plan_.strides[0][0] == plan_.extents[1] && plan_.strides[0][1] == 1 &&
           plan_.strides[target_][0] == row_stride && plan_.strides[target_][1] == column_stride;
  }

  void RunRows() {
    const C* const x = static_cast<const C*>(operands_[0].data);
    const int64_t n = plan_.extents[1];
    ParallelForPlain(plan_.extents[0], std::max<int64_t>(1, kGrain / n),
                     [&](int64_t begin, int64_t end) {
                       loops_.rows(x + begin * n, acc_ + begin, end - begin, n);
                     });
  }

  // Adds rows side by side as one row of a block's width, in parts whose number depends on the
  // shape alone.
  void RunFewColumns() {
    constexpr int64_t kMaxSums = 4096;
    const C* const x = static_cast<const C*>(operands_[0].data);
    const int64_t rows = plan_.extents[0], n = plan_.extents[1];
    const int64_t parts =
        std::clamp<int64_t>(rows * n / (2 * kGrain), 1, std::min<int64_t>(64, kMaxSums / n));
    const int64_t width = kElementBlock / n * n;
    std::array<C, kMaxSums> partial;
    ParallelForPlain(parts, 1, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        std::array<C, kElementBlock> wide;
        wide.fill(loops_.initial);
        const int64_t first = RangeBegin(rows, p, parts) * n;
        const int64_t last = RangeBegin(rows, p + 1, parts) * n;
        const int64_t count = (last - first) / width;
        loops_.columns(x + first, width, count, width, wide.data());
        loops_.columns(x + first + count * width, 0, 1, last - first - count * width, wide.data());
        plain_.columns(wide.data() + n, n, width / n - 1, n, wide.data());
        std::copy_n(wide.data(), n, &partial[p * n]);
      }
    });
    plain_.columns(partial.data(), n, parts, n, acc_);
  }

  // Reduces everything to one element, in parts whose number depends on the size alone.
  void RunWhole() {
    constexpr int64_t kMaxParts = 64;
    const int64_t n = plan_.num_elements();
    const int64_t parts = std::clamp<int64_t>(n / (2 * kGrain), 1, kMaxParts);
    std::array<C, kMaxParts> partial;
    partial.fill(loops_.initial);
    const int64_t base[BroadcastPlan::kMaxOperands] = {};
    ParallelForPlain(parts, 1, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        Walk(plan_, base, n * p / parts, n * (p + 1) / parts, &partial[p]);
      }
    });
    for (int64_t p = 0; p < parts; ++p) *acc_ = loops_.combine(*acc_, partial[p]);
  }

  // Returns whether the last axis is kept and the one before it is reduced, of an operand of type
  // C.
  bool ReducesColumns() const {
    const int inner = plan_.rank - 1;
    return map_ == nullptr && operands_[0].dtype == DTypeOf<C>() && inner > 0 &&
           plan_.strides[0][inner] == 1 && plan_.strides[target_][inner] == 1 &&
           plan_.strides[target_][inner - 1] == 0;
  }

  // Walks all elements of a plan that ReducesColumns, with all rows of a set of columns at a time.
  void WalkColumns(BroadcastPlan plan, const int64_t* base) {
    const int rows_axis = plan.rank - 2;
    const int64_t rows = plan.extents[rows_axis];
    plan.extents[rows_axis] = 1;
    const C* const x = static_cast<const C*>(operands_[0].data) + base[0];
    WalkBroadcast(plan, 0, plan.num_elements(), [&](const int64_t* offsets, int64_t n, int64_t) {
      loops_.columns(x + offsets[0], plan.strides[0][rows_axis], rows, n,
                     acc_ + base[target_] + offsets[target_]);
    });
  }

  void Walk(const BroadcastPlan& plan, const int64_t* base, int64_t begin, int64_t end, C* acc) {
    const int inner = plan.rank - 1;
    WalkBroadcast(plan, begin, end, [&](const int64_t* offsets, int64_t n, int64_t) {
      RunOperand run[kMaxElemwiseArity];
      for (int k = 0; k < target_; ++k) {
        const ElemwiseOperand& operand = operands_[k];
        run[k] = {ElementAt(operand.data, operand.dtype, base[k] + offsets[k]), operand.dtype,
                  plan.strides[k][inner] == 0};
      }
      C* to = acc + base[target_] + offsets[target_];
      Row(run, n, to, plan.strides[target_][inner] == 0);
    });
  }

  void Row(RunOperand* run, int64_t n, C* to, bool reduced) {
    if (map_ == nullptr && run[0].dtype == DTypeOf<C>() && !run[0].fixed) {
      Accumulate(static_cast<const C*>(run[0].data), n, to, reduced);
      return;
    }
    C block[kElementBlock];
    for (int64_t begin = 0; begin < n; begin += kElementBlock) {
      const int64_t count = std::min(kElementBlock, n - begin);
      if (map_ != nullptr) {
        RunElements<C>(map_, {run, static_cast<size_t>(target_)}, count, block, DTypeOf<C>(),
                       WriteReq::kWrite);
      } else {
        LoadBlock(run[0].data, run[0].dtype, run[0].fixed ? 1 : count, block);
        if (run[0].fixed) std::fill_n(block, count, C{block[0]});
      }
      Accumulate(block, count, reduced ? to : to + begin, reduced);
      for (int k = 0; k < target_; ++k) {
        if (!run[k].fixed) run[k].data = ElementAt(run[k].data, run[k].dtype, count);
      }
    }
  }

  void Accumulate(const C* values, int64_t n, C* to, bool reduced) {
    if (reduced) {
      *to = loops_.combine(*to, loops_.row(values, n));
    } else {
      loops_.columns(values, 0, 1, n, to);
    }
  }

  const ReduceLoops<C>& plain_;  // for partial results
  const ReduceLoops<C>& loops_;  // for values of map_ or, without it, elements
  const ElemwiseLoop<C> map_;
  const absl::Span<const ElemwiseOperand> operands_;
  const BroadcastPlan& plan_;
  const int target_;
  C* const acc_;
};

// Applies `end` to the results `acc` and stores them in the output, unless they are there.
template <typename C>
void Finish(const ReductionEnd& end, C* acc, const ArrayView& output, WriteReq req) {
  const bool stores = acc != output.data;
  if (end.is_none() && !stores) return;
  ParallelFor(output.size(), kGrain, [=, &output](int64_t begin, int64_t last) {
    if (end.divisor != 1) {
      const C divisor = static_cast<C>(end.divisor);
      for (int64_t i = begin; i < last; ++i) acc[i] = ReducedQuotient(acc[i], divisor);
    }
    if (end.square_root) {
      for (int64_t i = begin; i < last; ++i) acc[i] = static_cast<C>(std::sqrt(acc[i]));
    }
    if (!stores) return;
    StoreBlock(acc + begin, last - begin, req, ElementAt(output.data, output.dtype, begin),
               output.dtype);
  });
}

// Returns whether float holds these sums of squares with full precision. Computing all norms in
// double would take up to twice as long for rare inputs. Sums of 0 return false too, because they
// look like sums of squares that are too small for float.
bool HoldsSums(const float* sums, int64_t size) {
  using Limits = std::numeric_limits<float>;
  constexpr float kLeast = Limits::min() / Limits::epsilon();
  int beyond = 0;  // without an exit, for vector instructions
  RunAtCpuLevel([&] {
    for (int64_t i = 0; i < size; ++i) beyond |= (sums[i] < kLeast) | (sums[i] > Limits::max());
  });
  return beyond == 0;
}

int64_t Product(absl::Span<const int64_t> extents) {
  int64_t product = 1;
  for (int64_t extent : extents) product *= extent;
  return product;
}

}  // namespace

int64_t ReductionWorkspace(const ArrayView& output, WriteReq req, const ReductionEnd& end) {
  // Intermediate results are stored in the output itself if its elements can hold them.
  const bool holds =
      output.dtype == DType::kFloat64 || (output.dtype == DType::kFloat32 && !end.square_root);
  if (req == WriteReq::kNull || (req == WriteReq::kWrite && holds)) return 0;
  return output.size() * static_cast<int64_t>(sizeof(int64_t));
}

absl::Status RunReduction(const Reduction& reduction, absl::Span<const int64_t> full,
                          absl::Span<const ElemwiseOperand> operands,
                          absl::Span<const absl::Span<const int64_t>> operand_shapes,
                          const ArrayView& output, absl::Span<const int64_t> output_shape,
                          WriteReq req, void* workspace) {
  if (req == WriteReq::kNull || output.size() == 0) return absl::OkStatus();
  const DType computed_as = output.dtype == DType::kBool ? operands[0].dtype : output.dtype;
  if (output.size() == Product(full) && reduction.end.is_none()) {
    // Nothing is reduced, as for a side of a broadcast operator that was not repeated.
    return RunBroadcastAs(computed_as,
                          reduction.map == nullptr ? kElemwiseLoops<Same> : *reduction.map,
                          operands, operand_shapes, full, output, req);
  }
  absl::Span<const int64_t> shapes[BroadcastPlan::kMaxOperands];
  std::copy(operand_shapes.begin(), operand_shapes.end(), shapes);
  shapes[operands.size()] = output_shape;
  BroadcastPlan plan;
  if (!MakeBroadcastPlan(full, {shapes, operands.size() + 1}, &plan)) {
    return absl::UnimplementedError(absl::StrCat("reduction: more than ", BroadcastPlan::kMaxRank,
                                                 " axes that cannot be merged"));
  }
  const bool exact_integers = reduction.map == nullptr || reduction.map->exact_integers;
  DispatchComputeType(computed_as, exact_integers, [&](auto zero) {
    using C = decltype(zero);
    const bool direct = req == WriteReq::kWrite && output.dtype == DTypeOf<C>();
    C* acc = static_cast<C*>(direct ? output.data : workspace);
    const int64_t size = output.size();
    Reduce<C>(reduction, operands, plan, acc).Run(size);
    if constexpr (std::is_same_v<C, float>) {
      // The squares of float16 values are within the range of float.
      const bool fits = operands[0].dtype == DType::kFloat16;
      if (reduction.end.square_root && !fits && !HoldsSums(acc, size)) {
        double* const wide = static_cast<double*>(workspace);
        Reduce<double>(reduction, operands, plan, wide).Run(size);
        return Finish(reduction.end, wide, output, req);
      }
    }
    Finish(reduction.end, acc, output, req);
  });
  return absl::OkStatus();
}

}  // namespace cooper
