#include "tools/bucket_report_page.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"
#include "tools/page_checks.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

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

TEST(BucketReportPageTest, SaysWhatIsRecommended) {
  const std::string page = BucketReportPage(
      ReportOn(Sentences(), {.bucket_cost = 50, .max_length = 20, .batch_size = 32}));
  EXPECT_THAT(page, HasSubstr("<h1>Buckets for <bdi>train.txt</bdi></h1>"));
  EXPECT_THAT(page, HasSubstr("<dt>sentences</dt><dd>151</dd>"));
  EXPECT_THAT(page, HasSubstr("<dt>tokens</dt><dd>1,160</dd>"));
  EXPECT_THAT(page, HasSubstr("<dt>recommended</dt><dd>2 buckets</dd>"));
  EXPECT_THAT(page, HasSubstr("2 buckets leave 3.6 % padding; a single one would leave 29.3 %. "
                              "One more would save 40 padded tokens, less than a bucket is worth "
                              "(bucket_cost, 50). 22 sentences fill no batch of 32."));
  EXPECT_THAT(page, HasSubstr("<pre><span class=\"flag\">--buckets</span>=5,<wbr>10 "
                              "<span class=\"flag\">--batch_size</span>=32</pre>"));
  EXPECT_THAT(page, HasSubstr("BucketSentenceIter::Create(sentences, 32, {.buckets = {5, 10}, "
                              ".invalid_label = 0})"));
  EXPECT_THAT(page, HasSubstr("<title>length 10: 70 sentences</title>"));
  EXPECT_THAT(page, HasSubstr("<title>1 bucket: 29.3 %</title>"));
  EXPECT_THAT(page, HasSubstr("if a step costs its length: 1.42 without any padding"));
  EXPECT_THAT(page, HasSubstr("<tr><td>5</td><td>80</td><td>53.3 %</td><td>360</td><td>40</td>"
                              "<td>10.0 %</td><td>2</td><td>16</td></tr>"));
  EXPECT_THAT(page, HasSubstr("<tr><td>all</td><td>150</td><td>100.0 %</td><td>1,060</td>"
                              "<td>40</td><td>3.6 %</td><td>4</td><td>22</td></tr>"));
  EXPECT_THAT(page, HasSubstr("<li>2 empty sentences without a token"));
  EXPECT_THAT(page, HasSubstr("<li>1 sentence longer than 20 (max_length): left out.</li>"));
  EXPECT_THAT(page, HasSubstr("<li>100 tokens lost so, 8.6 % of all.</li>"));
  EXPECT_THAT(page, HasSubstr("<li>22 sentences that fill no batch wait"));
  EXPECT_THAT(PageProblems(page), IsEmpty());
}

TEST(BucketReportPageTest, SaysWhatIsCutOrSplit) {
  EXPECT_THAT(
      BucketReportPage(ReportOn(Sentences(), {.max_length = 20, .too_long = TooLong::kTruncate})),
      HasSubstr("<li>1 sentence longer than 20 (max_length): the end is cut off.</li>"));
  EXPECT_THAT(
      BucketReportPage(ReportOn(Sentences(), {.max_length = 20, .too_long = TooLong::kSplit})),
      HasSubstr("<li>1 sentence longer than 20 (max_length): split, and each"));
  SampleLengths lengths{.first = {5, 5}};
  EXPECT_THAT(BucketReportPage(ReportOn(lengths, {})), HasSubstr("<p>Nothing.</p>"));
  EXPECT_THAT(BucketReportPage(ReportOn(lengths, {.batch_size = 8})),
              HasSubstr("Bucket 5 fills no batch: without kPad it is never served."));
}

TEST(BucketReportPageTest, WarnsOfAFewLongOnes) {
  SampleLengths lengths{.first = std::vector<int64_t>(1000, 5)};
  lengths.first.push_back(90);
  lengths.first.push_back(1000);
  const BucketReportInput report = ReportOn(lengths, {.bucket_cost = 1000});
  EXPECT_THAT(BucketReportPage(report),
              HasSubstr("The longest bucket has 0.2 % of the samples and 100.0 % of the padding; "
                        "all others together have 0.0 % padding. A max_length of 5 chooses"));
}

TEST(BucketReportPageTest, ComparesWithBucketsInUse) {
  const BucketReportInput report =
      ReportOn(Sentences(), {.bucket_cost = 0, .max_length = 20, .in_use = {6, 12}});
  EXPECT_THAT(
      BucketReportPage(report),
      HasSubstr("The buckets in use, 6, 12, leave 19.7 % padding, and leave out 1 sentence. "
                "The best 2 leave 3.6 % padding, and leave out 1 sentence."));
}

TEST(BucketReportPageTest, ShowsPairsAsAMap) {
  const SampleLengths lengths{.first = {3, 3, 10}, .second = {4, 4, 12}};
  const std::string page = BucketReportPage(ReportOn(lengths, {.bucket_cost = 0}));
  EXPECT_THAT(page, HasSubstr("<title>3 and 4: 2 samples</title>"));
  EXPECT_THAT(page, HasSubstr("<dt>mean length</dt><dd>5.3, 6.7</dd>"));
  EXPECT_THAT(page, HasSubstr("<tr><td>2</td><td>(10, 12)</td><td>1</td>"));
  EXPECT_THAT(page, HasSubstr(".buckets = {{3, 4}, {10, 12}}"));
  EXPECT_THAT(page, Not(HasSubstr("lm_train")));
  EXPECT_THAT(PageProblems(page), IsEmpty());
}

TEST(BucketReportPageTest, ShowsTheMemoryOfANetwork) {
  BucketReportInput report = ReportOn(Sentences(), {.bucket_cost = 50, .max_length = 20});
  EXPECT_THAT(BucketReportPage(report), Not(HasSubstr("emory")));
  report.memory = BucketMemory{.network = "a <net>",
                               .batch_size = 32,
                               .training = true,
                               .planned = {1'500'000, 2'750'000},
                               .arena = 2'750'000,
                               .inputs = 2560,
                               .parameters = 1'000'000};
  std::string page = BucketReportPage(report);
  EXPECT_THAT(page, HasSubstr("<h2>Memory</h2>"));
  EXPECT_THAT(page, HasSubstr("<title>bucket 10: 2.75 MB</title>"));
  EXPECT_THAT(page, HasSubstr("Of a &lt;net&gt;: 2.75 MB of the arena, 1.00 MB of parameters with "
                              "their gradients, 2,560 B of one batch."));
  EXPECT_THAT(page, HasSubstr("<th>planned memory</th>"));
  EXPECT_THAT(page, HasSubstr("<td>1.50 MB</td></tr>"));
  EXPECT_THAT(PageProblems(page), IsEmpty());
  report.memory->training = false;
  page = BucketReportPage(report);
  EXPECT_THAT(page, HasSubstr("1.00 MB of parameters, 2,560 B"));
  EXPECT_THAT(page, HasSubstr("batch of 32, without gradients."));
}

TEST(BucketReportPageTest, NamesOfFilesAreText) {
  BucketReportInput report = ReportOn({.first = {5}}, {});
  report.source = "a\n</bdi><script>alert('x')</script>\"&\xff.txt";
  const std::string page = BucketReportPage(report);
  EXPECT_THAT(page, HasSubstr("<bdi>a\\n&lt;/bdi&gt;&lt;script&gt;alert(&#39;x&#39;)"));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(PageProblems(page), IsEmpty());
}

TEST(BucketReportPageTest, EqualReportsGiveEqualPages) {
  EXPECT_EQ(BucketReportPage(ReportOn(Sentences(), {.batch_size = 32})),
            BucketReportPage(ReportOn(Sentences(), {.batch_size = 32})));
}

TEST(BucketReportPageTest, ReadsWellWhateverTheLengths) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    RandomGenerator random(seed);
    const uint64_t longest = seed % 4 == 0   ? 3
                             : seed % 4 == 1 ? 100
                             : seed % 4 == 2 ? 5000
                                             : 999999999;
    SampleLengths lengths;
    for (uint64_t i = 0; i <= seed * 10; ++i) {
      lengths.first.push_back(static_cast<int64_t>(1 + random.NextBelow(longest)));
      if (seed % 5 == 0) lengths.second.push_back(static_cast<int64_t>(random.NextBelow(longest)));
    }
    BucketReportInput report = ReportOn(
        lengths, {.max_buckets = static_cast<int>(1 + random.NextBelow(lengths.pairs() ? 12 : 64)),
                  .bucket_cost = static_cast<double>(random.NextBelow(2)) - 1});
    if (seed % 3 == 0) {
      report.memory = BucketMemory{.network = "net.json", .batch_size = 1};
      for (size_t i = 0; i < report.comparison.rows.size(); ++i) {
        report.memory->planned.push_back(static_cast<int64_t>(random.NextBelow(longest) * 1000));
        report.memory->arena = std::max(report.memory->arena, report.memory->planned.back());
      }
    }
    const std::string page = BucketReportPage(report);
    EXPECT_THAT(PageProblems(page), IsEmpty()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace cooper
