#include "io/iterators/prefetching_iter.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "io/batch/key_values.h"
#include "io/iterators/prefetch_source.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

constexpr char kKind[] = "PrefetchingIter";

void Rename(const std::vector<std::map<std::string, std::string>>& names, size_t source,
            std::vector<DataDesc>* descs) {
  if (source >= names.size()) return;
  for (DataDesc& desc : *descs) {
    const auto it = names[source].find(desc.name);
    if (it != names[source].end()) desc.name = it->second;
  }
}

std::string KeyText(const std::optional<BucketKey>& key) {
  return key.has_value() ? key->ToString() : "none";
}

template <typename T>
void Append(std::vector<T>&& more, std::vector<T>* all) {
  std::move(more.begin(), more.end(), std::back_inserter(*all));
}

}  // namespace

absl::StatusOr<std::unique_ptr<PrefetchingIter>> PrefetchingIter::Create(
    std::vector<std::unique_ptr<DataIter>> iters, PrefetchingIterOptions options) {
  if (iters.empty()) return absl::InvalidArgumentError("PrefetchingIter: no source");
  auto result = std::unique_ptr<PrefetchingIter>(new PrefetchingIter());
  result->batch_size_ = iters[0]->batch_size();
  result->default_bucket_key_ = iters[0]->default_bucket_key();
  for (size_t i = 0; i < iters.size(); ++i) {
    if (iters[i]->batch_size() != result->batch_size_ ||
        iters[i]->default_bucket_key() != result->default_bucket_key_) {
      return absl::InvalidArgumentError(absl::StrCat(
          "PrefetchingIter: source ", i, " has batches of ", iters[i]->batch_size(),
          " and the default bucket key ", KeyText(iters[i]->default_bucket_key()), ", source 0 of ",
          result->batch_size_, " and ", KeyText(result->default_bucket_key_)));
    }
    std::vector<DataDesc> data = iters[i]->provide_data();
    std::vector<DataDesc> label = iters[i]->provide_label();
    Rename(options.rename_data, i, &data);
    Rename(options.rename_label, i, &label);
    const std::pair<const std::vector<DataDesc>&, const std::vector<DataDesc>&> kinds[] = {
        {iters[i]->provide_data(), data}, {iters[i]->provide_label(), label}};
    for (const auto& [own, renamed] : kinds) {
      for (size_t k = 0; k < own.size(); ++k) {
        result->invalid_labels_[renamed[k].name] = iters[i]->invalid_label(own[k].name);
      }
    }
    Append(std::move(data), &result->provide_data_);
    Append(std::move(label), &result->provide_label_);
  }
  const auto depth = static_cast<size_t>(std::max(options.depth, 1));
  result->options_ = std::move(options);
  try {
    for (std::unique_ptr<DataIter>& iter : iters) {
      result->sources_.push_back(
          std::make_unique<PrefetchSource>(std::move(iter), depth, result->options_.max_bytes));
    }
  } catch (const std::system_error& error) {
    return absl::ResourceExhaustedError(absl::StrCat("PrefetchingIter: no thread for source ",
                                                     result->sources_.size(), ": ", error.what()));
  }
  result->is_reset_.assign(result->sources_.size(), false);
  return result;
}

PrefetchingIter::~PrefetchingIter() = default;

absl::StatusOr<std::optional<DataBatch>> PrefetchingIter::Next() {
  COOPER_RETURN_IF_ERROR(CheckReset());
  const auto start = std::chrono::steady_clock::now();
  for (const auto& source : sources_) source->Front();
  wait_seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  size_t ended = 0;
  const DataBatch* first = nullptr;
  for (size_t i = 0; i < sources_.size(); ++i) {
    const PrefetchSource::MaybeBatch& front = sources_[i]->Front();
    if (!front.ok()) {
      return AddContext(sources_[i]->Pop().status(), "PrefetchingIter: source ", i);
    }
    if (!front->has_value()) {
      ++ended;
    } else if (first == nullptr) {
      first = &**front;
    } else if ((*front)->pad != first->pad || (*front)->bucket_key != first->bucket_key) {
      return absl::FailedPreconditionError(absl::StrCat(
          "PrefetchingIter: the batch of source ", i, " has pad ", (*front)->pad,
          " and the bucket key ", KeyText((*front)->bucket_key), ", that of an earlier source pad ",
          first->pad, " and ", KeyText(first->bucket_key)));
    }
  }
  if (ended == sources_.size()) {
    for (const auto& source : sources_) source->PassEnd();
    return std::nullopt;
  }
  if (ended > 0) {
    return absl::FailedPreconditionError(absl::StrCat("PrefetchingIter: ", ended, " of ",
                                                      sources_.size(),
                                                      " sources have ended before the others"));
  }

  DataBatch joined;
  for (size_t i = 0; i < sources_.size(); ++i) {
    COOPER_ASSIGN_OR_RETURN(std::optional<DataBatch> batch, sources_[i]->Pop());
    if (batch->provide_data.empty()) batch->provide_data = sources_[i]->provide_data();
    if (batch->provide_label.empty()) batch->provide_label = sources_[i]->provide_label();
    Rename(options_.rename_data, i, &batch->provide_data);
    Rename(options_.rename_label, i, &batch->provide_label);
    if (i == 0) {
      joined = *std::move(batch);
      continue;
    }
    Append(std::move(batch->data), &joined.data);
    Append(std::move(batch->label), &joined.label);
    Append(std::move(batch->provide_data), &joined.provide_data);
    Append(std::move(batch->provide_label), &joined.provide_label);
  }
  ++batches_;
  return joined;
}

UnusedSamples PrefetchingIter::unused_samples() const { return sources_[0]->unused_samples(); }

DataStatistics PrefetchingIter::statistics() const {
  DataStatistics statistics = sources_[0]->statistics();
  statistics.batches = batches_;
  statistics.wait_seconds = wait_seconds_;
  return statistics;
}

absl::Status PrefetchingIter::Reset() { return ResetSources(/*hard=*/false); }

absl::Status PrefetchingIter::HardReset() { return ResetSources(/*hard=*/true); }

absl::Status PrefetchingIter::ResetSources(bool hard) {
  // A reset that has begun is first completed as the kind that it was.
  if (hard && !is_hard_ && IsPartlyReset()) COOPER_RETURN_IF_ERROR(ResetSources(false));
  if (!IsPartlyReset()) is_hard_ = hard;
  absl::Status status;
  for (size_t i = 0; i < sources_.size(); ++i) {
    if (is_reset_[i]) continue;
    const absl::Status reset = sources_[i]->Reset(is_hard_);
    is_reset_[i] = reset.ok();
    status.Update(reset);
  }
  if (status.ok()) is_reset_.assign(sources_.size(), false);
  return status;
}

bool PrefetchingIter::IsPartlyReset() const {
  return std::find(is_reset_.begin(), is_reset_.end(), true) != is_reset_.end();
}

absl::Status PrefetchingIter::CheckReset() const {
  if (!IsPartlyReset()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "PrefetchingIter: some sources are in the next epoch and others are not, since one could not "
      "be reset: call Reset again");
}

std::optional<BucketKey> PrefetchingIter::default_bucket_key() const { return default_bucket_key_; }

std::vector<BucketKey> PrefetchingIter::bucket_keys() const { return sources_[0]->bucket_keys(); }

absl::StatusOr<BucketShapes> PrefetchingIter::bucket_shapes(const BucketKey& key) const {
  BucketShapes joined = {.key = key};
  for (size_t i = 0; i < sources_.size(); ++i) {
    COOPER_ASSIGN_OR_RETURN(BucketShapes shapes, sources_[i]->bucket_shapes(key));
    Rename(options_.rename_data, i, &shapes.data_shapes);
    Rename(options_.rename_label, i, &shapes.label_shapes);
    Append(std::move(shapes.data_shapes), &joined.data_shapes);
    Append(std::move(shapes.label_shapes), &joined.label_shapes);
  }
  return joined;
}

absl::StatusOr<std::string> PrefetchingIter::SaveState() const {
  COOPER_RETURN_IF_ERROR(CheckReset());
  KeyValues state;
  state.SetString("kind", kKind);
  state.SetInt("sources", static_cast<int64_t>(sources_.size()));
  for (size_t i = 0; i < sources_.size(); ++i) {
    COOPER_ASSIGN_OR_RETURN(const PrefetchPosition position, sources_[i]->SaveState());
    state.SetString(absl::StrCat("source", i), position.state);
    state.SetInt(absl::StrCat("batches", i), position.batches);
  }
  return state.ToString();
}

absl::Status PrefetchingIter::LoadState(absl::string_view text) {
  COOPER_ASSIGN_OR_RETURN(const KeyValues state, KeyValues::Parse(text));
  COOPER_RETURN_IF_ERROR(state.Expect("kind", kKind));
  COOPER_ASSIGN_OR_RETURN(const int64_t sources, state.GetInt("sources"));
  if (sources != static_cast<int64_t>(sources_.size())) {
    return absl::InvalidArgumentError(absl::StrCat("PrefetchingIter: the state is of ", sources,
                                                   " sources, there are ", sources_.size()));
  }
  std::vector<PrefetchPosition> present, loaded(sources_.size());
  for (size_t i = 0; i < sources_.size(); ++i) {
    COOPER_ASSIGN_OR_RETURN(loaded[i].state, state.GetString(absl::StrCat("source", i)));
    COOPER_ASSIGN_OR_RETURN(loaded[i].batches, state.GetInt(absl::StrCat("batches", i)));
    if (loaded[i].batches < 0) {
      return absl::InvalidArgumentError(absl::StrCat("PrefetchingIter: source ", i, ": batches is ",
                                                     loaded[i].batches, ", expected at least 0"));
    }
    COOPER_ASSIGN_OR_RETURN(present.emplace_back(), sources_[i]->SaveState());
  }
  for (size_t i = 0; i < sources_.size(); ++i) {
    absl::Status status = sources_[i]->LoadState(loaded[i]);
    if (status.ok()) continue;
    // Moves the sources back, so that none is ahead of the others.
    for (size_t k = 0; k < i; ++k) sources_[k]->LoadState(present[k]).IgnoreError();
    return status;
  }
  is_reset_.assign(sources_.size(), false);
  return absl::OkStatus();
}

}  // namespace cooper
