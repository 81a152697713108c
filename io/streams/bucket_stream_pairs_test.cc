// Tests streams whose samples have several lengths: pairs of a source and a target.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/batch/iter_fixtures.h"
#include "io/buckets/bucket_tuples.h"
#include "io/streams/bucket_stream.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"
#include "ndarray/random/random_cases.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Options = BucketStreamOptions;
using LastBatch = Options::LastBatch;
using TooLong = Options::TooLong;
using Lengths = std::pair<int, int>;

// Returns the words first, first + 1, ...
std::vector<int32_t> Words(int32_t first, int count) {
  std::vector<int32_t> words;
  for (int i = 0; i < count; ++i) words.push_back(first + i);
  return words;
}

// Returns samples of these lengths in two shards, whose sources begin with 1 and targets with 11.
std::shared_ptr<const SampleSource> SourceOf(const std::vector<Lengths>& pairs) {
  return std::make_shared<FunctionSource>(
      std::vector<SampleField>{SampleField(), {.pad_to = 1}}, 2,
      [pairs](int64_t shard, int64_t index, Sample* sample) -> absl::StatusOr<bool> {
        const auto i = static_cast<size_t>(2 * index + shard);
        if (i >= pairs.size()) return false;
        sample->Set<int32_t>(0, Words(1, pairs[i].first));
        sample->Set<int32_t>(1, Words(11, pairs[i].second));
        return true;
      });
}

StreamInputs Inputs() {
  return {.data = {{.name = "source", .length_name = "source_length"},
                   {.name = "target", .field = 1, .length_name = "target_length"}},
          .label = {{.name = "softmax_label", .field = 1, .shift = 1}}};
}

std::unique_ptr<BucketStream> StreamOf(const std::vector<Lengths>& pairs, const Options& options) {
  auto stream = BucketStream::Create(SourceOf(pairs), Inputs(), options);
  EXPECT_TRUE(stream.ok()) << stream.status();
  return *std::move(stream);
}

// Returns the buckets of batches of one row, with the lengths of the rows.
std::vector<std::string> Served(DataIter& iter) {
  std::vector<std::string> served;
  for (const DataBatch& batch : Epoch(iter)) {
    served.push_back(absl::StrCat(batch.bucket_key->ToString(), ": ",
                                  (*batch.data[2].ToVector<float>())[0], " ",
                                  (*batch.data[3].ToVector<float>())[0]));
  }
  return served;
}

TEST(BucketStreamPairsTest, PadsToBothLengths) {
  const auto stream = StreamOf(
      {{1, 3}, {3, 1}},
      {.buckets = {{2, 4}, {4, 4}, {4, 2}},
       .batch_sizes = {{{4, 4}, 2}},
       .common = {.last_batch = LastBatch::kPad, .tokens_per_batch = 12, .shuffle = false}});
  EXPECT_THAT(stream->bucket_keys(),
              ElementsAre(BucketKey({2, 4}), BucketKey({4, 2}), BucketKey({4, 4})));
  EXPECT_EQ(DescsToString(stream->provide_data()),
            "source (2, 4) float32 NT, target (2, 4) float32 NT, source_length (2,) float32 N, "
            "target_length (2,) float32 N");
  const std::vector<DataBatch> batches = Epoch(*stream);
  ASSERT_EQ(batches.size(), 2);
  EXPECT_EQ(batches[0].bucket_key, BucketKey({2, 4}));
  EXPECT_EQ(batches[0].pad, 1);  // a batch has two rows of six words
  EXPECT_THAT(batches[0].data[0].ToVector<float>(), IsOkAndHolds(ElementsAre(1, 0, 0, 0)));
  EXPECT_THAT(batches[0].data[1].ToVector<float>(),
              IsOkAndHolds(ElementsAre(11, 12, 13, 0, 0, 0, 0, 0)));
  EXPECT_THAT(batches[0].label[0].ToVector<float>(),
              IsOkAndHolds(ElementsAre(12, 13, 0, 0, 0, 0, 0, 0)));
  EXPECT_THAT(batches[0].data[3].ToVector<float>(), IsOkAndHolds(ElementsAre(3, 0)));
  EXPECT_EQ(batches[1].bucket_key, BucketKey({4, 2}));
  EXPECT_EQ(stream->statistics().tokens, 8);
  EXPECT_EQ(stream->statistics().padded_tokens, 24);
}

TEST(BucketStreamPairsTest, TreatsSamplesThatNoBucketHolds) {
  Options options = {
      .buckets = {{2, 4}, {4, 2}, {4, 4}},
      .common = {.last_batch = LastBatch::kPad, .shuffle = false},
  };
  const std::vector<Lengths> pairs = {{2, 2}, {4, 3}, {5, 1}, {2, 9}};
  EXPECT_THAT(Served(*StreamOf(pairs, options)), ElementsAre("(2, 4): 2 2", "(4, 4): 4 3"));
  options.too_long = TooLong::kTruncate;
  EXPECT_THAT(
      Served(*StreamOf(pairs, options)),
      testing::UnorderedElementsAre("(2, 4): 2 2", "(4, 4): 4 3", "(4, 2): 4 1", "(2, 4): 2 4"));
  options.too_long = TooLong::kError;
  const auto stream = StreamOf(pairs, options);
  COOPER_EXPECT_OK(stream->Next());
  EXPECT_THAT(stream->Next(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("the sample has 5, 1 steps, the largest bucket 4, 4")));
}

TEST(BucketStreamPairsTest, ChoosesTheBucketsOfTuples) {
  std::vector<Lengths> pairs;
  std::vector<BucketKey::Tuple> extents;
  std::vector<BucketKey> lengths;
  RandomGenerator random(7);
  for (int i = 0; i < 200; ++i) {
    const int source = 1 + static_cast<int>(random.NextBelow(20));
    pairs.emplace_back(source, std::max(1, source - 3 + static_cast<int>(random.NextBelow(7))));
    extents.push_back({pairs.back().first, pairs.back().second});
    lengths.emplace_back(extents.back());
  }
  COOPER_ASSERT_OK_AND_ASSIGN(const BucketTuples best,
                              ChooseBucketTuples(extents, {.max_buckets = 4}));
  const std::vector<BucketKey> expected(best.buckets.begin(), best.buckets.end());
  Options options = {.common = {.max_buckets = 4}};
  EXPECT_THAT(StreamOf(pairs, options)->bucket_keys(),
              testing::UnorderedElementsAreArray(expected));
  options.lengths = lengths;
  EXPECT_THAT(StreamOf({}, options)->bucket_keys(), testing::UnorderedElementsAreArray(expected));
  options.max_extents = {10, 8};
  for (const BucketKey& key : StreamOf({}, options)->bucket_keys()) {
    EXPECT_LE(key.tuple_value()[0], 10);
    EXPECT_LE(key.tuple_value()[1], 8);
  }
}

// Each sample comes once in an epoch, in the cheapest bucket that holds it, also if the run is
// broken at any batch.
TEST(BucketStreamPairsTest, GoesOnWhereItWasBroken) {
  ForRandomCases(20, [](RandomGenerator& random) {
    std::vector<Lengths> pairs;
    for (uint64_t n = random.NextBelow(60); n > 0; --n) {
      pairs.emplace_back(random.NextBelow(9), random.NextBelow(9));
    }
    const Options options = {
        .batch_size = 3,
        .buckets = {{4, 4}, {8, 4}, {4, 8}, {8, 8}},
        .pool_samples = 20,
        .common = {.last_batch = LastBatch::kPad, .seed = random.NextBelow(100)}};
    const std::vector<int64_t> unbroken = FirstRows(*StreamOf(pairs, options));
    auto stream = StreamOf(pairs, options);
    std::vector<int64_t> broken;
    int64_t samples = 0;
    while (true) {
      if (random.NextBelow(4) == 0) {
        COOPER_ASSERT_OK_AND_ASSIGN(const std::string state, stream->SaveState());
        stream = StreamOf(pairs, options);
        COOPER_ASSERT_OK(stream->LoadState(state));
      }
      COOPER_ASSERT_OK_AND_ASSIGN(const auto batch, stream->Next());
      if (!batch.has_value()) break;
      broken.push_back(batch->index[0]);
      samples += 3 - batch->pad;
      const std::vector<float> source = *batch->data[2].ToVector<float>();
      const std::vector<float> target = *batch->data[3].ToVector<float>();
      for (int64_t row = 0; row < 3 - batch->pad; ++row) {
        const BucketKey cheapest({source[row] > 4 ? 8 : 4, target[row] > 4 ? 8 : 4});
        EXPECT_EQ(batch->bucket_key, cheapest);
      }
    }
    EXPECT_EQ(broken, unbroken);
    EXPECT_EQ(samples, std::ssize(pairs));
  });
}

TEST(BucketStreamPairsTest, RefusesOptions) {
  const struct {
    Options options;
    const char* message;
  } cases[] = {
      {{.buckets = {3}},
       "a bucket is 3, expected a tuple of 2 lengths, as the fields of the samples say (pad_to)"},
      {{.buckets = {{3, 4, 5}}}, "a bucket is (3, 4, 5), expected a tuple of 2 lengths"},
      {{.buckets = {{3, 0}}}, "a bucket is (3, 0), expected at least 1"},
      {{.lengths = {{3, -1}}, .common = {.max_buckets = 1}},
       "one of lengths is (3, -1), expected at least 0"},
      {{.lengths = {{3, 3}}, .max_extents = {1}, .common = {.max_buckets = 1}}, "max_extents"},
      {{.buckets = {{3, 4}}, .too_long = TooLong::kSplit},
       "too_long kSplit needs integer buckets, a field has pad_to 1"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(BucketStream::Create(SourceOf({{1, 1}}), Inputs(), c.options),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(c.message)));
  }
  const auto source = std::make_shared<FunctionSource>(
      std::vector<SampleField>{{.pad_to = 99}}, 1,
      [](int64_t, int64_t, Sample*) -> absl::StatusOr<bool> { return false; });
  EXPECT_THAT(BucketStream::Create(source, {.data = {{.name = "a"}}}, {.buckets = {3}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("pad_to of a field is 99, expected 0 to 15")));
}

}  // namespace
}  // namespace cooper
