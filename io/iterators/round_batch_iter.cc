#include "io/iterators/round_batch_iter.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "io/batch/key_values.h"
#include "io/batch/reserve_ids.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

RoundBatchIter::RoundBatchIter(Rows rows) : rows_(std::move(rows)) {}

absl::Status RoundBatchIter::CheckBatchSize(absl::string_view kind, int64_t batch_size) {
  if (batch_size >= 1) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(kind, ": batch_size is ", batch_size, ", expected at least 1"));
}

absl::StatusOr<std::optional<DataBatch>> RoundBatchIter::Next() {
  const int64_t rows = std::min(rows_.num_rows - cursor_, rows_.batch_size);
  if (rows <= 0) return std::nullopt;
  DataBatch batch;
  COOPER_RETURN_IF_ERROR(ReserveIds(rows_.kind, rows_.batch_size, &batch.index));
  batch.pad = rows_.batch_size - rows;
  for (int64_t i = 0; i < rows; ++i) batch.index.push_back(cursor_ + i);
  for (int64_t i = 0; i < batch.pad; ++i)
    batch.index.push_back(rows_.round_batch ? i % rows_.num_rows : -1);
  COOPER_ASSIGN_OR_RETURN(NDArray data, GatherData(batch.index));
  COOPER_ASSIGN_OR_RETURN(NDArray label, GatherLabel(batch.index));
  batch.data = {std::move(data)};
  batch.label = {std::move(label)};
  batch.provide_data = rows_.provide_data;
  batch.provide_label = rows_.provide_label;
  cursor_ += rows;
  if (rows_.round_batch) borrowed_ = batch.pad % rows_.num_rows;
  return batch;
}

absl::Status RoundBatchIter::Reset() {
  cursor_ = cursor_ == rows_.num_rows ? borrowed_ : 0;
  borrowed_ = 0;
  return absl::OkStatus();
}

absl::Status RoundBatchIter::HardReset() {
  cursor_ = 0;
  borrowed_ = 0;
  return absl::OkStatus();
}

absl::StatusOr<std::string> RoundBatchIter::SaveState() const {
  KeyValues state;
  state.SetString("kind", rows_.kind);
  state.SetInt("cursor", cursor_);
  state.SetInt("borrowed", borrowed_);
  // These values detect other data and options.
  state.SetInt("rows", rows_.num_rows);
  state.SetInt("batch_size", rows_.batch_size);
  state.SetInt("round_batch", rows_.round_batch ? 1 : 0);
  return state.ToString();
}

absl::Status RoundBatchIter::LoadState(absl::string_view text) {
  COOPER_ASSIGN_OR_RETURN(const KeyValues state, KeyValues::Parse(text));
  COOPER_RETURN_IF_ERROR(state.Expect("kind", rows_.kind));
  COOPER_ASSIGN_OR_RETURN(const int64_t cursor, state.GetInt("cursor"));
  COOPER_ASSIGN_OR_RETURN(const int64_t borrowed, state.GetInt("borrowed"));
  COOPER_ASSIGN_OR_RETURN(const int64_t rows, state.GetInt("rows"));
  COOPER_RETURN_IF_ERROR(state.ExpectOption("batch_size", rows_.batch_size));
  COOPER_RETURN_IF_ERROR(state.ExpectOption("round_batch", rows_.round_batch ? 1 : 0));
  if (rows != rows_.num_rows || cursor < 0 || cursor > rows || borrowed < 0 || borrowed >= rows) {
    return absl::InvalidArgumentError(absl::StrCat(rows_.kind, ": the state is of row ", cursor,
                                                   " in ", rows, " rows, this iterator has ",
                                                   rows_.num_rows));
  }
  cursor_ = cursor;
  borrowed_ = borrowed;
  return absl::OkStatus();
}

}  // namespace cooper
