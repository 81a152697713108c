#include "examples/serve/http/http_connection.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace cooper {
namespace {

using Clock = HttpConnection::Clock;

constexpr absl::string_view kRange = "Range";

bool WaitFor(socket_t socket, short event, Clock::time_point end) {  // NOLINT: poll's type
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    pollfd waiting = {.fd = socket, .events = event, .revents = 0};
    const int found = poll(&waiting, 1, static_cast<int>(std::max<int64_t>(left.count(), 0)));
    if (found >= 0 || errno != EINTR) return found > 0;
  }
}

bool IsTransient(int error) { return error == EINTR || error == EAGAIN || error == EWOULDBLOCK; }

}  // namespace

HttpConnection::~HttpConnection() { close(socket_); }

bool HttpConnection::WaitToRead(std::chrono::milliseconds limit) {
  return buffer_begin_ < buffer_end_ || WaitFor(socket_, POLLIN, Clock::now() + limit);
}

void HttpConnection::BeginRequest(std::chrono::milliseconds limit, uint64_t max_bytes) {
  limit_ = limit;
  read_end_ = Clock::now() + limit;
  has_written_ = false;
  bytes_left_ = max_bytes;
  in_head_ = true;
  line_begin_.clear();
}

void HttpConnection::BeginBody(uint64_t max_bytes) {
  bytes_left_ = max_bytes;
  in_head_ = false;
}

void HttpConnection::Drain(std::chrono::milliseconds limit) {
  shutdown(socket_, SHUT_WR);
  const Clock::time_point end = Clock::now() + limit;
  do {
    const ssize_t n = recv(socket_, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (n == 0 || (n < 0 && !IsTransient(errno))) return;
  } while (Clock::now() < end && WaitFor(socket_, POLLIN, end));
}

ssize_t HttpConnection::read(char* data, size_t size) {
  while (buffer_begin_ == buffer_end_) {
    if (!is_readable()) return -1;
    const ssize_t n = recv(socket_, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (n < 0 && IsTransient(errno)) continue;
    if (n <= 0) return n;
    buffer_begin_ = 0;
    buffer_end_ = static_cast<size_t>(n);
  }
  if (bytes_left_ == 0) return -1;
  if (in_head_) {
    size = 1;
    ReadHeadByte(data);
  } else {
    size = std::min({size, buffer_end_ - buffer_begin_, static_cast<size_t>(bytes_left_)});
    std::memcpy(data, &buffer_[buffer_begin_], size);
    buffer_begin_ += size;
  }
  bytes_left_ -= size;
  bytes_read_ += size;
  has_written_ = false;  // but "100 Continue", before the body
  return static_cast<ssize_t>(size);
}

void HttpConnection::ReadHeadByte(char* data) {
  const char next = buffer_[buffer_begin_];
  if (next == ':' && absl::EqualsIgnoreCase(line_begin_, kRange)) {
    *data = '-';  // one byte more, and the colon is read after it
  } else {
    *data = next;
    ++buffer_begin_;
  }
  if (*data == '\n') {
    line_begin_.clear();
  } else if (line_begin_.size() <= kRange.size()) {
    line_begin_ += *data;
  }
}

ssize_t HttpConnection::write(const char* data, size_t size) {
  if (!has_written_) write_end_ = Clock::now() + limit_;
  has_written_ = true;
  while (is_writable()) {
    const ssize_t n = send(socket_, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n >= 0 || !IsTransient(errno)) return n;
  }
  return -1;
}

bool HttpConnection::is_readable() const {
  if (buffer_begin_ < buffer_end_) return true;
  return Clock::now() < read_end_ && WaitFor(socket_, POLLIN, read_end_);
}

bool HttpConnection::is_writable() const {
  return Clock::now() < write_end_ && WaitFor(socket_, POLLOUT, write_end_);
}

void HttpConnection::get_remote_ip_and_port(std::string& ip, int& port) const {
  ip.clear();
  port = 0;
}

void HttpConnection::get_local_ip_and_port(std::string& ip, int& port) const {
  ip.clear();
  port = 0;
}

}  // namespace cooper
