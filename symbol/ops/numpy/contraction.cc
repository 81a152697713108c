#include "symbol/ops/numpy/contraction.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// Labels of "..." are behind those of letters; the last axis has the first one.
constexpr int kEllipsis = 256;

absl::Status Unfit(absl::string_view what, Shapes shapes) {
  std::string text;
  for (const PartialShape& shape : shapes) absl::StrAppend(&text, " ", shape.ToString());
  return absl::InvalidArgumentError(absl::StrCat("inputs of shapes", text, ": ", what));
}

AxisLabels Range(int first, int count) {
  AxisLabels labels(count);
  for (int i = 0; i < count; ++i) labels[i] = first + i;
  return labels;
}

// Labels the output with what is not summed, a's axes first.
Contraction PairedBy(AxisLabels a, AxisLabels b) {
  Contraction result;
  for (int label : a) {
    if (!absl::c_linear_search(b, label)) result.output.push_back(label);
  }
  for (int label : b) {
    if (!absl::c_linear_search(a, label)) result.output.push_back(label);
  }
  result.operands = {std::move(a), std::move(b)};
  return result;
}

// Returns the labels of `count` broadcast axes that end before axis `end` of an input: the last one
// has label `first`, the one before it first + 1. An extent of 1 has no label if another input has
// a larger one, in `extents` by label.
AxisLabels BroadcastLabels(const PartialShape& shape, int end, int count, int first,
                           const std::map<int, int64_t>& extents) {
  AxisLabels labels;
  for (int i = 0; i < count; ++i) {
    const int label = first + count - 1 - i;
    const bool repeated = shape[end - count + i] == 1 && extents.at(label) != 1;
    labels.push_back(repeated ? kNoLabel : label);
  }
  return labels;
}

// Adds the extents of the axes that BroadcastLabels labels to `extents`, by label.
void AddExtents(const PartialShape& shape, int end, int count, int first,
                std::map<int, int64_t>* extents) {
  for (int i = 0; i < count; ++i) {
    const int64_t extent = shape[end - count + i];
    int64_t& known = extents->emplace(first + count - 1 - i, extent).first->second;
    if (known == 1) known = extent;
  }
}

}  // namespace

Contraction Contraction::GradientOf(size_t i) const {
  Contraction result{.operands = {output}, .output = operands[i]};
  for (size_t k = 0; k < operands.size(); ++k) {
    if (k != i) result.operands.push_back(operands[k]);
  }
  return result;
}

absl::StatusOr<Contraction> DotLabels(Shapes shapes) {
  const int a = shapes[0].rank(), b = shapes[1].rank();
  AxisLabels first = Range(0, a), second = Range(a, b);
  // A scalar multiplies; otherwise the last axis of a meets the last but one of b.
  if (a > 0 && b > 0) second[b == 1 ? 0 : b - 2] = first[a - 1];
  return PairedBy(std::move(first), std::move(second));
}

absl::StatusOr<Contraction> MatmulLabels(Shapes shapes) {
  const PartialShape &a = shapes[0], &b = shapes[1];
  if (a.rank() == 0 || b.rank() == 0) return Unfit("expected no scalars; use multiply", shapes);
  enum Label { kRow, kSummed, kColumn, kBatch };
  const int a_matrix = std::min(a.rank(), 2), b_matrix = std::min(b.rank(), 2);
  const int a_batch = a.rank() - a_matrix, b_batch = b.rank() - b_matrix;
  std::map<int, int64_t> extents;
  AddExtents(a, a_batch, a_batch, kBatch, &extents);
  AddExtents(b, b_batch, b_batch, kBatch, &extents);
  Contraction result;
  result.operands = {BroadcastLabels(a, a_batch, a_batch, kBatch, extents),
                     BroadcastLabels(b, b_batch, b_batch, kBatch, extents)};
  const int batch = std::max(a_batch, b_batch);
  for (int i = 0; i < batch; ++i) result.output.push_back(kBatch + batch - 1 - i);
  if (a_matrix == 2) {
    result.operands[0].push_back(kRow);
    result.output.push_back(kRow);
  }
  result.operands[0].push_back(kSummed);
  result.operands[1].push_back(kSummed);
  if (b_matrix == 2) {
    result.operands[1].push_back(kColumn);
    result.output.push_back(kColumn);
  }
  return result;
}

absl::StatusOr<Contraction> TensordotLabels(const TensordotParam& param, Shapes shapes) {
  const int a = shapes[0].rank(), b = shapes[1].rank();
  AxisLabels first = Range(0, a), second = Range(a, b);
  if (a == 0 || b == 0) return PairedBy(std::move(first), std::move(second));
  if (param.a_axes_summed.size() != param.b_axes_summed.size()) {
    return Unfit("expected as many axes of a as of b", shapes);
  }
  for (size_t i = 0; i < param.a_axes_summed.size(); ++i) {
    COOPER_ASSIGN_OR_RETURN(const int of_a,
                            NormalizeAxis(param.a_axes_summed[i], a, "a_axes_summed"));
    COOPER_ASSIGN_OR_RETURN(const int of_b,
                            NormalizeAxis(param.b_axes_summed[i], b, "b_axes_summed"));
    if (second[of_b] < a || absl::c_linear_search(second, first[of_a])) {
      return Unfit("an axis is summed twice", shapes);
    }
    second[of_b] = first[of_a];
  }
  return PairedBy(std::move(first), std::move(second));
}

absl::StatusOr<Contraction> TensordotLabels(const TensordotIntAxesParam& param, Shapes shapes) {
  const int a = shapes[0].rank(), b = shapes[1].rank();
  AxisLabels first = Range(0, a), second = Range(a, b);
  if (a > 0 && b > 0) {
    if (param.axes > std::min(a, b)) {
      return Unfit(absl::StrCat("they have not ", param.axes, " axes to sum"), shapes);
    }
    for (int i = 0; i < param.axes; ++i) second[i] = first[a - param.axes + i];
  }
  return PairedBy(std::move(first), std::move(second));
}

absl::StatusOr<Contraction> EinsumLabels(const EinsumParam& param, Shapes shapes) {
  const auto wrong = [&](absl::string_view why) {
    return Unfit(absl::StrCat("subscripts '", param.subscripts, "': ", why), shapes);
  };
  // A point stands for "..." below.
  const std::string text = absl::StrReplaceAll(param.subscripts, {{"...", "."}, {" ", ""}});
  const std::vector<std::string> sides = absl::StrSplit(text, "->");
  const std::vector<std::string> terms = absl::StrSplit(sides[0], ',');
  if (sides.size() > 2 || terms.size() != shapes.size()) return wrong("expected a term per input");
  std::map<int, int64_t> extents;  // of "...", by label
  int longest = 0;
  std::map<char, int> counts;  // of letters
  std::vector<int> hidden;     // axes of "..." of each term
  for (size_t i = 0; i < terms.size(); ++i) {
    const auto points = std::count(terms[i].begin(), terms[i].end(), '.');
    const int letters = static_cast<int>(terms[i].size() - points);
    hidden.push_back(points == 0 ? 0 : shapes[i].rank() - letters);
    if (points > 1 || letters + hidden[i] != shapes[i].rank() || hidden[i] < 0) {
      return wrong(absl::StrCat("term ", i, " does not fit the input's rank"));
    }
    const int end = static_cast<int>(terms[i].find('.')) + hidden[i];
    if (points > 0) AddExtents(shapes[i], end, hidden[i], kEllipsis, &extents);
    longest = std::max(longest, hidden[i]);
    for (char c : terms[i]) {
      if (c != '.' && !absl::ascii_isalpha(static_cast<unsigned char>(c))) {
        return wrong("expected letters");
      }
      if (c != '.') ++counts[c];
    }
  }
  Contraction result;
  for (size_t i = 0; i < terms.size(); ++i) {
    AxisLabels& labels = result.operands.emplace_back();
    for (char c : terms[i]) {
      if (c != '.') {
        labels.push_back(c);
        continue;
      }
      const int end = static_cast<int>(labels.size()) + hidden[i];
      const AxisLabels more = BroadcastLabels(shapes[i], end, hidden[i], kEllipsis, extents);
      labels.insert(labels.end(), more.begin(), more.end());
    }
  }
  std::string output;
  if (sides.size() == 2) {
    output = sides[1];
  } else {  // "..." and the letters that occur once, sorted
    if (longest > 0) output = ".";
    for (const auto& [letter, count] : counts) {
      if (count == 1) output.push_back(letter);
    }
  }
  for (size_t i = 0; i < output.size(); ++i) {
    const char c = output[i];
    if (output.find(c, i + 1) != output.npos) return wrong("the output has a label twice");
    if (c == '.') {
      for (int k = longest - 1; k >= 0; --k) result.output.push_back(kEllipsis + k);
    } else if (counts.count(c) == 0) {
      return wrong("the output has a label that no input has");
    } else {
      result.output.push_back(c);
    }
  }
  if (longest > 0 && !absl::StrContains(output, ".")) return wrong("the output has no '...'");
  return result;
}

absl::StatusOr<PartialShape> ContractedShape(const Contraction& contraction, Shapes shapes) {
  std::map<int, int64_t> extents;
  for (size_t i = 0; i < shapes.size(); ++i) {
    for (int axis = 0; axis < shapes[i].rank(); ++axis) {
      const int label = contraction.operands[i][axis];
      const int64_t extent = shapes[i][axis];
      int64_t& known = extents.emplace(label, extent).first->second;
      if (label == kNoLabel || extent == kUnknownDim || known == extent) continue;
      if (known != kUnknownDim) {
        return Unfit(absl::StrCat("extents ", known, " and ", extent, " meet on axis ", axis,
                                  " of input ", i),
                     shapes);
      }
      known = extent;
    }
  }
  PartialShape shape = PartialShape::OfRank(static_cast<int>(contraction.output.size()));
  for (int axis = 0; axis < shape.rank(); ++axis) {
    shape[axis] = extents.at(contraction.output[axis]);
  }
  return shape;
}

}  // namespace cooper
