#include "module/predict/requests/batch_predictor.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "io/batch/data_desc.h"
#include "module/rows/sample_rows.h"
#include "ndarray/array/on_cpu.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/random/random.h"
#include "symbol/inference/infer_shape.h"
#include "symbol/schema/batch_layout.h"

namespace cooper {
namespace {

// Largest bound of the numbers in made-up samples, with which the order of a network's rows is
// found. Small integers are valid for all inputs: words, categories, features. For most networks
// the first batch, of 0 and 1, is enough.
constexpr uint64_t kMaxMadeUp = 16;

}  // namespace

BatchPredictor::BatchPredictor(std::shared_ptr<const Predictor> predictor, RequestFormat format,
                               int64_t max_batch_size)
    : predictor_(std::move(predictor)),
      format_(std::move(format)),
      max_batch_size_(max_batch_size) {}

// Inputs whose dtype is wrong in every request are an error of the options.
absl::Status BatchPredictor::CheckDTypes(int64_t length) {
  COOPER_ASSIGN_OR_RETURN(
      const std::vector<DataDesc> expected,
      predictor_->PrepareInputs(length, format_.BatchShapes(max_batch_size_, length)));
  for (const DataDesc& desc : expected) {
    if (desc.name == format_.length_name) length_dtype_ = desc.dtype;
    for (const RequestInput& input : format_.inputs) {
      if (input.name != desc.name || input.dtype == desc.dtype) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("RequestBatcher: input '", input.name, "' is ", DTypeName(input.dtype),
                       ", expected ", DTypeName(desc.dtype), " as the predictor has it"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<OutputShapes> BatchPredictor::PrepareFor(int64_t key, int64_t batch_size,
                                                        int64_t length) const {
  COOPER_ASSIGN_OR_RETURN(const std::vector<DataDesc> outputs,
                          predictor_->Prepare(key, format_.BatchShapes(batch_size, length)));
  OutputShapes known{.batch_size = batch_size, .length = length};
  for (const DataDesc& output : outputs) known.shapes.push_back(output.shape);
  return known;
}

absl::Status BatchPredictor::Prepare() {
  COOPER_RETURN_IF_ERROR(format_.Check());
  std::vector<int64_t> lengths = format_.lengths;
  if (lengths.empty()) lengths.push_back(0);
  const int64_t longest = lengths.back();
  const int64_t batch_size = max_batch_size_;
  std::vector<OutputShapes> known;
  // From the longest on, so that the arena grows once.
  for (auto it = lengths.rbegin(); it != lengths.rend(); ++it) {
    COOPER_ASSIGN_OR_RETURN(known.emplace_back(), PrepareFor(*it, batch_size, *it));
    COOPER_RETURN_IF_ERROR(CheckDTypes(*it));
  }
  // Smaller sizes reveal extents that are equal to a size by chance. A network unrolled for one
  // length accepts no other length.
  if (batch_size > 1) {
    COOPER_ASSIGN_OR_RETURN(known.emplace_back(), PrepareFor(longest, batch_size - 1, longest));
  }
  if (lengths.size() == 1 && longest > 1) {
    auto shorter = PrepareFor(longest, batch_size, longest - 1);
    if (shorter.ok()) {
      known.push_back(*std::move(shorter));
    } else if (!absl::IsInvalidArgument(shorter.status())) {
      return shorter.status();
    }
  }
  // Marks the longest length's program as recent, in case the predictor keeps only one for each
  // length.
  COOPER_RETURN_IF_ERROR(PrepareFor(longest, batch_size, longest).status());
  COOPER_ASSIGN_OR_RETURN(output_rows_, FindOutputRows(known));
  return FindOrderOfPositions(longest);
}

absl::StatusOr<std::vector<RequestSample>> BatchPredictor::FormBatch(int64_t length,
                                                                     uint64_t bound) const {
  RandomGenerator random(/*seed=*/bound);
  const KnownShapes shapes = format_.BatchShapes(/*batch_size=*/1, length);
  std::vector<RequestSample> batch;
  for (int64_t row = 0; row < max_batch_size_; ++row) {
    RequestSample sample{.length = length};
    for (const RequestInput& input : format_.inputs) {
      const Shape shape = shapes.at(input.name).ToShape();
      std::vector<float> numbers(static_cast<size_t>(shape.num_elements()));
      for (float& number : numbers) number = static_cast<float>(random.NextBelow(bound));
      COOPER_ASSIGN_OR_RETURN(const NDArray array, NDArray::FromVector<float>(shape, numbers));
      COOPER_ASSIGN_OR_RETURN(const NDArray row, array.At(0));
      COOPER_ASSIGN_OR_RETURN(sample.arrays[input.name], row.AsType(input.dtype));
    }
    batch.push_back(std::move(sample));
  }
  return batch;
}

// In an output (batch_size * length, ...), the positions of a sample may be together, or the
// samples of a step; no shape tells which. Samples in other places of the batch reveal it: their
// rows move with them.
absl::Status BatchPredictor::FindOrderOfPositions(int64_t length) {
  const int64_t rows = max_batch_size_;
  if (rows == 1) return absl::OkStatus();
  std::vector<std::vector<BatchLayout>> orders(output_rows_.size());
  for (size_t k = 0; k < orders.size(); ++k) {
    if (!output_rows_[k].flattened) continue;
    orders[k] = {BatchLayout::Samples(0, 1, length), BatchLayout::Samples(0, length, 1)};
  }
  const auto in_doubt = [](const std::vector<BatchLayout>& of) { return of.size() > 1; };
  for (uint64_t bound = 2; bound <= kMaxMadeUp && absl::c_any_of(orders, in_doubt); bound *= 2) {
    COOPER_ASSIGN_OR_RETURN(std::vector<RequestSample> batch, FormBatch(length, bound));
    COOPER_ASSIGN_OR_RETURN(const std::vector<NDArray> outputs, Compute(length, batch));
    std::rotate(batch.rbegin(), batch.rbegin() + 1, batch.rend());
    COOPER_ASSIGN_OR_RETURN(const std::vector<NDArray> turned, Compute(length, batch));
    for (size_t k = 0; k < orders.size(); ++k) {
      if (!in_doubt(orders[k])) continue;
      COOPER_ASSIGN_OR_RETURN(const NDArray before, OnCpu(outputs[k]));
      COOPER_ASSIGN_OR_RETURN(const NDArray after, OnCpu(turned[k]));
      COOPER_ASSIGN_OR_RETURN(orders[k], ConsistentLayouts(orders[k], before, after, rows));
    }
  }
  for (size_t k = 0; k < orders.size(); ++k) {
    if (!output_rows_[k].flattened) continue;
    if (orders[k].size() != 1) {
      return absl::UnimplementedError(absl::StrCat(
          "output ", k, " of a batch of ", rows, " samples of length ", length, " has ",
          rows * length,
          " rows, and it is not known which sample each belongs to: samples in another order give ",
          orders[k].empty() ? "other" : "the same", " rows"));
    }
    output_rows_[k].steps_first = orders[k][0].inner == 1;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<NDArray>> BatchPredictor::Compute(
    int64_t length, absl::Span<const RequestSample> samples) const {
  const auto rows = static_cast<int64_t>(samples.size());
  ArrayMap inputs;
  if (!format_.length_name.empty()) {
    std::vector<float> lengths;
    for (const RequestSample& sample : samples)
      lengths.push_back(static_cast<float>(sample.length));
    COOPER_ASSIGN_OR_RETURN(const NDArray array, NDArray::FromVector<float>({rows}, lengths));
    COOPER_ASSIGN_OR_RETURN(inputs[format_.length_name], array.AsType(length_dtype_));
  }
  const KnownShapes shapes = format_.BatchShapes(rows, length);
  for (const RequestInput& input : format_.inputs) {
    std::vector<NDArray> arrays;
    for (const RequestSample& sample : samples) arrays.push_back(sample.arrays.at(input.name));
    COOPER_ASSIGN_OR_RETURN(inputs[input.name], StackPadded(arrays, shapes.at(input.name).ToShape(),
                                                            input.dtype, input.pad_value));
  }
  return predictor_->Predict(length, inputs);
}

absl::StatusOr<std::vector<std::vector<NDArray>>> BatchPredictor::Predict(
    int64_t length, absl::Span<const RequestSample> samples) const {
  COOPER_ASSIGN_OR_RETURN(std::vector<NDArray> outputs, Compute(length, samples));
  const auto rows = static_cast<int64_t>(samples.size());
  for (size_t k = 0; k < outputs.size(); ++k) {
    COOPER_ASSIGN_OR_RETURN(outputs[k], SamplesFirst(outputs[k], output_rows_[k], rows, length));
  }
  std::vector<std::vector<NDArray>> answers(samples.size());
  for (int64_t row = 0; row < rows; ++row) {
    for (size_t k = 0; k < outputs.size(); ++k) {
      COOPER_ASSIGN_OR_RETURN(answers[row].emplace_back(),
                              TakeRow(outputs[k], output_rows_[k], rows, row, samples[row].length));
    }
  }
  return answers;
}

}  // namespace cooper
