// Tests the files of a run under faults: a full or read-only disk, a lost write, truncated or
// damaged files, processes that are killed or share a prefix, a clock that jumps. Each scenario is
// a test; COOPER_FAULTS_SCALE (1) enlarges them.
//
// With --train PREFIX the program is one run of a training, for scenarios that need processes: it
// resumes from the newest state of PREFIX and writes PREFIX-0008.params at the end.

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/iterators/ndarray_iter.h"
#include "module/bucketing/bucketing_module.h"
#include "module/callback/speedometer.h"
#include "module/checkpoint/checkpointer.h"
#include "module/checkpoint/training_state.h"
#include "module/initializer/initializers.h"
#include "module/metric/classification.h"
#include "module/network/module.h"
#include "module/parameters/checkpoint.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/files/params_file.h"
#include "ndarray/random/random.h"
#include "symbol/json/json.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kEpochs = 8;

int Scale() {
  const char* const text = std::getenv("COOPER_FAULTS_SCALE");
  return text == nullptr ? 1 : std::atoi(text);
}

std::string Folder(const std::string& name) {
  const std::string folder = absl::StrCat(::testing::TempDir(), "/", name, ".faults");
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

std::map<std::string, std::string> FilesIn(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files[entry.path().filename().string()] = *ReadFile(entry.path().string());
  }
  return files;
}

// Writes a file without a sync, which damaged files do not need.
void WriteBytes(const std::string& path, absl::string_view bytes) {
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  ASSERT_NE(file, nullptr) << path;
  EXPECT_EQ(std::fwrite(bytes.data(), 1, bytes.size(), file), bytes.size());
  std::fclose(file);
}

// A model, its data and its metric.
struct SmallRun {
  std::unique_ptr<Module> model = *Module::Create(TwoLayers());
  std::unique_ptr<NDArrayIter> iter = *NDArrayIter::Create(
      {{"data", RandomArray({22, 6}, 5)}}, {{"softmax_label", Classes(22, 3, 5)}},
      {.batch_size = 4, .shuffle = true, .seed = 17});
  std::unique_ptr<EvalMetric> metric = Accuracy({});
  FitOptions fit = {.eval_metric = metric.get(),
                    .optimizer = {.optimizer = "adam"},
                    .params = {.initializer = init::Uniform(0.5), .seed = 1},
                    .num_epoch = kEpochs};

  TrainingRun training() const {
    return {.module = model.get(), .iter = iter.get(), .metric = metric.get()};
  }
};

TrainingState SomeState() {
  SmallRun run;
  run.fit.num_epoch = 1;
  COOPER_EXPECT_OK(run.model->Fit(*run.iter, run.fit));
  return *CaptureTraining(
      {.module = run.model.get(), .iter = run.iter.get(), .metric = run.metric.get()}, /*epoch=*/1,
      /*nbatch=*/0);
}

absl::Status Train(const std::string& prefix) {
  SmallRun run;
  COOPER_ASSIGN_OR_RETURN(const auto checkpointer, Checkpointer::Create({.prefix = prefix}));
  run.fit.capture_point = checkpointer->Every(1, run.training());
  COOPER_RETURN_IF_ERROR(checkpointer->Resume(run.training(), &run.fit).status());
  COOPER_RETURN_IF_ERROR(run.model->Fit(*run.iter, run.fit));
  COOPER_RETURN_IF_ERROR(checkpointer->Wait());
  return run.model->SaveCheckpoint(prefix, kEpochs);
}

// Starts this program as a training run.
pid_t StartTraining(const std::string& prefix) {
  const pid_t child = fork();
  if (child != 0) return child;
  execl("/proc/self/exe", "faults_test", "--train", prefix.c_str(), nullptr);
  std::_Exit(127);
}

// Returns the exit status; -1 if a signal ended the process.
int WaitFor(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string Params(const std::string& prefix) { return *ReadFile(ParamsPath(prefix, kEpochs)); }

// The kinds of files, and how each is read.
struct Kind {
  const char* name;
  std::string bytes;
  absl::Status (*read)(const std::string& path);
};

std::vector<Kind> SmallFiles() {
  const std::string folder = Folder("kinds");
  SmallRun run;
  run.fit.num_epoch = 1;
  COOPER_EXPECT_OK(run.model->Fit(*run.iter, run.fit));
  COOPER_EXPECT_OK(run.model->SaveCheckpoint(folder + "/m", 1, /*save_optimizer_states=*/true));
  COOPER_EXPECT_OK(SaveTrainingState(folder + "/m.state", SomeState()));
  COOPER_EXPECT_OK(SaveArrays(folder + "/m.buckets", {*NDArray::Full({3}, 7, DType::kInt32)}));
  COOPER_EXPECT_OK(WriteFileAtomically(folder + "/m.bucket_keys", "4\n'two'\n(7, 7)\n"));
  const auto bytes = [&](const char* name) { return *ReadFile(folder + name); };
  return {
      {"symbol", bytes("/m-symbol.json"),
       [](const std::string& path) { return LoadSymbol(path).status(); }},
      {"params", bytes("/m-0001.params"),
       [](const std::string& path) {
         ArrayMap args, auxs;
         return LoadParamsFile(path, &args, &auxs);
       }},
      {"states", bytes("/m-0001.states"),
       [](const std::string& path) { return LoadNamedArrays(path).status(); }},
      {"state", bytes("/m.state"),
       [](const std::string& path) { return LoadTrainingState(path).status(); }},
      {"buckets", bytes("/m.buckets"),
       [](const std::string& path) {
         const std::string prefix = path.substr(0, path.rfind('.'));
         return BucketingModule::Load(prefix, 1, {}).status();
       }},
      {"bucket_keys", bytes("/m.bucket_keys"),
       [](const std::string& path) {
         const std::string prefix = path.substr(0, path.rfind('.'));
         return BucketingModule::Load(prefix, 1, {}).status();
       }},
  };
}

TEST(FaultsTest, AFileThatIsCutOffAnywhereIsRefused) {
  const std::string folder = Folder("cut");
  for (const Kind& kind : SmallFiles()) {
    SCOPED_TRACE(kind.name);
    const std::string path = absl::StrCat(folder, "/x.", kind.name);
    for (size_t length = 0; length < kind.bytes.size(); ++length) {
      WriteBytes(path, absl::string_view(kind.bytes).substr(0, length));
      ASSERT_FALSE(kind.read(path).ok()) << length << " of " << kind.bytes.size() << " bytes";
    }
    std::filesystem::remove(path);
  }
}

// Only formats with a checksum detect the change; but nothing crashes, and a training state is
// either the saved one or rejected.
TEST(FaultsTest, AFlippedBitIsSurvived) {
  const std::string folder = Folder("flip");
  for (const Kind& kind : SmallFiles()) {
    SCOPED_TRACE(kind.name);
    const std::string path = absl::StrCat(folder, "/x.", kind.name);
    const bool has_checksum = absl::string_view(kind.name) == "state";
    size_t unnoticed = 0;
    const size_t bits = 8 * kind.bytes.size();
    const size_t step = std::max<size_t>(1, bits / 4'000 / static_cast<size_t>(Scale()));
    for (size_t bit = 0; bit < bits; bit += step) {
      std::string bytes = kind.bytes;
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
      WriteBytes(path, bytes);
      if (!kind.read(path).ok() || !has_checksum) continue;
      ++unnoticed;  // in a field that nobody reads, such as the context of an array
      COOPER_ASSERT_OK_AND_ASSIGN(const TrainingState state, LoadTrainingState(path));
      COOPER_ASSERT_OK(SaveTrainingState(folder + "/again", state));
      EXPECT_EQ(*ReadFile(folder + "/again"), kind.bytes) << "bit " << bit;
      if (::testing::Test::HasFailure()) return;
    }
    EXPECT_LT(unnoticed, bits / step / 5);
    std::filesystem::remove(path);
  }
}

// The last block of the newest state is missing, or holds zeros.
TEST(FaultsTest, ALostLastWriteCostsOneState) {
  for (const bool zeros : {false, true}) {
    const std::string prefix = Folder("lost") + "/run";
    COOPER_ASSERT_OK_AND_ASSIGN(auto checkpointer,
                                Checkpointer::Create({.prefix = prefix, .log = [](auto&) {}}));
    TrainingState state = SomeState();
    for (const int64_t nbatch : {1, 2}) {
      state.nbatch = nbatch;
      COOPER_ASSERT_OK(checkpointer->Save(state));
    }
    COOPER_ASSERT_OK(checkpointer->Wait());
    const std::string newest = checkpointer->Paths().back();
    std::string bytes = *ReadFile(newest);
    bytes.resize(bytes.size() - 512);
    if (zeros) bytes.resize(bytes.size() + 512);
    WriteBytes(newest, bytes);
    COOPER_ASSERT_OK_AND_ASSIGN(const TrainingState latest, checkpointer->LoadLatest());
    EXPECT_EQ(latest.nbatch, 1);
  }
}

// Runs `body` with a limit on file sizes: as on a full disk, write() fails or writes less than
// requested.
void WithFullDisk(rlim_t bytes, absl::FunctionRef<void()> body) {
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small = {.rlim_cur = bytes, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  body();
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
}

TEST(FaultsTest, AFullDiskLeavesTheFilesAsTheyWere) {
  const std::string folder = Folder("full");
  const std::string prefix = folder + "/m";
  SmallRun run;
  run.fit.num_epoch = 1;
  COOPER_ASSERT_OK(run.model->Fit(*run.iter, run.fit));
  const TrainingState state = SomeState();
  const auto save = [&]() -> absl::Status {
    COOPER_RETURN_IF_ERROR(run.model->SaveCheckpoint(prefix, 1, /*save_optimizer_states=*/true));
    return SaveTrainingState(prefix + ".state", state);
  };
  COOPER_ASSERT_OK(save());
  const auto before = FilesIn(folder);
  // Overwrites the parameters, so that loading is observable.
  COOPER_ASSERT_OK(
      run.model->InitParams({.initializer = init::Uniform(0.5), .seed = 2, .force_init = true}));
  size_t largest = 0;
  for (const auto& [name, bytes] : before) largest = std::max(largest, bytes.size());
  for (rlim_t limit = 0; limit < 700; limit += 100) {
    absl::Status status;
    WithFullDisk(limit, [&] { status = save(); });
    EXPECT_THAT(status.message(), HasSubstr("cannot write")) << limit;
    EXPECT_EQ(FilesIn(folder), before) << limit;
  }
  EXPECT_GT(largest, 700);
}

TEST(FaultsTest, AReadOnlyFolderIsAnError) {
  const std::string folder = Folder("read_only");
  ASSERT_EQ(chmod(folder.c_str(), 0555), 0);
  const pid_t child = fork();
  if (child == 0) {  // root writes where it likes
    if (geteuid() == 0 && seteuid(65534) != 0) std::_Exit(2);
    const absl::Status status = WriteFileAtomically(folder + "/x", "x");
    std::_Exit(absl::IsPermissionDenied(status) ? 0 : 1);
  }
  const int status = WaitFor(child);
  ASSERT_EQ(chmod(folder.c_str(), 0755), 0);
  if (status == 2) GTEST_SKIP() << "there is no other user here";
  EXPECT_EQ(status, 0);
  // Folders in which no process can create files.
  EXPECT_THAT(WriteFileAtomically("/proc/cooper", "x"), Not(IsOk()));
}

TEST(FaultsTest, ARunThatIsKilledAtAnyMomentEndsLikeTheOther) {
  const std::string folder = Folder("killed");
  ASSERT_EQ(WaitFor(StartTraining(folder + "/whole")), 0);
  RandomGenerator random(3);
  int kills = 0;
  for (int tries = 0; tries < 10 * Scale(); ++tries) {
    const pid_t child = StartTraining(folder + "/killed");
    usleep(static_cast<useconds_t>(5'000 + random.NextBelow(60'000)));
    kill(child, SIGKILL);
    if (WaitFor(child) == 0) break;
    ++kills;
  }
  ASSERT_EQ(WaitFor(StartTraining(folder + "/killed")), 0);
  EXPECT_EQ(Params(folder + "/killed"), Params(folder + "/whole")) << kills << " kills";
  for (const auto& [name, bytes] : FilesIn(folder)) EXPECT_THAT(name, Not(HasSubstr(".tmp")));
}

// Both processes write the same files, with varying order.
TEST(FaultsTest, TwoProcessesWithOnePrefixBothSurvive) {
  const std::string folder = Folder("two");
  ASSERT_EQ(WaitFor(StartTraining(folder + "/whole")), 0);
  for (int round = 0; round < 2 * Scale(); ++round) {
    const std::string prefix = absl::StrCat(folder, "/round", round);
    const pid_t first = StartTraining(prefix);
    usleep(static_cast<useconds_t>(round * 20'000));
    const pid_t second = StartTraining(prefix);
    EXPECT_EQ(WaitFor(first), 0);
    EXPECT_EQ(WaitFor(second), 0);
    EXPECT_EQ(Params(prefix), Params(folder + "/whole"));
    COOPER_ASSERT_OK_AND_ASSIGN(auto checkpointer, Checkpointer::Create({.prefix = prefix}));
    for (const std::string& path : checkpointer->Paths()) {
      COOPER_EXPECT_OK(LoadTrainingState(path)) << path;
    }
    COOPER_EXPECT_OK(checkpointer->LoadLatest());
  }
  for (const auto& [name, bytes] : FilesIn(folder)) EXPECT_THAT(name, Not(HasSubstr(".tmp")));
}

// The newest state is that of the most batches, regardless of its time stamp.
TEST(FaultsTest, AClockThatJumpsChangesNothing) {
  const std::string prefix = Folder("clock") + "/run";
  COOPER_ASSERT_OK_AND_ASSIGN(auto checkpointer,
                              Checkpointer::Create({.prefix = prefix, .keep_last = 3}));
  TrainingState state = SomeState();
  for (const int64_t nbatch : {1, 2, 3}) {
    state.nbatch = nbatch;
    COOPER_ASSERT_OK(checkpointer->Save(state));
  }
  COOPER_ASSERT_OK(checkpointer->Wait());
  const auto now = std::filesystem::file_time_type::clock::now();
  for (int i = 0; i < 3; ++i) {
    std::filesystem::last_write_time(checkpointer->Paths()[i], now - std::chrono::hours(1000 * i));
  }
  EXPECT_EQ(checkpointer->LoadLatest()->nbatch, 3);

  // A speed is a finite number for any clock difference.
  std::vector<double> times = {100, 100, 50, 1e18, -1e18, 0, 0, 1, 1, 2};
  std::string lines;
  const BatchEndCallback speedometer =
      Speedometer({.frequent = 1,
                   .log = [&](const std::string& line) { absl::StrAppend(&lines, line, "\n"); },
                   .now = [&, i = size_t{0}]() mutable { return times[i++ % times.size()]; }});
  DataBatch batch;
  batch.index.resize(4);
  for (int i = 0; i < 8; ++i) COOPER_ASSERT_OK(speedometer({.nbatch = i, .batch = &batch}));
  EXPECT_THAT(lines, Not(HasSubstr("inf")));
  EXPECT_THAT(lines, Not(HasSubstr("nan")));
  EXPECT_THAT(lines, Not(HasSubstr("Speed: -")));
}

}  // namespace
}  // namespace cooper

int main(int argc, char** argv) {
  if (argc == 3 && absl::string_view(argv[1]) == "--train") {
    const absl::Status status = cooper::Train(argv[2]);
    if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
    return status.ok() ? 0 : 1;
  }
  ::testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
