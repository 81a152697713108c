// Tests properties of every iterator over buckets with any options: each sample comes once in an
// epoch, all parts visit the same buckets, and a state saved at any point continues identically.

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/buckets/bucket_iter.h"
#include "io/buckets/bucket_sentence_iter.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"
#include "ndarray/random/random_cases.h"

namespace cooper {
namespace {

using Sentences = std::vector<std::vector<int>>;
using Options = BucketSentenceIterOptions;

int64_t Draw(RandomGenerator& random, int64_t least, int64_t most) {
  return least + static_cast<int64_t>(random.NextBelow(static_cast<uint64_t>(most - least + 1)));
}

struct Case {
  Sentences sentences;  // every element identifies its sentence
  int64_t batch_size;
  Options options;

  explicit Case(RandomGenerator& random) : batch_size(Draw(random, 1, 5)) {
    const int64_t n = Draw(random, 1, 40);
    for (int64_t i = 0; i < n; ++i) {
      sentences.emplace_back(Draw(random, 1, 12), static_cast<int>(i));
    }
    options.common.last_batch = static_cast<Options::LastBatch>(Draw(random, 0, 3));
    options.too_long = static_cast<Options::TooLong>(Draw(random, 0, 1));
    options.layout = Draw(random, 0, 1) == 0 ? "NT" : "TN";
    options.length_name = "length";
    options.common.sort_batches = std::max<int64_t>(0, Draw(random, -1, 4));
    options.common.shuffle = Draw(random, 0, 3) > 0;
    options.common.seed = random.NextUint64();
    if (Draw(random, 0, 2) == 0) options.common.tokens_per_batch = Draw(random, 1, 40);
    if (Draw(random, 0, 1) == 0) {
      options.common.max_buckets = static_cast<int>(Draw(random, 1, 4));
      if (Draw(random, 0, 1) == 0) options.max_length = Draw(random, 6, 12);
    } else {
      for (int64_t k = Draw(random, 1, 4); k > 0; --k) {
        options.buckets.push_back(Draw(random, 3, 12));
      }
    }
    if (options.common.last_batch != Options::LastBatch::kSmaller)
      options.common.num_parts = Draw(random, 1, 3);
  }
  int64_t size() const { return static_cast<int64_t>(sentences.size()); }

  // One iterator per part; none if no sentence has a bucket.
  std::vector<std::unique_ptr<BucketSentenceIter>> Parts(uint64_t seed) const {
    std::vector<std::unique_ptr<BucketSentenceIter>> parts;
    for (int64_t p = 0; p < options.common.num_parts; ++p) {
      Options part = options;
      part.common.part_index = p;
      part.common.seed = seed;
      auto iter = BucketSentenceIter::Create(sentences, batch_size, part);
      if (!iter.ok()) break;
      parts.push_back(*std::move(iter));
    }
    return parts;
  }
};

using Parts = std::vector<std::unique_ptr<BucketSentenceIter>>;

// Returns the next batch of every part; none at the end of the epoch, which all parts must reach
// together.
std::vector<DataBatch> NextStep(Parts& parts) {
  std::vector<DataBatch> step;
  for (auto& part : parts) {
    auto batch = part->Next();
    EXPECT_THAT(batch, IsOk());
    if (batch.ok() && batch->has_value()) step.push_back(**std::move(batch));
  }
  EXPECT_TRUE(step.empty() || step.size() == parts.size()) << "parts end at different steps";
  for (const DataBatch& batch : step) EXPECT_EQ(batch.bucket_key, step[0].bucket_key);
  return step;
}

void ExpectRows(const Case& c, const DataBatch& batch) {
  ASSERT_EQ(batch.data.size(), 2);
  const std::vector<float> data = *batch.data[0].ToVector<float>();
  const std::vector<float> label = *batch.label[0].ToVector<float>();
  const std::vector<float> lengths = *batch.data[1].ToVector<float>();
  const int64_t rows = std::ssize(batch.index), steps = batch.bucket_key->int_value();
  ASSERT_EQ(std::ssize(data), rows * steps);
  ASSERT_EQ(std::ssize(lengths), rows);
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t id = batch.index[r];
    const int64_t length = id < 0 ? 0 : std::min(std::ssize(c.sentences[id]), steps);
    ASSERT_EQ(batch.lengths[r], length);
    ASSERT_EQ(static_cast<int64_t>(lengths[r]), length);
    ASSERT_EQ(id < 0, r >= rows - batch.pad);
    for (int64_t t = 0; t < steps; ++t) {
      const int64_t at = c.options.layout == "NT" ? r * steps + t : t * rows + r;
      ASSERT_EQ(data[at], t < length ? id : -1);
      ASSERT_EQ(label[at], t + 1 < length ? id : -1);
    }
  }
  if (c.options.common.sort_batches > 0) {
    EXPECT_TRUE(std::is_sorted(batch.lengths.rbegin(), batch.lengths.rend()));
  }
}

// Counts how often each sample comes in an epoch, over all parts.
std::map<int64_t, int> CountEpoch(const Case& c, Parts& parts) {
  std::map<int64_t, int> times;
  for (std::vector<DataBatch> step = NextStep(parts); !step.empty(); step = NextStep(parts)) {
    for (const DataBatch& batch : step) {
      ExpectRows(c, batch);
      for (int64_t id : batch.index) {
        if (id >= 0) ++times[id];
      }
    }
    if (testing::Test::HasFailure()) break;
  }
  return times;
}

TEST(BucketSamplesTest, EverySampleComesOncePerEpoch) {
  ForRandomCases(10000, [](RandomGenerator& random) {
    const Case c(random);
    Parts parts = c.Parts(c.options.common.seed);
    if (parts.empty()) return;  // no sentence has a bucket
    const BucketSentenceIterReport& report = parts[0]->report();
    const bool rolls_over = c.options.common.last_batch == Options::LastBatch::kRollOver;
    std::map<int64_t, int> all;
    constexpr int kEpochs = 3;
    for (int epoch = 0; epoch < kEpochs; ++epoch) {
      const std::map<int64_t, int> times = CountEpoch(c, parts);
      for (const auto& [id, count] : times) {
        all[id] += count;
        // Rolled-over samples come again; in a bucket smaller than a step they accumulate over
        // epochs.
        EXPECT_LE(count, rolls_over ? epoch + 1 : 1) << "sample " << id;
      }
      if (!rolls_over) {
        EXPECT_EQ(std::ssize(times), report.served);
      }
      for (auto& part : parts) COOPER_ASSERT_OK(part->Reset());
    }
    EXPECT_EQ(report.served + report.left_over + report.discarded, c.size());
    if (c.options.common.last_batch == Options::LastBatch::kPad ||
        c.options.common.last_batch == Options::LastBatch::kSmaller) {
      EXPECT_EQ(report.served, c.size() - report.discarded);
    }
    if (rolls_over) {
      // All missing samples wait for a full step.
      int64_t missing = kEpochs * (c.size() - report.discarded), room = 0;
      for (const auto& [id, count] : all) {
        EXPECT_LE(count, kEpochs);
        missing -= count;
      }
      for (const auto& bucket : report.buckets) {
        room += bucket.batch_size * c.options.common.num_parts - 1;
      }
      EXPECT_LE(missing, room);
    }
  });
}

TEST(BucketSamplesTest, GoesOnFromEveryStateAsItWouldHave) {
  ForRandomCases(10000, [](RandomGenerator& random) {
    const Case c(random);
    Parts parts = c.Parts(c.options.common.seed);
    if (parts.empty()) return;
    for (int64_t epochs = Draw(random, 0, 2); epochs > 0; --epochs) {
      if (Draw(random, 0, 3) > 0) CountEpoch(c, parts);  // else it is interrupted
      for (auto& part : parts) COOPER_ASSERT_OK(part->Reset());
    }
    for (int64_t steps = Draw(random, 0, parts[0]->num_batches()); steps > 0; --steps) {
      NextStep(parts);
    }
    Parts resumed = c.Parts(c.options.common.seed + 1);  // the state's seed counts
    ASSERT_EQ(resumed.size(), parts.size());
    for (size_t p = 0; p < parts.size(); ++p) {
      COOPER_ASSERT_OK_AND_ASSIGN(const std::string state, parts[p]->SaveState());
      COOPER_ASSERT_OK(resumed[p]->LoadState(state));
    }
    for (int epoch = 0; epoch < 2; ++epoch) {
      for (bool ended = false; !ended;) {
        const std::vector<DataBatch> a = NextStep(parts), b = NextStep(resumed);
        ASSERT_EQ(a.size(), b.size());
        ended = a.empty();
        for (size_t p = 0; p < a.size(); ++p) {
          EXPECT_EQ(a[p].bucket_key, b[p].bucket_key);
          EXPECT_EQ(a[p].index, b[p].index);
          EXPECT_EQ(*a[p].data[0].ToVector<float>(), *b[p].data[0].ToVector<float>());
        }
      }
      for (Parts* both : {&parts, &resumed}) {
        for (auto& part : *both) COOPER_ASSERT_OK(part->Reset());
      }
    }
  });
}

// Buckets are chosen by step_cost, so samples must be assigned by it too. By the number of elements
// the sample (8, 8) would go into the bucket (20, 10), where it costs more; then some buckets would
// have too few samples for a batch, and some samples would never be served.
TEST(BucketSamplesTest, GoWhereTheirStepCostsLeast) {
  const auto of_lengths = [](const std::vector<int>& lengths) {
    Sentences sequences;
    for (const int length : lengths) sequences.emplace_back(length, 1);
    return sequences;
  };
  const auto iter = BucketIter::Create(
      {{.name = "a", .values = of_lengths({20, 8, 10, 10})},
       {.name = "b", .values = of_lengths({10, 8, 20, 20}), .pad_to = {1}}},
      {},
      {.batch_size = 2,
       .step_cost =
           [](absl::Span<const int64_t> key) { return static_cast<double>(key[0] + 3 * key[1]); },
       .common = {.max_buckets = 2}});
  COOPER_ASSERT_OK(iter);
  EXPECT_EQ((*iter)->report().served, 4) << (*iter)->report().ToString();
}

}  // namespace
}  // namespace cooper
