#include "module/kvstore/mpi/peer_watch.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <random>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

constexpr int kConnectMs = 30000;
// Time limit for the first message of a connection: a stranger may send nothing, or only a part of
// one.
constexpr int kHelloSeconds = 1;

// The first message of a connection. Messages use the machine's byte order: as for MPI's numbers,
// all machines of a run have the same.
struct Hello {
  uint64_t token;
  int32_t rank;
  int32_t unused;
};

// Messages from a process to rank 0, or from rank 0 to the others.
enum Kind : int32_t { kDead, kLeft };
struct News {
  int32_t kind;
  int32_t rank;
};

absl::Status Failed(const char* call) {
  return absl::UnavailableError(absl::StrCat("kvstore: ", call, " failed: ", std::strerror(errno)));
}

std::string HostName() {
  char name[256] = {};
  gethostname(name, sizeof(name) - 1);
  return name;
}

// Enables keep-alive, so that a vanished machine is detected after 3 + 3 * 2 seconds.
void KeepAlive(int socket) {
  const int on = 1, idle = 3, interval = 2, count = 3;
  setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

bool ReadyToRead(int socket, int timeout_ms) {
  pollfd wait = {.fd = socket, .events = POLLIN, .revents = 0};
  return poll(&wait, 1, timeout_ms) == 1;
}

// Limits how long one receive call waits; 0: no limit.
void LimitReceive(int socket, int seconds) {
  const timeval limit = {.tv_sec = seconds, .tv_usec = 0};
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
}

bool Receive(int socket, void* data, size_t bytes) {
  return recv(socket, data, bytes, MSG_WAITALL) == static_cast<ssize_t>(bytes);
}

bool Send(int socket, const void* data, size_t bytes) {
  return send(socket, data, bytes, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes);
}

void Close(int* socket) {
  if (*socket >= 0) close(*socket);
  *socket = -1;
}

}  // namespace

absl::StatusOr<std::unique_ptr<PeerWatch>> PeerWatch::Create(
    int rank, int size,
    const std::function<absl::StatusOr<std::string>(const std::string&)>& broadcast) {
  std::unique_ptr<PeerWatch> watch(new PeerWatch(rank, size));
  if (size == 1) return watch;
  // A connection without this token does not belong to the run.
  uint64_t token = 0;
  std::string address;
  absl::Status status;
  if (rank == 0) {
    std::random_device random;
    token = (uint64_t{random()} << 32) | random();
    status = watch->Listen(token, &address);
  }
  // Rank 0 takes part even after an error: an empty address tells the others.
  COOPER_ASSIGN_OR_RETURN(address, broadcast(address));
  COOPER_RETURN_IF_ERROR(status);
  if (address.empty()) return absl::UnavailableError("kvstore: rank 0 cannot be connected to");
  COOPER_RETURN_IF_ERROR(rank == 0 ? watch->AcceptAll(token) : watch->ConnectTo(address));
  COOPER_RETURN_IF_ERROR(watch->Start());
  return watch;
}

absl::Status PeerWatch::Listen(uint64_t token, std::string* address) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener_ < 0) return Failed("socket");
  sockaddr_in any = {};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_ANY);
  socklen_t length = sizeof(any);
  if (bind(listener_, reinterpret_cast<sockaddr*>(&any), length) != 0) return Failed("bind");
  if (listen(listener_, static_cast<int>(peers_.size())) != 0) return Failed("listen");
  if (getsockname(listener_, reinterpret_cast<sockaddr*>(&any), &length) != 0) {
    return Failed("getsockname");
  }
  *address = absl::StrCat(HostName(), " ", ntohs(any.sin_port), " ", token);
  return absl::OkStatus();
}

absl::Status PeerWatch::AcceptAll(uint64_t token) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(kConnectMs);
  size_t missing = peers_.size() - 1;
  while (missing > 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    if (left.count() <= 0 || !ReadyToRead(listener_, static_cast<int>(left.count()))) {
      return absl::UnavailableError(
          absl::StrCat("kvstore: ", missing, " processes have not connected to rank 0"));
    }
    int peer = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (peer < 0) return Failed("accept");
    LimitReceive(peer, kHelloSeconds);
    Hello hello = {};
    const bool known = Receive(peer, &hello, sizeof(hello)) && hello.token == token &&
                       hello.rank > 0 && hello.rank < static_cast<int>(peers_.size()) &&
                       peers_[hello.rank] < 0;
    if (!known) {
      Close(&peer);
      continue;
    }
    LimitReceive(peer, 0);
    KeepAlive(peer);
    peers_[hello.rank] = peer;
    --missing;
  }
  Close(&listener_);
  return absl::OkStatus();
}

absl::Status PeerWatch::ConnectTo(const std::string& address) {
  const std::vector<std::string> parts = absl::StrSplit(address, ' ');
  Hello hello = {.token = 0, .rank = rank_, .unused = 0};
  if (parts.size() != 3 || !absl::SimpleAtoi(parts[2], &hello.token)) {
    return absl::InternalError("kvstore: bad address of rank 0");
  }
  const std::string host = parts[0] == HostName() ? "127.0.0.1" : parts[0];
  addrinfo hints = {};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), parts[1].c_str(), &hints, &found) != 0) {
    return absl::UnavailableError(
        absl::StrCat("kvstore: rank 0's machine '", host, "' has no address here"));
  }
  absl::Status status = absl::UnavailableError("kvstore: rank 0 has no address");
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    int peer = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, 0);
    if (peer >= 0 && connect(peer, at->ai_addr, at->ai_addrlen) == 0 &&
        Send(peer, &hello, sizeof(hello))) {
      KeepAlive(peer);
      peers_[0] = peer;
      status = absl::OkStatus();
      break;
    }
    status = Failed("connect");
    Close(&peer);
  }
  freeaddrinfo(found);
  return status;
}

absl::Status PeerWatch::Start() {
  if (pipe(wake_) != 0) return Failed("pipe");
  thread_ = std::thread([this] { Watch(); });
  return absl::OkStatus();
}

void PeerWatch::Notify(int kind, int rank) {
  const News news = {.kind = kind, .rank = rank};
  for (int peer : peers_) {
    if (peer >= 0) Send(peer, &news, sizeof(news));
  }
}

void PeerWatch::MarkDead(int rank) {
  int none = -1;
  dead_.compare_exchange_strong(none, rank);
  if (rank_ == 0) Notify(kDead, rank);
}

void PeerWatch::MarkLeft(int rank) {
  has_left_[rank] = true;
  int none = -1;
  left_.compare_exchange_strong(none, rank);
  if (rank_ == 0) Notify(kLeft, rank);
}

// The thread closes no connection, so Leave never writes to a descriptor that was reused. Sending
// to a process that is gone fails, which is harmless.
void PeerWatch::Leave() { Notify(kLeft, rank_); }

void PeerWatch::Watch() {
  // The peers' connections by rank, then the pipe. poll ignores descriptors of -1.
  std::vector<pollfd> waits;
  for (const int peer : peers_) waits.push_back({.fd = peer, .events = POLLIN, .revents = 0});
  waits.push_back({.fd = wake_[0], .events = POLLIN, .revents = 0});
  while (true) {
    if (poll(waits.data(), waits.size(), -1) < 0) {
      if (errno == EINTR) continue;
      return;
    }
    if (waits.back().revents != 0) return;
    for (int rank = 0; rank < static_cast<int>(peers_.size()); ++rank) {
      if (waits[rank].revents == 0) continue;
      News news = {};
      if (Receive(waits[rank].fd, &news, sizeof(news))) {
        if (news.rank < 0 || news.rank >= static_cast<int>(has_left_.size())) continue;
        news.kind == kLeft ? MarkLeft(news.rank) : MarkDead(news.rank);
        continue;
      }
      // The end of a process that has left is expected.
      waits[rank].fd = -1;
      if (!has_left_[rank]) MarkDead(rank);
    }
  }
}

PeerWatch::~PeerWatch() {
  // Closing this end of the pipe wakes the thread's poll.
  Close(&wake_[1]);
  if (thread_.joinable()) thread_.join();
  for (int& peer : peers_) Close(&peer);
  Close(&listener_);
  Close(&wake_[0]);
}

}  // namespace cooper
