#include "io/images/record_iter.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "io/batch/check_part.h"
#include "io/batch/invalid.h"
#include "io/batch/key_values.h"
#include "io/batch/reserve_ids.h"
#include "io/images/decode_rows.h"
#include "io/records/ir_header.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

RecordIter::RecordIter(std::string kind, RecordIterOptions options,
                       std::optional<int64_t> label_width, Decoder decode)
    : kind_(std::move(kind)),
      options_(std::move(options)),
      label_width_(label_width),
      decode_(std::move(decode)) {}

absl::Status RecordIter::Open() {
  if (options_.batch_size < 1) {
    return Invalid("batch_size is ", options_.batch_size, ", expected at least 1");
  }
  if (label_width_.has_value() && *label_width_ < 1) {
    return Invalid("label_width is ", *label_width_, ", expected at least 1");
  }
  COOPER_RETURN_IF_ERROR(CheckPart(options_.part_index, options_.num_parts));
  if (options_.shuffle && !has_index()) {
    return Invalid("shuffle needs path_imgidx, the index of '", options_.path_imgrec, "'");
  }
  COOPER_ASSIGN_OR_RETURN(files_, RecordFiles::Open(options_.path_imgrec));
  COOPER_RETURN_IF_ERROR(FindPart());
  COOPER_ASSIGN_OR_RETURN(labels_, ImageLabels::Create(options_.path_imglist, label_width_));
  StartPass(0);
  return absl::OkStatus();
}

void RecordIter::Describe(const Shape& data, DType dtype, const Shape& label) {
  const auto batch_of = [this](const Shape& sample) {
    Shape shape = {options_.batch_size};
    for (const int64_t extent : sample) shape.push_back(extent);
    return shape;
  };
  provide_data_ = {{.name = options_.data_name, .shape = batch_of(data), .dtype = dtype}};
  provide_label_ = {{.name = options_.label_name, .shape = batch_of(label)}};
}

// Finds the records of the part: with an index equally many, without one those that begin in one of
// num_parts ranges of bytes. Both are MXNet's parts.
absl::Status RecordIter::FindPart() {
  const int64_t num_parts = options_.num_parts, part = options_.part_index;
  const auto step = [&](int64_t total) { return total / num_parts + (total % num_parts > 0); };
  if (has_index()) {
    COOPER_ASSIGN_OR_RETURN(offsets_, files_.ReadIndices(options_.path_imgidx));
    const auto total = static_cast<int64_t>(offsets_.size());
    const auto bound = [&](int64_t index) { return std::min(total, step(total) * index); };
    offsets_.erase(offsets_.begin() + bound(part + 1), offsets_.end());
    offsets_.erase(offsets_.begin(), offsets_.begin() + bound(part));
    order_.resize(offsets_.size());
  } else {
    COOPER_ASSIGN_OR_RETURN(begin_, files_.FindRecord(step(files_.size()) * part));
    COOPER_ASSIGN_OR_RETURN(end_, files_.FindRecord(step(files_.size()) * (part + 1)));
  }
  if (has_index() ? !offsets_.empty() : begin_ < end_) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "'", options_.path_imgrec, "' has no records in part ", part, " of ", num_parts));
}

absl::StatusOr<int64_t> RecordIter::FindLabelWidth() {
  if (labels_.has_list()) return labels_.MaxListed();
  size_t width = 0;
  while (true) {
    COOPER_ASSIGN_OR_RETURN(const auto record, ReadRecord());
    if (!record.has_value()) break;
    COOPER_ASSIGN_OR_RETURN(const UnpackedRecord unpacked,
                            AddContext(Unpack(record->bytes), files_.Where(record->offset)));
    width = std::max({width, unpacked.header.labels.size(), size_t{1}});
  }
  StartPass(0);
  return static_cast<int64_t>(width);
}

void RecordIter::StartPass(uint64_t pass) {
  position_ = {.pass = pass, .next = has_index() ? 0 : begin_};
  std::iota(order_.begin(), order_.end(), 0);
  if (options_.shuffle) {
    order_ = RandomGenerator(options_.seed, 2 * pass).Permutation(static_cast<int64_t>(end()));
  }
}

// Reads the next record of the pass; nullopt at its end.
absl::StatusOr<std::optional<RecordIter::Record>> RecordIter::ReadRecord() {
  if (position_.next >= end()) return std::nullopt;
  const auto next = static_cast<size_t>(position_.next);
  Record record{
      .offset = has_index() ? offsets_[static_cast<size_t>(order_[next])] : position_.next,
      .number = position_.pass * (static_cast<uint64_t>(end()) + 1) +
                static_cast<uint64_t>(position_.next)};
  COOPER_ASSIGN_OR_RETURN(const int64_t behind, files_.Read(record.offset, &record.bytes));
  position_.next = has_index() ? position_.next + 1 : behind;
  return record;
}

// Reads the records of a batch: fewer than its size where the rest are zeros, none at the end.
absl::StatusOr<std::vector<RecordIter::Record>> RecordIter::ReadRecords(int64_t* pad) {
  std::vector<Record> records;
  *pad = 0;
  while (!position_.wrapped && static_cast<int64_t>(records.size()) < options_.batch_size) {
    COOPER_ASSIGN_OR_RETURN(auto record, ReadRecord());
    if (!record.has_value()) break;
    records.push_back(*std::move(record));
  }
  if (records.empty()) return records;
  *pad = options_.batch_size - static_cast<int64_t>(records.size());
  if (!options_.round_batch || *pad == 0) return records;
  StartPass(position_.pass + 1);
  while (static_cast<int64_t>(records.size()) < options_.batch_size) {
    COOPER_ASSIGN_OR_RETURN(auto record, ReadRecord());
    if (record.has_value()) {
      records.push_back(*std::move(record));
    } else {
      StartPass(position_.pass + 1);
    }
  }
  position_.wrapped = true;
  return records;
}

absl::StatusOr<std::optional<DataBatch>> RecordIter::Next() {
  COOPER_ASSIGN_OR_RETURN(DataBatch batch, AddContext(MakeEmptyBatch(), kind_));
  const Position before = position_;
  const std::vector<int64_t> order_before = options_.shuffle ? order_ : std::vector<int64_t>();
  const absl::StatusOr<std::vector<Record>> records = ReadRecords(&batch.pad);
  if (records.ok() && records->empty()) return std::nullopt;
  const absl::Status status = records.ok() ? FillBatch(*records, &batch) : records.status();
  if (status.ok()) return batch;
  position_ = before;
  if (options_.shuffle) order_ = order_before;
  return AddContext(status, kind_);
}

absl::StatusOr<DataBatch> RecordIter::MakeEmptyBatch() const {
  DataBatch batch = {.provide_data = provide_data_, .provide_label = provide_label_};
  COOPER_RETURN_IF_ERROR(ReserveIds(kind_, options_.batch_size, &batch.index));
  batch.index.assign(static_cast<size_t>(options_.batch_size), -1);
  COOPER_ASSIGN_OR_RETURN(batch.data.emplace_back(),
                          NDArray::Zeros(provide_data_[0].shape, provide_data_[0].dtype));
  COOPER_ASSIGN_OR_RETURN(batch.label.emplace_back(), NDArray::Zeros(provide_label_[0].shape));
  return batch;
}

absl::Status RecordIter::FillBatch(const std::vector<Record>& records, DataBatch* batch) const {
  return DecodeRows(static_cast<int64_t>(records.size()), [&](int64_t row) {
    const Record& record = records[static_cast<size_t>(row)];
    return AddContext(FillRow(record, row, batch), files_.Where(record.offset));
  });
}

absl::Status RecordIter::FillRow(const Record& record, int64_t row, DataBatch* batch) const {
  COOPER_ASSIGN_OR_RETURN(const UnpackedRecord unpacked, Unpack(record.bytes));
  COOPER_ASSIGN_OR_RETURN(const absl::Span<const float> labels, labels_.Find(unpacked.header));
  // The orders of passes have the even streams.
  RandomGenerator random(options_.seed_aug.value_or(options_.seed), 2 * record.number + 1);
  COOPER_ASSIGN_OR_RETURN(const NDArray data, batch->data[0].At(row));
  COOPER_ASSIGN_OR_RETURN(const absl::Span<float> rows, batch->label[0].Data<float>());
  const size_t width = rows.size() / static_cast<size_t>(options_.batch_size);
  batch->index[static_cast<size_t>(row)] = static_cast<int64_t>(unpacked.header.id);
  return decode_({.image = unpacked.payload, .labels = labels, .random = random}, data,
                 rows.subspan(static_cast<size_t>(row) * width, width));
}

absl::Status RecordIter::Reset() {
  if (position_.wrapped) {
    position_.wrapped = false;
  } else {
    StartPass(position_.pass + 1);
  }
  return absl::OkStatus();
}

absl::Status RecordIter::HardReset() {
  StartPass(position_.pass + 1);
  return absl::OkStatus();
}

absl::StatusOr<std::string> RecordIter::SaveState() const {
  KeyValues state;
  state.SetString("kind", kind_);
  state.SetUint("pass", position_.pass);
  state.SetInt("next", position_.next);
  state.SetInt("wrapped", position_.wrapped ? 1 : 0);
  // These values detect other data and options.
  state.SetInt("end", end());
  state.SetInt("batch_size", options_.batch_size);
  state.SetInt("round_batch", options_.round_batch ? 1 : 0);
  state.SetInt("shuffle", options_.shuffle ? 1 : 0);
  state.SetUint("seed", options_.seed);
  state.SetInt("seed_aug", static_cast<int64_t>(options_.seed_aug.value_or(options_.seed)));
  return state.ToString();
}

absl::Status RecordIter::LoadState(absl::string_view text) {
  COOPER_ASSIGN_OR_RETURN(const KeyValues state, KeyValues::Parse(text));
  COOPER_RETURN_IF_ERROR(state.Expect("kind", kind_));
  COOPER_ASSIGN_OR_RETURN(const uint64_t pass, state.GetUint("pass"));
  COOPER_ASSIGN_OR_RETURN(const int64_t next, state.GetInt("next"));
  COOPER_ASSIGN_OR_RETURN(const int64_t wrapped, state.GetInt("wrapped"));
  COOPER_ASSIGN_OR_RETURN(const uint64_t seed, state.GetUint("seed"));
  COOPER_RETURN_IF_ERROR(state.ExpectOption("end", end()));
  COOPER_RETURN_IF_ERROR(state.ExpectOption("batch_size", options_.batch_size));
  COOPER_RETURN_IF_ERROR(state.ExpectOption("round_batch", options_.round_batch ? 1 : 0));
  COOPER_RETURN_IF_ERROR(state.ExpectOption("shuffle", options_.shuffle ? 1 : 0));
  const int64_t begin = has_index() ? 0 : begin_;
  if (next < begin || next > end() || seed != options_.seed) {
    return absl::InvalidArgumentError(absl::StrCat(kind_, ": the state is of record ", next,
                                                   " with the seed ", seed, ", expected ", begin,
                                                   " to ", end(), " and ", options_.seed));
  }
  COOPER_RETURN_IF_ERROR(state.ExpectOption(
      "seed_aug", static_cast<int64_t>(options_.seed_aug.value_or(options_.seed))));
  StartPass(pass);
  position_.next = next;
  position_.wrapped = wrapped != 0;
  return absl::OkStatus();
}

}  // namespace cooper
