#include "module/onnx/wire_message.h"

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

// Returns the bytes of a message in hexadecimal.
std::string Hex(const WireMessage& message) {
  std::string bytes;
  COOPER_EXPECT_OK(message.Write([&bytes](absl::string_view part) {
    bytes.append(part.data(), part.size());
    return absl::OkStatus();
  }));
  EXPECT_EQ(message.size(), static_cast<int64_t>(bytes.size()));
  return absl::BytesToHexString(bytes);
}

// The bytes are those of the examples and rules of protobuf's page on encoding.
TEST(WireMessageTest, Numbers) {
  struct Case {
    int field;
    int64_t value;
    const char* hex;
  };
  for (const Case& c : std::vector<Case>{
           {1, 0, "0800"},
           {1, 127, "087f"},
           {1, 150, "089601"},
           {16, 1, "800101"},
           {1, -1, "08ffffffffffffffffff01"},
           {1, std::numeric_limits<int64_t>::max(), "08ffffffffffffffff7f"},
       }) {
    WireMessage message;
    message.AddInt(c.field, c.value);
    EXPECT_EQ(Hex(message), c.hex) << c.value;
  }
  WireMessage message;
  message.AddFloat(2, 1.5F);
  EXPECT_EQ(Hex(message), "150000c03f");
}

TEST(WireMessageTest, NestedMessagesKeepTheOrderOfFields) {
  const std::string large = "large";
  WireMessage inner;
  inner.AddBytes(1, "a");
  inner.AddLargeBytes(2, large);
  inner.AddInt(3, 7);
  WireMessage outer;
  outer.AddInt(1, 1);
  outer.AddMessage(2, std::move(inner));
  outer.AddBytes(3, "");
  EXPECT_EQ(Hex(outer),
            "0801"
            "120c"
            "0a0161"
            "12056c61726765"
            "1807"
            "1a00");
}

TEST(WireMessageTest, AnErrorOfTheFileEndsTheWriting) {
  WireMessage message;
  message.AddLargeBytes(1, "x");
  message.AddLargeBytes(1, "y");
  int calls = 0;
  EXPECT_THAT(message.Write([&calls](absl::string_view) {
    ++calls;
    return absl::DataLossError("full");
  }),
              StatusIs(absl::StatusCode::kDataLoss, "full"));
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace cooper
