#include "examples/serve/http/http_connection.h"

#include <sys/socket.h>
#include <unistd.h>

#include <chrono>

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

}  // namespace
}  // namespace cooper
