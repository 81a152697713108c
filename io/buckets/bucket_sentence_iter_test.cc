#include "io/buckets/bucket_sentence_iter.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/batch/iter_fixtures.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Sentences = std::vector<std::vector<int>>;
using Options = BucketSentenceIterOptions;

std::unique_ptr<BucketSentenceIter> Make(const Sentences& sentences, int64_t batch_size,
                                         Options options = {}) {
  auto iter = BucketSentenceIter::Create(sentences, batch_size, std::move(options));
  EXPECT_TRUE(iter.ok()) << iter.status();
  return *std::move(iter);
}

// Returns `count` sentences of lengths 1 ... max_length in turn, all with different tokens.
Sentences Numbered(int count, int max_length) {
  Sentences sentences;
  int token = 1;
  for (int i = 0; i < count; ++i) {
    std::vector<int> sentence(1 + i % max_length);
    for (int& t : sentence) t = token++;
    sentences.push_back(sentence);
  }
  return sentences;
}

std::vector<float> Values(const NDArray& array) { return *array.ToVector<float>(); }

TEST(BucketSentenceIterTest, PadsToTheBucketAndMovesLabelsByOne) {
  const auto iter = Make({{1, 2, 3}, {4, 5}, {6}}, 3,
                         {.buckets = {4}, .invalid_label = 0, .common = {.shuffle = false}});
  const std::vector<DataBatch> batches = Epoch(*iter);
  ASSERT_EQ(batches.size(), 1);
  const DataBatch& batch = batches[0];
  EXPECT_EQ(batch.data[0].shape(), Shape({3, 4}));
  EXPECT_THAT(Values(batch.data[0]), ElementsAre(1, 2, 3, 0, 4, 5, 0, 0, 6, 0, 0, 0));
  EXPECT_THAT(Values(batch.label[0]), ElementsAre(2, 3, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_EQ(batch.pad, 0);
  EXPECT_THAT(batch.index, ElementsAre(0, 1, 2));
  EXPECT_THAT(batch.lengths, ElementsAre(3, 2, 1));
  EXPECT_EQ(batch.bucket_key, BucketKey(4));
  EXPECT_EQ(batch.provide_data[0].ToString(), "data (3, 4) float32 NT");
  EXPECT_EQ(batch.provide_label[0].ToString(), "softmax_label (3, 4) float32 NT");
}

TEST(BucketSentenceIterTest, TimeMajorIsTheTranspose) {
  const auto iter =
      Make({{1, 2, 3}, {4, 5}}, 2,
           {.buckets = {3}, .dtype = DType::kInt32, .layout = "TN", .common = {.shuffle = false}});
  EXPECT_EQ(iter->provide_data()[0].ToString(), "data (3, 2) float32 TN");
  const std::vector<DataBatch> batches = Epoch(*iter);
  ASSERT_EQ(batches.size(), 1);
  EXPECT_EQ(batches[0].data[0].ToString(), "(3, 2) int32 cpu(0)");
  EXPECT_THAT(Values(batches[0].data[0]), ElementsAre(1, 4, 2, 5, 3, -1));
  EXPECT_THAT(Values(batches[0].label[0]), ElementsAre(2, 5, 3, -1, -1, -1));
}

TEST(BucketSentenceIterTest, AutomaticBucketsAreTheLengthsThatFillABatch) {
  // Lengths: 1 x4, 2 x1, 3 x2, 5 x1.
  const Sentences sentences = {{1}, {2}, {3}, {4}, {1, 2}, {1, 2, 3}, {4, 5, 6}, {1, 2, 3, 4, 5}};
  const auto iter = Make(sentences, 2);
  EXPECT_THAT(iter->bucket_keys(), ElementsAre(1, 3));
  EXPECT_EQ(iter->default_bucket_key(), BucketKey(3));
  EXPECT_EQ(iter->num_batches(), 3);
  const BucketSentenceIterReport& report = iter->report();
  EXPECT_EQ(report.served, 6);
  EXPECT_EQ(report.left_over, 1);
  EXPECT_EQ(report.discarded, 1);
  EXPECT_EQ(report.truncated, 0);
  EXPECT_EQ(report.tokens, 4 + 2 + 6);
  EXPECT_EQ(report.padded_tokens, 4 + 9);
  EXPECT_THAT(report.ToString(), HasSubstr("bucket 3: 3 sentences, 1 batches of 2"));
  EXPECT_THAT(report.ToString(), HasSubstr("1 left over, 1 discarded"));
}

TEST(BucketSentenceIterTest, TellsWhatComesInNoEpoch) {
  // Lengths: 1 x5, 2 x1, 6 x1.
  const Sentences sentences = {{1}, {2}, {3}, {4}, {5}, {1, 2}, {1, 2, 3, 4, 5, 6}};
  struct Case {
    const char* name;
    Options options;
    int64_t never_served;
    const char* line;  // of the report
    UnusedSamples unused;
  };
  using Last = Options::LastBatch;
  const Case kCases[] = {
      {"Shuffled", {}, 2, "1 of those left over in no epoch", {7, 2, 3, 0, {}}},
      {"InOrder",
       {.common = {.shuffle = false}},
       3,
       "2 of those left over in no epoch",
       {7, 3, 3, 0, {}}},
      // Batches of 6 and of 3.
      {"Tokens",
       {.common = {.tokens_per_batch = 6}},
       7,
       "6 of those left over in no epoch",
       {7, 7, 7, 0, {}}},
      {"Pad", {.common = {.last_batch = Last::kPad}}, 1, nullptr, {7, 1, 1, 0, {}}},
      {"RollOver", {.common = {.last_batch = Last::kRollOver}}, 1, nullptr, {7, 1, 3, 2, {}}},
      {"Truncated",
       {.too_long = Options::TooLong::kTruncate, .common = {.last_batch = Last::kPad}},
       0,
       nullptr,
       {7, 0, 0, 0, {}}},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    Options options = c.options;
    options.buckets = {1, 2};
    const auto iter = Make(sentences, 2, options);
    EXPECT_EQ(iter->report().never_served, c.never_served);
    if (c.line == nullptr) {
      EXPECT_THAT(iter->report().ToString(), Not(HasSubstr("in no epoch")));
    } else {
      EXPECT_THAT(iter->report().ToString(), HasSubstr(c.line));
    }
    const UnusedSamples unused = iter->unused_samples();
    EXPECT_EQ(unused.all, c.unused.all);
    EXPECT_EQ(unused.never, c.unused.never);
    EXPECT_EQ(unused.this_epoch, c.unused.this_epoch);
    EXPECT_EQ(unused.rolled_over, c.unused.rolled_over);
    EXPECT_EQ(unused.why.empty(), unused.this_epoch == 0);
  }
}

TEST(BucketSentenceIterTest, DropsEmptyBuckets) {
  const auto iter = Make(Numbered(6, 2), 2, {.buckets = {50, 1, 2, 2}});
  EXPECT_THAT(iter->bucket_keys(), ElementsAre(1, 2));
  EXPECT_EQ(iter->default_bucket_key(), BucketKey(2));
}

TEST(BucketSentenceIterTest, AnEpochServesEachSentenceAtMostOnce) {
  const Sentences sentences = Numbered(103, 9);
  const auto iter = Make(sentences, 4, {.buckets = {3, 6, 9}, .common = {.seed = 5}});
  std::vector<std::vector<int64_t>> orders;
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::set<int64_t> seen;
    std::vector<int64_t> order;
    for (const DataBatch& batch : Epoch(*iter)) {
      const int64_t length = batch.bucket_key->int_value();
      const std::vector<float> data = Values(batch.data[0]);
      for (int64_t row = 0; row < 4; ++row) {
        const int64_t id = batch.index[row];
        EXPECT_TRUE(seen.insert(id).second) << id;
        order.push_back(id);
        ASSERT_EQ(batch.lengths[row], static_cast<int64_t>(sentences[id].size()));
        EXPECT_LE(batch.lengths[row], length);
        EXPECT_GT(batch.lengths[row], length - 3);
        for (int64_t t = 0; t < length; ++t) {
          EXPECT_EQ(data[row * length + t], t < batch.lengths[row] ? sentences[id][t] : -1);
        }
      }
    }
    EXPECT_EQ(static_cast<int64_t>(seen.size()), iter->report().served);
    orders.push_back(order);
    COOPER_ASSERT_OK(iter->Reset());
  }
  EXPECT_NE(orders[0], orders[1]);
  EXPECT_NE(orders[1], orders[2]);

  const auto same = Make(sentences, 4, {.buckets = {3, 6, 9}, .common = {.seed = 5}});
  std::vector<int64_t> order;
  for (const DataBatch& batch : Epoch(*same)) {
    order.insert(order.end(), batch.index.begin(), batch.index.end());
  }
  EXPECT_EQ(order, orders[0]);
}

TEST(BucketSentenceIterTest, PadPolicyServesEverySentence) {
  const auto iter = Make(Numbered(11, 2), 4,
                         {.buckets = {2}, .common = {.last_batch = Options::LastBatch::kPad}});
  EXPECT_EQ(iter->report().served, 11);
  EXPECT_EQ(iter->report().left_over, 0);
  std::multiset<int64_t> ids;
  int64_t pad = 0;
  for (const DataBatch& batch : Epoch(*iter)) {
    ids.insert(batch.index.begin(), batch.index.end());
    pad += batch.pad;
    for (int64_t row = 4 - batch.pad; row < 4; ++row) {
      EXPECT_EQ(batch.index[row], -1);
      EXPECT_EQ(batch.lengths[row], 0);
      EXPECT_EQ(Values(batch.data[0])[row * 2], -1);
    }
  }
  EXPECT_EQ(pad, 1);
  EXPECT_EQ(ids.size(), 12);
  for (int64_t id = 0; id < 11; ++id) EXPECT_EQ(ids.count(id), 1) << id;
}

TEST(BucketSentenceIterTest, TruncatePolicyKeepsTheBeginning) {
  const auto iter =
      Make({{1, 2, 3, 4, 5}, {6}}, 2,
           {.buckets = {3}, .too_long = Options::TooLong::kTruncate, .common = {.shuffle = false}});
  EXPECT_EQ(iter->report().truncated, 1);
  EXPECT_EQ(iter->report().discarded, 0);
  EXPECT_THAT(Values(Epoch(*iter)[0].data[0]), ElementsAre(1, 2, 3, 6, -1, -1));
}

// No word is lost, and each except the first of a sentence is predicted once.
TEST(BucketSentenceIterTest, SplitPolicyMakesSeveralSentences) {
  const Sentences sentences = {{1, 2, 3, 4, 5, 6, 7}, {8, 9}, {10, 11, 12, 13, 14, 15}, {}};
  const auto iter =
      Make(sentences, 1,
           {.buckets = {2, 3}, .too_long = Options::TooLong::kSplit, .common = {.shuffle = false}});
  EXPECT_EQ(iter->report().split, 2);
  EXPECT_EQ(iter->report().discarded, 0);
  EXPECT_EQ(iter->report().served, 7);
  EXPECT_EQ(iter->report().tokens, 15);
  EXPECT_THAT(iter->report().ToString(), HasSubstr("2 sentences are too long and split"));
  std::map<int64_t, std::pair<std::vector<float>, std::vector<float>>> rows;
  for (const DataBatch& batch : Epoch(*iter)) {
    rows[batch.index[0]] = {Values(batch.data[0]), Values(batch.label[0])};
  }
  using Row = std::vector<float>;
  EXPECT_EQ(rows[0], (std::pair<Row, Row>{{1, 2, 3}, {2, 3, 4}}));
  EXPECT_EQ(rows[1], (std::pair<Row, Row>{{4, 5, 6}, {5, 6, 7}}));
  EXPECT_EQ(rows[2], (std::pair<Row, Row>{{7, -1}, {-1, -1}}));
  EXPECT_EQ(rows[3], (std::pair<Row, Row>{{8, 9}, {9, -1}}));
  EXPECT_EQ(rows[4], (std::pair<Row, Row>{{10, 11, 12}, {11, 12, 13}}));
  EXPECT_EQ(rows[5], (std::pair<Row, Row>{{13, 14, 15}, {14, 15, -1}}));
  for (const auto& [id, sentence] : {std::pair{0, 0}, {2, 0}, {3, 1}, {5, 2}, {6, 3}}) {
    EXPECT_EQ(iter->sentence_of(id), sentence) << id;
  }
  // Buckets are chosen for the pieces; without a sentence that is too long nothing changes.
  EXPECT_THAT(
      Make(sentences, 1,
           {.max_length = 4, .too_long = Options::TooLong::kSplit, .common = {.max_buckets = 9}})
          ->bucket_keys(),
      ElementsAre(BucketKey(2), BucketKey(3), BucketKey(4)));
  const auto whole = Make(sentences, 1, {.buckets = {7}, .too_long = Options::TooLong::kSplit});
  EXPECT_EQ(whole->report().split, 0);
  EXPECT_EQ(whole->sentence_of(2), 2);
}

TEST(BucketSentenceIterTest, RowsOfPaddingAreOfNoSentence) {
  const auto iter = Make({{1, 2, 3, 4, 5}, {6}}, 2,
                         {.buckets = {2},
                          .too_long = Options::TooLong::kSplit,
                          .common = {.last_batch = Options::LastBatch::kPad}});
  for (const int64_t id : {-1, 0, 2, 3}) {
    EXPECT_EQ(iter->sentence_of(id), id < 0 ? -1 : id / 3) << id;
  }
  EXPECT_EQ(Make({{1, 2}}, 1)->sentence_of(-1), -1);
}

// Pieces are as long as the longest bucket, which is a multiple, so that none is discarded.
TEST(BucketSentenceIterTest, SplitPolicyKnowsThatBucketsAreMultiples) {
  Options options = {.max_length = 10,
                     .too_long = Options::TooLong::kSplit,
                     .common = {.max_buckets = 3, .multiple_of = 4}};
  const auto iter = Make({std::vector<int>(25), std::vector<int>(9)}, 1, options);
  EXPECT_THAT(iter->bucket_keys(), ElementsAre(BucketKey(4), BucketKey(8)));
  EXPECT_EQ(iter->report().split, 2);
  EXPECT_EQ(iter->report().served, 6);  // 8 + 8 + 8 + 1 and 8 + 1
  EXPECT_EQ(iter->report().discarded, 0);
  EXPECT_EQ(iter->report().tokens, 34);
  options.common.multiple_of = 0;
  EXPECT_THAT(BucketSentenceIter::Create({{1, 2}}, 1, options),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("multiple_of 0")));
}

// If the time of a step hardly grows with its length, fewer buckets are better.
TEST(BucketSentenceIterTest, ChoosesByTheCostOfAStep) {
  Sentences sentences(40, std::vector<int>(4));
  for (int length : {8, 9, 10, 20}) sentences.emplace_back(length);
  Options options = {.common = {.max_buckets = 4, .bucket_cost = 20}};
  EXPECT_THAT(Make(sentences, 1, options)->bucket_keys(),
              ElementsAre(BucketKey(4), BucketKey(10), BucketKey(20)));
  options.step_cost = [](int64_t length) { return 100 + 0.1 * static_cast<double>(length); };
  EXPECT_THAT(Make(sentences, 1, options)->bucket_keys(), ElementsAre(BucketKey(4), BucketKey(20)));
  options.step_cost = [](int64_t length) { return 100 + 0.01 * static_cast<double>(length); };
  EXPECT_THAT(Make(sentences, 1, options)->bucket_keys(), ElementsAre(BucketKey(20)));
  options.step_cost = [](int64_t length) { return static_cast<double>(length * length); };
  EXPECT_THAT(Make(sentences, 1, options)->bucket_keys(),
              ElementsAre(BucketKey(4), BucketKey(9), BucketKey(10), BucketKey(20)));
}

TEST(BucketSentenceIterTest, BucketsHaveBatchSizesOfTheirOwn) {
  const auto iter =
      Make(Numbered(60, 6), 100,
           {.buckets = {2, 4, 6}, .batch_sizes = {{4, 5}}, .common = {.tokens_per_batch = 20}});
  EXPECT_EQ(iter->batch_size(), 3);
  EXPECT_EQ(iter->provide_data()[0].shape, Shape({3, 6}));
  std::map<int64_t, std::set<int64_t>> rows;
  for (const DataBatch& batch : Epoch(*iter)) {
    const int64_t length = batch.bucket_key->int_value();
    rows[length].insert(batch.data[0].shape()[0]);
    EXPECT_EQ(batch.data[0].shape()[1], length);
    EXPECT_EQ(batch.index.size(), batch.data[0].shape()[0]);
    EXPECT_EQ(batch.provide_data[0].shape, batch.data[0].shape());
  }
  const std::map<int64_t, std::set<int64_t>> expected = {{2, {10}}, {4, {5}}, {6, {3}}};
  EXPECT_EQ(rows, expected);
  const auto long_bucket =
      Make({{1, 2, 3}}, 4, {.buckets = {3}, .common = {.tokens_per_batch = 2}});
  EXPECT_EQ(long_bucket->batch_size(), 1);
}

TEST(BucketSentenceIterTest, ResumesInTheMiddleOfAnEpoch) {
  const Sentences sentences = Numbered(60, 6);
  const Options options = {.buckets = {2, 4, 6}, .common = {.seed = 3}};
  const auto first = Make(sentences, 4, options);
  Epoch(*first);
  COOPER_ASSERT_OK(first->Reset());
  for (int i = 0; i < 5; ++i) COOPER_ASSERT_OK(first->Next());
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string state, first->SaveState());

  Options other_seed = options;
  other_seed.common.seed = 99;  // the state's seed counts
  const auto second = Make(sentences, 4, other_seed);
  COOPER_ASSERT_OK(second->LoadState(state));
  for (int epoch = 0; epoch < 2; ++epoch) {
    const std::vector<DataBatch> a = Epoch(*first);
    const std::vector<DataBatch> b = Epoch(*second);
    ASSERT_EQ(a.size(), b.size());
    ASSERT_EQ(static_cast<int64_t>(a.size()), first->num_batches() - (epoch == 0 ? 5 : 0));
    for (size_t i = 0; i < a.size(); ++i) {
      EXPECT_EQ(a[i].index, b[i].index);
      EXPECT_EQ(Values(a[i].data[0]), Values(b[i].data[0]));
    }
    COOPER_ASSERT_OK(first->Reset());
    COOPER_ASSERT_OK(second->Reset());
  }
}

TEST(BucketSentenceIterTest, RefusesTheStateOfOtherData) {
  const auto first = Make(Numbered(60, 6), 4, {.buckets = {6}});
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string state, first->SaveState());
  const auto second = Make(Numbered(50, 6), 4, {.buckets = {6}});
  EXPECT_THAT(second->LoadState(state),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("15 batches")));
  EXPECT_THAT(second->LoadState("kind CSVIter\n"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("CSVIter")));
}

std::vector<std::unique_ptr<BucketSentenceIter>> MakeParts(const Sentences& sentences,
                                                           int64_t batch_size, Options options,
                                                           int64_t num_parts) {
  std::vector<std::unique_ptr<BucketSentenceIter>> parts;
  options.common.num_parts = num_parts;
  for (options.common.part_index = 0; options.common.part_index < num_parts;
       ++options.common.part_index) {
    parts.push_back(Make(sentences, batch_size, options));
  }
  return parts;
}

// Returns data and labels of rows [begin, end) for both layouts.
std::vector<float> Rows(const DataBatch& batch, int64_t begin, int64_t end) {
  const bool time_major = batch.provide_data[0].layout == "TN";
  const int64_t rows = batch.data[0].shape()[time_major ? 1 : 0];
  const int64_t length = batch.data[0].shape()[time_major ? 0 : 1];
  std::vector<float> values;
  for (const NDArray& array : {batch.data[0], batch.label[0]}) {
    const std::vector<float> all = Values(array);
    for (int64_t row = begin; row < end; ++row) {
      for (int64_t t = 0; t < length; ++t) {
        values.push_back(all[time_major ? t * rows + row : row * length + t]);
      }
    }
  }
  return values;
}

// Checks that `batch` has the rows of a part of the batch `whole`.
void ExpectPartOf(const DataBatch& whole, const DataBatch& batch, int64_t part, int64_t num_parts) {
  const auto rows = static_cast<int64_t>(batch.index.size());
  const int64_t begin = part * rows;
  ASSERT_EQ(static_cast<int64_t>(whole.index.size()), num_parts * rows);
  EXPECT_EQ(batch.bucket_key, whole.bucket_key);
  EXPECT_EQ(batch.provide_data[0].shape, batch.data[0].shape());
  EXPECT_EQ(batch.provide_label[0].shape, batch.label[0].shape());
  EXPECT_EQ(Rows(batch, 0, rows), Rows(whole, begin, begin + rows));
  int64_t pad = 0;
  for (int64_t row = 0; row < rows; ++row) {
    EXPECT_EQ(batch.index[row], whole.index[begin + row]);
    EXPECT_EQ(batch.lengths[row], whole.lengths[begin + row]);
    if (batch.index[row] == -1) ++pad;
  }
  EXPECT_EQ(batch.pad, pad);
}

struct PartCase {
  const char* name;
  int64_t batch_size;
  Options options;
};

TEST(BucketSentenceIterTest, PartsAreTheRowsOfOneIterator) {
  const PartCase cases[] = {
      {"Buckets", 3, {.buckets = {3, 6, 9}}},
      {"Automatic", 2, {}},
      {"InOrder", 4, {.buckets = {4, 9}, .common = {.shuffle = false}}},
      {"TimeMajor", 2, {.buckets = {5, 9}, .layout = "TN"}},
      {"Truncated", 3, {.buckets = {4, 7}, .too_long = Options::TooLong::kTruncate}},
      {"Tokens", 3, {.buckets = {3, 6, 9}, .common = {.tokens_per_batch = 20}}},
      {"BatchSizes", 2, {.buckets = {3, 6, 9}, .batch_sizes = {{3, 5}, {9, 1}}}},
  };
  for (const PartCase& c : cases) {
    for (Options::LastBatch last : {Options::LastBatch::kDiscard, Options::LastBatch::kPad}) {
      for (int64_t num_parts : {1, 2, 3, 7}) {
        for (uint64_t seed : {1, 2}) {
          SCOPED_TRACE(testing::Message()
                       << c.name << (last == Options::LastBatch::kPad ? ", pad, " : ", discard, ")
                       << num_parts << " parts, seed " << seed);
          const Sentences sentences = Numbered(150 + 13 * static_cast<int>(seed), 9);
          Options options = c.options;
          options.common.last_batch = last;
          options.common.seed = seed;
          const auto parts = MakeParts(sentences, c.batch_size, options, num_parts);
          Options whole_options = options;
          whole_options.common.tokens_per_batch = 0;
          for (const auto& bucket : parts[0]->report().buckets) {
            whole_options.batch_sizes[bucket.length] = num_parts * bucket.batch_size;
          }
          const auto whole = Make(sentences, num_parts * c.batch_size, whole_options);

          for (const auto& part : parts) {
            EXPECT_EQ(part->num_batches(), whole->num_batches());
            EXPECT_EQ(part->bucket_keys(), whole->bucket_keys());
            EXPECT_EQ(part->default_bucket_key(), whole->default_bucket_key());
            EXPECT_EQ(part->batch_size() * num_parts, whole->batch_size());
            EXPECT_EQ(part->report().served, whole->report().served);
            EXPECT_EQ(part->report().left_over, whole->report().left_over);
            EXPECT_EQ(part->report().tokens, whole->report().tokens);
            EXPECT_EQ(part->report().padded_tokens, whole->report().padded_tokens);
            EXPECT_EQ(part->report().ToString(), parts[0]->report().ToString());
          }
          for (int epoch = 0; epoch < 3; ++epoch) {
            const std::vector<DataBatch> steps = Epoch(*whole);
            std::vector<int64_t> ids;
            for (int64_t p = 0; p < num_parts; ++p) {
              const std::vector<DataBatch> batches = Epoch(*parts[p]);
              ASSERT_EQ(batches.size(), steps.size());
              for (size_t step = 0; step < steps.size(); ++step) {
                ExpectPartOf(steps[step], batches[step], p, num_parts);
                for (int64_t id : batches[step].index) {
                  if (id != -1) ids.push_back(id);
                }
              }
              COOPER_ASSERT_OK(parts[p]->Reset());
            }
            // No sentence twice.
            EXPECT_EQ(static_cast<int64_t>(ids.size()), whole->report().served);
            EXPECT_EQ(std::set<int64_t>(ids.begin(), ids.end()).size(), ids.size());
            COOPER_ASSERT_OK(whole->Reset());
          }
          ASSERT_FALSE(HasFailure());
        }
      }
    }
  }
}

TEST(BucketSentenceIterTest, APartWithoutSentencesMakesTheStepWithPadding) {
  const auto parts = MakeParts(
      {{1, 2}, {3, 4}, {5}}, 2,
      {.buckets = {2}, .common = {.last_batch = Options::LastBatch::kPad, .shuffle = false}},
      /*num_parts=*/3);
  std::vector<DataBatch> batches;
  for (const auto& part : parts) {
    std::vector<DataBatch> epoch = Epoch(*part);
    ASSERT_EQ(epoch.size(), 1);
    batches.push_back(std::move(epoch[0]));
  }
  EXPECT_THAT(Values(batches[0].data[0]), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(batches[0].pad, 0);
  EXPECT_THAT(Values(batches[1].data[0]), ElementsAre(5, -1, -1, -1));
  EXPECT_EQ(batches[1].pad, 1);
  EXPECT_THAT(batches[1].index, ElementsAre(2, -1));
  EXPECT_THAT(Values(batches[2].data[0]), ElementsAre(-1, -1, -1, -1));
  EXPECT_THAT(Values(batches[2].label[0]), ElementsAre(-1, -1, -1, -1));
  EXPECT_EQ(batches[2].pad, 2);
  EXPECT_THAT(batches[2].index, ElementsAre(-1, -1));
  EXPECT_THAT(batches[2].lengths, ElementsAre(0, 0));
}

TEST(BucketSentenceIterTest, ReportIsOfAllParts) {
  const auto parts = MakeParts(Numbered(26, 2), 3, {.buckets = {1, 2}}, /*num_parts=*/2);
  for (const auto& part : parts) {
    EXPECT_EQ(part->report().ToString(),
              "bucket 1: 13 sentences, 2 batches of 3 in each of 2 parts\n"
              "bucket 2: 13 sentences, 2 batches of 3 in each of 2 parts\n"
              "24 sentences served, 2 left over, 0 discarded, 0 truncated; 39 tokens in all, 0.0 % "
              "padding\n");
  }
  // 13 sentences of each length are enough for 6 rows in each of two parts, not of three.
  EXPECT_EQ(MakeParts(Numbered(26, 2), 6, {}, 2)[1]->num_batches(), 2);
  EXPECT_THAT(
      BucketSentenceIter::Create(Numbered(26, 2), 6, {.common = {.part_index = 1, .num_parts = 3}}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("6 times (batch_size) in each of 3")));
}

TEST(BucketSentenceIterTest, PartsResumeInTheMiddleOfAnEpoch) {
  const Sentences sentences = Numbered(100, 6);
  const Options options = {.buckets = {2, 4, 6},
                           .common = {.last_batch = Options::LastBatch::kPad, .seed = 3}};
  const auto first = MakeParts(sentences, 4, options, 3);
  const auto second = MakeParts(sentences, 4, options, 3);
  for (int p = 0; p < 3; ++p) {
    Epoch(*first[p]);
    COOPER_ASSERT_OK(first[p]->Reset());
    for (int i = 0; i < 4; ++i) COOPER_ASSERT_OK(first[p]->Next());
    COOPER_ASSERT_OK_AND_ASSIGN(const std::string state, first[p]->SaveState());
    COOPER_ASSERT_OK(second[p]->LoadState(state));
    for (int epoch = 0; epoch < 2; ++epoch) {
      const std::vector<DataBatch> a = Epoch(*first[p]);
      const std::vector<DataBatch> b = Epoch(*second[p]);
      ASSERT_EQ(a.size(), b.size());
      EXPECT_FALSE(a.empty());
      for (size_t i = 0; i < a.size(); ++i) {
        ExpectPartOf(a[i], b[i], 0, 1);
      }
      COOPER_ASSERT_OK(first[p]->Reset());
      COOPER_ASSERT_OK(second[p]->Reset());
    }
  }
}

TEST(BucketSentenceIterTest, RefusesTheStateOfAnotherPart) {
  // Two parts have as many batches as one iterator with twice the batch size.
  const Sentences sentences = Numbered(60, 6);
  const auto halves = MakeParts(sentences, 4, {.buckets = {6}}, 2);
  const auto quarters = MakeParts(sentences, 2, {.buckets = {6}}, 4);
  const auto whole = Make(sentences, 8, {.buckets = {6}});
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string second_half, halves[1]->SaveState());
  COOPER_EXPECT_OK(halves[1]->LoadState(second_half));
  for (BucketSentenceIter* other : {halves[0].get(), quarters[1].get(), whole.get()}) {
    EXPECT_THAT(other->LoadState(second_half),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("the state is of part_index 1 of num_parts 2")));
  }
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string all, whole->SaveState());
  EXPECT_THAT(halves[0]->LoadState(all),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("part_index 0 of num_parts 1, this iterator has 0 of 2")));
}

// Loads a state that names no part: it covers all sentences.
TEST(BucketSentenceIterTest, LoadsTheStateOfATimeWithoutParts) {
  const char kState[] =
      "batches 7\ncursor 5\nepoch 2\nkind BucketSentenceIter\nseed 3\ntokens 210\n";
  const auto whole = Make(Numbered(60, 6), 8, {.buckets = {6}});
  COOPER_ASSERT_OK(whole->LoadState(kState));
  EXPECT_EQ(Epoch(*whole).size(), 2);
  const auto halves = MakeParts(Numbered(60, 6), 4, {.buckets = {6}}, 2);
  EXPECT_THAT(halves[0]->LoadState(kState),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("num_parts 1")));
}

TEST(BucketSentenceIterTest, ChoosesTheBestBuckets) {
  Sentences sentences(40, std::vector<int>(4));
  for (int length : {5, 9, 10, 10, 11, 30}) sentences.emplace_back(length);
  Options options = {.max_length = 20, .common = {.max_buckets = 3}};
  const auto iter = Make(sentences, 2, options);
  EXPECT_THAT(iter->bucket_keys(), ElementsAre(BucketKey(4), BucketKey(9), BucketKey(11)));
  EXPECT_EQ(iter->report().ToString(),
            "bucket 4: 40 sentences, 20 batches of 2\n"
            "bucket 9: 2 sentences, 1 batches of 2\n"
            "bucket 11: 3 sentences, 1 batches of 2\n"
            "44 sentences served, 1 left over, 1 discarded, 0 truncated; "
            "205 tokens in all, 2.8 % padding\n");
  options.too_long = Options::TooLong::kTruncate;
  options.common.multiple_of = 4;
  EXPECT_THAT(Make(sentences, 2, options)->bucket_keys(), ElementsAre(BucketKey(4), BucketKey(20)));
  options.common.last_batch = Options::LastBatch::kPad;  // one sentence is enough
  EXPECT_THAT(Make(sentences, 2, options)->bucket_keys(),
              ElementsAre(BucketKey(4), BucketKey(12), BucketKey(20)));
}

TEST(BucketSentenceIterTest, EndsOnceAndStaysAtTheEnd) {
  const auto iter = Make(Numbered(4, 1), 2);
  EXPECT_EQ(Epoch(*iter).size(), 2);
  EXPECT_EQ(Epoch(*iter).size(), 0);
}

struct ErrorCase {
  const char* name;
  Sentences sentences;
  int64_t batch_size;
  Options options;
  const char* error;
};

TEST(BucketSentenceIterTest, NamesWhatIsWrong) {
  const ErrorCase cases[] = {
      {"BatchSize", {{1}}, 0, {}, "batch_size is 0"},
      {"Layout", {{1}}, 1, {.layout = "NC"}, "layout is 'NC'"},
      {"InvalidLabel",
       {{1}},
       1,
       {.buckets = {1}, .dtype = DType::kUint8},
       "pad_value (invalid_label) is -1, which uint8 does not hold"},
      {"NoAutomaticBucket", {{1}, {1, 2}}, 2, {}, "give buckets"},
      {"NoSentence", {}, 2, {}, "give buckets"},
      {"BucketOfNothing", {{1}}, 1, {.buckets = {0, 5}}, "bucket 0"},
      {"BucketsAndNumber",
       {{1}},
       1,
       {.buckets = {1}, .common = {.max_buckets = 2}},
       "BucketSentenceIter: buckets and max_buckets are given"},
      {"LengthWithoutNumber", {{1}}, 1, {.max_length = 9}, "(max_length) need max_buckets"},
      {"NegativeLength",
       {{1}},
       1,
       {.max_length = -9, .common = {.max_buckets = 1}},
       "max_length is -9"},
      {"BucketBatchSize", {{1}}, 1, {.buckets = {1}, .batch_sizes = {{1, 0}}}, "bucket 1 is 0"},
      {"NoParts", {{1}}, 1, {.common = {.num_parts = 0}}, "num_parts is 0"},
      {"NegativeParts",
       {{1}},
       1,
       {.common = {.part_index = -3, .num_parts = -2}},
       "num_parts is -2"},
      {"NegativePart",
       {{1}},
       1,
       {.common = {.part_index = -1, .num_parts = 2}},
       "part_index is -1"},
      {"PartBeyond",
       {{1}},
       1,
       {.common = {.part_index = 2, .num_parts = 2}},
       "part_index is 2, not in [0, 2)"},
      {"HugeParts",
       {{1}},
       int64_t{1} << 40,
       {.buckets = {1}, .common = {.num_parts = int64_t{1} << 40}},
       "bucket 1 is 1099511627776, too large for 1099511627776 parts"},
      {"AllTooLong", {{1, 2}, {1, 2, 3}}, 1, {.buckets = {1}}, "largest bucket, 1"},
      {"TooLongIsAnError",
       {{1}, {1, 2}, {1, 2, 3}},
       1,
       {.buckets = {1}, .too_long = Options::TooLong::kError},
       "no bucket holds sample 1, 'data' (2,), 'softmax_label' (2,), nor 1 others (too_long is "
       "kError); the largest bucket is 1"},
      {"TooLongNamesABucketWithoutSentences",
       {{1}, {1, 2, 3}},
       1,
       {.buckets = {1, 2}, .too_long = Options::TooLong::kError},
       "the largest bucket is 2"},
      {"ChosenTooLongIsAnError",
       {{1}, {1, 2, 3}},
       1,
       {.max_length = 2, .too_long = Options::TooLong::kError, .common = {.max_buckets = 2}},
       "no bucket holds sample 1"},
      {"CostWithoutNumber",
       {{1}},
       1,
       {.buckets = {1}, .step_cost = [](int64_t) { return 1.0; }},
       "step_cost, multiple_of"},
  };
  for (const ErrorCase& c : cases) {
    EXPECT_THAT(BucketSentenceIter::Create(c.sentences, c.batch_size, c.options),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(c.error)))
        << c.name;
  }
}

}  // namespace
}  // namespace cooper
