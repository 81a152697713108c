// Fuzzes settings that users write as text: flags of the language model's programs, shapes,
// contexts, files of lengths, and optimizers, schedules, initializers and metrics by name with
// their arguments. Each gives an error or a usable object.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/commandlineflag.h"
#include "absl/flags/reflection.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "glog/logging.h"
#include "io/batch/bucket_key.h"
#include "module/initializer/create_initializer.h"
#include "module/kwargs/kwargs.h"
#include "module/lr_scheduler/create_lr_scheduler.h"
#include "module/metric/create_metric.h"
#include "module/optimizer/create_optimizer.h"
#include "module/optimizer/updater.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/parse_context.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/fuzz_seeds.h"
#include "tests/fuzz/scratch_folder.h"
#include "tools/buckets/sample_lengths.h"
#include "tools/lm_train/language_model.h"
#include "tools/lm_train/model_flags.h"
#include "tools/shapes_flag.h"

namespace cooper {
namespace {

constexpr const char* kFlags[] = {
    "buckets",        "max_buckets",        "bucket_cost", "max_length", "num_layers",
    "num_hidden",     "num_embed",          "batch_size",  "cell",       "bidirectional",
    "use_ignore",     "optimizer",          "lr",          "mom",        "wd",
    "seed",           "contexts",           "context",     "kvstore",    "disable_passes",
    "gemm_precision", "label_probabilities"};

constexpr const char* kTexts[] = {"0",
                                  "1",
                                  "2",
                                  "-1",
                                  "0.5",
                                  "1e-3",
                                  "None",
                                  "True",
                                  "False",
                                  "true",
                                  "",
                                  "()",
                                  "(1,)",
                                  "(2, 5)",
                                  "(5, 2)",
                                  "nan",
                                  "inf",
                                  "-inf",
                                  "1e308",
                                  "-1e308",
                                  "1e-320",
                                  "2147483647",
                                  "-2147483648",
                                  "9223372036854775807",
                                  "-9223372036854775808",
                                  "18446744073709551616",
                                  "auto",
                                  "mxnet",
                                  "10,20,30",
                                  "3,2,2",
                                  "all",
                                  "gpu(0)",
                                  "cpu(0),cpu(1)",
                                  "lstm",
                                  "gru",
                                  "fused",
                                  "sgd",
                                  "adam",
                                  "acc",
                                  "(acc, f1)",
                                  "micro",
                                  "macro",
                                  "avg",
                                  "gaussian",
                                  "uniform",
                                  "zero",
                                  "[\"constant\", {\"value\": 2}]"};

std::string SomeText(FuzzInput& input) {
  return input.Below(3) > 0 ? input.Pick(kTexts) : input.Text(24);
}

void ReadFlags(FuzzInput& input) {
  const absl::FlagSaver restores_all_flags;
  for (uint64_t count = 1 + input.Below(4); count > 0; --count) {
    absl::CommandLineFlag* const flag = absl::FindCommandLineFlag(input.Pick(kFlags));
    CHECK(flag != nullptr);
    std::string error;
    flag->ParseFrom(SomeText(input), &error);
  }
  if (!CheckModelFlags().ok()) return;
  CHECK(BucketsFromFlags().ok() && ContextsFromFlags().ok() && DisabledPassesFromFlags().ok());
  const auto optimizer = OptimizerFromFlags();
  CHECK(optimizer.ok()) << optimizer.status();
  CHECK(CreateOptimizer(optimizer->optimizer, optimizer->optimizer_params).ok());
  LanguageModelOptions model = ModelOptionsFromFlags();
  model.vocab = 10;
  if (model.num_layers > 4) return;  // as slow as they are many
  const auto sym_gen = MakeLanguageModel(model);
  CHECK(sym_gen.ok()) << sym_gen.status();
  const auto network = (*sym_gen)(2);
  CHECK(network.ok()) << network.status();
}

void ReadShapes(FuzzInput& input) {
  const auto shapes = ParseShapesFlag(input.Rest());
  if (!shapes.ok()) return;
  std::string text;
  for (const auto& [name, shape] : *shapes) {
    absl::StrAppend(&text, name, ":");
    for (int i = 0; i < shape.rank(); ++i) absl::StrAppend(&text, i == 0 ? "" : ",", shape[i]);
    absl::StrAppend(&text, ";");
  }
  const auto again = ParseShapesFlag(text);
  CHECK(again.ok() && *again == *shapes) << text << ": " << again.status();
}

void ReadContexts(FuzzInput& input) {
  const auto contexts = ParseContexts(input.Rest());
  if (!contexts.ok()) return;
  for (const Context& context : *contexts) {
    const auto again = ParseContext(context.ToString());
    CHECK(again.ok() && *again == context) << context.ToString();
  }
}

void ReadLengthsFile(FuzzInput& input) {
  const uint64_t kind = input.Below(3);
  const RecordLayout layout = {.header_bytes = input.Between(0, 30),
                               .bytes_per_token = 1 + input.Between(0, 8)};
  const std::string path = ScratchFolder() + "/lengths";
  WriteUnsynced(path, input.Rest());
  const auto lengths = kind == 0   ? CountWords(path)
                       : kind == 1 ? ReadLengths(path)
                                   : RecordLengths(path, layout);
  if (!lengths.ok()) return;
  CHECK(!lengths->first.empty() && lengths->tokens() > 0 && lengths->empty >= 0);
  CHECK(!lengths->pairs() || lengths->second.size() == lengths->first.size());
}

// A class of objects that are created by name, and the names of their arguments.
struct Kind {
  std::string name;
  std::vector<std::string> arguments;
};

// Returns the names that an error lists as expected.
std::vector<std::string> ExpectedNames(const absl::Status& error) {
  constexpr absl::string_view kExpected = "expected one of ";
  const size_t at = error.message().find(kExpected);
  if (at == absl::string_view::npos) return {};
  return absl::StrSplit(error.message().substr(at + kExpected.size()), ", ");
}

// Returns the kinds that create(name, kwargs) lists in its error for an unknown name.
template <typename Create>
std::vector<Kind> KindsOf(const Create& create) {
  std::vector<Kind> kinds;
  for (const std::string& name : ExpectedNames(create("?", Kwargs()).status())) {
    kinds.push_back({name, ExpectedNames(create(name, Kwargs{{"?", "1"}}).status())});
  }
  CHECK(kinds.size() > 3) << create("?", Kwargs()).status();
  return kinds;
}

// Calls `create` for a random kind with random arguments.
template <typename Create>
auto MakeAny(FuzzInput& input, const Create& create) {
  static const auto* const kinds = new std::vector<Kind>(KindsOf(create));
  const Kind kind = input.Pick(*kinds);
  Kwargs kwargs;
  for (uint64_t count = input.Below(5); count > 0; --count) {
    const bool known = input.Below(16) > 0 && !kind.arguments.empty();
    kwargs[known ? input.Pick(kind.arguments) : input.Text(12)] = SomeText(input);
  }
  return create(input.OneIn(32) ? input.Text(12) : kind.name, kwargs);
}

NDArray Weight() { return *NDArray::FromVector<float>({2, 2}, {1, -2, 0, 0.5}); }

void MakeOptimizer(FuzzInput& input) {
  const auto create = [](absl::string_view name, const Kwargs& kwargs) {
    return CreateOptimizer(name, kwargs);
  };
  auto optimizer = MakeAny(input, create);
  if (!optimizer.ok()) return;
  Updater updater(*std::move(optimizer));
  const NDArray weight = Weight();
  for (int i = 0; i < 3; ++i) updater.Update("fc_weight", weight, Weight()).IgnoreError();
  const auto states = updater.GetStates();
  CHECK(states.ok()) << states.status();
  const absl::Status again = updater.SetStates(*states);
  CHECK(again.ok()) << again;
}

void MakeSchedule(FuzzInput& input) {
  const auto create = [](absl::string_view name, const Kwargs& kwargs) {
    return CreateLRScheduler(name, kwargs);
  };
  const auto schedule = MakeAny(input, create);
  if (!schedule.ok()) return;
  for (const int64_t update : {int64_t{0}, int64_t{1}, int64_t{6}, int64_t{1} << 53}) {
    (*schedule)->LearningRate(update);
  }
  const absl::Status again = (*schedule)->LoadState((*schedule)->SaveState());
  CHECK(again.ok()) << again;
}

void UseInitializer(const Initializer& initializer) {
  for (const char* name : {"fc_weight", "fc_bias", "lstm_parameters"}) {
    initializer.Init({.name = name}, Weight(), /*seed=*/1).IgnoreError();
  }
  const std::string text = initializer.Dumps();
  if (text.empty()) return;
  const auto again = CreateInitializerFromText(text);
  CHECK(again.ok() && (*again)->Dumps() == text) << text << ": " << again.status();
}

void MakeInitializer(FuzzInput& input) {
  const auto create = [](absl::string_view name, const Kwargs& kwargs) {
    return CreateInitializer(name, kwargs);
  };
  const auto initializer = MakeAny(input, create);
  if (initializer.ok()) UseInitializer(**initializer);
}

void ReadInitializer(FuzzInput& input) {
  const auto initializer = CreateInitializerFromText(input.Rest());
  if (initializer.ok()) UseInitializer(**initializer);
}

void MakeMetric(FuzzInput& input) {
  const auto create = [](absl::string_view name, const Kwargs& kwargs) {
    return CreateMetric(name, kwargs);
  };
  const auto metric = MakeAny(input, create);
  if (!metric.ok()) return;
  const std::vector<NDArray> label = {*NDArray::FromVector<float>({2}, {1, 0})};
  const std::vector<NDArray> pred = {*NDArray::FromVector<float>({2, 2}, {.1f, .9f, .8f, .2f})};
  (*metric)->Update(label, pred).IgnoreError();
  (*metric)->Update(label, label).IgnoreError();
  (*metric)->GetNameValue();
  (*metric)->GetGlobalNameValue();
  const absl::Status again = (*metric)->LoadState((*metric)->SaveState());
  CHECK(again.ok()) << again;
}

constexpr void (*kReaders[])(FuzzInput&) = {ReadFlags,       ReadShapes,      ReadContexts,
                                            ReadLengthsFile, MakeOptimizer,   MakeSchedule,
                                            MakeInitializer, ReadInitializer, MakeMetric};

// Encodes the number of a reader and a text for it.
std::string Plain(uint64_t reader, const std::string& text) {
  return SeedBytes().Below(reader, std::size(kReaders)).Rest(text).bytes();
}

// Encodes one flag with a text.
std::string Flag(uint64_t flag, const std::string& text) {
  SeedBytes bytes;
  bytes.Below(0, std::size(kReaders)).Below(0, 4).Below(flag, std::size(kFlags));
  return bytes.Below(0, 3).Text(text, 24).bytes();
}

std::vector<FuzzSeed> Seeds() {
  std::vector<FuzzSeed> seeds;
  const auto add = [&](std::string bytes) {
    seeds.push_back({absl::StrCat("settings_", seeds.size()), std::move(bytes)});
  };
  for (uint64_t flag = 0; flag < std::size(kFlags); ++flag) {
    for (const char* text : {"2", "-1", "2000000000", "nan", "x"}) add(Flag(flag, text));
  }
  for (const char* text : {"data:32,10;softmax_label:32,10", "data:?,-1", "a:b:1", ":1", "data:",
                           "data:1;data:2", "data:9223372036854775807,2", "data:-2", "data:1,,2"}) {
    add(Plain(1, text));
  }
  for (const char* text : {"cpu", "gpu(1)", "gpu(0), cpu(3)", "gpu(-1)", "cpu(99999999999)", ""}) {
    add(Plain(2, text));
  }
  for (const char* text :
       {"a b\n\nc\n", "3\n4\n", "3,4\n5 6\n", "3\n4 5\n", "1000000001\n", "0\n"}) {
    for (const char kind : {0, 1}) add(Plain(3, std::string{kind, 24, 0} + text));
  }
  // An MXNet record: magic number, length, and 8 bytes, of which 4 are the header.
  add(Plain(3, std::string("\2\4\0\x0a\x23\xd7\xce\x08\0\0\0abcdefgh", 19)));
  for (uint64_t reader = 4; reader < 9; ++reader) {
    for (uint8_t kind = 0; kind < 20; ++kind) add(Plain(reader, {static_cast<char>(kind)}));
  }
  for (const char* text :
       {"zero", "[\"constant\", {\"value\": 0.25}]", "[\"xavier\", {}]", "[\"constant\", 1]",
        "[\"lstmbias\", {\"forget_bias\": null}]", "[", "[\"constant\", {\"value\": [1, 2]}]"}) {
    add(Plain(7, text));
  }
  return seeds;
}

}  // namespace
}  // namespace cooper

extern "C" void CooperFuzzSeeds(std::vector<cooper::FuzzSeed>* seeds) { *seeds = cooper::Seeds(); }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cooper::FuzzInput input(data, size);
  input.Pick(cooper::kReaders)(input);
  return 0;
}
