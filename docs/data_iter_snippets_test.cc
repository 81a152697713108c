// The C++ of data_iter.md and of BucketIter's part of io.md, run: check_snippets.sh holds them
// together.

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/batch/bucket_key.h"
#include "io/batch/data_batch.h"
#include "io/batch/data_desc.h"
#include "io/batch/data_iter.h"
#include "io/batch/iter_fixtures.h"
#include "io/batch/key_values.h"
#include "io/buckets/bucket_iter.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Serves sines with noise of 20 or 40 steps, and the value after each as its label.
class NoisySines : public DataIter {
 public:
  static absl::StatusOr<std::unique_ptr<NoisySines>> Create(int64_t batch_size, int64_t num_batches,
                                                            uint64_t seed) {
    if (batch_size < 1 || num_batches < 1) {
      return absl::InvalidArgumentError(absl::StrCat("NoisySines: batch_size is ", batch_size,
                                                     ", num_batches ", num_batches,
                                                     ", expected at least 1"));
    }
    return absl::WrapUnique(new NoisySines(batch_size, num_batches, seed));
  }

  absl::StatusOr<std::optional<DataBatch>> Next() override {
    if (next_ == num_batches_) return std::nullopt;
    // Each batch has a random stream of its own, which depends only on seed, epoch and position.
    RandomGenerator random(
        seed_, epoch_ * static_cast<uint64_t>(num_batches_) + static_cast<uint64_t>(next_));
    const int64_t length = random.NextBelow(2) == 0 ? 20 : 40;
    DataBatch batch = {
        .bucket_key = length, .provide_data = DataOf(length), .provide_label = provide_label_};
    COOPER_ASSIGN_OR_RETURN(NDArray data, NDArray::Empty(batch.provide_data[0].shape));
    COOPER_ASSIGN_OR_RETURN(NDArray label, NDArray::Empty(batch.provide_label[0].shape));
    COOPER_ASSIGN_OR_RETURN(const absl::Span<float> values, data.Data<float>());
    COOPER_ASSIGN_OR_RETURN(const absl::Span<float> next, label.Data<float>());
    for (int64_t row = 0; row < batch_size_; ++row) {
      const double phase = 6.28 * random.NextUniform();
      for (int64_t t = 0; t < length; ++t) {
        values[row * length + t] = std::sin(phase + 0.3 * t) + 0.1 * random.NextNormal();
      }
      next[row] = std::sin(phase + 0.3 * length);
    }
    batch.data = {data};
    batch.label = {label};
    ++next_;  // last: after an error the iterator is as before
    return batch;
  }

  absl::Status Reset() override {
    ++epoch_;
    next_ = 0;
    return absl::OkStatus();
  }

  // The descriptions are those of the default bucket, which is the largest.
  const std::vector<DataDesc>& provide_data() const override { return provide_data_; }
  const std::vector<DataDesc>& provide_label() const override { return provide_label_; }
  std::optional<BucketKey> default_bucket_key() const override { return 40; }
  std::vector<BucketKey> bucket_keys() const override { return {20, 40}; }
  int64_t batch_size() const override { return batch_size_; }

  absl::StatusOr<std::string> SaveState() const override {
    KeyValues state;
    state.SetString("kind", "NoisySines");
    state.SetUint("seed", seed_);
    state.SetUint("epoch", epoch_);
    state.SetInt("next", next_);
    return state.ToString();
  }

  absl::Status LoadState(absl::string_view text) override {
    COOPER_ASSIGN_OR_RETURN(const KeyValues state, KeyValues::Parse(text));
    COOPER_RETURN_IF_ERROR(state.Expect("kind", "NoisySines"));
    COOPER_ASSIGN_OR_RETURN(const uint64_t seed, state.GetUint("seed"));
    COOPER_ASSIGN_OR_RETURN(const uint64_t epoch, state.GetUint("epoch"));
    COOPER_ASSIGN_OR_RETURN(const int64_t next, state.GetInt("next"));
    if (next < 0 || next > num_batches_) {
      return absl::InvalidArgumentError(
          absl::StrCat("NoisySines: state 'next' is ", next, ", not in [0, ", num_batches_, "]"));
    }
    seed_ = seed;  // nothing has changed before all is known to be right
    epoch_ = epoch;
    next_ = next;
    return absl::OkStatus();
  }

 private:
  NoisySines(int64_t batch_size, int64_t num_batches, uint64_t seed)
      : batch_size_(batch_size), num_batches_(num_batches), seed_(seed) {}

  std::vector<DataDesc> DataOf(int64_t length) const {
    return {{.name = "data", .shape = {batch_size_, length}, .layout = "NT"}};
  }

  const int64_t batch_size_;
  const int64_t num_batches_;  // of an epoch
  uint64_t seed_;
  uint64_t epoch_ = 0;
  int64_t next_ = 0;
  const std::vector<DataDesc> provide_data_ = DataOf(40);
  const std::vector<DataDesc> provide_label_ = {
      {.name = "label", .shape = {batch_size_}, .layout = "N"}};
};

TEST(DataIterPageTest, ResumesAnywhere) {
  auto iter = NoisySines::Create(3, 10, 1).value();
  Epoch(*iter);
  COOPER_ASSERT_OK(iter->Reset());
  for (int i = 0; i < 4; ++i) COOPER_ASSERT_OK(iter->Next());
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string state, iter->SaveState());
  auto other = NoisySines::Create(3, 10, 2).value();
  COOPER_ASSERT_OK(other->LoadState(state));
  const std::vector<DataBatch> a = Epoch(*iter), b = Epoch(*other);
  ASSERT_EQ(a.size(), 6);
  ASSERT_EQ(b.size(), 6);
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].bucket_key, b[i].bucket_key);
    EXPECT_EQ(*a[i].data[0].ToVector<float>(), *b[i].data[0].ToVector<float>());
    EXPECT_EQ(*a[i].label[0].ToVector<float>(), *b[i].label[0].ToVector<float>());
    EXPECT_EQ(a[i].provide_data[0].shape, a[i].data[0].shape());
  }
  EXPECT_THAT(other->LoadState("kind NoisySines\nseed 1\nepoch 0\nnext 11\n"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'next' is 11")));
}

using Sequences = std::vector<std::vector<int>>;

// Returns batches of pairs of similar lengths, such as sentences and their translations.
absl::StatusOr<std::unique_ptr<BucketIter>> Pairs(const Sequences& sources,
                                                  const Sequences& targets) {
  return BucketIter::Create(
      {{.name = "source", .values = sources, .length_name = "source_length"},
       {.name = "target", .values = targets, .pad_to = {1}}},
      {{.name = "softmax_label", .values = targets, .pad_to = {1}, .pad_value = -1, .shift = 1}},
      {.batch_size = 2, .buckets = {{4, 4}, {8, 10}}, .common = {.seed = 7}});
}

// Returns batches of series of several kinds with different lengths, with features and two labels.
absl::StatusOr<std::unique_ptr<BucketIter>> Series(const std::vector<std::string>& kinds,
                                                   const std::vector<std::vector<float>>& values,
                                                   const NDArray& features,
                                                   const std::vector<float>& next,
                                                   const std::vector<int>& classes) {
  return BucketIter::Create(
      {{.name = "series", .values = values}, {.name = "features", .values = features}},
      {{.name = "next_label", .values = next}, {.name = "class_label", .values = classes}},
      {.batch_size = 2, .key = [&](int64_t i) { return kinds[i]; }});
}

// Returns batches of images (channels, height, width), padded to multiples of 32 pixels.
absl::StatusOr<std::unique_ptr<BucketIter>> Images(const std::vector<NDArray>& images,
                                                   const std::vector<int>& classes) {
  const auto round_up = [](int64_t extent) { return (extent + 31) / 32 * 32; };
  return BucketIter::Create(
      {{.name = "data", .values = images, .pad_to = {kFree, 0, 1}}},
      {{.name = "softmax_label", .values = classes}},
      {.batch_size = 2,
       .key =
           [&](int64_t i) {
             return BucketKey({round_up(images[i].shape()[1]), round_up(images[i].shape()[2])});
           },
       .common = {.last_batch = BucketIterOptions::LastBatch::kSmaller}});
}

TEST(IoPageTest, FeedsPairs) {
  COOPER_ASSERT_OK_AND_ASSIGN(auto iter, Pairs({{1, 2}, {3}, {4, 5, 6, 7, 8}, {9}},
                                               {{1, 5, 2}, {1, 6, 2}, {1, 2}, {1, 2}}));
  EXPECT_THAT(iter->bucket_keys(), ElementsAre(BucketKey({4, 4}), BucketKey({8, 10})));
  EXPECT_EQ(DescsToString(iter->provide_data()),
            "source (2, 8) float32 NT, target (2, 10) float32 NT, source_length (2,) float32 N");
}

TEST(IoPageTest, FeedsSeries) {
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto iter, Series({"day", "week", "day", "week"}, {{1, 2}, {1, 2, 3}, {3, 4}, {4, 5, 6}},
                        NDArray::Zeros({4, 5}).value(), {3, 4, 5, 7}, {0, 1, 0, 1}));
  EXPECT_EQ(Epoch(*iter).size(), 2);
  EXPECT_THAT(iter->report().ToString(), HasSubstr("bucket 'day': 2 samples, 1 batches of 2"));
}

TEST(IoPageTest, FeedsImages) {
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto iter, Images({NDArray::Zeros({1, 20, 33}).value(), NDArray::Zeros({1, 32, 50}).value(),
                         NDArray::Zeros({1, 5, 5}).value()},
                        {0, 1, 2}));
  EXPECT_THAT(iter->bucket_keys(), ElementsAre(BucketKey({32, 32}), BucketKey({32, 64})));
  EXPECT_EQ(Epoch(*iter).size(), 2);
}

}  // namespace
}  // namespace cooper
