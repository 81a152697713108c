// Tests properties of streams with any options: each sample comes once in an epoch, all parts take
// the same steps, the pool is bounded, and a stream that is killed at any step and restored gives
// the batches of the unbroken one, bit for bit.

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/batch/iter_fixtures.h"
#include "io/streams/bucket_stream.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"
#include "ndarray/random/random_cases.h"

namespace cooper {
namespace {

using Options = BucketStreamOptions;
using LastBatch = Options::LastBatch;
using TooLong = Options::TooLong;

constexpr int kEpochs = 3;

int64_t Draw(RandomGenerator& random, int64_t least, int64_t most) {
  return least + static_cast<int64_t>(random.NextBelow(static_cast<uint64_t>(most - least + 1)));
}

// Exchanges texts between the threads of several parts.
class Exchange {
 public:
  explicit Exchange(size_t num_parts) : texts_(num_parts) {}

  absl::StatusOr<std::vector<std::string>> AllGather(size_t part, const std::string& text) {
    std::unique_lock lock(mutex_);
    const int64_t round = round_;
    texts_[part] = text;
    if (++arrived_ == texts_.size()) {
      gathered_ = texts_;
      arrived_ = 0;
      ++round_;
      changed_.notify_all();
    } else {
      changed_.wait(lock, [&] { return round_ > round; });
    }
    return gathered_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> texts_, gathered_;
  size_t arrived_ = 0;
  int64_t round_ = 0;
};

// Shards of sentences, whose words are all the number of the sentence.
class Source : public SampleSource {
 public:
  Source(std::vector<std::vector<std::vector<int>>> shards, bool seeks)
      : shards_(std::move(shards)), seeks_(seeks) {}

  const std::vector<SampleField>& fields() const override { return fields_; }
  int64_t num_shards() const override { return std::ssize(shards_); }
  absl::StatusOr<std::unique_ptr<ShardReader>> Open(int64_t shard) const override {
    return std::make_unique<Reader>(shards_[shard], seeks_);
  }

 private:
  class Reader : public ShardReader {
   public:
    Reader(const std::vector<std::vector<int>>& shard, bool seeks) : shard_(shard), seeks_(seeks) {}
    absl::StatusOr<bool> Next(Sample* sample) override {
      if (next_ == std::ssize(shard_)) return false;
      sample->Clear(1);
      sample->Set<int>(0, shard_[next_++]);
      return true;
    }
    int64_t Position() const override { return seeks_ ? next_ * 10 : 0; }
    absl::Status SeekTo(int64_t position) override {
      if (!seeks_) return ShardReader::SeekTo(position);
      if (position < 0 || position / 10 > std::ssize(shard_)) {
        return absl::InvalidArgumentError("the shard has no such position");
      }
      next_ = position / 10;
      return absl::OkStatus();
    }

   private:
    const std::vector<std::vector<int>>& shard_;
    const bool seeks_;
    int64_t next_ = 0;
  };

  const std::vector<SampleField> fields_ = {SampleField()};
  const std::vector<std::vector<std::vector<int>>> shards_;
  const bool seeks_;
};

struct Case {
  std::vector<int64_t> lengths;  // by sentence
  std::shared_ptr<const SampleSource> source;
  bool is_mixture = false;  // with the same source a second time
  Options options;

  explicit Case(RandomGenerator& random) {
    std::vector<std::vector<std::vector<int>>> shards(Draw(random, 1, 6));
    for (auto& shard : shards) {
      for (int64_t n = Draw(random, 0, 30); n > 0; --n) {
        shard.emplace_back(Draw(random, 0, 12), static_cast<int>(lengths.size()));
        lengths.push_back(std::ssize(shard.back()));
      }
    }
    source = std::make_shared<Source>(std::move(shards), Draw(random, 0, 2) > 0);
    options.batch_size = Draw(random, 1, 5);
    for (int64_t k = Draw(random, 1, 4); k > 0; --k) options.buckets.push_back(Draw(random, 3, 12));
    options.too_long = static_cast<TooLong>(Draw(random, 0, 2));
    options.pool_samples = Draw(random, 4 * options.batch_size, 40);
    if (Draw(random, 0, 2) == 0) options.pool_bytes = Draw(random, 2500, 4000);
    options.agree_batches = Draw(random, 1, 9);
    options.common.sort_batches = std::max<int64_t>(0, Draw(random, -1, 4));
    options.common.shuffle = Draw(random, 0, 3) > 0;
    options.common.seed = random.NextUint64();
    options.common.num_parts = std::max<int64_t>(1, Draw(random, -1, 4));
    options.common.last_batch =
        options.common.num_parts > 1 ? LastBatch::kPad : static_cast<LastBatch>(Draw(random, 0, 3));
  }

  std::vector<WeightedSource> Sources() const {
    std::vector<WeightedSource> sources = {{.source = source, .weight = 2}};
    if (is_mixture) sources.push_back({.source = source, .weight = 1});
    return sources;
  }
};

// Turns half of the cases whose every part has samples into mixtures.
void Mix(RandomGenerator& random, Case* c) {
  if (c->lengths.empty() || c->options.common.num_parts > 1 || Draw(random, 0, 1) == 0) return;
  c->is_mixture = true;
  c->options.epoch_samples = Draw(random, 1, 2 * std::ssize(c->lengths));
}

// Returns everything that a user sees of a batch.
std::string Describe(const DataBatch& batch) {
  return absl::StrCat(batch.bucket_key->ToString(), ": ", absl::StrJoin(batch.index, " "), "; ",
                      absl::StrJoin(*batch.data[0].ToVector<float>(), " "), "; ",
                      absl::StrJoin(*batch.label[0].ToVector<float>(), " "), "; ",
                      absl::StrJoin(batch.lengths, " "), "; ", batch.pad);
}

// The batches of one part, by epoch.
struct PartRun {
  std::vector<std::vector<DataBatch>> epochs;
  DataStatistics statistics;
};

// Runs one part for kEpochs epochs. With kill_every > 0 the stream is thrown away and restored
// before a step with a probability of 1 / kill_every.
PartRun RunPart(const Case& c, int64_t part, Exchange& exchange, int64_t kill_every) {
  Options options = c.options;
  options.common.part_index = part;
  if (options.common.num_parts > 1) {
    options.all_gather = [&exchange, part](const std::string& text) {
      return exchange.AllGather(static_cast<size_t>(part), text);
    };
  }
  const auto create = [&] {
    auto stream = BucketStream::Create(c.Sources(), NextWordInputs(), options);
    EXPECT_THAT(stream, IsOk());
    return *std::move(stream);
  };
  RandomGenerator kills(options.common.seed);  // the same in all parts
  std::unique_ptr<BucketStream> stream = create();
  PartRun run;
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    std::vector<DataBatch>& batches = run.epochs.emplace_back();
    while (true) {
      if (kill_every > 0 && kills.NextBelow(static_cast<uint64_t>(kill_every)) == 0) {
        const absl::StatusOr<std::string> state = stream->SaveState();
        EXPECT_THAT(state, IsOk());
        stream = create();
        COOPER_EXPECT_OK(stream->LoadState(*state));
        EXPECT_EQ(*stream->SaveState(), *state);
      }
      auto batch = stream->Next();
      EXPECT_THAT(batch, IsOk());
      if (!batch.ok() || !*batch) break;
      batches.push_back(**std::move(batch));
      const int64_t longest =
          std::max_element(options.buckets.begin(), options.buckets.end())->int_value();
      const int64_t pieces = options.too_long == TooLong::kSplit ? (12 + longest - 1) / longest : 1;
      EXPECT_LE(stream->statistics().pool_samples, options.pool_samples + pieces - 1);
      if (options.pool_bytes > 0 && pieces == 1) {
        EXPECT_LE(stream->statistics().pool_bytes, options.pool_bytes);
      }
    }
    COOPER_EXPECT_OK(stream->Reset());
  }
  run.statistics = stream->statistics();
  return run;
}

std::vector<PartRun> RunParts(const Case& c, int64_t kill_every) {
  const auto num_parts = static_cast<size_t>(c.options.common.num_parts);
  Exchange exchange(num_parts);
  std::vector<PartRun> runs(num_parts);
  std::vector<std::thread> threads;
  for (size_t p = 0; p < num_parts; ++p) {
    threads.emplace_back(
        [&, p] { runs[p] = RunPart(c, static_cast<int64_t>(p), exchange, kill_every); });
  }
  for (std::thread& thread : threads) thread.join();
  return runs;
}

void ExpectSameSteps(const std::vector<PartRun>& runs) {
  for (const PartRun& run : runs) {
    for (int e = 0; e < kEpochs; ++e) {
      ASSERT_EQ(run.epochs[e].size(), runs[0].epochs[e].size());
      for (size_t i = 0; i < run.epochs[e].size(); ++i) {
        ASSERT_EQ(run.epochs[e][i].bucket_key, runs[0].epochs[e][i].bucket_key);
      }
    }
  }
}

// Counts the tokens of each sentence in an epoch over all parts, and checks that rows are
// sentences.
std::map<int, int64_t> CountTokens(const Case& c, const std::vector<PartRun>& runs, int epoch) {
  std::map<int, int64_t> tokens;
  for (const PartRun& run : runs) {
    for (const DataBatch& batch : run.epochs[epoch]) {
      const std::vector<float> data = *batch.data[0].ToVector<float>();
      const int64_t steps = batch.bucket_key->int_value();
      EXPECT_EQ(std::ssize(data), std::ssize(batch.index) * steps);
      for (int64_t r = 0; r < std::ssize(batch.index); ++r) {
        const absl::Span<const float> row = absl::MakeSpan(data).subspan(r * steps, steps);
        const auto end = std::find(row.begin(), row.end(), -1);
        EXPECT_TRUE(std::all_of(end, row.end(), [](float word) { return word == -1; }));
        EXPECT_EQ(end - row.begin(), batch.lengths[r]);
        for (auto word = row.begin(); word != end; ++word) {
          EXPECT_EQ(*word, row[0]);
          ++tokens[static_cast<int>(*word)];
        }
      }
      if (c.options.common.sort_batches > 0) {
        EXPECT_TRUE(std::is_sorted(batch.lengths.rbegin(), batch.lengths.rend()));
      }
    }
  }
  return tokens;
}

TEST(BucketStreamSamplesTest, EachSampleComesOnceInAnEpoch) {
  ForRandomCases(200, [](RandomGenerator& random) {
    const Case c(random);
    const std::vector<PartRun> runs = RunParts(c, /*kill_every=*/0);
    ExpectSameSteps(runs);
    const int64_t longest =
        std::max_element(c.options.buckets.begin(), c.options.buckets.end())->int_value();
    for (int e = 0; e < kEpochs; ++e) {
      const std::map<int, int64_t> tokens = CountTokens(c, runs, e);
      const bool serves_all = c.options.common.last_batch == LastBatch::kPad ||
                              c.options.common.last_batch == LastBatch::kSmaller;
      for (int i = 0; i < static_cast<int>(c.lengths.size()); ++i) {
        int64_t expected = c.lengths[i];
        if (expected > longest && c.options.too_long == TooLong::kDiscard) expected = 0;
        if (c.options.too_long == TooLong::kTruncate) expected = std::min(expected, longest);
        const auto found = tokens.find(i);
        const int64_t count = found == tokens.end() ? 0 : found->second;
        if (serves_all) {
          ASSERT_EQ(count, expected) << "sentence " << i << " in epoch " << e;
        } else if (c.options.common.last_batch == LastBatch::kDiscard) {
          ASSERT_LE(count, expected) << "sentence " << i << " in epoch " << e;
        }
      }
    }
    if (c.options.common.last_batch == LastBatch::kRollOver) {
      // Over all epochs no sample comes more often than once in each.
      std::map<int, int64_t> tokens;
      for (int e = 0; e < kEpochs; ++e) {
        for (const auto& [sentence, count] : CountTokens(c, runs, e)) tokens[sentence] += count;
      }
      for (const auto& [sentence, count] : tokens) ASSERT_LE(count, kEpochs * c.lengths[sentence]);
    }
  });
}

TEST(BucketStreamSamplesTest, AnEpochOfAMixtureHasTheStatedLength) {
  ForRandomCases(40, [](RandomGenerator& random) {
    Case c(random);
    // Each of up to four parts has samples of both sources.
    std::vector<std::vector<std::vector<int>>> shards(4);
    for (auto& shard : shards) {
      for (int64_t n = Draw(random, 1, 20); n > 0; --n) {
        shard.emplace_back(Draw(random, 1, 12), 1);
      }
    }
    c.source = std::make_shared<Source>(std::move(shards), Draw(random, 0, 2) > 0);
    c.is_mixture = true;
    c.options.too_long = TooLong::kTruncate;
    c.options.epoch_samples = Draw(random, 1, 200);
    c.options.common.last_batch = LastBatch::kPad;
    const std::vector<PartRun> runs = RunParts(c, /*kill_every=*/0);
    ExpectSameSteps(runs);
    for (int e = 0; e < kEpochs; ++e) {
      int64_t samples = 0;
      for (const PartRun& run : runs) {
        for (const DataBatch& batch : run.epochs[e]) samples += std::ssize(batch.index) - batch.pad;
      }
      ASSERT_EQ(samples, c.options.epoch_samples) << "epoch " << e;
    }
  });
}

TEST(BucketStreamSamplesTest, AKilledStreamGoesOnBitForBit) {
  ForRandomCases(200, [](RandomGenerator& random) {
    Case c(random);
    Mix(random, &c);
    const std::vector<PartRun> unbroken = RunParts(c, /*kill_every=*/0);
    const std::vector<PartRun> broken = RunParts(c, /*kill_every=*/Draw(random, 1, 6));
    for (size_t p = 0; p < unbroken.size(); ++p) {
      for (int e = 0; e < kEpochs; ++e) {
        ASSERT_EQ(broken[p].epochs[e].size(), unbroken[p].epochs[e].size());
        for (size_t i = 0; i < unbroken[p].epochs[e].size(); ++i) {
          ASSERT_EQ(Describe(broken[p].epochs[e][i]), Describe(unbroken[p].epochs[e][i]))
              << "part " << p << ", epoch " << e << ", batch " << i;
        }
      }
    }
  });
}

TEST(BucketStreamSamplesTest, ADamagedStateIsAnErrorOrAnotherState) {
  ForRandomCases(300, [](RandomGenerator& random) {
    Case c(random);
    c.options.common.num_parts = 1;
    Mix(random, &c);
    COOPER_ASSERT_OK_AND_ASSIGN(const auto stream,
                                BucketStream::Create(c.Sources(), NextWordInputs(), c.options));
    for (int64_t n = Draw(random, 0, 9); n > 0; --n) COOPER_ASSERT_OK(stream->Next());
    COOPER_ASSERT_OK_AND_ASSIGN(std::string state, stream->SaveState());
    for (int64_t n = Draw(random, 1, 3); n > 0; --n) {
      const size_t at = random.NextBelow(state.size());
      constexpr absl::string_view kBytes = "0123456789-,\n x";
      state[at] = kBytes[random.NextBelow(kBytes.size())];
      if (Draw(random, 0, 2) == 0) state.insert(at, "9999999");
    }
    COOPER_ASSERT_OK_AND_ASSIGN(const auto other,
                                BucketStream::Create(c.Sources(), NextWordInputs(), c.options));
    COOPER_ASSERT_OK_AND_ASSIGN(const std::string before, other->SaveState());
    if (!other->LoadState(state).ok()) {
      ASSERT_THAT(other->SaveState(), IsOkAndHolds(before));
      return;
    }
    for (int i = 0; i < 20; ++i) {
      const auto batch = other->Next();
      if (!batch.ok() || !*batch) break;
    }
  });
}

TEST(BucketStreamSamplesTest, EpochsHaveDifferentOrders) {
  RandomGenerator random(0);
  Case c(random);
  std::vector<std::vector<std::vector<int>>> shards(8, std::vector<std::vector<int>>(8, {1, 2}));
  c.source = std::make_shared<Source>(shards, true);
  c.options = {.batch_size = 2, .buckets = {2}, .pool_samples = 8};
  const std::vector<PartRun> runs = RunParts(c, 0);
  std::set<std::string> orders;
  for (const std::vector<DataBatch>& epoch : runs[0].epochs) {
    std::string order;
    for (const DataBatch& batch : epoch) absl::StrAppend(&order, batch.index[0], " ");
    orders.insert(order);
  }
  EXPECT_EQ(orders.size(), kEpochs);
}

TEST(BucketStreamSamplesTest, APartThatFailsEndsTheOthers) {
  const auto read = [](int64_t shard, int64_t index, Sample* sample) -> absl::StatusOr<bool> {
    if (shard == 1 && index == 2) return absl::DataLossError("the disk is gone");
    if (index == 5) return false;
    sample->Set<int>(0, {1, 2});
    return true;
  };
  const auto source =
      std::make_shared<FunctionSource>(std::vector<SampleField>{SampleField()}, 2, read);
  Exchange exchange(2);
  std::vector<absl::Status> results(2);
  std::vector<std::thread> threads;
  for (size_t p = 0; p < 2; ++p) {
    threads.emplace_back([&, p] {
      Options options = {
          .buckets = {2},
          .all_gather = [&exchange,
                         p](const std::string& text) { return exchange.AllGather(p, text); },
          .common = {.last_batch = LastBatch::kPad,
                     .shuffle = false,
                     .part_index = static_cast<int64_t>(p),
                     .num_parts = 2}};
      auto stream = BucketStream::Create(source, NextWordInputs(), options);
      while (results[p].ok()) {
        const auto batch = (*stream)->Next();
        results[p] = batch.status();
        if (batch.ok() && !*batch) break;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(results[0], StatusIs(absl::StatusCode::kUnavailable,
                                   "BucketStream: part 1 failed: the disk is gone"));
  EXPECT_THAT(results[1], StatusIs(absl::StatusCode::kDataLoss, "the disk is gone"));
}

}  // namespace
}  // namespace cooper
