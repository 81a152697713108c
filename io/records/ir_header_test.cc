#include "io/records/ir_header.h"

#include <string>

#include "absl/strings/escaping.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

// The bytes are those of mx.recordio.pack in MXNet 1.9.1.
TEST(IRHeaderTest, PacksAsMxnet) {
  const struct {
    IRHeader header;
    const char* hex;
  } cases[] = {
      {{.label = 1.5f, .id = 7}, "000000000000c03f07000000000000000000000000000000"},
      {{.labels = {2, -3}, .id = 1, .id2 = uint64_t{1} << 63},
       "020000000000000001000000000000000000000000000080"
       "00000040000040c0"},
  };
  for (const auto& test : cases) {
    const std::string record = Pack(test.header, "payload");
    EXPECT_EQ(record, absl::HexStringToBytes(test.hex) + "payload");
    COOPER_ASSERT_OK_AND_ASSIGN(const UnpackedRecord unpacked, Unpack(record));
    IRHeader expected = test.header;
    expected.flag = static_cast<uint32_t>(expected.labels.size());
    EXPECT_EQ(unpacked.header, expected);
    EXPECT_EQ(unpacked.payload, "payload");
  }
}

TEST(IRHeaderTest, AnArrayTakesThePlaceOfTheLabel) {
  COOPER_ASSERT_OK_AND_ASSIGN(const UnpackedRecord unpacked,
                              Unpack(Pack({.flag = 9, .label = 4, .labels = {5}}, "")));
  EXPECT_EQ(unpacked.header, (IRHeader{.flag = 1, .label = 0, .labels = {5}}));
}

TEST(IRHeaderTest, RefusesShortRecords) {
  const std::string record = Pack({.labels = {1, 2}}, "");
  EXPECT_THAT(Unpack(record.substr(0, 23)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "a record of 23 bytes has no header, which has 24"));
  EXPECT_THAT(Unpack(record.substr(0, 31)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("announces 2 labels of 4 bytes, 7 bytes follow")));
  EXPECT_THAT(Unpack(std::string(4, '\xff') + record.substr(4)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("announces 4294967295 labels of 4 bytes, 8 bytes follow")));
}

}  // namespace
}  // namespace cooper
