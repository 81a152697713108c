#ifndef COOPER_EXAMPLES_SERVE_HTTP_HTTP_CONNECTION_H_
#define COOPER_EXAMPLES_SERVE_HTTP_HTTP_CONNECTION_H_

// A connection of HttpServer, with a limit for the time and the bytes of a request as a whole.
// httplib's own has a time limit for each read, so that a client that sends a byte now and then
// keeps a thread for ever, and none for the bytes of a head.
//
// It also hides Range headers, which a server may ignore. httplib repeats a body for each of the
// thousands of ranges that a header has room for, and its regular expression for them takes stack
// by the byte.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "httplib.h"

namespace cooper {

class HttpConnection : public httplib::Stream {
 public:
  using Clock = std::chrono::steady_clock;

  // Owns the socket.
  explicit HttpConnection(socket_t socket) : socket_(socket) {}
  ~HttpConnection() override;

  // Whether there is something to read within the time, if only the connection's end.
  bool WaitToRead(std::chrono::milliseconds limit);

  // From here on all reads together have this time, and all writes the same again, from the first
  // of them on. Then, and after the bytes, they fail. Until BeginBody, what is read is the head: a
  // byte at a time, and with a header Range- in place of Range.
  void BeginRequest(std::chrono::milliseconds limit, uint64_t max_bytes);
  // The head has been read. For what is left of the request, in the same time.
  void BeginBody(uint64_t max_bytes);
  // The number of bytes that callers have read from the connection.
  uint64_t bytes_read() const { return bytes_read_; }

  // Sends the end, and drops what still comes until the client has ended too, or the time is up. A
  // socket that is closed with unread bytes takes its last answer from the client.
  void Drain(std::chrono::milliseconds limit);

  ssize_t read(char* data, size_t size) override;
  ssize_t write(const char* data, size_t size) override;
  bool is_readable() const override;
  bool is_writable() const override;
  // Not told.
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  socket_t socket() const override { return socket_; }

 private:
  void ReadHeadByte(char* data);

  const socket_t socket_;
  std::chrono::milliseconds limit_{0};
  Clock::time_point read_end_, write_end_;
  bool has_written_ = false;  // since the last read
  uint64_t bytes_left_ = 0, bytes_read_ = 0;
  bool in_head_ = false;
  std::string line_begin_;  // of the head's line that is read: enough to tell Range from others
  std::array<char, 4096> buffer_;  // httplib reads heads byte by byte
  size_t buffer_begin_ = 0, buffer_end_ = 0;
};

}  // namespace cooper

#endif  // COOPER_EXAMPLES_SERVE_HTTP_HTTP_CONNECTION_H_
