#include "module/kvstore/mpi/mpi_world.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "mpi.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// Polls between two sleeps, and the length of a sleep. A short wait costs no thread switch; a long
// one leaves the core to others.
constexpr int kPollsBeforeNap = 2000;
constexpr int kNapMicroseconds = 50;
// Messages of a process that ended normally may still be in transit for this long.
constexpr auto kGrace = std::chrono::milliseconds(500);
// MPI counts elements in an int.
constexpr int64_t kMaxCount = std::numeric_limits<int>::max() / 2;

MpiWorld* world = nullptr;
MPI_Comm comm = MPI_COMM_NULL;

}  // namespace

absl::StatusOr<MpiWorld*> MpiWorld::Get() {
  if (world != nullptr) return world;
  std::unique_ptr<MpiWorld> made(new MpiWorld);
  COOPER_RETURN_IF_ERROR(made->Start());
  world = made.release();
  std::atexit(Finalize);
  return world;
}

absl::Status MpiWorld::Start() {
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (!initialized) {
    int provided = 0;
    COOPER_RETURN_IF_ERROR(
        Check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init"));
    owns_mpi_ = true;
  }
  // A communicator of our own keeps the program's messages apart from ours.
  COOPER_RETURN_IF_ERROR(Check(MPI_Comm_dup(MPI_COMM_WORLD, &comm), "MPI_Comm_dup"));
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &size_);
  COOPER_ASSIGN_OR_RETURN(watch_, PeerWatch::Create(rank_, size_, [this](const std::string& text) {
                            return BroadcastText(text);
                          }));
  return absl::OkStatus();
}

void MpiWorld::Finalize() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  // MPI_Finalize waits for all processes, so the others must know that this one takes part in no
  // further call.
  if (world->size_ > 1) world->watch_->Leave();
  // MPI_Finalize would also wait for a dead process.
  if (finalized || !world->owns_mpi_ || world->broken_ || world->watch_->dead() >= 0) return;
  MPI_Finalize();
}

absl::Status MpiWorld::Check(int result, const char* call) const {
  if (result == MPI_SUCCESS) return absl::OkStatus();
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(result, text, &length);
  return absl::UnavailableError(absl::StrCat("kvstore: ", call, ": ", text));
}

absl::Status MpiWorld::CheckUsable() const {
  if (!broken_) return absl::OkStatus();
  return absl::UnavailableError("kvstore: a call was given up before, since a process is gone");
}

absl::Status MpiWorld::Wait(void* request, const char* what) {
  auto* pending = static_cast<MPI_Request*>(request);
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  for (int64_t polls = 0;; ++polls) {
    int done = 0;
    COOPER_RETURN_IF_ERROR(Check(MPI_Test(pending, &done, MPI_STATUS_IGNORE), what));
    if (done) return absl::OkStatus();
    if (polls < kPollsBeforeNap) continue;
    usleep(kNapMicroseconds);
    const int gone = watch_ == nullptr ? -1 : watch_->gone();
    if (gone < 0) continue;
    const auto now = std::chrono::steady_clock::now();
    deadline = std::min(deadline, now + kGrace);
    if (now < deadline) continue;
    broken_ = true;
    return absl::UnavailableError(absl::StrCat("kvstore: rank ", gone, " of ", size_,
                                               " is gone; rank ", rank_, " waited for it in ",
                                               what));
  }
}

namespace {

// Calls `start`(offset, count) for pieces whose sizes fit MPI's int.
template <typename Start>
absl::Status InPieces(int64_t size, const Start& start) {
  for (int64_t begin = 0; begin < size; begin += kMaxCount) {
    COOPER_RETURN_IF_ERROR(start(begin, static_cast<int>(std::min(kMaxCount, size - begin))));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status MpiWorld::AllReduceSum(absl::Span<float> values) {
  COOPER_RETURN_IF_ERROR(CheckUsable());
  return InPieces(values.size(), [&](int64_t begin, int count) {
    MPI_Request request;
    COOPER_RETURN_IF_ERROR(Check(MPI_Iallreduce(MPI_IN_PLACE, values.data() + begin, count,
                                                MPI_FLOAT, MPI_SUM, comm, &request),
                                 "MPI_Iallreduce"));
    return Wait(&request, "the sum of gradients");
  });
}

absl::Status MpiWorld::AllReduceSum(absl::Span<double> values) {
  COOPER_RETURN_IF_ERROR(CheckUsable());
  return InPieces(values.size(), [&](int64_t begin, int count) {
    MPI_Request request;
    COOPER_RETURN_IF_ERROR(Check(MPI_Iallreduce(MPI_IN_PLACE, values.data() + begin, count,
                                                MPI_DOUBLE, MPI_SUM, comm, &request),
                                 "MPI_Iallreduce"));
    return Wait(&request, "the sum of gradients");
  });
}

absl::StatusOr<std::vector<uint64_t>> MpiWorld::AllGather(absl::Span<const uint64_t> values) {
  COOPER_RETURN_IF_ERROR(CheckUsable());
  std::vector<uint64_t> all(values.size() * size_);
  const int count = static_cast<int>(values.size());
  MPI_Request request;
  COOPER_RETURN_IF_ERROR(Check(MPI_Iallgather(values.data(), count, MPI_UINT64_T, all.data(), count,
                                              MPI_UINT64_T, comm, &request),
                               "MPI_Iallgather"));
  COOPER_RETURN_IF_ERROR(Wait(&request, "the agreement on a step"));
  return all;
}

absl::Status MpiWorld::AllGather(absl::Span<const uint32_t> values, absl::Span<uint32_t> all) {
  COOPER_RETURN_IF_ERROR(CheckUsable());
  if (static_cast<int64_t>(values.size()) > kMaxCount) {
    return absl::InvalidArgumentError("kvstore: too many compressed gradients");
  }
  const int count = static_cast<int>(values.size());
  MPI_Request request;
  COOPER_RETURN_IF_ERROR(Check(MPI_Iallgather(values.data(), count, MPI_UINT32_T, all.data(), count,
                                              MPI_UINT32_T, comm, &request),
                               "MPI_Iallgather"));
  return Wait(&request, "the exchange of compressed gradients");
}

absl::StatusOr<std::vector<std::string>> MpiWorld::AllGatherText(const std::string& text) {
  COOPER_ASSIGN_OR_RETURN(const std::vector<uint64_t> lengths, AllGather({text.size()}));
  std::vector<std::string> texts;
  for (int root = 0; root < size_; ++root) {
    texts.push_back(root == rank_ ? text : std::string(lengths[root], '\0'));
    COOPER_RETURN_IF_ERROR(
        Broadcast(texts.back().data(), static_cast<int64_t>(lengths[root]), root));
  }
  return texts;
}

absl::StatusOr<std::string> MpiWorld::BroadcastText(std::string text) {
  uint64_t length = text.size();
  COOPER_RETURN_IF_ERROR(Broadcast(&length, sizeof(length), 0));
  text.resize(length);
  COOPER_RETURN_IF_ERROR(Broadcast(text.data(), static_cast<int64_t>(length), 0));
  return text;
}

absl::Status MpiWorld::Broadcast(void* data, int64_t bytes, int root) {
  COOPER_RETURN_IF_ERROR(CheckUsable());
  return InPieces(bytes, [&](int64_t begin, int count) {
    MPI_Request request;
    COOPER_RETURN_IF_ERROR(
        Check(MPI_Ibcast(static_cast<char*>(data) + begin, count, MPI_BYTE, root, comm, &request),
              "MPI_Ibcast"));
    return Wait(&request, "a broadcast");
  });
}

absl::Status MpiWorld::Barrier() {
  COOPER_RETURN_IF_ERROR(CheckUsable());
  MPI_Request request;
  COOPER_RETURN_IF_ERROR(Check(MPI_Ibarrier(comm, &request), "MPI_Ibarrier"));
  return Wait(&request, "a barrier");
}

}  // namespace cooper
