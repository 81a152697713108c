// Fuzzes training states: that of a short run with some entries changed, or any bytes. Loading or
// restoring fails, or training continues.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "io/iterators/ndarray_iter.h"
#include "module/checkpoint/training_state.h"
#include "module/initializer/initializers.h"
#include "module/metric/classification.h"
#include "module/network/module.h"
#include "module/optimizer/create_optimizer.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/files/params_file.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/fuzz_seeds.h"
#include "tests/fuzz/scratch_folder.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

constexpr int64_t kCounts[] = {0,
                               -1,
                               1,
                               int64_t{1} << 32,
                               kMaxNumUpdates,
                               std::numeric_limits<int64_t>::max(),
                               std::numeric_limits<int64_t>::min()};

struct Run {
  std::unique_ptr<Module> model;
  std::unique_ptr<NDArrayIter> iter;
  std::unique_ptr<EvalMetric> metric = Accuracy({});
  InitOptimizerOptions optimizer;

  explicit Run(const std::string& optimizer_name) {
    model = *Module::Create(TwoLayers());
    iter = *NDArrayIter::Create({{"data", RandomArray({22, 6}, 5)}},
                                {{"softmax_label", Classes(22, 3, 5)}},
                                {.batch_size = 4, .shuffle = true, .seed = 17});
    optimizer.optimizer = optimizer_name;
    if (optimizer_name == "sgd" || optimizer_name == "nag") {
      optimizer.optimizer_params["momentum"] = "0.9";
    }
    CHECK(model->Bind({.data_shapes = iter->provide_data(), .label_shapes = iter->provide_label()})
              .ok());
    CHECK(model->InitParams({.initializer = init::Uniform(0.5), .seed = 1}).ok());
    CHECK(model->InitOptimizer(optimizer).ok());
  }

  void Step() {
    for (int i = 0; i < 2; ++i) {
      auto batch = iter->Next();
      if (batch.ok() && !batch->has_value()) {
        iter->Reset().IgnoreError();
        batch = iter->Next();
      }
      if (!batch.ok() || !batch->has_value() || !model->ForwardBackward(**batch).ok()) return;
      model->UpdateMetric(*metric, (*batch)->label).IgnoreError();
      model->Update().IgnoreError();
    }
  }
};

std::string Path() { return ScratchFolder() + "/fuzz.state"; }

// Returns the entries of a run's state without the checksum.
const NamedArrays& Saved(const std::string& optimizer) {
  static auto* const by_name = new std::map<std::string, NamedArrays>;
  NamedArrays& saved = (*by_name)[optimizer];
  if (saved.empty()) {
    Run run(optimizer);
    run.Step();
    const auto state = CaptureTraining(
        {.module = run.model.get(), .iter = run.iter.get(), .metric = run.metric.get()},
        /*epoch=*/0, 2);
    CHECK(state.ok() && SaveTrainingState(Path(), *state).ok());
    saved = *LoadNamedArrays(Path());
    saved.pop_back();
    saved[0].second = *NDArray::FromVector<int64_t>({1}, {1});  // the version without a checksum
  }
  return saved;
}

NDArray Bytes(const std::string& text) {
  const std::vector<uint8_t> bytes(text.begin(), text.end());
  return *NDArray::FromVector<uint8_t>({static_cast<int64_t>(bytes.size())}, bytes);
}

void ChangeNumber(FuzzInput& input, NDArray* array) {
  *array = *array->Copy();
  if (array->size() == 0) return;
  const auto at = static_cast<int64_t>(input.Below(array->size()));
  if (array->dtype() == DType::kInt64) {
    (*array->Data<int64_t>())[at] = input.Pick(kCounts);
  } else if (array->dtype() == DType::kUint8) {
    constexpr char kLetters[] = "0123456789-,\n aein";
    (*array->Data<uint8_t>())[at] = static_cast<uint8_t>(kLetters[input.Below(17)]);
  } else {
    CHECK(array->Fill(std::nan("")).ok());
  }
}

void ChangeEntry(FuzzInput& input, NamedArrays* list) {
  constexpr const char* kNames[] = {"opt:fc1_weight:master",
                                    "opt:fc1_bias:master",
                                    "opt::optimizer",
                                    "arg:fc1_weight",
                                    "opt:fc1_weight:num_updates",
                                    "text:buckets",
                                    "state:x",
                                    "opt:unknown:num_updates",
                                    "aux:y",
                                    "kvstore:fc1_weight:0",
                                    "replica:1:opt::optimizer",
                                    "replica:0:arg:fc1_weight",
                                    "position",
                                    "opt:fc1_weight:momentum",
                                    "text:iterator",
                                    "text:metric",
                                    "score"};
  const size_t at = 1 + input.Below(list->size() - 1);
  auto& [name, array] = (*list)[at];
  const auto& other = (*list)[1 + input.Below(list->size() - 1)];
  switch (input.Below(10)) {
    case 0:
      if (list->size() > 2) list->erase(list->begin() + static_cast<int>(at));
      break;
    case 1: {
      Shape shape;
      for (uint64_t rank = input.Below(5); rank > 0; --rank) shape.push_back(input.Below(9));
      array = *NDArray::Full(shape, input.Between(-2, 3), array.dtype());
      break;
    }
    case 2:
      array = *array.AsType(*DTypeFromCode(input.Between(0, 7)));
      break;
    case 3:
      name = other.first;
      break;
    case 4:
      array = other.second;
      break;
    case 5:
      array = Bytes(input.Text(60));
      break;
    case 6:
      name += input.Text(6);
      break;
    case 7:
      ChangeNumber(input, &array);
      break;
    case 8:
      list->emplace_back(input.Pick(kNames), NDArray(array));
      break;
    default:
      list->emplace_back(absl::StrCat("replica:", input.Below(4), ":", name), NDArray(array));
  }
}

// Checks that a loaded state can be saved, and is the same when it is loaded again.
void ExpectSaved(const TrainingState& state) {
  const std::string path = ScratchFolder() + "/again.state";
  const absl::Status saved = SaveTrainingState(path, state);
  CHECK(saved.ok()) << saved;
  const auto again = LoadTrainingState(path);
  CHECK(again.ok()) << again.status();
  CHECK(again->epoch == state.epoch && again->nbatch == state.nbatch);
  CHECK(again->iterator == state.iterator && again->metric == state.metric);
  CHECK(again->buckets == state.buckets);
  CHECK(again->score.has_value() == state.score.has_value());
  CHECK(again->args.size() == state.args.size() &&
        again->optimizer.size() == state.optimizer.size());
}

void Restore(FuzzInput& input, bool saves) {
  static const auto* const names = new std::vector<std::string>(OptimizerNames());
  const std::string optimizer = input.Pick(*names);
  if (input.OneIn(8)) {
    WriteUnsynced(Path(), input.Rest());
  } else {
    NamedArrays list = Saved(optimizer);
    for (uint64_t changes = 1 + input.Below(4); changes > 0; --changes) ChangeEntry(input, &list);
    WriteUnsynced(Path(), *SerializeNamedArrays(list));
  }
  const auto state = LoadTrainingState(Path());
  if (!state.ok()) return;
  if (saves) ExpectSaved(*state);
  Run run(optimizer);
  const absl::Status restored = RestoreTraining(
      *state, {.module = run.model.get(), .iter = run.iter.get(), .metric = run.metric.get()},
      run.optimizer);
  run.Step();
  if (!restored.ok()) return;
  const auto again = CaptureTraining(
      {.module = run.model.get(), .iter = run.iter.get(), .metric = run.metric.get()}, state->epoch,
      state->nbatch);
  CHECK(again.ok()) << again.status();
}

// Encodes an input that is a whole file, for sgd.
FuzzSeed File(const std::string& name, const std::string& bytes) {
  const std::vector<std::string> names = OptimizerNames();
  const uint64_t sgd = std::find(names.begin(), names.end(), "sgd") - names.begin();
  return {name, SeedBytes().Below(sgd, names.size()).Below(7, 8).Rest(bytes).bytes()};
}

NDArray Ints(const std::vector<int64_t>& values) {
  return *NDArray::FromVector<int64_t>({static_cast<int64_t>(values.size())}, values);
}

NDArray Doubles(const std::vector<double>& values) {
  return *NDArray::FromVector<double>({static_cast<int64_t>(values.size())}, values);
}

std::vector<FuzzSeed> Seeds() {
  Run run("sgd");
  run.Step();
  TrainingState state = *CaptureTraining(
      {.module = run.model.get(), .iter = run.iter.get(), .metric = run.metric.get()}, 0, 2);
  state.buckets = {BucketKey(3), BucketKey("a"), BucketKey({1, 2})};
  state.score = 0.5;
  CHECK(SaveTrainingState(Path(), state).ok());
  const std::string whole = *ReadFile(Path());
  std::string damaged = whole;
  damaged[whole.size() / 2] ^= 1;
  std::vector<FuzzSeed> seeds = {File("whole", whole), File("damaged", damaged)};

  // States of the version without a checksum, each with an additional entry.
  struct More {
    const char* name;
    const char* entry;
    NDArray array;
  };
  const NDArray number = Ints({1});
  const More kMore[] = {
      {"buckets", "text:buckets", Bytes("3\n'a'\n")},
      {"bad_buckets", "text:buckets", Bytes("x\n")},
      {"text_of_numbers", "text:iterator", number},
      {"unknown_text", "text:x", Bytes("x")},
      {"unknown", "x", number},
      {"kvstore", "kvstore:fc1_weight:0", number},
      {"replica", "replica:1:aux:x", number},
      {"replica_zero", "replica:0:aux:x", number},
      {"replica_unnumbered", "replica:x:aux:x", number},
      {"replica_alone", "replica:1", number},
      {"replica_unknown", "replica:1:x", number},
      {"state", "state:x", number},
      {"position_negative", "position", Ints({-1, 0, 0, 0})},
      {"position_late", "position", Ints({int64_t{1} << 31, 0, 0, 0})},
      {"position_batch", "position", Ints({0, -1, 0, 0})},
      {"position_short", "position", Ints({0})},
      {"position_of_text", "position", Bytes("x")},
      {"score", "score", Doubles({0.5})},
      {"score_nan", "score", Doubles({std::nan("")})},
      {"score_of_two", "score", Doubles({0.5, 1})},
      {"score_of_ints", "score", number},
  };
  for (const More& more : kMore) {
    NamedArrays list = Saved("sgd");
    list.emplace_back(more.entry, more.array);
    seeds.push_back(File(more.name, *SerializeNamedArrays(list)));
  }
  NamedArrays list = Saved("sgd");
  const NDArray versions[] = {Ints({0}), Ints({2}), Ints({3}), Ints({}), Bytes("x")};
  for (const NDArray& version : versions) {
    list[0].second = version;
    seeds.push_back(File(absl::StrCat("version_", seeds.size()), *SerializeNamedArrays(list)));
  }
  list = Saved("sgd");
  std::erase_if(list, [](const auto& entry) { return entry.first == "position"; });
  seeds.push_back(File("no_position", *SerializeNamedArrays(list)));
  seeds.push_back(File("no_state", *SerializeNamedArrays({{"x", number}})));
  seeds.push_back(File("no_entries", *SerializeNamedArrays({})));
  return seeds;
}

}  // namespace
}  // namespace cooper

extern "C" void CooperFuzzSeeds(std::vector<cooper::FuzzSeed>* seeds) { *seeds = cooper::Seeds(); }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 4) return 0;
  cooper::FuzzInput input(data, size);
  cooper::Restore(input, /*saves=*/size % 16 == 0);  // a file that is synced takes its time
  return 0;
}
