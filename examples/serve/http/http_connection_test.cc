#include "examples/serve/http/http_connection.h"

#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "gtest/gtest.h"

namespace cooper {
namespace {

TEST(HttpConnectionTest, WhatIsBufferedIsReadable) {
  int sockets[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
  HttpConnection connection(sockets[0]);
  connection.BeginRequest(std::chrono::milliseconds(100), /*max_bytes=*/2);
  ASSERT_EQ(write(sockets[1], "ab", 2), 2);
  char byte = 0;
  ASSERT_EQ(connection.read(&byte, 1), 1);
  EXPECT_TRUE(connection.is_readable()) << "the second byte, which the socket has no more";
  ASSERT_EQ(connection.read(&byte, 1), 1);
  EXPECT_EQ(byte, 'b');
  EXPECT_FALSE(connection.is_readable());
  close(sockets[1]);
}

// Reads up to `size` bytes from the connection, one byte at a time.
std::string ReadBytes(HttpConnection& connection, size_t size) {
  std::string bytes;
  char byte = 0;
  while (bytes.size() < size && connection.read(&byte, 1) == 1) bytes += byte;
  return bytes;
}

TEST(HttpConnectionTest, HidesRangeHeaders) {
  int sockets[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
  HttpConnection connection(sockets[0]);
  const std::string request =
      "Range: a\r\nrange: b:c\r\nX-Range: d\r\nRanges: e\r\nRange\r\nRANGE:f\r\n\r\n";
  const std::string read =
      "Range-: a\r\nrange-: b:c\r\nX-Range: d\r\nRanges: e\r\nRange\r\nRANGE-:f\r\n\r\n";
  const std::string body = "Range: a";
  const std::string sent = request + body;
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(write(sockets[1], sent.data(), sent.size()), static_cast<ssize_t>(sent.size()));
    connection.BeginRequest(std::chrono::milliseconds(100), /*max_bytes=*/1000);
    EXPECT_EQ(ReadBytes(connection, read.size()), read);
    connection.BeginBody(/*max_bytes=*/1000);
    EXPECT_EQ(ReadBytes(connection, body.size()), body);
  }
  close(sockets[1]);
}

}  // namespace
}  // namespace cooper
