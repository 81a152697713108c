#include "tools/bucket_report_json.h"

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "nlohmann/json.hpp"

namespace cooper {
namespace {

using Json = nlohmann::json;
using TooLong = BucketBoundariesOptions::TooLong;

BucketReportInput ReportOn(SampleLengths lengths, const BucketComparisonOptions& options) {
  BucketReportInput report{
      .source = "train.txt", .lengths = std::move(lengths), .options = options, .comparison = {}};
  auto comparison = CompareBuckets(report.lengths, options);
  EXPECT_THAT(comparison, IsOk());
  report.comparison = *std::move(comparison);
  return report;
}

// Returns 40 sentences of 4 words, 40 of 5, 70 of 10 and one of 100.
SampleLengths Sentences() {
  SampleLengths lengths{.empty = 2, .noun = "sentence"};
  lengths.first.assign(40, 4);
  lengths.first.insert(lengths.first.end(), 40, 5);
  lengths.first.insert(lengths.first.end(), 70, 10);
  lengths.first.push_back(100);
  return lengths;
}

TEST(BucketReportJsonTest, HasTheRecommendation) {
  const Json json = Json::parse(BucketReportJson(
      ReportOn(Sentences(), {.bucket_cost = 50, .max_length = 20, .batch_size = 32})));
  EXPECT_EQ(json["kind"], "bucket_report");
  EXPECT_EQ(json["source"], "train.txt");
  EXPECT_EQ(json["noun"], "sentence");
  EXPECT_EQ(json["all"], Json({{"samples", 151}, {"tokens", 1160}}));
  EXPECT_EQ(json["in_buckets"], Json({{"samples", 150}, {"tokens", 1060}}));
  EXPECT_EQ(json["recommended"], 2);
  EXPECT_EQ(json["by_number"][0]["padded_tokens"], 1500);
  EXPECT_NEAR(json["by_number"][0]["padding"], 440.0 / 1500, 1e-12);
  EXPECT_NEAR(json["by_number"][1]["padding"], 40.0 / 1100, 1e-12);
  EXPECT_EQ(json["by_number"][1]["cost"], 1100);
  EXPECT_EQ(json["min_cost"], 1060);
  ASSERT_EQ(json["buckets"].size(), 2);
  EXPECT_EQ(json["buckets"][0], Json({{"bucket", {5}},
                                      {"samples", 80},
                                      {"tokens", 360},
                                      {"padded_tokens", 400},
                                      {"fill_no_batch", 16}}));
  EXPECT_EQ(json["buckets"][1]["fill_no_batch"], 6);
  EXPECT_EQ(json["flags"], "--buckets=5,10 --batch_size=32");
  EXPECT_EQ(json["code"],
            "BucketSentenceIter::Create(sentences, 32, {.buckets = {5, 10}, .invalid_label = 0})");
  EXPECT_EQ(json["empty"], 2);
  EXPECT_EQ(json["discarded"], 1);
  EXPECT_EQ(json["lost_tokens"], 100);
  EXPECT_EQ(json["lengths"], Json({{4, 40}, {5, 40}, {10, 70}, {100, 1}}));
  EXPECT_EQ(json["options"], Json({{"max_buckets", 16},
                                   {"bucket_cost", 50.0},
                                   {"multiple_of", 1},
                                   {"step_overhead", 0.0},
                                   {"max_length", 20},
                                   {"too_long", "discard"},
                                   {"batch_size", 32}}));
  EXPECT_FALSE(json.contains("memory"));
}

TEST(BucketReportJsonTest, HasSamplesThatAreCutOrSplit) {
  const Json cut = Json::parse(
      BucketReportJson(ReportOn(Sentences(), {.max_length = 20, .too_long = TooLong::kTruncate})));
  EXPECT_EQ(cut["truncated"], 1);
  EXPECT_EQ(cut["lost_tokens"], 80);
  EXPECT_EQ(cut["options"]["too_long"], "truncate");
  const Json split = Json::parse(
      BucketReportJson(ReportOn(Sentences(), {.max_length = 20, .too_long = TooLong::kSplit})));
  EXPECT_EQ(split["split"], 1);
  EXPECT_EQ(split["options"]["too_long"], "split");
  // Without a batch size it is unknown which samples fill no batch.
  EXPECT_TRUE(split["buckets"][0]["fill_no_batch"].is_null());
}

TEST(BucketReportJsonTest, HasTheBucketsInUse) {
  const Json json = Json::parse(BucketReportJson(
      ReportOn(Sentences(), {.bucket_cost = 0, .max_length = 20, .in_use = {6, 12}})));
  ASSERT_EQ(json["buckets_in_use"].size(), 2);
  EXPECT_EQ(json["buckets_in_use"][0]["bucket"], Json::array({6}));
  EXPECT_EQ(json["buckets_in_use"][0]["padded_tokens"], 480);
  EXPECT_EQ(json["buckets_in_use"][1]["samples"], 70);
}

TEST(BucketReportJsonTest, HasPairs) {
  const SampleLengths lengths{.first = {3, 3, 10}, .second = {4, 4, 12}};
  const Json json = Json::parse(BucketReportJson(ReportOn(lengths, {.bucket_cost = 0})));
  EXPECT_EQ(json["lengths"], Json({{3, 4, 2}, {10, 12, 1}}));
  EXPECT_EQ(json["buckets"][1]["bucket"], Json::array({10, 12}));
  EXPECT_EQ(json["flags"], "");
}

TEST(BucketReportJsonTest, HasTheMemoryOfANetwork) {
  BucketReportInput report = ReportOn(Sentences(), {.bucket_cost = 50, .max_length = 20});
  report.memory = BucketMemory{.network = "a <net>",
                               .batch_size = 32,
                               .training = true,
                               .planned = {1'500'000, 2'750'000},
                               .arena = 2'750'000,
                               .inputs = 2560,
                               .parameters = 1'000'000};
  EXPECT_EQ(Json::parse(BucketReportJson(report))["memory"],
            Json({{"network", "a <net>"},
                  {"batch_size", 32},
                  {"training", true},
                  {"planned", {1'500'000, 2'750'000}},
                  {"arena", 2'750'000},
                  {"inputs", 2560},
                  {"parameters", 1'000'000}}));
}

TEST(BucketReportJsonTest, AnyNameOfAFileIsText) {
  BucketReportInput report = ReportOn({.first = {5}}, {});
  report.source = "a\n\"&\xff.txt";
  EXPECT_EQ(Json::parse(BucketReportJson(report))["source"], "a\n\"&\uFFFD.txt");
}

TEST(BucketReportJsonTest, EqualReportsGiveEqualText) {
  EXPECT_EQ(BucketReportJson(ReportOn(Sentences(), {.batch_size = 32})),
            BucketReportJson(ReportOn(Sentences(), {.batch_size = 32})));
}

}  // namespace
}  // namespace cooper
