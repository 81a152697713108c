#include "executor/kernels/numpy/contraction_plan.h"

#include <utility>

#include "absl/algorithm/container.h"

namespace cooper {
namespace {

using Step = ContractionStep;
using Buffer = ContractionBuffer;

bool Has(const AxisLabels& labels, int label) { return absl::c_linear_search(labels, label); }

// An array with one axis for each label.
struct Labelled {
  Buffer buffer;
  AxisLabels labels;
  std::vector<int64_t> extents, strides;

  // Adds an axis; equal labels are the diagonal of their axes.
  void Add(int label, int64_t extent, int64_t stride) {
    if (label == kNoLabel) return;
    for (size_t i = 0; i < labels.size(); ++i) {
      if (labels[i] != label) continue;
      strides[i] += stride;
      return;
    }
    labels.push_back(label);
    extents.push_back(extent);
    strides.push_back(stride);
  }
  int64_t extent(int label) const {
    const auto at = absl::c_find(labels, label);
    return at == labels.end() ? 1 : extents[at - labels.begin()];
  }
  // 0 for a label that the array does not have: it is repeated along it.
  int64_t stride(int label) const {
    const auto at = absl::c_find(labels, label);
    return at == labels.end() ? 0 : strides[at - labels.begin()];
  }
  int64_t size(const AxisLabels& of) const {
    int64_t product = 1;
    for (int label : of) product *= extent(label);
    return product;
  }
  // Returns whether the elements lie densely in the order of these labels, which are all.
  bool IsDense(const AxisLabels& order) const {
    int64_t dense = 1;
    for (auto label = order.rbegin(); label != order.rend(); ++label) {
      if (extent(*label) != 1 && stride(*label) != dense) return false;
      dense *= extent(*label);
    }
    return true;
  }
};

AxisLabels Joined(AxisLabels a, const AxisLabels& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

class Planner {
 public:
  Planner(const Contraction& contraction, const Shape& output, DType dtype)
      : contraction_(contraction), element_(SizeOf(dtype)) {
    output_.buffer.kind = Buffer::kOutput;
    AddAxes(contraction.output, output, &output_);
    size_ = output.num_elements();
  }

  ContractionPlan Run(absl::Span<const Shape> shapes) {
    Labelled all = Operand(0, shapes[0]);
    for (size_t i = 1; i < shapes.size(); ++i) {
      Labelled next = Operand(static_cast<int>(i), shapes[i]);
      const AxisLabels needed = NeededAfter(i);
      all = SumAlone(std::move(all), Joined(needed, next.labels));
      next = SumAlone(std::move(next), Joined(needed, all.labels));
      all = Multiply(all, next, needed, /*is_last=*/i + 1 == shapes.size());
    }
    if (all.buffer.kind != Buffer::kOutput) Finish(all);
    return std::move(plan_);
  }

 private:
  static void AddAxes(const AxisLabels& labels, const Shape& shape, Labelled* array) {
    for (int axis = 0; axis < shape.rank(); ++axis) {
      array->Add(labels[axis], shape[axis], StrideOf(shape, axis));
    }
  }

  Labelled Operand(int i, const Shape& shape) const {
    Labelled array{.buffer = {.kind = Buffer::kOperand, .operand = i}};
    AddAxes(contraction_.operands[i], shape, &array);
    return array;
  }

  // Returns the labels that the output and the operands behind operand i have.
  AxisLabels NeededAfter(size_t i) const {
    AxisLabels needed = contraction_.output;
    for (++i; i < contraction_.operands.size(); ++i) {
      needed = Joined(std::move(needed), contraction_.operands[i]);
    }
    return needed;
  }

  // Returns a dense array with these labels and the extents of `like`, in the workspace.
  Labelled NewArray(const AxisLabels& labels, const Labelled& like) {
    Labelled array{.buffer = {.kind = Buffer::kWorkspace, .offset = plan_.workspace_bytes}};
    int64_t size = 1;
    for (auto label = labels.rbegin(); label != labels.rend(); ++label) size *= like.extent(*label);
    int64_t stride = size;
    for (int label : labels) {
      const int64_t extent = like.extent(label);
      stride = extent == 0 ? 0 : stride / extent;
      array.Add(label, extent, stride);
    }
    plan_.workspace_bytes += (size * element_ + 63) / 64 * 64;
    return array;
  }

  // Moves `from` to `to` and sums over the labels that `to` does not have.
  void Move(const Labelled& from, const Labelled& to, int64_t size, Step::Kind kind) {
    Step step{.kind = kind, .from = from.buffer, .second = {}, .to = to.buffer, .size = size};
    for (int label : to.labels) {
      step.loop.Add(to.extent(label), from.stride(label), to.stride(label));
    }
    for (int label : from.labels) {
      if (!Has(to.labels, label)) step.loop.Add(from.extent(label), from.stride(label), 0);
    }
    plan_.steps.push_back(std::move(step));
  }

  // Sums over the labels that are not in `kept`.
  Labelled SumAlone(Labelled array, const AxisLabels& kept) {
    AxisLabels left;
    for (int label : array.labels) {
      if (Has(kept, label)) left.push_back(label);
    }
    if (left.size() == array.labels.size()) return array;
    Labelled sums = NewArray(left, array);
    Move(array, sums, array.size(left), Step::kSum);
    return sums;
  }

  // Returns the buffer of a factor of matrices (rows, columns), which may be transposed.
  Buffer Matrices(const Labelled& array, const AxisLabels& batch, const AxisLabels& rows,
                  const AxisLabels& columns, bool* transposed) {
    const AxisLabels order = Joined(Joined(batch, rows), columns);
    *transposed = !array.IsDense(order) && array.IsDense(Joined(Joined(batch, columns), rows));
    if (*transposed || array.IsDense(order)) return array.buffer;
    Labelled copy = NewArray(order, array);
    Move(array, copy, array.size(order), Step::kCopy);
    return copy.buffer;
  }

  Labelled Multiply(const Labelled& a, const Labelled& b, const AxisLabels& needed, bool is_last) {
    AxisLabels batch, m, n, k;
    // In the order of the output, so that the product may be written there.
    const AxisLabels all = Joined(Joined(output_.labels, a.labels), b.labels);
    AxisLabels seen;
    for (int label : all) {
      if (Has(seen, label)) continue;
      seen.push_back(label);
      const bool of_a = Has(a.labels, label), of_b = Has(b.labels, label);
      if (of_a && of_b) {
        (Has(needed, label) ? batch : k).push_back(label);
      } else if (of_a || of_b) {
        (of_a ? m : n).push_back(label);
      }
    }
    // The right factor's labels are the last ones: the factors change places if that suits better.
    if (!m.empty() && !output_.labels.empty() && output_.labels.back() == m.back() && !n.empty()) {
      return Multiply(b, a, m, n, k, batch, is_last, /*swapped=*/true);
    }
    return Multiply(a, b, m, n, k, batch, is_last, /*swapped=*/false);
  }

  Labelled Multiply(const Labelled& a, const Labelled& b, AxisLabels m, AxisLabels n,
                    const AxisLabels& k, const AxisLabels& batch, bool is_last, bool swapped) {
    if (swapped) std::swap(m, n);
    Step step{.kind = Step::kMultiply};
    step.from = Matrices(a, batch, m, k, &step.transpose_from);
    step.second = Matrices(b, batch, k, n, &step.transpose_second);
    step.batch = a.size(batch);
    step.m = a.size(m);
    step.k = a.size(k);
    step.n = b.size(n);
    step.size = step.batch * step.m * step.n;
    const AxisLabels order = Joined(Joined(batch, m), n);
    if (is_last && order.size() == output_.labels.size() && output_.IsDense(order)) {
      step.to = output_.buffer;
      plan_.steps.push_back(std::move(step));
      return output_;
    }
    Labelled extents = a;
    for (int label : n) extents.Add(label, b.extent(label), 0);
    Labelled product = NewArray(order, extents);
    step.to = product.buffer;
    plan_.steps.push_back(std::move(step));
    return product;
  }

  // Writes the output: repeats along labels that `all` lacks, sums over those that the output
  // lacks, and fills the diagonal of axes that share a label.
  void Finish(const Labelled& all) {
    int64_t reached = 1;
    for (int64_t extent : output_.extents) reached *= extent;
    const bool sums = absl::c_any_of(all.labels, [&](int l) { return !Has(output_.labels, l); });
    const bool diagonal = reached != size_;
    if (sums && diagonal) {
      Labelled kept = SumAlone(all, output_.labels);
      Move(kept, output_, size_, Step::kScatter);
      return;
    }
    Move(all, output_, size_, diagonal ? Step::kScatter : sums ? Step::kSum : Step::kCopy);
  }

  const Contraction& contraction_;
  int64_t element_;  // bytes
  Labelled output_;
  int64_t size_ = 0;  // of the output
  ContractionPlan plan_;
};

}  // namespace

ContractionPlan PlanContraction(const Contraction& contraction, absl::Span<const Shape> operands,
                                const Shape& output, DType dtype) {
  return Planner(contraction, output, dtype).Run(operands);
}

}  // namespace cooper
