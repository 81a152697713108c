#include "module/rows/predicted_rows.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "module/rows/sample_rows.h"
#include "ndarray/array/on_cpu.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// Batches per bucket to find layouts with; further ones are unlikely to rule out more.
constexpr int kMaxRotated = 3;

absl::StatusOr<std::vector<NDArray>> TurnAll(const std::vector<NDArray>& arrays,
                                             const std::vector<DataDesc>& descs, int64_t samples) {
  std::vector<NDArray> turned;
  for (size_t i = 0; i < arrays.size(); ++i) {
    const int axis = i < descs.size() ? BatchAxis(descs[i].layout) : 0;
    COOPER_ASSIGN_OR_RETURN(turned.emplace_back(), RotateSamples(arrays[i], axis, samples));
  }
  return turned;
}

// Sorts `ids`, and the indices of the array's axis with them; each index has one id. Stable.
absl::Status SortById(int axis, std::vector<int64_t>* ids, NDArray* array) {
  if (std::is_sorted(ids->begin(), ids->end())) return absl::OkStatus();
  std::vector<int64_t> order(ids->size());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return (*ids)[a] < (*ids)[b]; });
  COOPER_ASSIGN_OR_RETURN(*array, TakeIndices(*array, axis, order));
  std::sort(ids->begin(), ids->end());
  return absl::OkStatus();
}

bool IsOfSomeSamples(const BatchLayout& layout) {
  return layout.kind == BatchLayout::Kind::kSomeSamples;
}

absl::StatusOr<bool> EqualBits(const NDArray& a, const NDArray& b) {
  COOPER_ASSIGN_OR_RETURN(const NDArray x, OnCpu(a));
  COOPER_ASSIGN_OR_RETURN(const NDArray y, OnCpu(b));
  return std::memcmp(x.raw_data(), y.raw_data(), static_cast<size_t>(x.size_bytes())) == 0;
}

}  // namespace

absl::Status PredictedRows::Add(const DataBatch& batch, const std::vector<DataDesc>& data,
                                const std::vector<DataDesc>& label, int64_t samples,
                                const std::vector<BatchLayout>& layouts,
                                std::vector<NDArray> outputs, Compute compute) {
  if (!batches_.empty() && outputs.size() != batches_[0].outputs.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("Predict: ", batches_[0].outputs.size(), " outputs in the first batch and ",
                     outputs.size(), " in a later one: they cannot be joined; use IterPredict"));
  }
  Batch kept{.outputs = std::move(outputs),
             .layouts = layouts,
             .samples = samples > 0 ? samples : std::ssize(batch.index),
             .pad = batch.pad,
             .bucket = batch.bucket_key.has_value() ? batch.bucket_key->ToString() : ""};
  kept.layouts.resize(kept.outputs.size());
  for (size_t k = 0; k < kept.outputs.size(); ++k) {
    if (!kept.layouts[k].Fits(kept.outputs[k].shape(), kept.samples)) kept.layouts[k] = {};
  }
  if (std::ssize(batch.index) == kept.samples) {
    kept.ids.assign(batch.index.begin(), batch.index.begin() + kept.keep());
  }
  if (std::any_of(kept.ids.begin(), kept.ids.end(), [](int64_t id) { return id < 0; })) {
    kept.ids.clear();
  }
  if (kept.samples > 0) COOPER_RETURN_IF_ERROR(FindLayouts(batch, data, label, kept, compute));
  batches_.push_back(std::move(kept));
  return absl::OkStatus();
}

PredictedRows::Key PredictedRows::KeyOf(const Batch& batch, size_t k) {
  std::vector<int64_t> per_sample;
  for (const int64_t extent : batch.outputs[k].shape().dims()) {
    per_sample.push_back(extent % batch.samples == 0 ? extent / batch.samples : -1);
  }
  return {k, batch.bucket, std::move(per_sample)};
}

absl::Status PredictedRows::FindLayouts(const DataBatch& batch, const std::vector<DataDesc>& data,
                                        const std::vector<DataDesc>& label, const Batch& kept,
                                        Compute compute) {
  std::vector<std::pair<size_t, Candidates*>> open;
  for (size_t k = 0; k < kept.outputs.size(); ++k) {
    if (!kept.layouts[k].is_unknown() || IsOfSomeSamples(kept.layouts[k])) continue;
    std::vector<BatchLayout> possible = PossibleLayouts(kept.outputs[k].shape(), kept.samples);
    if (possible.empty()) continue;
    const bool by_row = possible[0].axis == 0 && possible[0].per_sample() == 1;
    if (!input_order_ && !by_row && kept.pad == 0) continue;
    Candidates& candidates = candidates_[KeyOf(kept, k)];
    // A first axis with as many indices as there are samples is taken to be the samples'. A batch
    // of one sample rules nothing out, and has no other order.
    if (kept.samples == 1 || by_row) {
      if (candidates.rotated == 0) candidates.layouts = {possible[0]};
      continue;
    }
    if (candidates.rotated == 0) candidates.layouts = std::move(possible);
    if (candidates.layouts.size() > (candidates.rotated == 0 ? 0u : 1u) &&
        candidates.rotated < kMaxRotated) {
      open.emplace_back(k, &candidates);
    }
  }
  if (open.empty()) return absl::OkStatus();
  DataBatch turned = batch;
  COOPER_ASSIGN_OR_RETURN(turned.data, TurnAll(batch.data, data, kept.samples));
  COOPER_ASSIGN_OR_RETURN(turned.label, TurnAll(batch.label, label, kept.samples));
  COOPER_ASSIGN_OR_RETURN(const std::vector<NDArray> outputs, compute(turned));
  for (const auto& [k, candidates] : open) {
    // The number of rows depends on the samples in a way that no layout describes.
    if (outputs[k].shape() != kept.outputs[k].shape()) candidates->layouts.clear();
    COOPER_ASSIGN_OR_RETURN(
        candidates->layouts,
        ConsistentLayouts(candidates->layouts, kept.outputs[k], outputs[k], kept.samples));
    ++candidates->rotated;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<BatchLayout>> PredictedRows::LayoutsOf(const Batch& batch,
                                                                  size_t k) const {
  const BatchLayout& layout = batch.layouts[k];
  if (layout.has_samples()) return std::vector{layout};
  if (IsOfSomeSamples(layout) && batch.pad > 0) {
    return UnknownPaddingError(batch.outputs[k].shape(), layout, batch.samples, batch.pad);
  }
  if (!layout.is_unknown() || batch.samples == 0) return std::vector<BatchLayout>();
  const auto at = candidates_.find(KeyOf(batch, k));
  if (at == candidates_.end()) return std::vector<BatchLayout>();
  if (!at->second.layouts.empty() || batch.pad == 0) return at->second.layouts;
  return UnknownPaddingError(batch.outputs[k].shape(), layout, batch.samples, batch.pad);
}

absl::StatusOr<NDArray> PredictedRows::Kept(const Batch& batch, size_t k,
                                            absl::Span<const BatchLayout> layouts) const {
  const NDArray& output = batch.outputs[k];
  const bool by_sample = input_order_ && !batch.ids.empty();
  const auto take = [&](const BatchLayout& layout) {
    return TakeIndices(output, layout.axis,
                       SampleIndices(layout, batch.samples, batch.keep(), by_sample));
  };
  COOPER_ASSIGN_OR_RETURN(NDArray kept, take(layouts[0]));
  for (const BatchLayout& layout : layouts.subspan(1)) {
    COOPER_ASSIGN_OR_RETURN(const NDArray other, take(layout));
    if (other.shape() == kept.shape()) {
      COOPER_ASSIGN_OR_RETURN(const bool equal, EqualBits(kept, other));
      if (equal) continue;
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "of shape ", output.shape().ToString(), " for ", batch.samples, " samples",
        batch.bucket.empty() ? "" : absl::StrCat(" (bucket key ", batch.bucket, ")"),
        ": it is not known which row belongs to which sample, since samples in another order give "
        "the same rows; set input_order to false, or predict an output with an axis of its own "
        "for samples"));
  }
  return kept;
}

absl::StatusOr<std::vector<NDArray>> PredictedRows::Join(const std::vector<std::string>& names,
                                                         std::vector<int64_t>* ids) const {
  ids->clear();
  std::vector<NDArray> joined;
  if (batches_.empty()) return joined;
  bool has_ids = false;
  for (size_t k = 0; k < batches_[0].outputs.size(); ++k) {
    const std::string name =
        absl::StrCat("Predict: output ", k, " '", k < names.size() ? names[k] : "", "'");
    std::vector<NDArray> parts;
    std::vector<int64_t> own_ids;
    int axis = 0;
    bool ordered = true;  // whether every part has ids
    for (const Batch& batch : batches_) {
      COOPER_ASSIGN_OR_RETURN(const std::vector<BatchLayout> layouts,
                              AddContext(LayoutsOf(batch, k), name));
      if (layouts.empty()) {
        ordered = false;
        parts.push_back(batch.outputs[k]);
        if (batch.samples == 0) {
          COOPER_ASSIGN_OR_RETURN(parts.back(), WithoutPad(batch.outputs[k], batch.pad));
        }
        continue;
      }
      if (!parts.empty() && axis != layouts[0].axis) {
        return absl::InvalidArgumentError(absl::StrCat(
            name, " has its samples along axis ", axis, " in one batch and along axis ",
            layouts[0].axis, " in another: they cannot be joined; use IterPredict"));
      }
      axis = layouts[0].axis;
      COOPER_ASSIGN_OR_RETURN(parts.emplace_back(), AddContext(Kept(batch, k, layouts), name));
      ordered = ordered && !batch.ids.empty();
      if (!ordered) continue;
      for (const int64_t i : SampleIndices(layouts[0], batch.samples, batch.keep(), input_order_)) {
        own_ids.push_back(batch.ids[i / layouts[0].inner % batch.samples]);
      }
    }
    COOPER_ASSIGN_OR_RETURN(joined.emplace_back(),
                            AddContext(JoinAlong(parts, axis), "Predict: output ", k,
                                       " of the batches (use IterPredict)"));
    if (!ordered) continue;
    if (input_order_) COOPER_RETURN_IF_ERROR(SortById(axis, &own_ids, &joined.back()));
    if (!has_ids) *ids = std::move(own_ids);
    has_ids = true;
  }
  return joined;
}

}  // namespace cooper
