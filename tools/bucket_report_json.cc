#include "tools/bucket_report_json.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "nlohmann/json.hpp"
#include "tools/buckets/bucket_snippets.h"

namespace cooper {
namespace {

using Json = nlohmann::ordered_json;

// Returns how often each length occurs: [length, count], or [first, second, count] for pairs.
Json LengthCounts(const SampleLengths& lengths) {
  std::map<std::vector<int64_t>, int64_t> counts;
  for (size_t i = 0; i < lengths.first.size(); ++i) {
    std::vector<int64_t> key = {lengths.first[i]};
    if (lengths.pairs()) key.push_back(lengths.second[i]);
    ++counts[key];
  }
  Json json = Json::array();
  for (const auto& [key, count] : counts) {
    Json row = key;
    row.push_back(count);
    json.push_back(std::move(row));
  }
  return json;
}

// Returns the buckets with their samples. The last batch of a bucket is not full; the samples in it
// are "fill_no_batch", which is null if the batch size is unknown.
Json Rows(const std::vector<BucketRow>& rows, int64_t batch_size) {
  Json json = Json::array();
  for (const BucketRow& row : rows) {
    json.push_back({{"bucket", row.bucket},
                    {"samples", row.samples},
                    {"tokens", row.tokens},
                    {"padded_tokens", row.padded_tokens},
                    {"fill_no_batch", batch_size > 0 ? Json(row.samples % batch_size) : Json()}});
  }
  return json;
}

}  // namespace

std::string BucketReportJson(const BucketReportInput& report) {
  constexpr const char* kTooLong[] = {"discard", "truncate", "split", "error"};
  const BucketComparisonOptions& options = report.options;
  const BucketComparison& comparison = report.comparison;
  Json by_number = Json::array();
  for (const BucketSet& set : comparison.by_number) {
    by_number.push_back({{"padded_tokens", set.padded_tokens},
                         {"padding", comparison.Padding(set)},
                         {"cost", set.cost}});
  }
  Json json = {
      {"kind", "bucket_report"},
      {"source", report.source},
      {"noun", report.lengths.noun},
      {"options",
       {{"max_buckets", options.max_buckets},
        {"bucket_cost", comparison.bucket_cost},
        {"multiple_of", options.multiple_of},
        {"step_overhead", options.step_overhead},
        {"max_length", options.max_length},
        {"too_long", kTooLong[static_cast<int>(options.too_long)]},
        {"batch_size", options.batch_size}}},
      {"all", {{"samples", report.lengths.first.size()}, {"tokens", report.lengths.tokens()}}},
      {"in_buckets", {{"samples", comparison.samples}, {"tokens", comparison.tokens}}},
      {"empty", report.lengths.empty},
      {"discarded", comparison.discarded},
      {"truncated", comparison.truncated},
      {"split", comparison.split},
      {"lost_tokens", comparison.lost_tokens},
      {"recommended", comparison.recommended},
      {"min_cost", comparison.min_cost},
      {"by_number", by_number},
      {"buckets", Rows(comparison.rows, options.batch_size)},
      {"buckets_in_use", Rows(comparison.rows_in_use, options.batch_size)},
      {"flags", BucketFlags(comparison, options)},
      {"code", BucketCode(comparison, options)}};
  if (report.memory.has_value()) {
    json["memory"] = {
        {"network", report.memory->network},      {"batch_size", report.memory->batch_size},
        {"training", report.memory->training},    {"planned", report.memory->planned},
        {"arena", report.memory->arena},          {"inputs", report.memory->inputs},
        {"parameters", report.memory->parameters}};
  }
  json["lengths"] = LengthCounts(report.lengths);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace cooper
