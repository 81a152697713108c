#include "tools/lm_train/lm_progress.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "module/metric/eval_metric.h"
#include "ndarray/base/atomic_file.h"
#include "nlohmann/json.hpp"

namespace cooper {
namespace {

using Json = nlohmann::ordered_json;

Json DataJson(const DataStatistics& data) {
  return {{"samples", data.samples},
          {"discarded", data.discarded},
          {"truncated", data.truncated},
          {"split", data.split},
          {"left_over", data.left_over},
          {"padding", data.padding()},
          {"pool_samples", data.pool_samples},
          {"pool_bytes", data.pool_bytes},
          {"wait_seconds", data.wait_seconds},
          {"read_seconds", data.read_seconds},
          {"decode_seconds", data.decode_seconds},
          {"batch_seconds", data.batch_seconds},
          {"peer_seconds", data.peer_seconds}};
}

double Share(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

double PerSecond(int64_t count, double seconds) {
  return seconds <= 0 ? 0 : static_cast<double>(count) / seconds;
}

std::string Duration(double seconds) {
  const auto whole = static_cast<int64_t>(std::llround(seconds));
  return absl::StrFormat("%d:%02d", whole / 60, whole % 60);
}

}  // namespace

LmProgress::LmProgress(Options options)
    : options_(std::move(options)), terminal_(isatty(STDOUT_FILENO) == 1), last_(Clock::now()) {}

void LmProgress::Show(const std::string& line, bool whole) {
  std::printf("%s%s%s", terminal_ ? "\r\x1b[K" : "", line.c_str(), terminal_ && !whole ? "" : "\n");
  std::fflush(stdout);
}

absl::Status LmProgress::Resume(int begin_epoch, int64_t begin_batch) {
  if (options_.json_path.empty()) return absl::OkStatus();
  const absl::StatusOr<std::string> text = ReadFile(options_.json_path);
  if (absl::IsNotFound(text.status())) return absl::OkStatus();
  if (!text.ok()) return text.status();
  const bool is_at_end = begin_batch > 0 && begin_batch == options_.batches_per_epoch;
  for (absl::string_view line : absl::StrSplit(*text, '\n', absl::SkipEmpty())) {
    const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    const auto epoch = json.is_object() ? json.find("epoch") : json.end();
    if (epoch == json.end() || !epoch->is_number_integer() || epoch->get<int64_t>() < 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          options_.json_path, ": a line is no epoch of a run; --json would overwrite the file"));
    }
    // Where the batches of an epoch are not known, the epoch's own figures say how many it had.
    const bool is_finished =
        is_at_end || (options_.batches_per_epoch == 0 && json.value("batches", 0) == begin_batch);
    if (epoch->get<int64_t>() > begin_epoch + (is_finished ? 1 : 0)) continue;
    json_lines_.emplace_back(line);
    last_epoch_ = static_cast<int>(epoch->get<int64_t>());
  }
  return absl::OkStatus();
}

bool LmProgress::OnBatch(const BatchEndParam& param) {
  const Clock::time_point now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - last_).count();
  last_ = now;
  const DataBatch& batch = *param.batch;
  int64_t real = 0;
  for (int64_t length : batch.lengths) real += length;
  const int64_t padded = batch.data[0].size();
  const BucketKey key = batch.bucket_key.value_or(BucketKey());
  for (Bucket* bucket : {&buckets_[key], &epoch_buckets_[key], &epoch_}) {
    ++bucket->batches;
    bucket->real_tokens += real;
    bucket->padded_tokens += padded;
    bucket->seconds += seconds;
  }
  seconds_ += seconds;
  ++batches_;
  const bool due = (param.nbatch + 1) % std::max<int64_t>(1, options_.disp_batches) == 0;
  if (!terminal_ && !due) return true;
  const double perplexity = param.eval_metric->GetNameValue()[0].second;
  std::string of_batches, left;  // empty where the batches of an epoch are not known
  if (options_.batches_per_epoch > 0) {
    const int64_t batches =
        (options_.num_epoch - param.epoch) * options_.batches_per_epoch - (param.nbatch + 1);
    of_batches = absl::StrCat("/", options_.batches_per_epoch);
    left = absl::StrCat("  left ", Duration(static_cast<double>(batches) * seconds_ /
                                            static_cast<double>(batches_)));
  }
  Show(absl::StrFormat("epoch %d/%d  batch %d%s  loss %.4f  perplexity %.2f  %.0f real tokens/s  "
                       "%.0f padded%s",
                       param.epoch + 1, options_.num_epoch, param.nbatch + 1, of_batches,
                       std::log(perplexity), perplexity,
                       PerSecond(epoch_.real_tokens, epoch_.seconds),
                       PerSecond(epoch_.padded_tokens, epoch_.seconds), left),
       /*whole=*/false);
  return true;
}

void LmProgress::PrintAbove(const std::string& lines) {
  std::printf("%s%s", terminal_ ? "\r\x1b[K" : "", lines.c_str());
  std::fflush(stdout);
  last_ = Clock::now();
}

void LmProgress::OnTrainEnd(int epoch, double perplexity) {
  train_perplexity_ = perplexity;
  std::string line = absl::StrFormat("epoch %d/%d  train perplexity %.2f", epoch + 1,
                                     options_.num_epoch, perplexity);
  // A run that resumes at an epoch's end trains no batch of that epoch.
  if (epoch_.batches > 0) {
    absl::StrAppendFormat(&line, "  %.0f real tokens/s  %.1f s",
                          PerSecond(epoch_.real_tokens, epoch_.seconds), epoch_.seconds);
  }
  Show(line, /*whole=*/true);
}

absl::Status LmProgress::OnEpochEnd(int epoch, std::optional<double> valid_perplexity,
                                    const BucketingModule& model, const DataStatistics& data) {
  if (valid_perplexity.has_value()) {
    Show(absl::StrFormat(
             "epoch %d/%d  validation perplexity %.2f%s", epoch + 1, options_.num_epoch,
             *valid_perplexity,
             options_.perplexity_floor.has_value()
                 ? absl::StrFormat(" (no model can be below %.2f)", *options_.perplexity_floor)
                 : ""),
         /*whole=*/true);
  }
  // If an earlier run trained the epoch and wrote its figures, they stay. If it ended after the
  // last batch without writing them, only the perplexities are known here.
  const bool is_written = options_.json_path.empty() || last_epoch_ == epoch + 1;
  if (epoch_.batches == 0 && is_written) return absl::OkStatus();
  Json json = {{"epoch", epoch + 1},
               {"train_perplexity", train_perplexity_},
               {"batches", epoch_.batches},
               {"real_tokens", epoch_.real_tokens},
               {"padded_tokens", epoch_.padded_tokens},
               {"seconds", epoch_.seconds},
               {"real_tokens_per_s", PerSecond(epoch_.real_tokens, epoch_.seconds)},
               {"padded_tokens_per_s", PerSecond(epoch_.padded_tokens, epoch_.seconds)}};
  if (valid_perplexity.has_value()) json["valid_perplexity"] = *valid_perplexity;
  if (options_.perplexity_floor.has_value()) json["perplexity_floor"] = *options_.perplexity_floor;
  json["arena_bytes"] = model.group()->arena_bytes();
  const DataStatistics of_epoch = data.Since(data_);
  data_ = data;
  if (of_epoch.batches > 0) json["data"] = DataJson(of_epoch);
  Json buckets = Json::object();
  for (const BucketReport& report : model.Report()) {
    const auto it = epoch_buckets_.find(report.key);
    const Bucket bucket = it == epoch_buckets_.end() ? Bucket() : it->second;
    buckets[report.key.ToString()] = {
        {"batches", bucket.batches},
        {"real_tokens", bucket.real_tokens},
        {"padded_tokens", bucket.padded_tokens},
        {"ms_per_batch", 1e3 * bucket.seconds / std::max<double>(1, bucket.batches)},
        {"bind_ms", 1e3 * report.bind_seconds},
        {"planned_bytes", report.memory.planned_bytes},
        {"lower_bound_bytes", report.memory.lower_bound},
        {"evaluation_bytes", report.evaluation.planned_bytes}};
  }
  json["buckets"] = std::move(buckets);
  json["arguments"] = options_.arguments;
  last_epoch_ = epoch + 1;
  json_lines_.push_back(json.dump(-1, ' ', false, Json::error_handler_t::replace));
  absl::Status status;
  if (!options_.json_path.empty()) {
    status = WriteFileAtomically(options_.json_path, absl::StrJoin(json_lines_, "\n") + "\n");
  }
  epoch_ = Bucket();
  epoch_buckets_.clear();
  last_ = Clock::now();
  return status;
}

std::string LmProgress::Table(const BucketingModule& model) const {
  if (batches_ == 0) return "no batch was left to train; a larger --num_epochs goes on\n";
  std::string text = "bucket  batches  real tokens  padded tokens  padding  ms/batch  planned MB\n";
  Bucket all;
  auto add = [&text](const std::string& name, const Bucket& b, int64_t bytes) {
    absl::StrAppendFormat(&text, "%6s  %7d  %11d  %13d  %6.1f%%  %8.1f  %10.2f\n", name, b.batches,
                          b.real_tokens, b.padded_tokens,
                          100 * (1 - Share(b.real_tokens, b.padded_tokens)),
                          1e3 * b.seconds / std::max<double>(1, b.batches), bytes / 1e6);
  };
  for (const BucketReport& report : model.Report()) {
    const auto it = buckets_.find(report.key);
    const Bucket bucket = it == buckets_.end() ? Bucket() : it->second;
    add(report.key.ToString(), bucket, report.memory.planned_bytes);
    all.batches += bucket.batches;
    all.real_tokens += bucket.real_tokens;
    all.padded_tokens += bucket.padded_tokens;
    all.seconds += bucket.seconds;
  }
  add("all", all, model.group()->arena_bytes());
  return text;
}

}  // namespace cooper
