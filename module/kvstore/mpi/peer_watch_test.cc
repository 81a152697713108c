// Tests PeerWatch. The processes of a run are threads of this one.

#include "module/kvstore/mpi/peer_watch.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::Each;
using ::testing::NotNull;

using Watches = std::vector<std::unique_ptr<PeerWatch>>;

// Returns the watches of a run's processes, by rank. `meet` gets rank 0's address before the other
// processes do.
Watches Connect(
    int size, const std::function<void(const std::string& address)>& meet = [](const auto&) {}) {
  std::promise<std::string> told;
  const std::shared_future<std::string> address = told.get_future().share();
  Watches watches(size);
  std::vector<std::thread> processes;
  processes.reserve(size);
  for (int rank = 0; rank < size; ++rank) {
    processes.emplace_back([&, rank, address] {
      const auto broadcast = [&](const std::string& text) -> absl::StatusOr<std::string> {
        if (rank == 0) {
          meet(text);
          told.set_value(text);
        }
        return address.get();
      };
      auto watch = PeerWatch::Create(rank, size, broadcast);
      COOPER_EXPECT_OK(watch.status());
      if (watch.ok()) watches[rank] = *std::move(watch);
    });
  }
  for (std::thread& process : processes) process.join();
  return watches;
}

// Whether `holds` becomes true within 20 s.
bool Becomes(const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!holds()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

// A connection from outside of the run, such as a port scanner's.
class Stranger {
 public:
  // `address` is "HOST PORT TOKEN".
  Stranger(const std::string& address, absl::string_view says)
      : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    const std::vector<std::string> parts = absl::StrSplit(address, ' ');
    int port = 0;
    EXPECT_TRUE(absl::SimpleAtoi(parts[1], &port));
    sockaddr_in to = {};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<uint16_t>(port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof(to)), 0);
    EXPECT_EQ(send(socket_, says.data(), says.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(says.size()));
  }
  ~Stranger() { close(socket_); }

  // Waits for the other end to close the connection.
  bool IsDropped() const {
    char byte = 0;
    return recv(socket_, &byte, 1, 0) <= 0;
  }

 private:
  const int socket_;
};

TEST(PeerWatchTest, AStrangerHoldsUpNoStart) {
  for (const absl::string_view says : {"", "half", "as many bytes as a process says, and more"}) {
    std::unique_ptr<Stranger> stranger;
    const Watches watches = Connect(2, [&](const std::string& address) {
      stranger = std::make_unique<Stranger>(address, says);
    });
    ASSERT_NE(watches[0], nullptr) << says;
    ASSERT_NE(watches[1], nullptr) << says;
    EXPECT_TRUE(stranger->IsDropped()) << says;
    EXPECT_EQ(watches[0]->gone(), -1) << says;
    EXPECT_EQ(watches[1]->gone(), -1) << says;
  }
}

TEST(PeerWatchTest, AllLearnWhoIsDead) {
  Watches watches = Connect(4);
  ASSERT_THAT(watches, Each(NotNull()));
  watches[2] = nullptr;
  for (const int rank : {0, 1, 3}) {
    EXPECT_TRUE(Becomes([&] { return watches[rank]->dead() == 2; })) << rank;
    EXPECT_EQ(watches[rank]->gone(), 2) << rank;
  }
}

TEST(PeerWatchTest, AllLearnWhoHasLeft) {
  Watches watches = Connect(4);
  ASSERT_THAT(watches, Each(NotNull()));
  watches[1]->Leave();
  for (const int rank : {0, 2, 3}) {
    EXPECT_TRUE(Becomes([&] { return watches[rank]->gone() == 1; })) << rank;
  }
  watches[1] = nullptr;
  watches[3] = nullptr;  // rank 0 detects this after the end of rank 1, or with it
  EXPECT_TRUE(Becomes([&] { return watches[0]->dead() >= 0; }));
  EXPECT_EQ(watches[0]->dead(), 3) << "the end of one that has left is no death";
}

// The tsan configuration detects a race between Leave and the thread of rank 0.
TEST(PeerWatchTest, LeavesWhileOthersEnd) {
  for (int i = 0; i < 5; ++i) {
    Watches watches = Connect(3);
    ASSERT_THAT(watches, Each(NotNull()));
    std::thread end([&] {
      watches[1] = nullptr;
      watches[2] = nullptr;
    });
    EXPECT_TRUE(Becomes([&] {
      watches[0]->Leave();
      return watches[0]->dead() >= 0;
    }));
    end.join();
  }
}

TEST(PeerWatchTest, AProcessAloneHasNobodyToWatch) {
  const Watches watches = Connect(1);
  ASSERT_NE(watches[0], nullptr);
  watches[0]->Leave();
  EXPECT_EQ(watches[0]->gone(), -1);
}

}  // namespace
}  // namespace cooper
