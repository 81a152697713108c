#include "module/predicted_rows.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "module/row_ids.h"
#include "ndarray/on_cpu.h"
#include "ndarray/status_macros.h"

namespace cooper {
namespace {

// Of a bucket: after so many every further one is likely to say as little.
constexpr int kMaxAsked = 3;

int64_t PerSample(const NDArray& output, int64_t samples) { return output.shape()[0] / samples; }

absl::StatusOr<std::vector<NDArray>> TurnAll(const std::vector<NDArray>& arrays,
                                             const std::vector<DataDesc>& descs, int64_t samples) {
  std::vector<NDArray> turned;
  for (size_t i = 0; i < arrays.size(); ++i) {
    const int axis = i < descs.size() ? BatchAxis(descs[i].layout) : 0;
    COOPER_ASSIGN_OR_RETURN(turned.emplace_back(), TurnSamples(arrays[i], axis, samples));
  }
  return turned;
}

absl::StatusOr<bool> EqualBits(const NDArray& a, const NDArray& b) {
  COOPER_ASSIGN_OR_RETURN(const NDArray x, OnCpu(a));
  COOPER_ASSIGN_OR_RETURN(const NDArray y, OnCpu(b));
  return std::memcmp(x.raw_data(), y.raw_data(), static_cast<size_t>(x.size_bytes())) == 0;
}

}  // namespace

absl::Status PredictedRows::Add(const DataBatch& batch, const std::vector<DataDesc>& data,
                                const std::vector<DataDesc>& label, std::vector<NDArray> outputs,
                                Compute compute) {
  if (!batches_.empty() && outputs.size() != batches_[0].outputs.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("Predict: ", batches_[0].outputs.size(), " outputs in the first batch and ",
                     outputs.size(), " in a later one: they cannot be joined; use IterPredict"));
  }
  Batch kept{.outputs = std::move(outputs),
             .samples = std::ssize(batch.index),
             .pad = batch.pad,
             .bucket = batch.bucket_key.has_value() ? batch.bucket_key->ToString() : ""};
  const int64_t real = kept.samples - batch.pad;
  if (real >= 0) kept.ids.assign(batch.index.begin(), batch.index.begin() + real);
  if (std::any_of(kept.ids.begin(), kept.ids.end(), [](int64_t id) { return id < 0; })) {
    kept.samples = 0;
  }
  if (kept.samples > 0) COOPER_RETURN_IF_ERROR(FindRows(batch, data, label, kept, compute));
  batches_.push_back(std::move(kept));
  return absl::OkStatus();
}

absl::Status PredictedRows::FindRows(const DataBatch& batch, const std::vector<DataDesc>& data,
                                     const std::vector<DataDesc>& label, const Batch& kept,
                                     Compute compute) {
  std::vector<std::pair<size_t, Candidates*>> open;
  for (size_t k = 0; k < kept.outputs.size(); ++k) {
    std::vector<SampleRows> possible = PossibleSampleRows(kept.outputs[k], kept.samples);
    if (!input_order_ && (possible.empty() || possible[0].per_sample() > 1)) continue;
    if (possible.empty()) continue;
    const int64_t per_sample = possible[0].per_sample();
    Candidates& candidates = candidates_[{k, kept.bucket, per_sample}];
    // A batch of one sample says nothing, and has no other order either.
    if (kept.samples == 1 || per_sample == 1) {
      if (candidates.asked == 0 && candidates.rows.empty()) candidates.rows = std::move(possible);
      continue;
    }
    if (candidates.asked == 0) candidates.rows = std::move(possible);
    if (candidates.rows.size() > (candidates.asked == 0 ? 0u : 1u) &&
        candidates.asked < kMaxAsked) {
      open.emplace_back(k, &candidates);
    }
  }
  if (open.empty()) return absl::OkStatus();
  DataBatch turned = batch;
  COOPER_ASSIGN_OR_RETURN(turned.data, TurnAll(batch.data, data, kept.samples));
  COOPER_ASSIGN_OR_RETURN(turned.label, TurnAll(batch.label, label, kept.samples));
  COOPER_ASSIGN_OR_RETURN(const std::vector<NDArray> outputs, compute(turned));
  for (const auto& [k, candidates] : open) {
    COOPER_ASSIGN_OR_RETURN(candidates->rows, AgreeingSampleRows(candidates->rows, kept.outputs[k],
                                                                 outputs[k], kept.samples));
    ++candidates->asked;
  }
  return absl::OkStatus();
}

const PredictedRows::Candidates* PredictedRows::CandidatesOf(const Batch& batch, size_t k) const {
  const NDArray& output = batch.outputs[k];
  if (batch.samples == 0 || output.shape().rank() == 0) return nullptr;
  if (output.shape()[0] % batch.samples != 0) return nullptr;
  const auto at = candidates_.find({k, batch.bucket, PerSample(output, batch.samples)});
  return at == candidates_.end() || at->second.rows.empty() ? nullptr : &at->second;
}

bool PredictedRows::HasRowsOfSamples(size_t k) const {
  return std::all_of(batches_.begin(), batches_.end(),
                     [&](const Batch& batch) { return CandidatesOf(batch, k) != nullptr; });
}

absl::StatusOr<NDArray> PredictedRows::Rows(const Batch& batch, size_t k) const {
  const std::vector<SampleRows>& candidates = CandidatesOf(batch, k)->rows;
  const auto keep = static_cast<int64_t>(batch.ids.size());
  const NDArray& output = batch.outputs[k];
  COOPER_ASSIGN_OR_RETURN(NDArray rows, RowsBySample(output, candidates[0], batch.samples, keep));
  if (batch.samples == 1) return rows;
  for (size_t c = 1; c < candidates.size(); ++c) {
    COOPER_ASSIGN_OR_RETURN(const NDArray others,
                            RowsBySample(output, candidates[c], batch.samples, keep));
    COOPER_ASSIGN_OR_RETURN(const bool equal, EqualBits(rows, others));
    if (equal) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "of shape ", output.shape().ToString(), " for ", batch.samples, " samples",
        batch.bucket.empty() ? "" : absl::StrCat(" (bucket key ", batch.bucket, ")"),
        ": it cannot be told which of its rows are whose, since samples turned around give the "
        "same rows; ask without input_order, or for an output with an axis of its own for "
        "samples"));
  }
  return rows;
}

absl::StatusOr<std::vector<NDArray>> PredictedRows::Join(const std::vector<std::string>& names,
                                                         std::vector<int64_t>* ids) const {
  ids->clear();
  std::vector<NDArray> joined;
  if (batches_.empty()) return joined;
  bool has_ids = false;
  for (size_t k = 0; k < batches_[0].outputs.size(); ++k) {
    const bool of_samples = HasRowsOfSamples(k);
    std::vector<NDArray> parts;
    std::vector<int64_t> own_ids;
    for (const Batch& batch : batches_) {
      absl::StatusOr<NDArray> part =
          of_samples ? Rows(batch, k) : WithoutPad(batch.outputs[k], batch.pad);
      if (!part.ok()) {
        return AddContext(part.status(), "Predict: output ", k, " '",
                          k < names.size() ? names[k] : "", "'");
      }
      parts.push_back(*std::move(part));
      if (!of_samples) continue;
      const int64_t per_sample = PerSample(batch.outputs[k], batch.samples);
      for (const int64_t id : batch.ids) own_ids.insert(own_ids.end(), per_sample, id);
    }
    COOPER_ASSIGN_OR_RETURN(
        joined.emplace_back(),
        AddContext(ConcatRows(parts), "Predict: output ", k, " of the batches (use IterPredict)"));
    if (!of_samples) continue;
    std::vector<int64_t> sorted = own_ids;
    if (input_order_) {
      std::vector<NDArray> array = {joined.back()};
      COOPER_RETURN_IF_ERROR(SortRowsById(&sorted, &array));
      joined.back() = array[0];
    }
    if (!has_ids) *ids = std::move(sorted);
    has_ids = true;
  }
  return joined;
}

}  // namespace cooper
