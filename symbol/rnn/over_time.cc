#include "symbol/rnn/over_time.h"

#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "symbol/op/elemwise.h"
#include "symbol/op/index.h"
#include "symbol/op/reduce.h"
#include "symbol/op/shape.h"

namespace cooper {
namespace {

// The steps with padding replaced by `value`.
struct Masked {
  Symbol data;
  Symbol lengths;
  int axis = 1;
};

Masked Mask(const Symbol& data, const Symbol& valid_length, const OverTimeOptions& options,
            double value) {
  if (options.layout != "NTC" && options.layout != "TNC") {
    const Symbol error(absl::InvalidArgumentError(
        absl::StrCat("over time: layout is '", options.layout, "', expected 'NTC' or 'TNC'")));
    return {error, error};
  }
  const int axis = options.layout == "TNC" ? 0 : 1;
  // At least 1: the mean of no step would be NaN and the maximum infinite, and their gradients stay
  // invalid when a loss multiplies them by 0.
  const Symbol lengths = op::maximum_scalar(valid_length, {.scalar = 1});
  return {
      op::SequenceMask(
          data,
          {.sequence_length = lengths, .use_sequence_length = true, .axis = axis, .value = value}),
      lengths, axis};
}

}  // namespace

Symbol MeanOverTime(const Symbol& data, const Symbol& valid_length,
                    const OverTimeOptions& options) {
  const Masked masked = Mask(data, valid_length, options, 0);
  return op::broadcast_div(op::sum(masked.data, {.axis = masked.axis}),
                           op::expand_dims(masked.lengths, {.axis = 1}), {.name = options.name});
}

Symbol MaxOverTime(const Symbol& data, const Symbol& valid_length, const OverTimeOptions& options) {
  const Masked masked = Mask(data, valid_length, options, std::numeric_limits<float>::lowest());
  return op::max(masked.data, {.axis = masked.axis, .name = options.name});
}

}  // namespace cooper
