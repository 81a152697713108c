#include "executor/kernels/loops/elemwise_kernel.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "executor/kernels/loops/broadcast_as.h"
#include "executor/kernels/loops/broadcast_plan.h"
#include "executor/kernels/loops/element_block.h"
#include "ndarray/threads/cpu_level.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

constexpr int kMaxArity = kMaxElemwiseArity;
constexpr int64_t kGrain = 16384;

// The scalars of a loop, each as one element of the output's dtype.
using ScalarCells = std::array<std::array<char, 8>, kMaxArity>;

RunOperand Resolve(const ElemwiseOperand& operand, DType dtype, std::array<char, 8>* cell) {
  if (operand.data != nullptr) return {operand.data, operand.dtype, false};
  StoreBlock<double>(&operand.scalar, 1, WriteReq::kWrite, cell->data(), dtype);
  return {cell->data(), dtype, true};
}

// For shorter runs, starting a loop takes longer than the computation, so their operands are
// gathered into blocks.
constexpr int64_t kShortRun = 64;

// Gathers n positions from `begin` on of an operand whose plan has two axes, the outer one with
// stride 0: the inner axis repeats.
template <typename Word>
void GatherPeriods(const BroadcastPlan& plan, const Word* from, int64_t begin, int64_t n,
                   Word* to) {
  const int64_t period = plan.extents[1];
  int64_t done = std::min(period, n);
  for (int64_t i = 0, at = begin % period; i < done; ++i) {
    to[i] = from[at];
    if (++at == period) at = 0;
  }
  while (done < n) {  // doubles whole periods
    const int64_t count = std::min(done, n - done);
    std::copy_n(to, count, to + done);
    done += count;
  }
}

template <typename Word>
void GatherWords(const BroadcastPlan& plan, const void* data, int64_t begin, int64_t n, void* to) {
  const Word* const from = static_cast<const Word*>(data);
  const int64_t stride = plan.strides[0][plan.rank - 1];
  if (plan.rank == 2 && plan.strides[0][0] == 0) {
    return GatherPeriods(plan, from, begin, n, static_cast<Word*>(to));
  }
  Word* const words = static_cast<Word*>(to) - begin;
  WalkBroadcast(plan, begin, begin + n, [=](const int64_t* offsets, int64_t count, int64_t at) {
    const Word* const run = from + offsets[0];
    if (stride == 0) {
      const Word word = *run;
      for (int64_t i = 0; i < count; ++i) words[at + i] = word;
    } else {
      for (int64_t i = 0; i < count; ++i) words[at + i] = run[i * stride];
    }
  });
}

// An operand with a broadcast plan of its own.
struct GatheredOperand {
  RunOperand operand;
  BroadcastPlan plan;

  // Returns the operand for the positions [begin, begin + n), at most kElementBlock. `block` has
  // room for its elements if they are not contiguous.
  RunOperand Block(int64_t begin, int64_t n, char* block) const {
    RunOperand run = operand;
    if (run.fixed) return run;
    if (plan.rank == 1) {
      run.fixed = plan.strides[0][0] == 0;
      if (!run.fixed) run.data = ElementAt(run.data, run.dtype, begin);
      return run;
    }
    switch (SizeOf(run.dtype)) {
      case 1:
        GatherWords<uint8_t>(plan, run.data, begin, n, block);
        break;
      case 2:
        GatherWords<uint16_t>(plan, run.data, begin, n, block);
        break;
      case 4:
        GatherWords<uint32_t>(plan, run.data, begin, n, block);
        break;
      default:
        GatherWords<uint64_t>(plan, run.data, begin, n, block);
    }
    run.data = block;
    return run;
  }
};

}  // namespace

template <typename C>
void RunElements(ElemwiseLoop<C> loop, absl::Span<const RunOperand> operands, int64_t n,
                 void* output, DType output_dtype, WriteReq req) {
  const bool direct = req == WriteReq::kWrite && output_dtype == DTypeOf<C>();
  bool in_blocks = !direct, all_fixed = true;
  for (const RunOperand& operand : operands) {
    in_blocks |= operand.fixed || operand.dtype != DTypeOf<C>();
    all_fixed &= operand.fixed;
  }
  if (direct && all_fixed && n > 1) {
    C value;
    RunElements<C>(loop, operands, 1, &value, output_dtype, req);
    RunAtCpuLevel([=] { std::fill_n(static_cast<C*>(output), n, value); });
    return;
  }
  const C* in[kMaxArity];
  if (!in_blocks) {
    for (size_t k = 0; k < operands.size(); ++k) in[k] = static_cast<const C*>(operands[k].data);
    loop(in, static_cast<C*>(output), n);
    return;
  }
  alignas(64) C buffers[kMaxArity + 1][kElementBlock];
  const int64_t longest = std::min(n, kElementBlock);
  for (size_t k = 0; k < operands.size(); ++k) {
    if (!operands[k].fixed) continue;
    C value;
    if (operands[k].dtype == DTypeOf<C>()) {  // without a call, which short rows would notice
      value = *static_cast<const C*>(operands[k].data);
    } else {
      LoadBlock(operands[k].data, operands[k].dtype, 1, &value);
    }
    RunAtCpuLevel([=, to = buffers[k]] { std::fill_n(to, longest, value); });
    in[k] = buffers[k];
  }
  for (int64_t begin = 0; begin < n; begin += kElementBlock) {
    const int64_t count = std::min(kElementBlock, n - begin);
    for (size_t k = 0; k < operands.size(); ++k) {
      const RunOperand& operand = operands[k];
      if (operand.fixed) continue;
      if (operand.dtype == DTypeOf<C>()) {
        in[k] = static_cast<const C*>(operand.data) + begin;
      } else {
        LoadBlock(ElementAt(operand.data, operand.dtype, begin), operand.dtype, count, buffers[k]);
        in[k] = buffers[k];
      }
    }
    if (direct) {
      loop(in, static_cast<C*>(output) + begin, count);
    } else {
      C* result = buffers[kMaxArity];
      loop(in, result, count);
      StoreBlock(result, count, req, ElementAt(output, output_dtype, begin), output_dtype);
    }
  }
}

template void RunElements<float>(ElemwiseLoop<float>, absl::Span<const RunOperand>, int64_t, void*,
                                 DType, WriteReq);
template void RunElements<double>(ElemwiseLoop<double>, absl::Span<const RunOperand>, int64_t,
                                  void*, DType, WriteReq);
template void RunElements<int64_t>(ElemwiseLoop<int64_t>, absl::Span<const RunOperand>, int64_t,
                                   void*, DType, WriteReq);

absl::Status RunElemwise(const ElemwiseLoops& loops, absl::Span<const ElemwiseOperand> operands,
                         const ArrayView& output, WriteReq req) {
  if (req == WriteReq::kNull) return absl::OkStatus();
  ScalarCells cells;
  RunOperand resolved[kMaxArity];
  for (size_t k = 0; k < operands.size(); ++k) {
    resolved[k] = Resolve(operands[k], output.dtype, &cells[k]);
  }
  DispatchComputeType(output.dtype, loops.exact_integers, [&](auto zero) {
    using C = decltype(zero);
    ParallelForPlain(output.size(), kGrain, [&](int64_t begin, int64_t end) {
      RunOperand part[kMaxArity];
      for (size_t k = 0; k < operands.size(); ++k) {
        part[k] = resolved[k];
        if (!part[k].fixed) part[k].data = ElementAt(part[k].data, part[k].dtype, begin);
      }
      RunElements<C>(loops.of<C>(), {part, operands.size()}, end - begin,
                     ElementAt(output.data, output.dtype, begin), output.dtype, req);
    });
  });
  return absl::OkStatus();
}

namespace {

void RunGathered(const ElemwiseLoops& loops, absl::Span<const GatheredOperand> operands,
                 DType computed_as, const ArrayView& output, WriteReq req) {
  DispatchComputeType(computed_as, loops.exact_integers, [&](auto zero) {
    using C = decltype(zero);
    ParallelForPlain(output.size(), kGrain, [&](int64_t first, int64_t last) {
      alignas(64) char blocks[kMaxArity][kElementBlock * 8];
      for (int64_t begin = first; begin < last; begin += kElementBlock) {
        const int64_t n = std::min(kElementBlock, last - begin);
        RunOperand run[kMaxArity];
        for (size_t k = 0; k < operands.size(); ++k)
          run[k] = operands[k].Block(begin, n, blocks[k]);
        RunElements<C>(loops.of<C>(), {run, operands.size()}, n,
                       ElementAt(output.data, output.dtype, begin), output.dtype, req);
      }
    });
  });
}

}  // namespace

absl::Status RunBroadcast(const ElemwiseLoops& loops, absl::Span<const ElemwiseOperand> operands,
                          absl::Span<const absl::Span<const int64_t>> shapes,
                          absl::Span<const int64_t> full, const ArrayView& output, WriteReq req) {
  return RunBroadcastAs(output.dtype, loops, operands, shapes, full, output, req);
}

absl::Status RunBroadcastAs(DType computed_as, const ElemwiseLoops& loops,
                            absl::Span<const ElemwiseOperand> operands,
                            absl::Span<const absl::Span<const int64_t>> shapes,
                            absl::Span<const int64_t> full, const ArrayView& output, WriteReq req) {
  if (req == WriteReq::kNull) return absl::OkStatus();
  BroadcastPlan plan;
  if (!MakeBroadcastPlan(full, shapes, &plan)) {
    return absl::UnimplementedError(
        absl::StrCat("broadcast to ", output.shape.ToString(), ": too many axes"));
  }
  ScalarCells cells;
  RunOperand resolved[kMaxArity];
  for (size_t k = 0; k < operands.size(); ++k) {
    resolved[k] = Resolve(operands[k], computed_as, &cells[k]);
  }
  const int inner = plan.rank - 1;
  if (plan.rank > 1 && plan.extents[inner] < kShortRun) {
    GatheredOperand gathered[kMaxArity];
    for (size_t k = 0; k < operands.size(); ++k) {
      gathered[k].operand = resolved[k];
      MakeBroadcastPlan(full, {shapes[k]}, &gathered[k].plan);
    }
    RunGathered(loops, {gathered, operands.size()}, computed_as, output, req);
    return absl::OkStatus();
  }
  DispatchComputeType(computed_as, loops.exact_integers, [&](auto zero) {
    using C = decltype(zero);
    ParallelForPlain(output.size(), kGrain, [&](int64_t begin, int64_t end) {
      WalkBroadcast(plan, begin, end, [&](const int64_t* offsets, int64_t n, int64_t position) {
        RunOperand run[kMaxArity];
        for (size_t k = 0; k < operands.size(); ++k) {
          run[k] = resolved[k];
          if (run[k].fixed) continue;
          run[k].data = ElementAt(run[k].data, run[k].dtype, offsets[k]);
          run[k].fixed = plan.strides[k][inner] == 0;
        }
        RunElements<C>(loops.of<C>(), {run, operands.size()}, n,
                       ElementAt(output.data, output.dtype, position), output.dtype, req);
      });
    });
  });
  return absl::OkStatus();
}

}  // namespace cooper
