#include "io/images/image_record_iter.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "io/batch/check_part.h"
#include "io/batch/key_values.h"
#include "io/batch/reserve_ids.h"
#include "io/images/image_codec.h"
#include "io/records/indexed_records.h"
#include "io/records/ir_header.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/random/random.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

constexpr char kKind[] = "ImageRecordIter";

absl::Status CheckOptions(const ImageRecordIterOptions& options) {
  const auto error = [](const auto&... what) {
    return absl::InvalidArgumentError(absl::StrCat(what...));
  };
  COOPER_RETURN_IF_ERROR(CheckImageTransform(options.image));
  if (options.batch_size < 1) {
    return error("batch_size is ", options.batch_size, ", expected at least 1");
  }
  if (options.label_width < 1) {
    return error("label_width is ", options.label_width, ", expected at least 1");
  }
  COOPER_RETURN_IF_ERROR(CheckPart(options.part_index, options.num_parts));
  if (options.dtype != DType::kFloat32 && options.dtype != DType::kUint8) {
    return error("dtype is ", DTypeName(options.dtype), ", expected float32 or uint8");
  }
  if (options.shuffle && options.path_imgidx.empty()) {
    return error("shuffle needs path_imgidx, the index of '", options.path_imgrec, "'");
  }
  return absl::OkStatus();
}

std::vector<DataDesc> DescribeData(const ImageRecordIterOptions& options) {
  Shape shape = {options.batch_size};
  for (const int64_t extent : options.image.data_shape) shape.push_back(extent);
  return {{.name = options.data_name, .shape = std::move(shape), .dtype = options.dtype}};
}

std::vector<DataDesc> DescribeLabel(const ImageRecordIterOptions& options) {
  Shape shape = {options.batch_size};
  if (options.label_width > 1) shape.push_back(options.label_width);
  return {{.name = options.label_name, .shape = std::move(shape)}};
}

}  // namespace

ImageRecordIter::ImageRecordIter(const ImageRecordIterOptions& options,
                                 std::unique_ptr<RecordReader> reader)
    : options_(options),
      reader_(std::move(reader)),
      provide_data_(DescribeData(options)),
      provide_label_(DescribeLabel(options)) {}

absl::StatusOr<std::unique_ptr<ImageRecordIter>> ImageRecordIter::Create(
    const ImageRecordIterOptions& options) {
  COOPER_RETURN_IF_ERROR(AddContext(CheckOptions(options), kKind));
  COOPER_ASSIGN_OR_RETURN(auto reader, AddContext(RecordReader::Open(options.path_imgrec), kKind));
  auto iter = absl::WrapUnique(new ImageRecordIter(options, std::move(reader)));
  COOPER_RETURN_IF_ERROR(AddContext(iter->FindPart(), kKind));
  COOPER_RETURN_IF_ERROR(AddContext(iter->ReadLabels(), kKind));
  iter->StartPass(0);
  return iter;
}

// Finds the records of the part: with an index equally many, without one those that begin in one of
// num_parts ranges of bytes. Both are MXNet's parts.
absl::Status ImageRecordIter::FindPart() {
  const int64_t num_parts = options_.num_parts, part = options_.part_index;
  const auto step = [&](int64_t total) { return total / num_parts + (total % num_parts > 0); };
  if (has_index()) {
    COOPER_ASSIGN_OR_RETURN(const auto entries, ReadRecordIndex(options_.path_imgidx));
    for (const RecordEntry& entry : entries) offsets_.push_back(entry.offset);
    std::sort(offsets_.begin(), offsets_.end());
    const auto total = static_cast<int64_t>(offsets_.size());
    const auto bound = [&](int64_t index) { return std::min(total, step(total) * index); };
    offsets_.erase(offsets_.begin() + bound(part + 1), offsets_.end());
    offsets_.erase(offsets_.begin(), offsets_.begin() + bound(part));
    order_.resize(offsets_.size());
  } else {
    COOPER_ASSIGN_OR_RETURN(begin_, reader_->FindRecord(step(reader_->size()) * part));
    COOPER_ASSIGN_OR_RETURN(end_, reader_->FindRecord(step(reader_->size()) * (part + 1)));
  }
  if (has_index() ? !offsets_.empty() : begin_ < end_) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "'", options_.path_imgrec, "' has no records in part ", part, " of ", num_parts));
}

absl::Status ImageRecordIter::ReadLabels() {
  if (options_.path_imglist.empty()) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(options_.path_imglist));
  int64_t number = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    const std::vector<absl::string_view> fields =
        absl::StrSplit(absl::StripAsciiWhitespace(line), '\t');
    if (fields.size() == 1 && fields[0].empty()) continue;
    uint64_t id = 0;
    std::vector<float> labels(static_cast<size_t>(options_.label_width));
    bool is_valid = fields.size() >= labels.size() + 1 && absl::SimpleAtoi(fields[0], &id);
    for (size_t i = 0; is_valid && i < labels.size(); ++i) {
      is_valid = absl::SimpleAtof(fields[i + 1], &labels[i]);
    }
    if (!is_valid) {
      return absl::InvalidArgumentError(absl::StrCat("'", options_.path_imglist, "', line ", number,
                                                     ": expected an id, ", labels.size(),
                                                     " labels and a path, separated by tabs"));
    }
    labels_[id] = std::move(labels);
  }
  return absl::OkStatus();
}

void ImageRecordIter::StartPass(uint64_t pass) {
  position_ = {.pass = pass, .next = has_index() ? 0 : begin_};
  std::iota(order_.begin(), order_.end(), 0);
  if (options_.shuffle) {
    order_ = RandomGenerator(options_.seed, 2 * pass).Permutation(static_cast<int64_t>(end()));
  }
}

// Reads the next record of the pass; nullopt at its end.
absl::StatusOr<std::optional<ImageRecordIter::Record>> ImageRecordIter::ReadRecord() {
  if (position_.next >= end()) return std::nullopt;
  const auto next = static_cast<size_t>(position_.next);
  Record record{
      .offset = has_index() ? offsets_[static_cast<size_t>(order_[next])] : position_.next,
      .number = position_.pass * (static_cast<uint64_t>(end()) + 1) +
                static_cast<uint64_t>(position_.next)};
  COOPER_RETURN_IF_ERROR(reader_->Seek(record.offset));
  COOPER_ASSIGN_OR_RETURN(const bool found, reader_->Read(&record.bytes));
  if (!found) {
    return absl::DataLossError(absl::StrCat("'", options_.path_imgidx, "': no record begins at ",
                                            record.offset, ", the end of '", options_.path_imgrec,
                                            "'"));
  }
  position_.next = has_index() ? position_.next + 1 : reader_->Tell();
  return record;
}

// Reads the records of a batch: fewer than its size where the rest are zeros, none at the end.
absl::StatusOr<std::vector<ImageRecordIter::Record>> ImageRecordIter::ReadRecords(int64_t* pad) {
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

absl::StatusOr<std::optional<DataBatch>> ImageRecordIter::Next() {
  COOPER_ASSIGN_OR_RETURN(DataBatch batch, AddContext(MakeEmptyBatch(), kKind));
  const Position before = position_;
  const std::vector<int64_t> order_before = options_.shuffle ? order_ : std::vector<int64_t>();
  const absl::StatusOr<std::vector<Record>> records = ReadRecords(&batch.pad);
  if (records.ok() && records->empty()) return std::nullopt;
  const absl::Status status = records.ok() ? FillBatch(*records, &batch) : records.status();
  if (status.ok()) return batch;
  position_ = before;
  if (options_.shuffle) order_ = order_before;
  return AddContext(status, kKind);
}

absl::StatusOr<DataBatch> ImageRecordIter::MakeEmptyBatch() const {
  DataBatch batch = {.provide_data = provide_data_, .provide_label = provide_label_};
  COOPER_RETURN_IF_ERROR(ReserveIds(kKind, options_.batch_size, &batch.index));
  batch.index.assign(static_cast<size_t>(options_.batch_size), -1);
  COOPER_ASSIGN_OR_RETURN(batch.data.emplace_back(),
                          NDArray::Zeros(provide_data_[0].shape, options_.dtype));
  COOPER_ASSIGN_OR_RETURN(batch.label.emplace_back(), NDArray::Zeros(provide_label_[0].shape));
  return batch;
}

absl::Status ImageRecordIter::FillBatch(const std::vector<Record>& records,
                                        DataBatch* batch) const {
  std::vector<absl::Status> statuses(records.size());
  ParallelForRanges(static_cast<int64_t>(records.size()), 1, 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const auto i = static_cast<size_t>(row);
      statuses[i] = Decode(records[i], row, batch);
    }
  });
  for (size_t i = 0; i < records.size(); ++i) {
    COOPER_RETURN_IF_ERROR(
        AddContext(statuses[i], "'", options_.path_imgrec, "', offset ", records[i].offset));
  }
  return absl::OkStatus();
}

absl::Status ImageRecordIter::Decode(const Record& record, int64_t row, DataBatch* batch) const {
  const ImageTransformOptions& transform = options_.image;
  COOPER_ASSIGN_OR_RETURN(const UnpackedRecord unpacked, Unpack(record.bytes));
  COOPER_ASSIGN_OR_RETURN(const Image image,
                          DecodeImage(unpacked.payload, ColorFor(transform.data_shape)));
  // The orders of passes have the even streams.
  RandomGenerator random(options_.seed, 2 * record.number + 1);
  COOPER_ASSIGN_OR_RETURN(const Image fitted, FitImage(image, transform, random));
  const bool mirrored = transform.mirror || (transform.rand_mirror && random.NextBelow(2) == 1);
  COOPER_ASSIGN_OR_RETURN(const NDArray data, batch->data[0].At(row));
  if (options_.dtype == DType::kUint8) {
    COOPER_ASSIGN_OR_RETURN(const absl::Span<uint8_t> pixels, data.Data<uint8_t>());
    WritePixels(fitted, mirrored, pixels);
  } else {
    COOPER_ASSIGN_OR_RETURN(const absl::Span<float> pixels, data.Data<float>());
    WriteNormalized(fitted, mirrored, transform, pixels);
  }
  COOPER_ASSIGN_OR_RETURN(const absl::Span<float> labels, batch->label[0].Data<float>());
  const auto width = static_cast<size_t>(options_.label_width);
  batch->index[static_cast<size_t>(row)] = static_cast<int64_t>(unpacked.header.id);
  return WriteLabels(unpacked, labels.subspan(static_cast<size_t>(row) * width, width));
}

absl::Status ImageRecordIter::WriteLabels(const UnpackedRecord& unpacked,
                                          absl::Span<float> out) const {
  const IRHeader& header = unpacked.header;
  if (!options_.path_imglist.empty()) {
    const auto found = labels_.find(header.id);
    if (found == labels_.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", options_.path_imglist, "' has no labels for the id ", header.id));
    }
    std::copy(found->second.begin(), found->second.end(), out.begin());
    return absl::OkStatus();
  }
  const size_t width = std::max<size_t>(header.labels.size(), 1);
  if (width != out.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the record has ", width, " labels, label_width is ", out.size()));
  }
  if (header.labels.empty()) {
    out[0] = header.label;
  } else {
    std::copy(header.labels.begin(), header.labels.end(), out.begin());
  }
  return absl::OkStatus();
}

absl::Status ImageRecordIter::Reset() {
  if (position_.wrapped) {
    position_.wrapped = false;
  } else {
    StartPass(position_.pass + 1);
  }
  return absl::OkStatus();
}

absl::Status ImageRecordIter::HardReset() {
  StartPass(position_.pass + 1);
  return absl::OkStatus();
}

absl::StatusOr<std::string> ImageRecordIter::SaveState() const {
  KeyValues state;
  state.SetString("kind", kKind);
  state.SetUint("pass", position_.pass);
  state.SetInt("next", position_.next);
  state.SetInt("wrapped", position_.wrapped ? 1 : 0);
  // These values detect other data and options.
  state.SetInt("end", end());
  state.SetInt("batch_size", options_.batch_size);
  state.SetInt("round_batch", options_.round_batch ? 1 : 0);
  state.SetInt("shuffle", options_.shuffle ? 1 : 0);
  state.SetUint("seed", options_.seed);
  return state.ToString();
}

absl::Status ImageRecordIter::LoadState(absl::string_view text) {
  COOPER_ASSIGN_OR_RETURN(const KeyValues state, KeyValues::Parse(text));
  COOPER_RETURN_IF_ERROR(state.Expect("kind", kKind));
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
    return absl::InvalidArgumentError(absl::StrCat(kKind, ": the state is of record ", next,
                                                   " with the seed ", seed, ", expected ", begin,
                                                   " to ", end(), " and ", options_.seed));
  }
  StartPass(pass);
  position_.next = next;
  position_.wrapped = wrapped != 0;
  return absl::OkStatus();
}

}  // namespace cooper
