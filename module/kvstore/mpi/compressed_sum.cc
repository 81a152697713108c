#include "module/kvstore/mpi/compressed_sum.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

absl::Status CompressedSum::CheckResiduals(absl::Span<const std::string> keys,
                                           absl::Span<const NDArray> values) const {
  for (size_t k = 0; k < keys.size(); ++k) {
    const auto residual = residuals_.find(keys[k]);
    if (values[k].dtype() == DType::kFloat64 || residual == residuals_.end()) continue;
    const auto size = static_cast<int64_t>(residual->second.size());
    if (size == values[k].size()) continue;
    return absl::InvalidArgumentError(absl::StrCat("kvstore: key '", keys[k], "': the residual is ",
                                                   Shape({size}).ToString(), ", expected ",
                                                   Shape({values[k].size()}).ToString()));
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> CompressedSum::Sum(const GradientCompression& compression,
                                           absl::Span<const std::string> keys,
                                           absl::Span<const NDArray> values,
                                           absl::Span<float> flat) {
  const absl::Status fits = CheckResiduals(keys, values);
  residual_.resize(flat.size());
  auto move_residuals = [&](bool in) {
    float* at = residual_.data();
    for (size_t k = 0; k < keys.size(); ++k) {
      if (values[k].dtype() == DType::kFloat64) continue;
      std::vector<float>& residual = residuals_[keys[k]];
      residual.resize(values[k].size());  // a new one: zeros
      if (in) {
        std::copy(residual.begin(), residual.end(), at);
      } else {
        std::copy(at, at + residual.size(), residual.begin());
      }
      at += residual.size();
    }
  };
  const auto num_words =
      static_cast<size_t>(GradientCompression::NumWords(static_cast<int64_t>(flat.size())));
  // The additional word says whether the residuals here fit: a process with an error has to take
  // part as well, because the others wait for it.
  words_.resize(num_words + 1);
  words_.back() = fits.ok() ? 0 : 1;
  if (fits.ok()) {
    move_residuals(true);
    compression.Compress(flat, absl::MakeSpan(residual_), absl::MakeSpan(words_).first(num_words));
  }
  all_words_.resize(words_.size() * world_.size());
  COOPER_RETURN_IF_ERROR(world_.AllGather(words_, absl::MakeSpan(all_words_)));
  // All processes find the same rank, so all take part in the exchange of texts.
  for (int rank = 0; rank < world_.size(); ++rank) {
    if (all_words_[rank * words_.size() + num_words] == 0) continue;
    COOPER_ASSIGN_OR_RETURN(const std::vector<std::string> errors,
                            world_.AllGatherText(std::string(fits.message())));
    return absl::InvalidArgumentError(absl::StrCat(errors[rank], " on rank ", rank));
  }
  move_residuals(false);
  std::fill(flat.begin(), flat.end(), 0.0f);
  for (int rank = 0; rank < world_.size(); ++rank) {
    compression.AddTo(absl::MakeConstSpan(all_words_).subspan(rank * words_.size(), num_words),
                      flat);
  }
  return static_cast<int64_t>(words_.size() * sizeof(uint32_t));
}

absl::StatusOr<std::vector<std::pair<std::string, NDArray>>> CompressedSum::GetState() const {
  std::vector<std::pair<std::string, NDArray>> state;
  for (const auto& [key, residual] : residuals_) {
    state.emplace_back(absl::StrCat(key, ":0"), NDArray());
    COOPER_ASSIGN_OR_RETURN(state.back().second,
                            NDArray::FromVector({static_cast<int64_t>(residual.size())}, residual));
  }
  return state;
}

absl::Status CompressedSum::SetState(absl::string_view type,
                                     const std::vector<std::pair<std::string, NDArray>>& state) {
  std::map<std::string, std::vector<float>> residuals;
  for (const auto& [name, array] : state) {
    absl::string_view key = name;
    if (!absl::ConsumeSuffix(&key, ":0")) {
      return absl::InvalidArgumentError(
          absl::StrCat("kvstore: a store of type '", type, "' has no state '", name, "'"));
    }
    COOPER_ASSIGN_OR_RETURN(residuals[std::string(key.data(), key.size())],
                            array.ToVector<float>());
  }
  residuals_ = std::move(residuals);
  return absl::OkStatus();
}

void CompressedSum::Forget(absl::Span<const std::string> keys) {
  for (const std::string& key : keys) residuals_.erase(key);
}

}  // namespace cooper
