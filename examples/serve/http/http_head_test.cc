#include "examples/serve/http/http_head.h"

#include <cstdint>
#include <optional>

#include "gtest/gtest.h"
#include "httplib.h"

namespace cooper {
namespace {

TEST(HttpHeadTest, TellsOfTheBody) {
  constexpr auto kUnknown = std::nullopt;
  constexpr uint64_t kMax = 1000;
  const struct {
    const char* name;
    const char* method;
    httplib::Headers headers;
    std::optional<uint64_t> bytes;
    int status;
  } kCases[] = {
      {"no body", "GET", {}, 0, 0},
      {"no length", "POST", {}, 0, 411},
      {"no length of another method", "PUT", {}, 0, 411},
      {"empty", "POST", {{"Content-Length", "0"}}, 0, 0},
      {"largest", "POST", {{"Content-Length", "1000"}}, 1000, 0},
      {"too large", "POST", {{"content-length", "1001"}}, 1001, 413},
      {"above 2^64", "POST", {{"Content-Length", "99999999999999999999999"}}, UINT64_MAX, 413},
      {"negative", "POST", {{"Content-Length", "-1"}}, kUnknown, 400},
      {"no number", "POST", {{"Content-Length", "7 apples"}}, kUnknown, 400},
      {"two", "POST", {{"Content-Length", "1"}, {"Content-Length", "2"}}, kUnknown, 400},
      {"of a GET", "GET", {{"Content-Length", "x"}}, kUnknown, 400},
      {"chunks", "POST", {{"Transfer-Encoding", "Chunked"}}, kUnknown, 0},
      {"chunks and a length",
       "POST",
       {{"Transfer-Encoding", "chunked"}, {"Content-Length", "3"}},
       kUnknown,
       400},
      {"chunks twice",
       "POST",
       {{"Transfer-Encoding", "chunked"}, {"Transfer-Encoding", "x"}},
       kUnknown,
       400},
      {"packed chunks", "POST", {{"Transfer-Encoding", "gzip, chunked"}}, kUnknown, 501},
      {"as it is", "POST", {{"Content-Length", "9"}, {"Content-Encoding", "identity"}}, 9, 0},
      {"gzip", "POST", {{"Content-Length", "9"}, {"Content-Encoding", "gzip"}}, 9, 415},
      {"brotli", "POST", {{"Content-Length", "9"}, {"Content-Encoding", "br"}}, 9, 415},
      {"several parts",
       "POST",
       {{"Content-Length", "9"}, {"Content-Type", "multipart/form-data; boundary=x"}},
       9,
       415},
  };
  for (const auto& c : kCases) {
    httplib::Request request;
    request.method = c.method;
    request.headers = c.headers;
    EXPECT_EQ(BodyBytes(request), c.bytes) << c.name;
    EXPECT_EQ(RefusalOf(request, kMax).status, c.status) << c.name;
  }
}

}  // namespace
}  // namespace cooper
