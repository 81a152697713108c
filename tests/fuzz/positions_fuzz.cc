// Fuzzes saved positions of iterators, learning rate schedules and metrics: mutated states and
// arbitrary texts. Loading fails, or the object continues and saves a state that it can load.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "io/batch/data_iter.h"
#include "io/batch/ragged_array.h"
#include "io/buckets/bucket_iter.h"
#include "io/iterators/ndarray_iter.h"
#include "io/iterators/prefetching_iter.h"
#include "io/iterators/resize_iter.h"
#include "module/lr_scheduler/create_lr_scheduler.h"
#include "module/metric/create_metric.h"
#include "ndarray/array/ndarray.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/fuzz_seeds.h"
#include "tests/fuzz/state_changes.h"

namespace cooper {
namespace {

std::unique_ptr<DataIter> Rows(LastBatchHandle last) {
  return *NDArrayIter::Create({{"data", *NDArray::Zeros({7, 2}, DType::kFloat32)}}, {},
                              {.batch_size = 3, .shuffle = true, .last_batch_handle = last});
}

std::unique_ptr<DataIter> Buckets(BucketIterOptions::LastBatch last, int64_t num_parts) {
  const std::vector<std::vector<int>> sentences = {{1},       {1, 2}, {2, 1}, {3},
                                                   {1, 2, 3}, {2},    {3, 3}};
  return *BucketIter::Create(
      {{.name = "data", .values = sentences}}, {},
      {.batch_size = 2,
       .buckets = {1, 2, 3},
       .common = {.last_batch = last, .part_index = num_parts - 1, .num_parts = num_parts}});
}

constexpr int kIters = 7;
std::unique_ptr<DataIter> MakeIter(uint64_t kind) {
  switch (kind) {
    case 0:
      return Rows(LastBatchHandle::kPad);
    case 1:
      return Rows(LastBatchHandle::kRollOver);
    case 2:
      return Buckets(BucketIterOptions::LastBatch::kRollOver, 1);
    case 3:
      return Buckets(BucketIterOptions::LastBatch::kPad, 2);
    case 4:
      return Buckets(BucketIterOptions::LastBatch::kDiscard, 1);
    case 5:
      return std::make_unique<ResizeIter>(Rows(LastBatchHandle::kDiscard), 5);
    default: {  // its thread makes it the slowest by far
      std::vector<std::unique_ptr<DataIter>> sources;
      sources.push_back(Rows(LastBatchHandle::kPad));
      return *PrefetchingIter::Create(std::move(sources));
    }
  }
}

void TakeBatches(DataIter& iter, uint64_t most) {
  for (; most > 0; --most) {
    const auto batch = iter.Next();
    if (batch.ok() && batch->has_value()) continue;
    iter.Reset().IgnoreError();
    if (!batch.ok()) return;
  }
}

void LoadIter(FuzzInput& input) {
  const uint64_t kind = input.OneIn(64) ? kIters - 1 : input.Below(kIters - 1);
  const std::unique_ptr<DataIter> saved = MakeIter(kind);
  TakeBatches(*saved, input.Below(8));
  const std::string state = input.OneIn(8) ? input.Rest() : ChangeState(input, *saved->SaveState());
  const std::unique_ptr<DataIter> iter = MakeIter(kind);
  const bool loaded = iter->LoadState(state).ok();
  TakeBatches(*iter, 10);
  if (!loaded) return;
  const auto again = iter->SaveState();
  CHECK(again.ok() && MakeIter(kind)->LoadState(*again).ok()) << *again;
}

struct Kind {
  const char* name;
  Kwargs kwargs;
};

void LoadSchedule(FuzzInput& input) {
  static const auto* const kinds = new std::vector<Kind>{
      {"factor", {{"step", "3"}, {"factor", "0.5"}}},
      {"factor", {{"step", "1"}, {"factor", "1"}, {"warmup_steps", "2"}}},
      {"multifactor", {{"step", "(2, 5)"}, {"factor", "0.1"}}},
      {"poly", {{"max_update", "10"}}},
      {"cosine", {{"max_update", "10"}, {"final_lr", "0.001"}}},
  };
  constexpr int64_t kUpdates[] = {0, 1, 3, 6, 11, int64_t{1} << 31, int64_t{1} << 53};
  const Kind& kind = (*kinds)[input.Below(kinds->size())];
  const auto schedule = CreateLRScheduler(kind.name, kind.kwargs);
  CHECK(schedule.ok()) << kind.name << ": " << schedule.status();
  (*schedule)->LearningRate(input.Pick(kUpdates));
  const std::string state =
      input.OneIn(8) ? input.Rest() : ChangeState(input, (*schedule)->SaveState());
  const bool loaded = (*schedule)->LoadState(state).ok();
  for (const int64_t update : kUpdates) (*schedule)->LearningRate(update);
  const std::string again = (*schedule)->SaveState();
  CHECK(!loaded || (*CreateLRScheduler(kind.name, kind.kwargs))->LoadState(again).ok()) << again;
}

void LoadMetric(FuzzInput& input) {
  static const auto* const kinds = new std::vector<Kind>{
      {"acc", {}},
      {"top_k_accuracy", {{"top_k", "2"}}},
      {"perplexity", {}},
      {"ce", {}},
      {"f1", {{"average", "macro"}}},
      {"f1", {{"average", "micro"}}},
      {"mcc", {{"average", "micro"}}},
      {"pcc", {}},
      {"mae", {}},
      {"rmse", {}},
      {"pearsonr", {{"average", "macro"}}},
      {"pearsonr", {{"average", "micro"}}},
      {"loss", {}},
      {"composite", {{"metrics", "(acc, f1)"}}},
  };
  const Kind& kind = (*kinds)[input.Below(kinds->size())];
  const auto metric = CreateMetric(kind.name, kind.kwargs);
  CHECK(metric.ok()) << kind.name << ": " << metric.status();
  const std::vector<NDArray> label = {*NDArray::FromVector<float>({2}, {1, 0})};
  const bool by_class = input.Below(2) == 0;
  const std::vector<NDArray> pred = {
      by_class ? *NDArray::FromVector<float>({2, 2}, {.1f, .9f, .8f, .2f}) : label[0]};
  if (input.OneIn(2)) (*metric)->Update(label, pred).IgnoreError();
  const std::string state =
      input.OneIn(8) ? input.Rest() : ChangeState(input, (*metric)->SaveState());
  const bool loaded = (*metric)->LoadState(state).ok();
  (*metric)->GetNameValue();
  (*metric)->GetGlobalNameValue();
  (*metric)->labels_out_of_range();
  (*metric)->Update(label, pred).IgnoreError();
  const std::string again = (*metric)->SaveState();
  CHECK(!loaded || (*CreateMetric(kind.name, kind.kwargs))->LoadState(again).ok()) << again;
  (*metric)->Reset();
}

constexpr void (*kLoaders[])(FuzzInput&) = {LoadIter, LoadSchedule, LoadMetric};

// Returns a saved state of each kind.
std::vector<FuzzSeed> Seeds() {
  std::vector<FuzzSeed> seeds;
  for (uint64_t loader = 0; loader < std::size(kLoaders); ++loader) {
    for (uint64_t kind = 0; kind < 14; ++kind) {
      SeedBytes bytes;
      bytes.Below(loader, std::size(kLoaders));
      if (loader == 0) bytes.Below(kind == kIters - 1 ? 63 : 0, 64);
      bytes.Rest(std::string(1, static_cast<char>(kind))).Rest({"\1\0\1\1\0\0\3", 7});
      seeds.push_back({absl::StrCat("position_", loader, "_", kind), bytes.bytes()});
    }
  }
  return seeds;
}

}  // namespace
}  // namespace cooper

extern "C" void CooperFuzzSeeds(std::vector<cooper::FuzzSeed>* seeds) { *seeds = cooper::Seeds(); }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cooper::FuzzInput input(data, size);
  input.Pick(cooper::kLoaders)(input);
  return 0;
}
