#include "io/iterators/ndarray_iter.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "io/batch/exact_integers.h"
#include "io/batch/gather_rows.h"
#include "io/batch/key_values.h"
#include "io/batch/reserve_ids.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/random/random.h"

namespace cooper {
namespace {

constexpr char kKind[] = "NDArrayIter";
// Separates the streams of this iterator from those of other users of a seed.
constexpr uint64_t kStreamBase = uint64_t{0xDA} << 56;

std::vector<DataDesc> Describe(const NamedSources& arrays, int64_t batch_size,
                               const std::string& layout) {
  std::vector<DataDesc> descs;
  for (const auto& [name, array] : arrays) {
    Shape shape = array.shape();
    shape[0] = batch_size;
    descs.push_back(
        {.name = name, .shape = std::move(shape), .dtype = array.dtype(), .layout = layout});
  }
  return descs;
}

absl::Status Gather(const NamedSources& arrays, absl::Span<const int64_t> ids,
                    std::vector<NDArray>* out) {
  for (const auto& [name, array] : arrays) {
    COOPER_ASSIGN_OR_RETURN(NDArray rows, GatherRows(array, ids));
    out->push_back(std::move(rows));
  }
  return absl::OkStatus();
}

}  // namespace

NamedSources NameArrays(const std::vector<NDArray>& arrays, absl::string_view default_name) {
  if (arrays.size() == 1) return {{absl::StrCat(default_name), arrays[0]}};
  NamedSources named;
  named.reserve(arrays.size());
  for (size_t i = 0; i < arrays.size(); ++i) {
    named.push_back({absl::StrCat("_", i, "_", default_name), arrays[i]});
  }
  return named;
}

NamedSources NameArrays(const std::map<std::string, NDArray>& arrays) {
  return NamedSources(arrays.begin(), arrays.end());
}

absl::StatusOr<LastBatchHandle> LastBatchHandleFromName(absl::string_view name) {
  if (name == "pad") return LastBatchHandle::kPad;
  if (name == "discard") return LastBatchHandle::kDiscard;
  if (name == "roll_over") return LastBatchHandle::kRollOver;
  return absl::InvalidArgumentError(
      absl::StrCat("last_batch_handle is '", name, "', expected 'pad', 'discard' or 'roll_over'"));
}

NDArrayIter::NDArrayIter(NamedSources data, NamedSources label, NDArrayIterOptions options)
    : data_(std::move(data)),
      label_(std::move(label)),
      options_(std::move(options)),
      seed_(options_.seed) {}

absl::StatusOr<std::unique_ptr<NDArrayIter>> NDArrayIter::Create(NamedSources data,
                                                                 NamedSources label,
                                                                 NDArrayIterOptions options) {
  auto iter =
      absl::WrapUnique(new NDArrayIter(std::move(data), std::move(label), std::move(options)));
  COOPER_RETURN_IF_ERROR(iter->Check());
  iter->StartEpoch();
  return iter;
}

absl::Status NDArrayIter::Check() {
  if (options_.batch_size < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("NDArrayIter: batch_size is ", options_.batch_size, ", expected at least 1"));
  }
  if (data_.empty()) return absl::InvalidArgumentError("NDArrayIter: no data arrays");
  const int batch_axis = BatchAxis(options_.layout);
  if (batch_axis > 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("NDArrayIter: layout '", options_.layout, "' has its batch axis N at ",
                     batch_axis, ", but batches are of rows of axis 0: transpose the arrays"));
  }
  for (const NamedSources* arrays : {&data_, &label_}) {
    for (const auto& [name, array] : *arrays) {
      if (array.is_null() || !array.context().is_cpu() || array.shape().rank() < 1 ||
          array.shape()[0] < 1) {
        return absl::InvalidArgumentError(absl::StrCat("NDArrayIter: array '", name, "' is ",
                                                       array.ToString(),
                                                       ", expected a CPU array with rows"));
      }
      const int64_t rows = array.shape()[0];
      if (num_rows_ == 0) num_rows_ = rows;
      if (rows != num_rows_) {
        return absl::InvalidArgumentError(absl::StrCat("NDArrayIter: array '", name, "' has ", rows,
                                                       " rows, expected ", num_rows_, " as in '",
                                                       data_[0].first, "'"));
      }
    }
  }
  COOPER_RETURN_IF_ERROR(Convert());
  provide_data_ = Describe(data_, options_.batch_size, options_.layout);
  provide_label_ = Describe(label_, options_.batch_size, options_.layout);
  return absl::OkStatus();
}

absl::Status NDArrayIter::Convert() {
  const std::pair<NamedSources*, std::optional<DType>> kinds[] = {{&data_, options_.data_dtype},
                                                                  {&label_, options_.label_dtype}};
  for (const auto& [arrays, dtype] : kinds) {
    if (!dtype.has_value()) continue;
    for (auto& [name, array] : *arrays) {
      COOPER_RETURN_IF_ERROR(
          AddContext(CheckExactIn(array, *dtype), "NDArrayIter: array '", name, "'"));
      COOPER_ASSIGN_OR_RETURN(array, array.AsType(*dtype));
    }
  }
  return absl::OkStatus();
}

void NDArrayIter::StartEpoch() {
  cursor_ = 0;
  const auto carried = static_cast<int64_t>(carried_.size());
  order_ = carried_;
  order_.resize(static_cast<size_t>(carried + num_rows_));
  if (options_.shuffle) {
    // Starts from the rows' own order, so that states need no history.
    const std::vector<int64_t> rows =
        RandomGenerator(seed_, kStreamBase + epoch_).Permutation(num_rows_);
    std::copy(rows.begin(), rows.end(), order_.begin() + carried);
  } else {
    std::iota(order_.begin() + carried, order_.end(), int64_t{0});
  }
}

absl::Status NDArrayIter::Reset() {
  const auto total = static_cast<int64_t>(order_.size());
  const int64_t left = total % options_.batch_size;
  // Rows roll over only from an epoch whose full batches have all been taken.
  if (options_.last_batch_handle == LastBatchHandle::kRollOver && cursor_ == total) {
    carried_.assign(order_.end() - left, order_.end());
  } else {
    carried_.clear();
  }
  ++epoch_;
  StartEpoch();
  return absl::OkStatus();
}

absl::Status NDArrayIter::HardReset() {
  carried_.clear();
  ++epoch_;
  StartEpoch();
  return absl::OkStatus();
}

UnusedSamples NDArrayIter::unused_samples() const {
  UnusedSamples unused{.all = num_rows_};
  if (options_.last_batch_handle == LastBatchHandle::kPad) return unused;
  unused.this_epoch = static_cast<int64_t>(order_.size()) % options_.batch_size;
  unused.by_request = options_.last_batch_handle == LastBatchHandle::kDiscard;
  if (options_.last_batch_handle == LastBatchHandle::kRollOver) {
    unused.rolled_over = unused.this_epoch;
  } else if (!options_.shuffle || num_rows_ < options_.batch_size) {
    unused.never = unused.this_epoch;
  }
  if (unused.this_epoch == 0) return unused;
  unused.why = absl::StrCat(unused.this_epoch, " that do not fill a batch of ", options_.batch_size,
                            ": last_batch_handle kPad serves them");
  return unused;
}

absl::StatusOr<std::optional<DataBatch>> NDArrayIter::Next() {
  const auto total = static_cast<int64_t>(order_.size());
  const int64_t remaining = total - cursor_;
  if (remaining == 0) return std::nullopt;
  const int64_t rows = std::min(remaining, options_.batch_size);
  if (rows < options_.batch_size && options_.last_batch_handle != LastBatchHandle::kPad) {
    cursor_ = total;
    return std::nullopt;
  }
  DataBatch batch;
  COOPER_RETURN_IF_ERROR(ReserveIds("NDArrayIter", options_.batch_size, &batch.index));
  batch.index.assign(order_.begin() + cursor_, order_.begin() + cursor_ + rows);
  batch.pad = options_.batch_size - rows;
  // Wraps around several times if the batch is larger than the data.
  for (int64_t i = 0; i < batch.pad; ++i) batch.index.push_back(order_[i % total]);
  if (cursor_ == 0) batch.pad += static_cast<int64_t>(carried_.size());
  COOPER_RETURN_IF_ERROR(Gather(data_, batch.index, &batch.data));
  COOPER_RETURN_IF_ERROR(Gather(label_, batch.index, &batch.label));
  batch.provide_data = provide_data_;
  batch.provide_label = provide_label_;
  cursor_ += rows;
  return batch;
}

absl::StatusOr<std::string> NDArrayIter::SaveState() const {
  KeyValues state;
  state.SetString("kind", kKind);
  state.SetUint("seed", seed_);
  state.SetUint("epoch", epoch_);
  state.SetInt("cursor", cursor_);
  state.SetInts("carried", carried_);
  // These values detect other data and options.
  state.SetInt("rows", num_rows_);
  state.SetInt("batch_size", options_.batch_size);
  state.SetInt("shuffle", options_.shuffle ? 1 : 0);
  state.SetInt("last_batch_handle", static_cast<int64_t>(options_.last_batch_handle));
  return state.ToString();
}

absl::Status NDArrayIter::CheckOptions(const KeyValues& state) const {
  COOPER_RETURN_IF_ERROR(state.ExpectOption("batch_size", options_.batch_size));
  COOPER_RETURN_IF_ERROR(state.ExpectOption("shuffle", options_.shuffle ? 1 : 0));
  return state.ExpectOption("last_batch_handle", static_cast<int64_t>(options_.last_batch_handle));
}

absl::Status NDArrayIter::LoadState(absl::string_view text) {
  COOPER_ASSIGN_OR_RETURN(const KeyValues state, KeyValues::Parse(text));
  COOPER_RETURN_IF_ERROR(state.Expect("kind", kKind));
  COOPER_ASSIGN_OR_RETURN(const uint64_t seed, state.GetUint("seed"));
  COOPER_ASSIGN_OR_RETURN(const uint64_t epoch, state.GetUint("epoch"));
  COOPER_ASSIGN_OR_RETURN(const int64_t cursor, state.GetInt("cursor"));
  COOPER_ASSIGN_OR_RETURN(std::vector<int64_t> carried, state.GetInts("carried"));
  COOPER_ASSIGN_OR_RETURN(const int64_t rows, state.GetInt("rows"));
  COOPER_RETURN_IF_ERROR(CheckOptions(state));
  const auto num_carried = static_cast<int64_t>(carried.size());
  const int64_t total = num_rows_ + num_carried;
  const bool rows_exist = std::all_of(carried.begin(), carried.end(),
                                      [rows](int64_t row) { return row >= 0 && row < rows; });
  if (rows != num_rows_ || cursor < 0 || cursor > total) {
    return absl::InvalidArgumentError(absl::StrCat("NDArrayIter: the state is of row ", cursor,
                                                   " in ", rows, " rows, this iterator has ",
                                                   num_rows_));
  }
  const bool rolls_over = options_.last_batch_handle == LastBatchHandle::kRollOver;
  if (!rows_exist || num_carried >= (rolls_over ? options_.batch_size : 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("NDArrayIter: the state carries ", num_carried, " rows over, expected ",
                     rolls_over ? "less than a batch of those that there are" : "none"));
  }
  seed_ = seed;
  epoch_ = epoch;
  carried_ = std::move(carried);
  StartEpoch();
  cursor_ = cursor;
  return absl::OkStatus();
}

}  // namespace cooper
