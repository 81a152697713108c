#include "io/buckets/bucket_iter.h"

#include <algorithm>
#include <functional>
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
#include "ndarray/random/random.h"

namespace cooper {
namespace {

using ::testing::_;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Sequences = std::vector<std::vector<int>>;
using Inputs = std::vector<BucketInput>;
using Options = BucketIterOptions;

std::unique_ptr<BucketIter> Make(Inputs data, Inputs label, Options options) {
  auto iter = BucketIter::Create(std::move(data), std::move(label), std::move(options));
  EXPECT_TRUE(iter.ok()) << iter.status();
  return *std::move(iter);
}

std::vector<float> Values(const NDArray& array) { return *array.ToVector<float>(); }

// A bucket without samples has the shapes that batches of it would have.
TEST(BucketIterTest, AnEmptyBucketHasShapes) {
  const std::vector<NDArray> series = {*NDArray::Zeros({2, 3}), *NDArray::Zeros({1, 5})};
  const auto iter =
      Make({{.name = "x", .values = series, .length_name = "length"}},
           {{.name = "label", .values = std::vector<float>{1, 2}}},
           {.buckets = {2, 6, 9},
            .batch_sizes = {{9, 3}},
            .common = {.last_batch = Options::LastBatch::kPad, .tokens_per_batch = 60}});
  EXPECT_THAT(iter->bucket_keys(), ElementsAre(BucketKey(2)));
  const std::pair<int, const char*> kShapes[] = {
      {2, "x (6, 2, 5) float32 NTC, length (6,) float32 N, label (6,) float32 N"},
      {6, "x (2, 6, 5) float32 NTC, length (2,) float32 N, label (2,) float32 N"},
      {9, "x (3, 9, 5) float32 NTC, length (3,) float32 N, label (3,) float32 N"}};
  for (const auto& [key, expected] : kShapes) {
    COOPER_ASSERT_OK_AND_ASSIGN(const BucketShapes shapes, iter->bucket_shapes(key));
    EXPECT_EQ(shapes.key, BucketKey(key));
    EXPECT_EQ(DescsToString(shapes.data_shapes) + ", " + DescsToString(shapes.label_shapes),
              expected);
  }
  EXPECT_THAT(iter->bucket_shapes(5),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("BucketIter: there is no bucket 5")));
}

TEST(BucketIterTest, AnEncoderAndADecoderHavePairsForKeys) {
  const Sequences sources = {{1, 2, 3}, {4}, {5, 6}};
  const Sequences targets = {{7, 8}, {9}, {10, 11, 12}};
  const auto iter = Make({{.name = "source", .values = sources, .length_name = "source_length"},
                          {.name = "target", .values = targets, .pad_to = {1}}},
                         {{.name = "label", .values = targets, .pad_to = {1}, .shift = 1}},
                         {.batch_size = 2,
                          .buckets = {{3, 2}, {3, 4}},
                          .common = {.last_batch = Options::LastBatch::kPad, .shuffle = false}});
  EXPECT_THAT(iter->bucket_keys(), ElementsAre(BucketKey({3, 2}), BucketKey({3, 4})));
  EXPECT_EQ(iter->default_bucket_key(), BucketKey({3, 4}));
  EXPECT_EQ(DescsToString(iter->provide_data()),
            "source (2, 3) float32 NT, target (2, 4) float32 NT, source_length (2,) float32 N");
  EXPECT_EQ(DescsToString(iter->provide_label()), "label (2, 4) float32 NT");
  EXPECT_EQ(DescsToString(iter->bucket_shapes({3, 2})->label_shapes), "label (2, 2) float32 NT");

  const std::vector<DataBatch> batches = Epoch(*iter);
  ASSERT_EQ(batches.size(), 2);
  EXPECT_EQ(batches[0].bucket_key, BucketKey({3, 2}));
  EXPECT_THAT(Values(batches[0].data[0]), ElementsAre(1, 2, 3, 4, 0, 0));
  EXPECT_THAT(Values(batches[0].data[1]), ElementsAre(7, 8, 9, 0));
  EXPECT_THAT(Values(batches[0].data[2]), ElementsAre(3, 1));
  EXPECT_THAT(Values(batches[0].label[0]), ElementsAre(8, 0, 0, 0));
  EXPECT_THAT(batches[0].lengths, ElementsAre(3, 1));
  EXPECT_THAT(batches[0].index, ElementsAre(0, 1));
  EXPECT_EQ(batches[1].pad, 1);
  EXPECT_THAT(Values(batches[1].data[1]), ElementsAre(10, 11, 12, 0, 0, 0, 0, 0));
  EXPECT_THAT(Values(batches[1].data[2]), ElementsAre(2, 0));
  EXPECT_THAT(batches[1].index, ElementsAre(2, -1));
  EXPECT_EQ(DescsToString(batches[1].provide_data), DescsToString(iter->provide_data()));
}

TEST(BucketIterTest, ChoosesPairs) {
  const Sequences sources = {{1, 2, 3}, {4}, {5, 6}, {1, 2, 3, 4, 5}};
  const Sequences targets = {{7, 8}, {9}, {10, 11, 12}, {1}};
  const auto iter = Make(
      {{.name = "source", .values = sources}, {.name = "target", .values = targets, .pad_to = {1}}},
      {{.name = "label", .values = targets, .pad_to = {1}, .shift = 1}},
      {.batch_size = 1,
       .max_extents = {4, 0},
       .too_long = Options::TooLong::kTruncate,
       .common = {.max_buckets = 2}});
  EXPECT_THAT(iter->bucket_keys(), ElementsAre(BucketKey({2, 3}), BucketKey({4, 2})));
  EXPECT_EQ(iter->report().truncated, 1);  // 2 * (2 + 3) and 2 * (4 + 2) elements
  EXPECT_THAT(iter->report().ToString(), HasSubstr("17 tokens in all, 22.7 % padding"));
}

TEST(BucketIterTest, ChoosesNoBucketThatFillsNoStep) {
  Sequences sequences(20, std::vector<int>(3));
  sequences.resize(23, std::vector<int>(9));
  Options options = {.batch_size = 2, .common = {.max_buckets = 3, .num_parts = 2}};
  const auto keys = [&] {
    return Make({{.name = "x", .values = sequences}}, {}, options)->bucket_keys();
  };
  EXPECT_THAT(keys(), ElementsAre(BucketKey(9)));  // three are less than a step of two parts
  options.common.last_batch = Options::LastBatch::kPad;
  EXPECT_THAT(keys(), ElementsAre(BucketKey(3), BucketKey(9)));

  const auto pairs = [&] {
    return Make({{.name = "x", .values = sequences},
                 {.name = "y", .values = sequences, .pad_to = {1}}},
                {}, options)
        ->bucket_keys();
  };
  EXPECT_THAT(pairs(), ElementsAre(BucketKey({3, 3}), BucketKey({9, 9})));
  options.common.last_batch = Options::LastBatch::kDiscard;
  EXPECT_THAT(pairs(), ElementsAre(BucketKey({9, 9})));
}

TEST(BucketIterTest, SeriesOfStringKeysArePaddedToTheirLongest) {
  const std::vector<std::string> kinds = {"day", "week", "day"};
  const std::vector<std::vector<float>> series = {{1, 2}, {3, 4, 5, 6}, {7}};
  const NDArray features = NDArray::FromVector<float>({3, 2}, {1, 2, 3, 4, 5, 6}).value();
  const auto iter =
      Make({{.name = "series", .values = series, .pad_value = -1},
            {.name = "features", .values = features}},
           {{.name = "next", .values = std::vector<float>{0.5f, 1.5f, 2.5f}},
            {.name = "class", .values = std::vector<int>{2, 1, 0}}},
           {.batch_size = 2,
            .key = [&](int64_t i) { return kinds[i]; },
            .common = {.last_batch = Options::LastBatch::kSmaller, .shuffle = false}});
  const std::vector<DataBatch> batches = Epoch(*iter);
  ASSERT_EQ(batches.size(), 2);
  EXPECT_EQ(batches[0].bucket_key, "day");
  EXPECT_THAT(Values(batches[0].data[0]), ElementsAre(1, 2, 7, -1));
  EXPECT_THAT(Values(batches[0].data[1]), ElementsAre(1, 2, 5, 6));
  EXPECT_THAT(Values(batches[0].label[0]), ElementsAre(0.5f, 2.5f));
  EXPECT_THAT(Values(batches[0].label[1]), ElementsAre(2, 0));
  EXPECT_EQ(batches[1].bucket_key, "week");
  EXPECT_EQ(batches[1].data[0].shape(), Shape({1, 4}));
  EXPECT_EQ(batches[1].pad, 0);
  EXPECT_EQ(DescsToString(batches[1].provide_data),
            "series (1, 4) float32 NT, features (1, 2) float32 NC");
  EXPECT_EQ(iter->default_bucket_key(), "week");
  EXPECT_EQ(iter->batch_size(), 2);
}

// Images (channels, height, width) of four shapes, which are not padded.
TEST(BucketIterTest, ImagesByShape) {
  std::vector<NDArray> images;
  std::vector<int> classes;
  for (int i = 0; i < 20; ++i) {
    const Shape shape = {2, 3 + i % 2, 4 + i % 4 / 2};
    images.push_back(NDArray::Full(shape, i, DType::kUint8).value());
    classes.push_back(100 + i);
  }
  const auto iter =
      Make({{.name = "data", .values = images, .pad_to = {kFree, 0, 1}, .pad_value = -1}},
           {{.name = "softmax_label", .values = classes}},
           {.batch_size = 3, .key = [&](int64_t i) {
              return BucketKey({images[i].shape()[1], images[i].shape()[2]});
            }});
  EXPECT_EQ(iter->bucket_keys().size(), 4);
  EXPECT_EQ(DescsToString(iter->provide_data()), "data (3, 2, 4, 5) float32 NCHW");
  EXPECT_EQ(iter->report().left_over, 8);
  EXPECT_EQ(iter->report().padded_tokens, iter->report().tokens);
  for (const DataBatch& batch : Epoch(*iter)) {
    EXPECT_THAT(batch.lengths, IsEmpty());  // a height is no number of time steps
    const std::vector<float> values = Values(batch.data[0]);
    const size_t row = values.size() / 3;
    for (size_t r = 0; r < 3; ++r) {
      EXPECT_EQ(Values(batch.label[0])[r], 100 + batch.index[r]);
      for (size_t e = 0; e < row; ++e) EXPECT_EQ(values[r * row + e], batch.index[r]);
    }
  }
}

TEST(BucketIterTest, LayoutSaysWhereTheBatchAxisIs) {
  // Frames (length, 2) of acoustic features.
  const std::vector<NDArray> frames = {NDArray::FromVector<float>({2, 2}, {1, 2, 3, 4}).value(),
                                       NDArray::FromVector<float>({1, 2}, {5, 6}).value()};
  const auto iter = Make({{.name = "data",
                           .values = frames,
                           .pad_value = 9,
                           .dtype = DType::kFloat64,
                           .layout = "TNC",
                           .length_name = "length"}},
                         {}, {.batch_size = 2, .buckets = {3}, .common = {.shuffle = false}});
  EXPECT_EQ(DescsToString(iter->provide_data()),
            "data (3, 2, 2) float64 TNC, length (2,) float32 N");
  const std::vector<DataBatch> batches = Epoch(*iter);
  ASSERT_EQ(batches.size(), 1);
  EXPECT_THAT(Values(batches[0].data[0]), ElementsAre(1, 2, 5, 6, 3, 4, 9, 9, 9, 9, 9, 9));
  EXPECT_THAT(Values(batches[0].data[1]), ElementsAre(2, 1));
  EXPECT_THAT(batches[0].label, IsEmpty());
  EXPECT_EQ(iter->report().tokens, 3);
  EXPECT_EQ(iter->report().padded_tokens, 6);
}

// Images of lines of text, (height, width).
TEST(BucketIterTest, LengthsAreThoseOfTheTimeAxis) {
  const std::vector<NDArray> lines = {NDArray::Zeros({2, 3}).value(),
                                      NDArray::Zeros({2, 1}).value()};
  const auto batch_of = [&](const char* layout) {
    const auto iter =
        Make({{.name = "data", .values = lines, .pad_to = {kFree, 0}, .layout = layout}}, {},
             {.batch_size = 2, .buckets = {4}, .common = {.shuffle = false}});
    return Epoch(*iter)[0];
  };
  EXPECT_THAT(batch_of("NCT").lengths, ElementsAre(3, 1));
  EXPECT_THAT(batch_of("CTN").lengths, ElementsAre(3, 1));
  EXPECT_THAT(batch_of("TNC").lengths, IsEmpty());  // padded along another axis
  EXPECT_THAT(batch_of("NHW").lengths, IsEmpty());
}

TEST(BucketIterTest, CutsWhatIsTooLongBeforeItShifts) {
  const Sequences words = {{1, 2, 3, 4, 5}, {6}};
  const auto iter = Make({{.name = "data", .values = words, .length_name = "length"}},
                         {{.name = "label", .values = words, .pad_value = -1, .shift = 1}},
                         {.batch_size = 2,
                          .buckets = {3},
                          .too_long = Options::TooLong::kTruncate,
                          .common = {.shuffle = false}});
  const DataBatch batch = Epoch(*iter)[0];
  EXPECT_THAT(Values(batch.data[0]), ElementsAre(1, 2, 3, 6, 0, 0));
  EXPECT_THAT(Values(batch.label[0]), ElementsAre(2, 3, -1, -1, -1, -1));
  EXPECT_THAT(Values(batch.data[1]), ElementsAre(3, 1));
  EXPECT_EQ(iter->report().truncated, 1);
  EXPECT_EQ(iter->report().tokens, 4);
}

TEST(BucketIterTest, BatchSizesFollowKeysAndTokens) {
  Sequences a, b;
  for (int i = 0; i < 100; ++i) {
    a.emplace_back(static_cast<size_t>(1 + i % 4));
    b.emplace_back(static_cast<size_t>(1 + i % 4));
  }
  const auto iter =
      Make({{.name = "a", .values = a}, {.name = "b", .values = b, .pad_to = {1}}}, {},
           {.batch_size = 50,
            .buckets = {{2, 2}, {4, 4}, {3, 3}},
            .batch_sizes = {{{3, 3}, 7}},
            .common = {.tokens_per_batch = 20}});
  std::map<std::string, int64_t> sizes;
  for (const BucketIterReport::Bucket& bucket : iter->report().buckets) {
    sizes[bucket.key.ToString()] = bucket.batch_size;
  }
  EXPECT_EQ(sizes, (std::map<std::string, int64_t>{{"(2, 2)", 5}, {"(3, 3)", 7}, {"(4, 4)", 2}}));
  EXPECT_EQ(iter->batch_size(), 2);
  EXPECT_THAT(iter->report().ToString(), HasSubstr("bucket (3, 3): 25 samples, 3 batches of 7\n"));
}

// A random data set with two sequences, frames, rows and a number per sample, in which every
// element identifies its sample.
struct RandomData {
  Sequences a, b;
  std::vector<NDArray> frames;
  NDArray rows;
  std::vector<float> numbers;

  explicit RandomData(RandomGenerator& random) {
    const auto n = static_cast<int64_t>(1 + random.NextBelow(60));
    std::vector<int32_t> row_values;
    for (int64_t i = 0; i < n; ++i) {
      a.emplace_back(random.NextBelow(9), static_cast<int>(i));
      b.emplace_back(1 + random.NextBelow(7), static_cast<int>(i));
      frames.push_back(
          NDArray::Full({static_cast<int64_t>(1 + random.NextBelow(4)), 3}, static_cast<double>(i))
              .value());
      row_values.insert(row_values.end(), 2, static_cast<int32_t>(i));
      numbers.push_back(static_cast<float>(i));
    }
    rows = NDArray::FromVector({n, 2}, row_values).value();
  }
  int64_t size() const { return static_cast<int64_t>(a.size()); }
  Inputs data() const {
    return {{.name = "a", .values = a, .pad_value = -2, .length_name = "a_length"},
            {.name = "b",
             .values = b,
             .pad_to = {1},
             .pad_value = -3,
             .layout = "TN",
             .length_name = "b_length"},
            {.name = "frames", .values = frames, .pad_to = {kFree}, .pad_value = -4},
            {.name = "rows", .values = rows, .pad_value = -5, .dtype = DType::kInt32}};
  }
  Inputs label() const { return {{.name = "number", .values = numbers, .pad_value = -6}}; }
};

// Checks that row `r` of the batch holds sample `id`, and pad values elsewhere.
void ExpectRow(const RandomData& data, const DataBatch& batch, int64_t r, int64_t id) {
  const auto sample = [&](size_t input) -> Shape {
    if (id < 0) return input == 0 || input == 1 ? Shape{0} : Shape{0, 0};
    if (input == 0) return {static_cast<int64_t>(data.a[id].size())};
    if (input == 1) return {static_cast<int64_t>(data.b[id].size())};
    return data.frames[id].shape();
  };
  const double pads[] = {-2, -3, -4, -5};
  for (size_t input = 0; input < 3; ++input) {
    const NDArray& array = batch.data[input];
    const std::vector<float> values = Values(array);
    const int64_t rows = array.shape()[input == 1 ? 1 : 0];
    const int64_t steps = array.shape()[input == 1 ? 0 : 1];
    const int64_t features = input == 2 ? array.shape()[2] : 1;
    ASSERT_LE(sample(input)[0], steps);
    for (int64_t t = 0; t < steps; ++t) {
      for (int64_t f = 0; f < features; ++f) {
        const int64_t at = ((input == 1 ? t * rows + r : r * steps + t) * features) + f;
        ASSERT_EQ(values[at], t < sample(input)[0] ? id : pads[input])
            << "input " << input << ", row " << r << ", step " << t;
      }
    }
  }
  const std::vector<int32_t> rows = *batch.data[3].ToVector<int32_t>();
  EXPECT_EQ(rows[2 * r + 1], id < 0 ? -5 : id);
  EXPECT_EQ(Values(batch.label[0])[r], id < 0 ? -6 : id);
  EXPECT_EQ(Values(batch.data[4])[r], sample(0)[0]);
  EXPECT_EQ(Values(batch.data[5])[r], sample(1)[0]);
  EXPECT_EQ(batch.lengths[r], sample(0)[0]);
}

Options RandomOptions(const RandomData& data, RandomGenerator& random) {
  Options options = {.batch_size = static_cast<int64_t>(1 + random.NextBelow(7)),
                     .common = {.shuffle = random.NextBelow(4) != 0, .seed = random.NextUint64()}};
  if (random.NextBelow(2) == 0) {
    options.buckets = {{8, 7}};
    for (uint64_t i = random.NextBelow(4); i > 0; --i) {
      options.buckets.push_back({static_cast<int64_t>(1 + random.NextBelow(8)),
                                 static_cast<int64_t>(1 + random.NextBelow(7))});
    }
  } else {
    options.key = [&data](int64_t i) {
      const auto even = [](size_t length) { return static_cast<int64_t>(length / 2 * 2 + 2); };
      return BucketKey({even(data.a[i].size()), even(data.b[i].size())});
    };
  }
  return options;
}

void ExpectSameBatches(const std::vector<DataBatch>& a, const std::vector<DataBatch>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].index, b[i].index);
    EXPECT_EQ(a[i].bucket_key, b[i].bucket_key);
    ASSERT_EQ(a[i].data.size(), b[i].data.size());
    for (size_t j = 0; j < a[i].data.size(); ++j) {
      EXPECT_EQ(Values(a[i].data[j]), Values(b[i].data[j]));
    }
    EXPECT_EQ(Values(a[i].label[0]), Values(b[i].label[0]));
  }
}

TEST(BucketIterPropertyTest, EverySampleOncePerEpochWithItsArrays) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomGenerator random(seed);
    const RandomData data(random);
    Options options = RandomOptions(data, random);
    const Options::LastBatch policies[] = {Options::LastBatch::kDiscard, Options::LastBatch::kPad,
                                           Options::LastBatch::kSmaller};
    options.common.last_batch = policies[seed % 3];
    const auto iter = Make(data.data(), data.label(), options);
    EXPECT_EQ(iter->report().served + iter->report().left_over, data.size());
    if (options.common.last_batch != Options::LastBatch::kDiscard) {
      EXPECT_EQ(iter->report().left_over, 0);
    }
    for (int epoch = 0; epoch < 2; ++epoch) {
      std::set<int64_t> seen;
      int64_t batches = 0;
      for (const DataBatch& batch : Epoch(*iter)) {
        ++batches;
        EXPECT_THAT(iter->bucket_keys(), Contains(*batch.bucket_key));
        int64_t pad = 0;
        for (size_t j = 0; j < batch.data.size(); ++j) {
          EXPECT_EQ(batch.provide_data[j].shape, batch.data[j].shape());
          EXPECT_EQ(batch.provide_data[j].dtype, batch.data[j].dtype());
        }
        EXPECT_EQ(batch.data[0].shape()[1], batch.bucket_key->tuple_value()[0]);
        EXPECT_EQ(batch.data[1].shape()[0], batch.bucket_key->tuple_value()[1]);
        for (size_t r = 0; r < batch.index.size(); ++r) {
          const int64_t id = batch.index[r];
          if (id < 0) {
            ++pad;
          } else {
            EXPECT_TRUE(seen.insert(id).second) << id;
          }
          ExpectRow(data, batch, static_cast<int64_t>(r), id);
        }
        EXPECT_EQ(batch.pad, pad);
      }
      EXPECT_EQ(static_cast<int64_t>(seen.size()), iter->report().served);
      EXPECT_EQ(batches, iter->num_batches());
      COOPER_ASSERT_OK(iter->Reset());
    }
    ASSERT_FALSE(HasFailure());
  }
}

TEST(BucketIterPropertyTest, ResumesAtEveryBatch) {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomGenerator random(100 + seed);
    const RandomData data(random);
    Options options = RandomOptions(data, random);
    options.common.last_batch = static_cast<Options::LastBatch>(seed % 4);
    const auto whole = Make(data.data(), data.label(), options);
    Epoch(*whole);
    COOPER_ASSERT_OK(whole->Reset());
    std::vector<std::string> states = {*whole->SaveState()};
    std::vector<DataBatch> batches;
    while (true) {
      COOPER_ASSERT_OK_AND_ASSIGN(std::optional<DataBatch> batch, whole->Next());
      if (!batch.has_value()) break;
      batches.push_back(*std::move(batch));
      states.push_back(*whole->SaveState());
    }
    COOPER_ASSERT_OK(whole->Reset());
    const std::vector<DataBatch> next = Epoch(*whole);
    Options other_seed = options;
    ++other_seed.common.seed;  // the state's seed replaces it
    for (size_t i = 0; i < states.size(); ++i) {
      const auto resumed = Make(data.data(), data.label(), other_seed);
      COOPER_ASSERT_OK(resumed->LoadState(states[i]));
      ExpectSameBatches(Epoch(*resumed), {batches.begin() + i, batches.end()});
      COOPER_ASSERT_OK(resumed->Reset());
      ExpectSameBatches(Epoch(*resumed), next);
    }
    ASSERT_FALSE(HasFailure());
  }
}

TEST(BucketIterPropertyTest, PartsAreTheRowsOfOneIterator) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomGenerator random(200 + seed);
    const RandomData data(random);
    Options options = RandomOptions(data, random);
    const Options::LastBatch policies[] = {Options::LastBatch::kDiscard, Options::LastBatch::kPad,
                                           Options::LastBatch::kRollOver};
    options.common.last_batch = policies[seed % 3];
    const auto parts = static_cast<int64_t>(1 + random.NextBelow(4));
    Options whole_options = options;
    whole_options.batch_size *= parts;
    const auto whole = Make(data.data(), data.label(), whole_options);
    std::vector<std::unique_ptr<BucketIter>> iters;
    for (int64_t p = 0; p < parts; ++p) {
      Options part = options;
      part.common.part_index = p;
      part.common.num_parts = parts;
      iters.push_back(Make(data.data(), data.label(), part));
    }
    for (int epoch = 0; epoch < 3; ++epoch) {
      const std::vector<DataBatch> steps = Epoch(*whole);
      std::vector<std::vector<int64_t>> joined(steps.size());
      for (const auto& iter : iters) {
        const std::vector<DataBatch> batches = Epoch(*iter);
        ASSERT_EQ(batches.size(), steps.size());
        for (size_t i = 0; i < steps.size(); ++i) {
          EXPECT_EQ(batches[i].bucket_key, steps[i].bucket_key);
          joined[i].insert(joined[i].end(), batches[i].index.begin(), batches[i].index.end());
        }
        COOPER_ASSERT_OK(iter->Reset());
      }
      for (size_t i = 0; i < steps.size(); ++i) EXPECT_EQ(joined[i], steps[i].index);
      COOPER_ASSERT_OK(whole->Reset());
    }
    ASSERT_FALSE(HasFailure());
  }
}

TEST(BucketIterTest, RefusesTheStateOfOtherData) {
  const auto of = [](int n) {
    return Make({{.name = "data", .values = Sequences(static_cast<size_t>(n), {1, 2})}}, {},
                {.batch_size = 2, .buckets = {2}});
  };
  const std::string state = *of(6)->SaveState();
  EXPECT_THAT(of(8)->LoadState(state),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("BucketIter: the state is of 3 batches and 12 tokens")));
  EXPECT_THAT(of(6)->LoadState("kind CSVIter\n"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("CSVIter")));
}

TEST(BucketIterTest, RefusesTheStateOfOtherOptions) {
  const auto with = [](int64_t batch_size, Options::LastBatch last_batch) {
    return Make({{.name = "data", .values = Sequences(5, {1, 2})}}, {},
                {.batch_size = batch_size, .buckets = {2}, .common = {.last_batch = last_batch}});
  };
  const std::string state = *with(3, Options::LastBatch::kPad)->SaveState();  // 2 batches
  COOPER_EXPECT_OK(with(3, Options::LastBatch::kSmaller)->LoadState(state));  // the same samples
  EXPECT_THAT(with(4, Options::LastBatch::kPad)->LoadState(state),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("BucketIter: the state is of batch_size 3 in bucket number 0")));
  EXPECT_THAT(with(2, Options::LastBatch::kDiscard)->LoadState(state),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("remainder (last_batch) kServe, this iterator has kLeaveOut")));
}

struct ErrorCase {
  const char* name;
  Inputs data;
  Inputs label;
  Options options;
  const char* error;
};

TEST(BucketIterTest, NamesWhatIsWrong) {
  const Sequences two = {{1}, {1, 2}};
  const BucketInput x = {.name = "x", .values = two};
  const std::vector<NDArray> images(2, NDArray::Zeros({1, 2, 3}).value());
  const std::function<std::optional<BucketKey>(int64_t)> nothing = [](int64_t) {
    return std::nullopt;
  };
  const ErrorCase cases[] = {
      {"NoData", {}, {x}, {.buckets = {2}}, "no data"},
      {"NoName", {{.values = two}}, {}, {.buckets = {2}}, "an input has no name"},
      {"EqualNames", {x}, {x}, {.buckets = {2}}, "two inputs are called 'x'"},
      {"LengthsName",
       {{.name = "x", .values = two, .length_name = "x"}},
       {},
       {.buckets = {2}},
       "two inputs are called 'x'"},
      {"Samples",
       {x},
       {{.name = "y", .values = std::vector<int>{1}}},
       {.buckets = {2}},
       "input 'y': has 1 samples, 'x' has 2"},
      {"NullArray",
       {{.name = "x", .values = NDArray()}},
       {},
       {.buckets = {2}},
       "input 'x': the array is null"},
      {"NoSamples", {{.name = "x"}}, {}, {.buckets = {2}}, "there are no samples"},
      {"Layout",
       {{.name = "x", .values = two, .layout = "TC"}},
       {},
       {.buckets = {2}},
       "input 'x': layout is 'TC', expected 2 letters, one of them N"},
      {"PadTo",
       {{.name = "x", .values = two, .pad_to = {0, 1}}},
       {},
       {.buckets = {2}},
       "pad_to is of 2 axes, samples have 1"},
      {"PadToNothing",
       {{.name = "x", .values = two, .pad_to = {-2}}},
       {},
       {.buckets = {2}},
       "pad_to holds elements"},
      {"PadToBeyond",
       {{.name = "x", .values = two, .pad_to = {1}}},
       {},
       {.buckets = {2}},
       "bucket 2 has no element 1, which 'x' is padded to"},
      {"Images", {{.name = "x", .values = images}}, {}, {.buckets = {2}}, "say with pad_to which"},
      {"PadValue",
       {{.name = "x", .values = two, .pad_value = 300, .dtype = DType::kUint8}},
       {},
       {.buckets = {2}},
       "input 'x': pad_value (invalid_label) is 300, which uint8 does not hold"},
      {"Shift",
       {{.name = "x", .values = std::vector<int>{1, 2}, .shift = 1}},
       {},
       {.buckets = {2}},
       "shift is 1"},
      {"Length",
       {{.name = "x", .values = std::vector<int>{1, 2}, .length_name = "l"}},
       {},
       {.buckets = {2}},
       "numbers have no length for 'l'"},
      {"NoBuckets", {x}, {}, {}, "give buckets, key or max_buckets"},
      {"BucketsAndKey", {x}, {}, {.buckets = {2}, .key = nothing}, "buckets and key are given"},
      {"BucketsAndNumber",
       {x},
       {},
       {.buckets = {2}, .common = {.max_buckets = 2}},
       "buckets and max_buckets are given, expected one of them"},
      {"NumberOfBuckets", {x}, {}, {.common = {.max_buckets = -1}}, "max_buckets is -1"},
      {"ChoiceOfNone", {x}, {}, {.buckets = {2}, .common = {.multiple_of = 2}}, "need max_buckets"},
      {"NothingToChoose",
       {{.name = "x", .values = std::vector<int>{1, 2}}},
       {},
       {.common = {.max_buckets = 2}},
       "BucketIter: buckets: no axis of an input follows the key"},
      {"NoKey", {x}, {}, {.key = nothing}, "none of 2 samples has a bucket"},
      {"KeyTooSmall",
       {x},
       {},
       {.key = [](int64_t) { return 1; }},
       "sample 1 of 'x' has shape (2,), more than the bucket 1 holds"},
      {"BatchSize", {x}, {}, {.batch_size = 0, .buckets = {2}}, "batch_size is 0"},
      {"BucketBatchSize", {x}, {}, {.buckets = {2}, .batch_sizes = {{2, 0}}}, "bucket 2 is 0"},
      {"HugeBucket", {x}, {}, {.buckets = {int64_t{1} << 62}}, "bucket 4611686018427387904: "},
      {"Parts",
       {x},
       {},
       {.buckets = {2}, .common = {.part_index = 2, .num_parts = 2}},
       "part_index is 2"},
      {"SmallerParts",
       {x},
       {},
       {.buckets = {2}, .common = {.last_batch = Options::LastBatch::kSmaller, .num_parts = 2}},
       "use kPad"},
  };
  for (const ErrorCase& c : cases) {
    EXPECT_THAT(BucketIter::Create(c.data, c.label, c.options),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(c.error)))
        << c.name;
  }
}

}  // namespace
}  // namespace cooper
