#include "tools/onnx/dims_flag.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

std::string TextOf(const InputDims& inputs) {
  std::string text;
  for (const auto& [name, dims] : inputs) {
    absl::StrAppend(&text, name, ":");
    for (const InputDim& dim : dims) absl::StrAppend(&text, " ", dim.symbol, "=", dim.extent);
    absl::StrAppend(&text, "; ");
  }
  return text;
}

TEST(DimsFlagTest, Parses) {
  struct Case {
    const char* text;
    const char* expected;
  };
  for (const Case& c : std::vector<Case>{
           {"", ""},
           {"data:batch,3,224,224", "data: batch=0 =3 =224 =224; "},
           {"data:batch,length=60;lengths:batch", "data: batch=0 length=60; lengths: batch=0; "},
           {"a:b:7", "a:b: =7; "},
       }) {
    const auto inputs = ParseDimsFlag(c.text);
    COOPER_ASSERT_OK(inputs) << c.text;
    EXPECT_EQ(TextOf(*inputs), c.expected) << c.text;
  }
}

TEST(DimsFlagTest, RefusesOtherTexts) {
  struct Case {
    const char* text;
    const char* error;
  };
  for (const Case& c : std::vector<Case>{
           {"data", "'data': expected a name, a colon and extents, such as data:batch,3,224,224"},
           {"data:3,,4", "'data:3,,4': extent '', expected a number above 0, a name, or both"},
           {"data:0", "'data:0': extent '0', expected a number above 0"},
           {"data:n=0", "'data:n=0': extent 'n=0', expected a number above 0"},
           {"data:n=", "'data:n=': extent 'n=', expected a number above 0"},
           {"data:2n", "'data:2n': extent '2n', expected a number above 0"},
           {"data:3;data:4", "'data:4': the input has a shape already"},
       }) {
    const auto inputs = ParseDimsFlag(c.text);
    ASSERT_FALSE(inputs.ok()) << c.text;
    EXPECT_EQ(inputs.status().message().substr(0, std::string(c.error).size()), c.error);
  }
}

}  // namespace
}  // namespace cooper
