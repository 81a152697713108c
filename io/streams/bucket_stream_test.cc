#include "io/streams/bucket_stream.h"

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/batch/iter_fixtures.h"
#include "io/iterators/prefetching_iter.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Options = BucketStreamOptions;
using LastBatch = Options::LastBatch;
using TooLong = Options::TooLong;
using Shards = std::vector<std::vector<std::vector<int>>>;

std::shared_ptr<const SampleSource> SourceOf(const Shards& shards) {
  return std::make_shared<FunctionSource>(
      std::vector<SampleField>{SampleField()}, std::ssize(shards),
      [shards](int64_t shard, int64_t index, Sample* sample) -> absl::StatusOr<bool> {
        if (index >= std::ssize(shards[shard])) return false;
        sample->Set<int>(0, shards[shard][index]);
        return true;
      });
}

// Words 1, 2, ... of the given number.
std::vector<int> Words(int count) {
  std::vector<int> words;
  for (int i = 1; i <= count; ++i) words.push_back(i);
  return words;
}

absl::StatusOr<std::unique_ptr<BucketStream>> StreamOf(const Shards& shards, Options options,
                                                       const NextWordOptions& inputs = {}) {
  return BucketStream::Create(SourceOf(shards), NextWordInputs(inputs), std::move(options));
}

TEST(BucketStreamTest, PadsSentencesAsBucketSentenceIter) {
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto stream, StreamOf({{{1, 2, 3}, {4}, {5, 6}}},
                                  {.batch_size = 2,
                                   .buckets = {3, 1},
                                   .common = {.last_batch = LastBatch::kPad, .shuffle = false}},
                                  {.length_name = "length"}));
  EXPECT_THAT(stream->bucket_keys(), ElementsAre(BucketKey(1), BucketKey(3)));
  EXPECT_EQ(DescsToString(stream->provide_data()), "data (2, 3) float32 NT, length (2,) float32 N");
  EXPECT_EQ(DescsToString(stream->provide_label()), "softmax_label (2, 3) float32 NT");
  const std::vector<DataBatch> batches = Epoch(*stream);
  ASSERT_EQ(batches.size(), 2);
  EXPECT_EQ(batches[0].bucket_key, BucketKey(3));
  EXPECT_THAT(batches[0].data[0].ToVector<float>(), IsOkAndHolds(ElementsAre(1, 2, 3, 5, 6, -1)));
  EXPECT_THAT(batches[0].data[1].ToVector<float>(), IsOkAndHolds(ElementsAre(3, 2)));
  EXPECT_THAT(batches[0].label[0].ToVector<float>(),
              IsOkAndHolds(ElementsAre(2, 3, -1, 6, -1, -1)));
  EXPECT_THAT(batches[0].index, ElementsAre(0, 2));
  EXPECT_THAT(batches[0].lengths, ElementsAre(3, 2));
  EXPECT_EQ(batches[1].bucket_key, BucketKey(1));
  EXPECT_THAT(batches[1].data[0].ToVector<float>(), IsOkAndHolds(ElementsAre(4, -1)));
  EXPECT_THAT(batches[1].index, ElementsAre(1, -1));
  EXPECT_EQ(batches[1].pad, 1);
}

TEST(BucketStreamTest, ServesFieldsOfAnyKind) {
  // Frames of two features and a class.
  const auto source = std::make_shared<FunctionSource>(
      std::vector<SampleField>{{.dtype = DType::kFloat32, .step = {2}},
                               {.dtype = DType::kInt64, .step = {}, .is_sequence = false}},
      1, [](int64_t, int64_t index, Sample* sample) -> absl::StatusOr<bool> {
        if (index == 2) return false;
        const std::vector<float> frames(static_cast<size_t>(2 * (index + 1)), 0.5F + index);
        sample->Set<float>(0, frames);
        sample->Set<int64_t>(1, {index + 7});
        return true;
      });
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto stream,
      BucketStream::Create(source,
                           {.data = {{.name = "frames", .layout = "TNC"}},
                            .label = {{.name = "class", .field = 1, .dtype = DType::kInt32}}},
                           {.batch_size = 2, .buckets = {2}, .common = {.shuffle = false}}));
  const std::vector<DataBatch> batches = Epoch(*stream);
  ASSERT_EQ(batches.size(), 1);
  EXPECT_EQ(DescsToString(batches[0].provide_data), "frames (2, 2, 2) float32 TNC");
  EXPECT_THAT(batches[0].data[0].ToVector<float>(),
              IsOkAndHolds(ElementsAre(0.5, 0.5, 1.5, 1.5, 0, 0, 1.5, 1.5)));
  EXPECT_THAT(batches[0].label[0].ToVector<int32_t>(), IsOkAndHolds(ElementsAre(7, 8)));
}

TEST(BucketStreamTest, TreatsSamplesThatAreTooLong) {
  const struct {
    TooLong too_long;
    std::vector<float> data, label;
    DataStatistics counts;
  } cases[] = {
      {TooLong::kDiscard, {9, -1}, {-1, -1}, {.samples = 1, .discarded = 1}},
      {TooLong::kTruncate, {9, -1, 1, 2}, {-1, -1, 2, -1}, {.samples = 2, .truncated = 1}},
      {TooLong::kSplit,
       {9, -1, 1, 2, 3, 4, 5, -1},
       {-1, -1, 2, 3, 4, 5, -1, -1},
       {.samples = 4, .split = 1}},
  };
  for (const auto& c : cases) {
    COOPER_ASSERT_OK_AND_ASSIGN(
        const auto stream,
        StreamOf({{{9}, Words(5)}},
                 {.buckets = {2}, .too_long = c.too_long, .common = {.shuffle = false}}));
    std::vector<float> data, label;
    for (const DataBatch& batch : Epoch(*stream)) {
      const std::vector<float> words = *batch.data[0].ToVector<float>();
      const std::vector<float> next = *batch.label[0].ToVector<float>();
      data.insert(data.end(), words.begin(), words.end());
      label.insert(label.end(), next.begin(), next.end());
    }
    EXPECT_EQ(data, c.data);
    EXPECT_EQ(label, c.label);
    const DataStatistics counts = stream->statistics();
    EXPECT_EQ(counts.samples, c.counts.samples);
    EXPECT_EQ(counts.discarded, c.counts.discarded);
    EXPECT_EQ(counts.truncated, c.counts.truncated);
    EXPECT_EQ(counts.split, c.counts.split);
  }
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto stream,
      StreamOf({{{9}, Words(5)}},
               {.buckets = {2}, .too_long = TooLong::kError, .common = {.shuffle = false}}));
  COOPER_EXPECT_OK(stream->Next());
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(stream->Next(),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         "BucketStream: shard 0, sample 1 (position 1): the sample has 5 steps, "
                         "the largest bucket 2 (too_long is kError)"));
  }
}

TEST(BucketStreamTest, TreatsLastBatches) {
  const struct {
    LastBatch last_batch;
    std::vector<std::vector<int64_t>> first, second;  // ids by batch and epoch
  } cases[] = {
      {LastBatch::kDiscard, {{0, 1}}, {{0, 1}}},
      {LastBatch::kPad, {{0, 1}, {2, -1}}, {{0, 1}, {2, -1}}},
      {LastBatch::kSmaller, {{0, 1}, {2}}, {{0, 1}, {2}}},
      {LastBatch::kRollOver, {{0, 1}}, {{2, 0}, {1, 2}}},
  };
  for (const auto& c : cases) {
    COOPER_ASSERT_OK_AND_ASSIGN(
        const auto stream,
        StreamOf({{{1}, {2}, {3}}}, {.batch_size = 2,
                                     .buckets = {1},
                                     .common = {.last_batch = c.last_batch, .shuffle = false}}));
    for (const auto& epoch : {c.first, c.second}) {
      std::vector<std::vector<int64_t>> ids;
      for (const DataBatch& batch : Epoch(*stream)) ids.push_back(batch.index);
      EXPECT_EQ(ids, epoch) << static_cast<int>(c.last_batch);
      EXPECT_EQ(Epoch(*stream).size(), 0);
      COOPER_ASSERT_OK(stream->Reset());
    }
  }
}

TEST(BucketStreamTest, ChoosesBucketsAndBatchSizes) {
  const Shards shards = {{Words(2), Words(2), Words(3)}, {Words(8), Words(7), Words(30)}};
  const struct {
    Options options;
    std::vector<int64_t> keys, batch_sizes;
  } cases[] = {
      {{.batch_size = 4, .common = {.max_buckets = 3}}, {3, 8, 30}, {4, 4, 4}},
      // Two samples of each shard.
      {{.choice_samples = 4, .common = {.max_buckets = 2}}, {2, 8}, {1, 1}},
      // All samples.
      {{.choice_samples = std::numeric_limits<int64_t>::max(), .common = {.max_buckets = 3}},
       {3, 8, 30},
       {1, 1, 1}},
      {{.lengths = {5, 5, 11}, .common = {.max_buckets = 9}}, {5, 11}, {1, 1}},
      {{.max_extents = {8}, .common = {.max_buckets = 2}}, {3, 8}, {1, 1}},
      {{.max_extents = {8},
        .too_long = TooLong::kTruncate,
        .common = {.max_buckets = 2, .multiple_of = 4}},
       {4, 8},
       {1, 1}},
      {{.batch_size = 5,
        .buckets = {4, 30, 12, 4},
        .batch_sizes = {{12, 7}},
        .common = {.tokens_per_batch = 24}},
       {4, 12, 30},
       {6, 7, 1}},
  };
  for (const auto& c : cases) {
    COOPER_ASSERT_OK_AND_ASSIGN(const auto stream, StreamOf(shards, c.options));
    std::vector<int64_t> keys, batch_sizes;
    for (const BucketKey& key : stream->bucket_keys()) {
      keys.push_back(key.int_value());
      COOPER_ASSERT_OK_AND_ASSIGN(const BucketShapes shapes, stream->bucket_shapes(key));
      batch_sizes.push_back(shapes.data_shapes[0].shape[0]);
    }
    EXPECT_EQ(keys, c.keys);
    EXPECT_EQ(batch_sizes, c.batch_sizes);
    EXPECT_EQ(stream->default_bucket_key(), BucketKey(c.keys.back()));
    EXPECT_EQ(stream->batch_size(), c.batch_sizes.back());
    EXPECT_THAT(stream->bucket_shapes(31),
                StatusIs(absl::StatusCode::kNotFound, "BucketStream: there is no bucket 31"));
  }
}

TEST(BucketStreamTest, ChoosesBucketsAgain) {
  const Shards shards = {{Words(2), Words(9), Words(5), Words(5), Words(5)}};
  Options options = {.choice_samples = 2,
                     .rechoose_buckets = true,
                     .common = {.max_buckets = 2, .last_batch = LastBatch::kPad}};
  for (const int64_t parts : {1, 2}) {
    if (parts == 2) {
      options.common.num_parts = 2;  // the other part has as many samples
      options.all_gather = [](const std::string& text) {
        return std::vector<std::string>{text, text};
      };
    }
    COOPER_ASSERT_OK_AND_ASSIGN(const auto stream, StreamOf(shards, options));
    EXPECT_THAT(stream->bucket_keys(), ElementsAre(BucketKey(2), BucketKey(9)));
    COOPER_ASSERT_OK_AND_ASSIGN(const std::string start, stream->SaveState());
    const size_t batches = Epoch(*stream).size();
    COOPER_ASSERT_OK_AND_ASSIGN(const std::string end, stream->SaveState());
    COOPER_ASSERT_OK(stream->Reset());
    EXPECT_THAT(stream->bucket_keys(), ElementsAre(BucketKey(5), BucketKey(9)));
    EXPECT_EQ(stream->default_bucket_key(), BucketKey(9));
    COOPER_ASSERT_OK_AND_ASSIGN(const std::string second, stream->SaveState());
    EXPECT_EQ(Epoch(*stream).size(), batches);
    // A stream that is restored at the end chooses the same buckets, and one that is restored
    // behind it has them.
    for (const std::string& state : {end, second}) {
      COOPER_ASSERT_OK_AND_ASSIGN(const auto other, StreamOf(shards, options));
      COOPER_ASSERT_OK(other->LoadState(state));
      if (state == end) {
        COOPER_ASSERT_OK(other->Reset());
      }
      EXPECT_THAT(other->SaveState(), IsOkAndHolds(second));
      EXPECT_THAT(other->bucket_keys(), ElementsAre(BucketKey(5), BucketKey(9)));
    }
    Options other_choice = options;
    other_choice.choice_samples = 3;
    COOPER_ASSERT_OK_AND_ASSIGN(const auto other, StreamOf(shards, other_choice));
    EXPECT_THAT(other->LoadState(second),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("the state is of choice_samples 2, this object has 3")));
    COOPER_ASSERT_OK(stream->LoadState(start));
    EXPECT_THAT(stream->bucket_keys(), ElementsAre(BucketKey(2), BucketKey(9)));
    // An epoch of which nothing was read chooses nothing.
    COOPER_ASSERT_OK(stream->Reset());
    EXPECT_THAT(stream->bucket_keys(), ElementsAre(BucketKey(2), BucketKey(9)));
    for (const char* lengths : {"5,5,9", "0,9", "5,8", "9,5", ""}) {
      std::string changed = second;
      const size_t at = changed.find("buckets ");
      ASSERT_NE(at, std::string::npos);
      changed.replace(at, changed.find('\n', at) - at, absl::StrCat("buckets ", lengths));
      EXPECT_FALSE(stream->LoadState(changed).ok()) << lengths;
    }
    for (const char* counts : {"5", "-1,1", "5,0", "5,9223372036854775807"}) {
      std::string changed = second;
      const size_t at = changed.find("\nlengths ");
      ASSERT_NE(at, std::string::npos);
      changed.replace(at, changed.find('\n', at + 1) - at, absl::StrCat("\nlengths ", counts));
      EXPECT_THAT(stream->LoadState(changed),
                  StatusIs(absl::StatusCode::kInvalidArgument,
                           HasSubstr("state 'lengths' does not have lengths and their numbers")));
    }
  }
}

TEST(BucketStreamTest, ChoosesAgainForAllPartsOrFails) {
  size_t num_texts = 2;
  const Options options = {
      .choice_samples = 2,
      .rechoose_buckets = true,
      .all_gather =
          [&num_texts](const std::string& text) {
            return std::vector<std::string>(num_texts, text);
          },
      .common = {.max_buckets = 2, .last_batch = LastBatch::kPad, .num_parts = 2}};
  COOPER_ASSERT_OK_AND_ASSIGN(const auto stream, StreamOf({{Words(2), Words(9)}}, options));
  Epoch(*stream);
  num_texts = 1;
  EXPECT_THAT(stream->Reset(), StatusIs(absl::StatusCode::kInvalidArgument,
                                        "BucketStream: all_gather returned 1 texts, num_parts is "
                                        "2"));
}

TEST(BucketStreamTest, APrefetchingIterHasTheBucketsThatWereChosenAgain) {
  const Shards shards = {{Words(2), Words(9), Words(5), Words(5), Words(5)}};
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto stream, StreamOf(shards, {.choice_samples = 2,
                                     .rechoose_buckets = true,
                                     .common = {.max_buckets = 2, .last_batch = LastBatch::kPad}}));
  std::vector<std::unique_ptr<DataIter>> iters;
  iters.push_back(std::move(stream));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto ahead, PrefetchingIter::Create(std::move(iters)));
  EXPECT_THAT(ahead->bucket_keys(), ElementsAre(BucketKey(2), BucketKey(9)));
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string start, ahead->SaveState());
  std::optional<DataBatch> batch;
  do {
    COOPER_ASSERT_OK_AND_ASSIGN(batch, ahead->Next());
  } while (batch.has_value());
  COOPER_ASSERT_OK(ahead->Reset());
  EXPECT_THAT(ahead->bucket_keys(), ElementsAre(BucketKey(5), BucketKey(9)));
  COOPER_ASSERT_OK(ahead->LoadState(start));
  EXPECT_THAT(ahead->bucket_keys(), ElementsAre(BucketKey(2), BucketKey(9)));
}

TEST(BucketStreamTest, NamesTheSampleOfTheChoiceThatDoesNotFit) {
  const auto source = std::make_shared<FunctionSource>(
      std::vector<SampleField>{SampleField()}, 2,
      [](int64_t shard, int64_t index, Sample* sample) -> absl::StatusOr<bool> {
        if (shard == 0) {
          sample->Set<int32_t>(0, {1});
        } else {
          sample->Set<float>(0, {1});
        }
        return index < 1;
      });
  EXPECT_THAT(BucketStream::Create(source, NextWordInputs(), {.common = {.max_buckets = 1}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("shard 1, sample 0: field 0 of the sample is of float32")));
}

TEST(BucketStreamTest, RefusesOptions) {
  const Shards shards = {{{1}}};
  const struct {
    Options options;
    const char* message;
  } cases[] = {
      {{}, "give either buckets or max_buckets"},
      {{.buckets = {3}, .common = {.max_buckets = 2}}, "give either buckets or max_buckets"},
      {{.buckets = {0}}, "a bucket is 0, expected at least 1"},
      {{.buckets = {{3, 4}}},
       "a bucket is (3, 4), expected an integer, as the fields of the samples say (pad_to)"},
      {{.buckets = {"a"}},
       "a bucket is 'a', expected an integer, as the fields of the samples say (pad_to)"},
      {{.batch_size = 0, .buckets = {3}}, "batch_size is 0, expected at least 1"},
      {{.buckets = {3}, .max_extents = {4}},
       "bucket_cost, step_cost, multiple_of, max_extents and lengths need max_buckets"},
      {{.buckets = {3}, .rechoose_buckets = true},
       "rechoose_buckets needs max_buckets and keys that are integers, and excludes kRollOver"},
      {{.buckets = {3}, .common = {.part_index = 2, .num_parts = 2}},
       "part_index is 2, not in [0, 2), num_parts being 2"},
      {{.buckets = {3}, .common = {.num_parts = 2}},
       "num_parts is 2, but all_gather is not given, by which parts agree on their steps"},
      {{.buckets = {3},
        .all_gather = [](const std::string&) { return std::vector<std::string>(); },
        .common = {.num_parts = 2}},
       "several parts need last_batch kPad, since a part may lack samples of a step"},
      {{.buckets = {3}, .epoch_samples = 5},
       "there are 1 sources and epoch_samples is 5: several sources need it, a single one has "
       "epochs of its own"},
      {{.batch_size = 8, .buckets = {3, 5}, .pool_samples = 14},
       "pool_samples is 14, expected at least 15, so that some bucket has a full batch"},
      {{.batch_size = 8, .buckets = {3, 5}, .pool_bytes = 100},
       "pool_bytes is 100, expected at least 616, so that some bucket has a full batch"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(StreamOf(shards, c.options), StatusIs(absl::StatusCode::kInvalidArgument,
                                                      absl::StrCat("BucketStream: ", c.message)));
  }
}

// One of several parts may have saved its last state of an epoch before the parts agreed on the
// end, and another one after that: when they resume, they must agree equally often.
TEST(BucketStreamTest, PartsAgreeOnTheEndAgainAfterTheyResume) {
  int agreements = 0;
  const Options options = {.batch_size = 2,
                           .buckets = {3},
                           .all_gather =
                               [&agreements](const std::string& text) {
                                 ++agreements;
                                 return std::vector<std::string>{text, text};
                               },
                           .agree_batches = 2,
                           .common = {.last_batch = LastBatch::kPad, .num_parts = 2}};
  const Shards shards = {{Words(2), Words(3)}, {Words(1)}};
  COOPER_ASSERT_OK_AND_ASSIGN(const auto stream, StreamOf(shards, options));
  std::string before;
  while (true) {
    COOPER_ASSERT_OK_AND_ASSIGN(before, stream->SaveState());
    COOPER_ASSERT_OK_AND_ASSIGN(const auto batch, stream->Next());
    if (!batch.has_value()) break;
  }
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string after, stream->SaveState());
  EXPECT_NE(before, after);
  for (const std::string& state : {before, after}) {
    COOPER_ASSERT_OK_AND_ASSIGN(const auto resumed, StreamOf(shards, options));
    COOPER_ASSERT_OK(resumed->LoadState(state));
    agreements = 0;
    for (int call = 0; call < 2; ++call) {
      COOPER_ASSERT_OK_AND_ASSIGN(const auto batch, resumed->Next());
      EXPECT_FALSE(batch.has_value());
    }
    EXPECT_EQ(agreements, 1);
    EXPECT_THAT(resumed->SaveState(), IsOkAndHolds(after));
  }
}

TEST(BucketStreamTest, RefusesInputs) {
  const struct {
    StreamInputs inputs;
    const char* message;
  } cases[] = {
      {{}, "none of the 0 data inputs is a sequence"},
      {{.data = {{.name = ""}}}, "an input has no name"},
      {{.data = {{.name = "a"}}, .label = {{.name = "a"}}},
       "input 'a': another input has the same name"},
      {{.data = {{.name = "a", .field = 1}}}, "input 'a': field is 1, the source has 1"},
      {{.data = {{.name = "a", .layout = "NTC"}}},
       "input 'a': layout is 'NTC', expected 2 letters, one of them N"},
      {{.data = {{.name = "a", .shift = -1}}},
       "input 'a': shift is -1, expected at least 0, and 0 if it is no sequence"},
      {{.data = {{.name = "a", .pad_value = -1, .dtype = DType::kUint8}}},
       "input 'a': pad_value (invalid_label) is -1, which uint8 does not hold"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(
        BucketStream::Create(SourceOf({{{1}}}), c.inputs, {.buckets = {3}}),
        StatusIs(absl::StatusCode::kInvalidArgument, absl::StrCat("BucketStream: ", c.message)));
  }
}

TEST(BucketStreamTest, RefusesIntegersThatTheDtypeDoesNotHold) {
  const struct {
    DType dtype;
    int word;
    bool held;
  } cases[] = {
      {DType::kFloat32, 1 << 24, true},
      {DType::kFloat32, (1 << 24) + 1, false},
      {DType::kFloat32, (1 << 24) + 2, true},
      {DType::kFloat32, -(1 << 24) - 1, false},
      {DType::kFloat16, 2048, true},
      {DType::kFloat16, 2049, false},
      {DType::kInt8, 127, true},
      {DType::kInt8, 128, false},
      {DType::kInt32, (1 << 30) + 1, true},
  };
  for (const auto& c : cases) {
    COOPER_ASSERT_OK_AND_ASSIGN(const auto stream,
                                StreamOf({{{1, c.word}}}, {.buckets = {2}}, {.dtype = c.dtype}));
    if (c.held) {
      COOPER_EXPECT_OK(stream->Next());
      continue;
    }
    EXPECT_THAT(stream->Next(),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         absl::StrCat("BucketStream: input 'data': a sample has the integer ",
                                      c.word, ", which ", DTypeName(c.dtype),
                                      " does not hold; choose another dtype")));
  }
}

TEST(BucketStreamTest, RefusesStatesOfOtherStreams) {
  const Shards shards = {{Words(1), Words(2)}, {Words(1)}};
  const Options options = {.batch_size = 1, .buckets = {1, 2}};
  COOPER_ASSERT_OK_AND_ASSIGN(const auto stream, StreamOf(shards, options));
  COOPER_ASSERT_OK(stream->Next());
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string state, stream->SaveState());
  const auto with = [&options](auto change) {
    Options changed = options;
    change(changed);
    return changed;
  };
  const struct {
    Shards shards;
    Options options;
    const char* message;
  } cases[] = {
      {shards, with([](Options& o) {
         o.buckets = {1, 3};
       }),
       "the state is of buckets 1, 2, this stream has 1, 3"},
      {shards, with([](Options& o) { o.batch_size = 2; }),
       "the state is of batch_sizes 1, 1, this stream has 2, 2"},
      {shards, with([](Options& o) { o.pool_samples = 50; }),
       "the state is of pool_samples 16384, this object has 50"},
      {shards, with([](Options& o) { o.common.shuffle = false; }),
       "the state is of shuffle 1, this object has 0"},
      {{shards[0]}, options, "the state is of 2 shards, the source has 1"},
      {{{Words(2), Words(1)}, {Words(2)}},
       options,
       "puts a sample into a bucket that is not its own"},
      {{{}, {}}, options, "shard 0 has no sample"},
      {{{Words(3), Words(3)}, {Words(3)}}, options, "has 3 steps and no piece 0; has it changed?"},
      {shards, with([](Options& o) {
         o.buckets.clear();
         o.rechoose_buckets = true;
         o.common.max_buckets = 2;
       }),
       "the state is of rechoose_buckets 0, this object has 1"},
  };
  for (const auto& c : cases) {
    COOPER_ASSERT_OK_AND_ASSIGN(const auto other, StreamOf(c.shards, c.options));
    COOPER_ASSERT_OK_AND_ASSIGN(const std::string before, other->SaveState());
    EXPECT_THAT(other->LoadState(state),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(c.message)));
    EXPECT_THAT(other->SaveState(), IsOkAndHolds(before));
  }
}

TEST(BucketStreamTest, MixesSourcesByWeight) {
  // Shard 0 is the first source; the second one has 20 times as many samples.
  const Shards few = {std::vector<std::vector<int>>(50, {1})};
  const Shards many(10, std::vector<std::vector<int>>(100, {2}));
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto stream,
      BucketStream::Create({{.source = SourceOf(few), .weight = 3}, {.source = SourceOf(many)}},
                           NextWordInputs(),
                           {.buckets = {1}, .pool_samples = 40, .epoch_samples = 400}));
  for (int epoch = 0; epoch < 2; ++epoch) {
    std::map<int64_t, int> times;
    int of_few = 0;
    for (const DataBatch& batch : Epoch(*stream)) {
      of_few += batch.index[0] >> 40 == 0 ? 1 : 0;
      ++times[batch.index[0]];
    }
    EXPECT_NEAR(of_few, 300, 5 * 8.7);  // five standard deviations
    for (int64_t id = 0; id < 50; ++id) EXPECT_NEAR(times[id], 6, 2) << id;
    for (const auto& [id, count] : times) {
      if (id >> 40 == 0) continue;
      EXPECT_EQ(count, 1) << id;
    }
    EXPECT_EQ(stream->statistics().samples, 400 * (epoch + 1));
    COOPER_ASSERT_OK(stream->Reset());
  }
}

TEST(BucketStreamTest, RefusesMixtures) {
  const auto words = SourceOf({{{1}}});
  const auto frames = std::make_shared<FunctionSource>(
      std::vector<SampleField>{{.dtype = DType::kFloat32, .step = {2}}}, 1, nullptr);
  const struct {
    std::vector<WeightedSource> sources;
    const char* message;
  } cases[] = {
      {{}, "there is no source"},
      {{{.source = words}, {.source = SourceOf({})}}, "source 1 has no shards"},
      {{{.source = words}, {.source = frames}}, "source 1 has other fields than source 0"},
      {{{.source = words}, {.source = words, .weight = 0}},
       "source 1 has the weight 0, expected a positive number"},
      {{{.source = words}, {.source = words}},
       "there are 2 sources and epoch_samples is 0: several sources need it, a single one has "
       "epochs of its own"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(
        BucketStream::Create(c.sources, NextWordInputs(), {.buckets = {3}}),
        StatusIs(absl::StatusCode::kInvalidArgument, absl::StrCat("BucketStream: ", c.message)));
  }
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto stream,
      BucketStream::Create({{.source = SourceOf({{}})}, {.source = SourceOf({{}, {}})}},
                           NextWordInputs(), {.buckets = {3}, .epoch_samples = 7}));
  EXPECT_THAT(stream->Next(), StatusIs(absl::StatusCode::kInvalidArgument,
                                       HasSubstr("has no sample for part 0 of 1")));
}

TEST(BucketStreamTest, ReportsStatistics) {
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto stream, StreamOf({{Words(3), Words(4), Words(9), Words(1)}},
                                  {.batch_size = 2,
                                   .buckets = {4},
                                   .common = {.last_batch = LastBatch::kPad, .shuffle = false}}));
  EXPECT_EQ(Epoch(*stream).size(), 2);
  const DataStatistics counts = stream->statistics();
  EXPECT_EQ(counts.samples, 3);
  EXPECT_EQ(counts.batches, 2);
  EXPECT_EQ(counts.padding_rows, 1);
  EXPECT_EQ(counts.padding_batches, 0);
  EXPECT_EQ(counts.discarded, 1);
  EXPECT_EQ(counts.tokens, 8);
  EXPECT_EQ(counts.padded_tokens, 16);
  EXPECT_EQ(counts.padding(), 0.5);
  EXPECT_EQ(counts.pool_samples, 0);
  EXPECT_EQ(counts.CountsToString(),
            "2 batches, 3 samples served, 1 discarded, 1 rows of padding, 50.0 % padding");
  EXPECT_EQ(counts.Since(counts).batches, 0);
  EXPECT_GE(counts.wait_seconds, counts.read_seconds);
}

TEST(BucketStreamTest, GoesOnBehindAPrefetchingIter) {
  const Shards shards(5, std::vector<std::vector<int>>(40, Words(3)));
  const Options options = {.batch_size = 4, .buckets = {3}, .pool_samples = 20};
  COOPER_ASSERT_OK_AND_ASSIGN(auto unbroken, StreamOf(shards, options));
  const std::vector<int64_t> rows = FirstRows(*unbroken);
  const auto prefetching = [&]() -> absl::StatusOr<std::unique_ptr<PrefetchingIter>> {
    auto stream = StreamOf(shards, options);
    if (!stream.ok()) return stream.status();
    std::vector<std::unique_ptr<DataIter>> iters;
    iters.push_back(*std::move(stream));
    return PrefetchingIter::Create(std::move(iters));
  };
  COOPER_ASSERT_OK_AND_ASSIGN(auto first, prefetching());
  std::vector<int64_t> broken;
  for (int i = 0; i < 17; ++i) {
    COOPER_ASSERT_OK_AND_ASSIGN(const auto batch, first->Next());
    broken.push_back(batch->index[0]);
  }
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string state, first->SaveState());
  COOPER_ASSERT_OK_AND_ASSIGN(auto second, prefetching());
  COOPER_ASSERT_OK(second->LoadState(state));
  for (const int64_t row : FirstRows(*second)) broken.push_back(row);
  EXPECT_EQ(broken, rows);
}

}  // namespace
}  // namespace cooper
