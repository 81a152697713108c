#include "symbol/ops/rnn/rnn_clip.h"

#include "absl/strings/str_cat.h"
#include "symbol/ops/rnn/rnn_layout.h"

namespace cooper {

absl::Status CheckRNNClip(const RNNParam& param) {
  const auto& min = param.lstm_state_clip_min;
  const auto& max = param.lstm_state_clip_max;
  if (!min.has_value() && !max.has_value()) return absl::OkStatus();
  if (!RNNHasCell(param)) {
    return absl::InvalidArgumentError("lstm_state_clip_min and lstm_state_clip_max need mode lstm");
  }
  if (!min.has_value() || !max.has_value()) {
    return absl::InvalidArgumentError(
        "lstm_state_clip_min and lstm_state_clip_max must be given together");
  }
  if (*min > *max) {
    return absl::InvalidArgumentError(
        absl::StrCat("lstm_state_clip_min ", *min, " is greater than lstm_state_clip_max ", *max));
  }
  return absl::OkStatus();
}

}  // namespace cooper
