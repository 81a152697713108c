#include "io/streams/stream_inputs.h"

#include <algorithm>
#include <limits>
#include <set>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "io/batch/exact_integers.h"
#include "io/batch/reserve_ids.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

constexpr char kKind[] = "BucketStream";
constexpr int kShardShift = 40;  // of DataBatch::index

absl::Status Error(absl::string_view name, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(kKind, ": input '", name, "': ", what));
}

// Returns whether `dtype` holds every value of the integers `from`.
bool HoldsAll(DType dtype, DType from) {
  return DispatchDType(from, [dtype](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      // The largest integer is odd (2^k - 1), so a floating dtype that holds it has enough digits
      // for all integers between the two limits.
      return HoldsInteger(dtype, std::numeric_limits<T>::min()) &&
             HoldsInteger(dtype, std::numeric_limits<T>::max());
    } else {
      return true;
    }
  });
}

// Sets `found` to the first integer that `dtype` does not hold, and returns whether there is one.
bool FindInexact(DType dtype, DType from, const char* data, int64_t count, int64_t* found) {
  return DispatchDType(from, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      const absl::Span<const T> values(reinterpret_cast<const T*>(data),
                                       static_cast<size_t>(count));
      // A dtype that holds 2^n - 1 holds all smaller positive integers.
      T bits = 0;
      bool is_negative = false;
      for (const T value : values) {
        bits = static_cast<T>(bits | value);
        is_negative |= value < 0;
      }
      if (!is_negative) {
        auto mask = static_cast<uint64_t>(bits);
        for (int shift = 1; shift < 64; shift *= 2) mask |= mask >> shift;
        if (HoldsInteger(dtype, static_cast<int64_t>(mask))) return false;
      }
      for (const T value : values) {
        if (HoldsInteger(dtype, static_cast<int64_t>(value))) continue;
        *found = static_cast<int64_t>(value);
        return true;
      }
    }
    return false;
  });
}

}  // namespace

StreamInputs NextWordInputs(const NextWordOptions& options) {
  const StreamInput data = {.name = options.data_name,
                            .pad_value = options.invalid_label,
                            .dtype = options.dtype,
                            .layout = options.layout,
                            .length_name = options.length_name};
  StreamInput label = data;
  label.name = options.label_name;
  label.shift = 1;
  label.length_name.clear();
  return {.data = {data}, .label = {label}};
}

BucketKey KeyOf(absl::Span<const int64_t> elements) {
  if (elements.size() == 1) return elements[0];
  return BucketKey::Tuple(elements.begin(), elements.end());
}

absl::StatusOr<StreamBatcher> StreamBatcher::Create(StreamInputs inputs,
                                                    const std::vector<SampleField>& fields) {
  StreamBatcher batcher;
  std::set<std::string> names;
  batcher.num_data_ = inputs.data.size();
  bool has_sequence = false;
  for (std::vector<StreamInput>* specs : {&inputs.data, &inputs.label}) {
    for (StreamInput& spec : *specs) {
      for (const std::string* name : {&spec.name, &spec.length_name}) {
        if (!name->empty() && !names.insert(*name).second) {
          return Error(*name, "another input has the same name");
        }
      }
      COOPER_ASSIGN_OR_RETURN(Input input, Check(std::move(spec), fields));
      if (specs == &inputs.data && !has_sequence && input.field.is_sequence) {
        has_sequence = true;
        batcher.lengths_of_ = batcher.inputs_.size();
      }
      batcher.inputs_.push_back(std::move(input));
    }
  }
  if (has_sequence) return batcher;
  return absl::InvalidArgumentError(
      absl::StrCat(kKind, ": none of the ", batcher.num_data_, " data inputs is a sequence"));
}

absl::StatusOr<StreamBatcher::Input> StreamBatcher::Check(StreamInput spec,
                                                          const std::vector<SampleField>& fields) {
  if (spec.name.empty()) return absl::InvalidArgumentError("BucketStream: an input has no name");
  if (spec.field >= fields.size()) {
    return Error(spec.name,
                 absl::StrCat("field is ", spec.field, ", the source has ", fields.size()));
  }
  const SampleField& field = fields[spec.field];
  if (field.step.num_elements() < 1) {
    return Error(spec.name, absl::StrCat("a step of field ", spec.field, " has no elements"));
  }
  const int rank = field.step.rank() + (field.is_sequence ? 1 : 0);
  if (spec.layout.empty()) {
    spec.layout = absl::StrCat("N", field.is_sequence ? "T" : "",
                               absl::string_view("CHWDE").substr(0, field.step.rank()));
  }
  if (static_cast<int>(spec.layout.size()) != rank + 1 ||
      std::count(spec.layout.begin(), spec.layout.end(), 'N') != 1) {
    return Error(spec.name, absl::StrCat("layout is '", spec.layout, "', expected ", rank + 1,
                                         " letters, one of them N"));
  }
  if (spec.shift < 0 || (spec.shift > 0 && !field.is_sequence)) {
    return Error(spec.name, absl::StrCat("shift is ", spec.shift,
                                         ", expected at least 0, and 0 if it is no sequence"));
  }
  if (!spec.length_name.empty() && !field.is_sequence) {
    return Error(spec.name,
                 absl::StrCat("is no sequence and has no length for '", spec.length_name, "'"));
  }
  if (!IsExactIn(spec.dtype, spec.pad_value)) {
    return Error(spec.name, absl::StrFormat("pad_value (invalid_label) is %.17g, which %s does "
                                            "not hold",
                                            spec.pad_value, DTypeName(spec.dtype)));
  }
  const int batch_axis = BatchAxis(spec.layout);
  const bool checks = !HoldsAll(spec.dtype, field.dtype);
  return Input{
      .spec = std::move(spec), .field = field, .batch_axis = batch_axis, .checks_integers = checks};
}

DataDesc StreamBatcher::Describe(const Input& input, absl::Span<const int64_t> bucket,
                                 int64_t batch_size) {
  Shape shape = input.field.step;
  if (input.field.is_sequence) shape.insert(0, bucket[input.field.pad_to]);
  shape.insert(input.batch_axis, batch_size);
  return {.name = input.spec.name,
          .shape = std::move(shape),
          .dtype = input.spec.dtype,
          .layout = input.spec.layout};
}

DataDesc StreamBatcher::DescribeLengths(const Input& input, int64_t batch_size) {
  return {.name = input.spec.length_name, .shape = {batch_size}, .layout = "N"};
}

std::vector<DataDesc> StreamBatcher::DescribeData(absl::Span<const int64_t> bucket,
                                                  int64_t batch_size) const {
  std::vector<DataDesc> descs;
  for (size_t i = 0; i < num_data_; ++i) descs.push_back(Describe(inputs_[i], bucket, batch_size));
  for (const Input& input : inputs_) {
    if (!input.spec.length_name.empty()) descs.push_back(DescribeLengths(input, batch_size));
  }
  return descs;
}

std::vector<DataDesc> StreamBatcher::DescribeLabel(absl::Span<const int64_t> bucket,
                                                   int64_t batch_size) const {
  std::vector<DataDesc> descs;
  for (size_t i = num_data_; i < inputs_.size(); ++i) {
    descs.push_back(Describe(inputs_[i], bucket, batch_size));
  }
  return descs;
}

int64_t StreamBatcher::StepsOf(const Input& input, const SamplePool& pool, SamplePool::Handle row) {
  // A piece of a split sample has one step more for a shifted input.
  const int64_t steps = pool.steps(row, input.spec.field);
  const int64_t available =
      std::min(pool.steps_and_next(row, input.spec.field), steps + input.spec.shift);
  return std::max<int64_t>(0, available - input.spec.shift);
}

absl::StatusOr<NDArray> StreamBatcher::MakeArray(const Input& input, const DataDesc& desc,
                                                 const SamplePool& pool,
                                                 absl::Span<const SamplePool::Handle> rows) {
  COOPER_ASSIGN_OR_RETURN(NDArray array, NDArray::Empty(desc.shape, desc.dtype));
  COOPER_RETURN_IF_ERROR(array.Fill(input.spec.pad_value));
  Shape extents = desc.shape;
  std::vector<int64_t> strides;
  for (int a = 0; a < desc.shape.rank(); ++a) {
    strides.push_back(desc.shape.Product(a + 1, desc.shape.rank()));
  }
  const int64_t row_bytes = strides[input.batch_axis] * SizeOf(desc.dtype);
  strides.erase(strides.begin() + input.batch_axis);
  extents.erase(input.batch_axis);
  PaddedRow row = {.extents = extents.dims(), .strides = strides};
  const PaddedCopy copy(input.field.dtype, desc.dtype);
  const int64_t step_bytes = input.field.step_bytes();
  for (size_t r = 0; r < rows.size(); ++r) {
    row.data = static_cast<char*>(array.raw_data()) + static_cast<int64_t>(r) * row_bytes;
    const int64_t steps = StepsOf(input, pool, rows[r]);
    const char* const from = pool.data(rows[r], input.spec.field) + input.spec.shift * step_bytes;
    int64_t inexact;
    if (input.checks_integers && FindInexact(desc.dtype, input.field.dtype, from,
                                             steps * input.field.step.num_elements(), &inexact)) {
      return Error(input.spec.name,
                   absl::StrCat("a sample has the integer ", inexact, ", which ",
                                DTypeName(desc.dtype), " does not hold; choose another dtype"));
    }
    if (input.field.is_sequence && input.field.step.rank() == 0) {
      copy.Sequence(from, steps, /*shift=*/0, row);
      continue;
    }
    Shape shape = input.field.step;
    if (input.field.is_sequence) shape.insert(0, steps);
    copy(from, shape, /*shift=*/0, row);
  }
  return array;
}

absl::StatusOr<DataBatch> StreamBatcher::Make(const SamplePool& pool,
                                              absl::Span<const SamplePool::Handle> rows,
                                              absl::Span<const int64_t> bucket,
                                              int64_t batch_size) const {
  DataBatch batch;
  COOPER_RETURN_IF_ERROR(ReserveIds(kKind, batch_size, &batch.index));
  COOPER_RETURN_IF_ERROR(ReserveIds(kKind, batch_size, &batch.lengths));
  batch.pad = batch_size - static_cast<int64_t>(rows.size());
  batch.bucket_key = KeyOf(bucket);
  batch.provide_data = DescribeData(bucket, batch_size);
  batch.provide_label = DescribeLabel(bucket, batch_size);
  std::vector<NDArray> lengths;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Input& input = inputs_[i];
    const bool is_data = i < num_data_;
    const DataDesc& desc = is_data ? batch.provide_data[i] : batch.provide_label[i - num_data_];
    COOPER_ASSIGN_OR_RETURN(NDArray array, MakeArray(input, desc, pool, rows));
    (is_data ? batch.data : batch.label).push_back(std::move(array));
    if (input.spec.length_name.empty()) continue;
    COOPER_ASSIGN_OR_RETURN(NDArray column, NDArray::Zeros({batch_size}, DType::kFloat32));
    COOPER_ASSIGN_OR_RETURN(const absl::Span<float> elements, column.Data<float>());
    for (size_t r = 0; r < rows.size(); ++r) {
      elements[r] = static_cast<float>(StepsOf(input, pool, rows[r]));
    }
    lengths.push_back(std::move(column));
  }
  batch.data.insert(batch.data.end(), lengths.begin(), lengths.end());
  for (const SamplePool::Handle row : rows) {
    const SamplePlace& place = pool.id(row).place;
    batch.index.push_back(place.shard << kShardShift | place.ordinal);
    batch.lengths.push_back(StepsOf(inputs_[lengths_of_], pool, row));
  }
  batch.index.resize(static_cast<size_t>(batch_size), -1);
  batch.lengths.resize(static_cast<size_t>(batch_size), 0);
  return batch;
}

int64_t StreamBatcher::RowTokens(absl::Span<const int64_t> bucket) const {
  int64_t tokens = 0;
  for (size_t i = 0; i < num_data_; ++i) {
    if (inputs_[i].field.is_sequence) tokens += bucket[inputs_[i].field.pad_to];
  }
  return tokens;
}

int64_t StreamBatcher::TokensOf(const SamplePool& pool, SamplePool::Handle row) const {
  int64_t tokens = 0;
  for (size_t i = 0; i < num_data_; ++i) {
    if (inputs_[i].field.is_sequence) tokens += pool.steps(row, inputs_[i].spec.field);
  }
  return tokens;
}

std::optional<double> StreamBatcher::PadValue(absl::string_view name) const {
  for (const Input& input : inputs_) {
    if (input.spec.name == name) return input.spec.pad_value;
  }
  return std::nullopt;
}

}  // namespace cooper
