#include "io/batch/data_statistics.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace cooper {

double DataStatistics::padding() const {
  return padded_tokens == 0 ? 0 : 1 - static_cast<double>(tokens) / padded_tokens;
}

DataStatistics DataStatistics::Since(const DataStatistics& before) const {
  return {.samples = samples - before.samples,
          .batches = batches - before.batches,
          .padding_batches = padding_batches - before.padding_batches,
          .padding_rows = padding_rows - before.padding_rows,
          .discarded = discarded - before.discarded,
          .truncated = truncated - before.truncated,
          .split = split - before.split,
          .left_over = left_over - before.left_over,
          .tokens = tokens - before.tokens,
          .padded_tokens = padded_tokens - before.padded_tokens,
          .pool_samples = pool_samples,
          .pool_bytes = pool_bytes,
          .read_seconds = read_seconds - before.read_seconds,
          .decode_seconds = decode_seconds - before.decode_seconds,
          .peer_seconds = peer_seconds - before.peer_seconds,
          .batch_seconds = batch_seconds - before.batch_seconds,
          .wait_seconds = wait_seconds - before.wait_seconds};
}

std::string DataStatistics::CountsToString() const {
  std::string line = absl::StrCat(batches, " batches");
  const struct {
    int64_t count;
    const char* what;
  } counts[] = {{samples, "samples served"},       {discarded, "discarded"},
                {truncated, "truncated"},          {split, "split"},
                {left_over, "left over"},          {padding_batches, "batches of padding"},
                {padding_rows, "rows of padding"}, {pool_samples, "samples held"},
                {pool_bytes, "bytes held"}};
  for (const auto& [count, what] : counts) {
    if (count != 0) absl::StrAppend(&line, ", ", count, " ", what);
  }
  if (padded_tokens > 0) absl::StrAppendFormat(&line, ", %.1f %% padding", 100 * padding());
  return line;
}

std::string DataStatistics::TimesToString() const {
  return absl::StrFormat(
      "%.3f s waiting for data; %.3f s reading, %.3f s decoding, %.3f s making batches, %.3f s "
      "waiting for other parts",
      wait_seconds, read_seconds, decode_seconds, batch_seconds, peer_seconds);
}

}  // namespace cooper
