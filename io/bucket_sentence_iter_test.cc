#include "io/bucket_sentence_iter.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/status_matchers.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Sentences = std::vector<std::vector<int>>;
using Options = BucketSentenceIterOptions;

std::unique_ptr<BucketSentenceIter> Make(const Sentences& sentences, int64_t batch_size,
                                         Options options = {}) {
  auto iter = BucketSentenceIter::Create(sentences, batch_size, std::move(options));
  EXPECT_TRUE(iter.ok()) << iter.status();
  return *std::move(iter);
}

std::vector<DataBatch> Epoch(DataIter& iter) {
  std::vector<DataBatch> batches;
  while (true) {
    absl::StatusOr<std::optional<DataBatch>> batch = iter.Next();
    EXPECT_TRUE(batch.ok()) << batch.status();
    if (!batch.ok() || !*batch) return batches;
    batches.push_back(**std::move(batch));
  }
}

// `count` sentences of lengths 1 ... max_length in turn, all tokens different.
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
  const auto iter =
      Make({{1, 2, 3}, {4, 5}, {6}}, 3, {.buckets = {4}, .invalid_label = 0, .shuffle = false});
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
           {.buckets = {3}, .dtype = DType::kInt32, .layout = "TN", .shuffle = false});
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

TEST(BucketSentenceIterTest, DropsEmptyBuckets) {
  const auto iter = Make(Numbered(6, 2), 2, {.buckets = {50, 1, 2, 2}});
  EXPECT_THAT(iter->bucket_keys(), ElementsAre(1, 2));
  EXPECT_EQ(iter->default_bucket_key(), BucketKey(2));
}

TEST(BucketSentenceIterTest, AnEpochServesEachSentenceAtMostOnce) {
  const Sentences sentences = Numbered(103, 9);
  const auto iter = Make(sentences, 4, {.buckets = {3, 6, 9}, .seed = 5});
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

  const auto same = Make(sentences, 4, {.buckets = {3, 6, 9}, .seed = 5});
  std::vector<int64_t> order;
  for (const DataBatch& batch : Epoch(*same)) {
    order.insert(order.end(), batch.index.begin(), batch.index.end());
  }
  EXPECT_EQ(order, orders[0]);
}

TEST(BucketSentenceIterTest, PadPolicyServesEverySentence) {
  const auto iter =
      Make(Numbered(11, 2), 4, {.buckets = {2}, .last_batch = Options::LastBatch::kPad});
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
           {.buckets = {3}, .too_long = Options::TooLong::kTruncate, .shuffle = false});
  EXPECT_EQ(iter->report().truncated, 1);
  EXPECT_EQ(iter->report().discarded, 0);
  EXPECT_THAT(Values(Epoch(*iter)[0].data[0]), ElementsAre(1, 2, 3, 6, -1, -1));
}

TEST(BucketSentenceIterTest, BucketsHaveBatchSizesOfTheirOwn) {
  const auto iter = Make(Numbered(60, 6), 100,
                         {.buckets = {2, 4, 6}, .batch_sizes = {{4, 5}}, .tokens_per_batch = 20});
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
  const auto long_bucket = Make({{1, 2, 3}}, 4, {.buckets = {3}, .tokens_per_batch = 2});
  EXPECT_EQ(long_bucket->batch_size(), 1);
}

TEST(BucketSentenceIterTest, ResumesInTheMiddleOfAnEpoch) {
  const Sentences sentences = Numbered(60, 6);
  const Options options = {.buckets = {2, 4, 6}, .seed = 3};
  const auto first = Make(sentences, 4, options);
  Epoch(*first);
  COOPER_ASSERT_OK(first->Reset());
  for (int i = 0; i < 5; ++i) COOPER_ASSERT_OK(first->Next());
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string state, first->SaveState());

  Options other_seed = options;
  other_seed.seed = 99;  // the state's seed counts
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
      {"NoAutomaticBucket", {{1}, {1, 2}}, 2, {}, "give buckets"},
      {"NoSentence", {}, 2, {}, "give buckets"},
      {"BucketOfNothing", {{1}}, 1, {.buckets = {0, 5}}, "bucket 0"},
      {"BucketBatchSize", {{1}}, 1, {.buckets = {1}, .batch_sizes = {{1, 0}}}, "bucket 1 is 0"},
      {"AllTooLong", {{1, 2}, {1, 2, 3}}, 1, {.buckets = {1}}, "largest bucket, 1"},
  };
  for (const ErrorCase& c : cases) {
    EXPECT_THAT(BucketSentenceIter::Create(c.sentences, c.batch_size, c.options),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(c.error)))
        << c.name;
  }
}

}  // namespace
}  // namespace cooper
