// Tests states on disk that can be neither listed nor read: no run may start anew as if there were
// none, because its first save would remove them.

#include <dirent.h>
#include <dlfcn.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/callback/log_line.h"
#include "module/checkpoint/checkpointer.h"
#include "module/checkpoint/training_state.h"
#include "module/kvstore/kvstore.h"
#include "module/kvstore/kvstore_with_values.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_matchers.h"

namespace {

// Number of folder entries that are read before the disk fails; negative: it does not fail.
int entries_before_failure = -1;

}  // namespace

// Replaces the C library's function, which std::filesystem calls.
extern "C" dirent* ReadFolder(DIR* folder) __asm__("readdir");
dirent* ReadFolder(DIR* folder) {
  static const auto next = reinterpret_cast<dirent* (*)(DIR*)>(dlsym(RTLD_NEXT, "readdir"));
  if (entries_before_failure == 0) {
    errno = EIO;
    return nullptr;
  }
  if (entries_before_failure > 0) --entries_before_failure;
  return next(folder);
}

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr auto kDataLoss = absl::StatusCode::kDataLoss;

// Returns a prefix in a new, empty folder for a test.
std::string Prefix(const std::string& name) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return (folder / "run").string();
}

std::unique_ptr<Checkpointer> Make(
    const std::string& prefix, LogLine log = [](const auto&) {}) {
  return *Checkpointer::Create(
      {.prefix = prefix, .keep_last = 2, .background = false, .log = std::move(log)});
}

TrainingState StateAt(int64_t nbatch) {
  TrainingState state{.nbatch = nbatch};
  state.args["w"] = *NDArray::Full({10, 10}, 0.5);
  return state;
}

// Changes one bit of an element, which only the checksum detects.
void Damage(const std::string& path) {
  std::string bytes = *ReadFile(path);
  bytes[bytes.size() / 4] ^= 1;
  COOPER_ASSERT_OK(WriteFileAtomically(path, bytes));
}

// Resumes a run without a module: Resume chooses a state before it uses one.
absl::StatusOr<bool> Resume(Checkpointer& checkpointer) {
  FitOptions fit;
  return checkpointer.Resume({}, &fit);
}

TEST(CheckpointerUnreadableTest, AFolderThatCannotBeListedIsAnError) {
  const std::string prefix = Prefix("unlisted");
  auto checkpointer = Make(prefix);
  for (const int nbatch : {1, 2}) COOPER_ASSERT_OK(checkpointer->Save(StateAt(nbatch)));
  // "." and ".." are entries too.
  for (const int entries : {0, 1, 2, 3, 4}) {
    SCOPED_TRACE(entries);
    entries_before_failure = entries;
    EXPECT_THAT(Resume(*checkpointer),
                StatusIs(absl::StatusCode::kUnknown, HasSubstr("cannot list the folder")));
    EXPECT_THAT(checkpointer->Paths(), IsEmpty());
    // No state is removed that may be among the newest.
    COOPER_EXPECT_OK(checkpointer->Save(StateAt(3)));
    entries_before_failure = -1;
    EXPECT_THAT(checkpointer->Paths(), SizeIs(3));
    std::filesystem::remove(checkpointer->Paths().back());
  }
  EXPECT_THAT(Resume(*Make(Prefix("empty"))), IsOkAndHolds(false));
}

TEST(CheckpointerUnreadableTest, StatesOfWhichNoneCanBeReadAreAnError) {
  const std::string prefix = Prefix("unread");
  auto checkpointer = Make(prefix);
  for (const int nbatch : {1, 2}) COOPER_ASSERT_OK(checkpointer->Save(StateAt(nbatch)));
  const std::vector<std::string> paths = checkpointer->Paths();
  for (const std::string& path : paths) Damage(path);
  EXPECT_THAT(Resume(*checkpointer),
              StatusIs(kDataLoss,
                       AllOf(HasSubstr("none of the states '" + paths[0] + "', '" + paths[1] + "'"),
                             HasSubstr("the checksum is wrong"))));
  for (const std::string& path : paths) std::filesystem::rename(path, path + ".damaged");
  EXPECT_THAT(Resume(*checkpointer), IsOkAndHolds(false));
}

// Another run with the prefix writes a state and removes the older ones, between listing and
// reading.
TEST(CheckpointerUnreadableTest, StatesThatWereReplacedMeanwhileAreListedAgain) {
  const std::string prefix = Prefix("replaced");
  auto checkpointer = Make(prefix, [&](const std::string&) {
    COOPER_EXPECT_OK(SaveTrainingState(prefix + "-0000-00000007.state", StateAt(7)));
    std::filesystem::remove(prefix + "-0000-00000001.state");
  });
  COOPER_ASSERT_OK(checkpointer->Save(StateAt(1)));
  Damage(checkpointer->Paths().back());
  COOPER_ASSERT_OK_AND_ASSIGN(const TrainingState latest, checkpointer->LoadLatest());
  EXPECT_EQ(latest.nbatch, 7);
}

// A store of one of two processes. AllGather does not wait: it returns the texts that have come so
// far.
class OneOfTwo : public KVStoreWithValues {
 public:
  OneOfTwo(int rank, std::vector<std::string>* texts)
      : KVStoreWithValues("one_of_two"), rank_(rank), texts_(*texts) {}
  int rank() const override { return rank_; }
  int num_workers() const override { return 2; }
  absl::StatusOr<std::vector<std::string>> AllGather(const std::string& text) override {
    texts_[rank_] = text;
    return texts_;
  }
  absl::Status Init(const std::string&, const NDArray&) override { return absl::OkStatus(); }
  absl::Status Push(const std::string&, absl::Span<const NDArray>) override {
    return absl::OkStatus();
  }
  absl::Status InitAll(absl::Span<const KVItem>) override { return absl::OkStatus(); }
  absl::StatusOr<std::vector<std::pair<std::string, NDArray>>> GetState() const override {
    return std::vector<std::pair<std::string, NDArray>>();
  }
  absl::Status SetState(const std::vector<std::pair<std::string, NDArray>>&) override {
    return absl::OkStatus();
  }

  // Combines the announced states as a Step does.
  static void Agree(OneOfTwo& a, OneOfTwo& b) {
    if (a.announced_state_ != kNoState && a.announced_state_ == b.announced_state_) {
      a.common_state_ = b.common_state_ = a.announced_state_;
    }
  }

 private:
  const int rank_;
  std::vector<std::string>& texts_;
};

// Returns the names of the state files that both checkpointers have.
std::vector<std::string> InCommon(const Checkpointer& a, const Checkpointer& b) {
  std::vector<std::string> names;
  for (const std::string& path : a.Paths()) {
    const auto name = std::filesystem::path(path).filename();
    for (const std::string& other : b.Paths()) {
      if (std::filesystem::path(other).filename() == name) names.push_back(name.string());
    }
  }
  return names;
}

// One process cannot write for a while, so that the other one's states are newer.
TEST(CheckpointerUnreadableTest, ProcessesKeepAStateThatAllHave) {
  for (const bool background : {false, true}) {
    SCOPED_TRACE(background);
    std::vector<std::string> texts(2);
    std::vector<std::shared_ptr<OneOfTwo>> stores;
    std::vector<std::unique_ptr<Checkpointer>> each;
    const std::string prefixes[] = {Prefix("keep0"), Prefix("keep1")};
    for (const int rank : {0, 1}) {
      stores.push_back(std::make_shared<OneOfTwo>(rank, &texts));
      each.push_back(*Checkpointer::Create({.prefix = prefixes[rank],
                                            .keep_last = 1,
                                            .background = background,
                                            .log = [](const auto&) {}}));
      FitOptions fit{.optimizer = {.kvstore_instance = stores.back()}};
      ASSERT_THAT(each.back()->Resume({}, &fit), IsOkAndHolds(false));
    }
    const auto folder = std::filesystem::path(prefixes[1]).parent_path();
    const std::filesystem::path away = folder.string() + ".away";
    std::filesystem::remove_all(away);
    for (int64_t update = 1; update <= 12; ++update) {
      if (update == 5) std::filesystem::rename(folder, away);
      if (update == 9) {
        each[1]->Wait().IgnoreError();
        std::filesystem::rename(away, folder);
      }
      TrainingState state = StateAt(update > 3 ? 3 : update);  // the data ends after three
      state.updates = update;
      for (const auto& checkpointer : each) checkpointer->Save(state).IgnoreError();
      OneOfTwo::Agree(*stores[0], *stores[1]);
      if (update < 3 || (update >= 5 && update < 9)) continue;
      EXPECT_THAT(InCommon(*each[0], *each[1]), Not(IsEmpty())) << update;
    }
    for (const auto& checkpointer : each) COOPER_EXPECT_OK(checkpointer->Wait());
    EXPECT_THAT(InCommon(*each[0], *each[1]), Contains("run-0000-00000012.state"));
    for (const auto& checkpointer : each) EXPECT_LE(checkpointer->Paths().size(), 2);
  }
}

enum class Files { kNone, kDamaged, kWhole };

struct ProcessesCase {
  const char* name;
  Files of_rank[2];
  const char* error;  // empty: they start anew
};

TEST(CheckpointerUnreadableTest, ProcessesFailAlike) {
  const ProcessesCase kCases[] = {
      {"None", {Files::kNone, Files::kNone}, ""},
      {"WholeBesideNone", {Files::kWhole, Files::kNone}, ""},
      {"NoneBesideWhole", {Files::kNone, Files::kWhole}, ""},
      {"DamagedBesideNone", {Files::kNone, Files::kDamaged}, "rank 1: none of the states"},
      {"DamagedBesideWhole", {Files::kWhole, Files::kDamaged}, "rank 1: none of the states"},
      {"NoneBesideDamaged", {Files::kDamaged, Files::kNone}, "rank 0: none of the states"},
      {"BothDamaged", {Files::kDamaged, Files::kDamaged}, "rank 0: none of the states"},
  };
  for (const ProcessesCase& processes : kCases) {
    SCOPED_TRACE(processes.name);
    const std::string prefix = Prefix("alike");
    std::vector<std::string> texts(2);
    std::vector<absl::StatusOr<bool>> resumed(2);
    std::unique_ptr<Checkpointer> of_rank[2];
    for (const int rank : {0, 1}) {
      of_rank[rank] = Make(prefix + std::to_string(rank));
      if (processes.of_rank[rank] == Files::kNone) continue;
      COOPER_ASSERT_OK(of_rank[rank]->Save(StateAt(5)));
      if (processes.of_rank[rank] == Files::kDamaged) Damage(of_rank[rank]->Paths()[0]);
    }
    // The second call of each process sees the states of both.
    for (const int rank : {0, 1, 0, 1}) {
      FitOptions fit{.optimizer = {.kvstore_instance = std::make_shared<OneOfTwo>(rank, &texts)}};
      resumed[rank] = of_rank[rank]->Resume({}, &fit);
    }
    for (const absl::StatusOr<bool>& each : resumed) {
      if (processes.error[0] == '\0') {
        EXPECT_THAT(each, IsOkAndHolds(false));
      } else {
        EXPECT_THAT(each, StatusIs(kDataLoss, HasSubstr(processes.error)));
      }
    }
    EXPECT_EQ(resumed[0].status(), resumed[1].status());
  }
}

}  // namespace
}  // namespace cooper
