// Tests the layouts of packed weights, and the checks of packings that a file claims.

#include <algorithm>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "executor/executor.h"
#include "executor/executor_fixtures.h"
#include "executor/kernels/convolution/blocked_product.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/symbol.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

Symbol PackedWeight(const AttrMap& attrs) {
  return Op("_packed_weight",
            {.name = "packed", .inputs = {Symbol::Variable("data")}, .attrs = attrs});
}

TEST(PackedWeightTest, Layout) {
  // (5, 3) in slices of 2 rows, columns outermost, in blocks of two columns and two rows.
  const Symbol net = PackedWeight({{"shape", "(5, 3)"},
                                   {"slice", "2"},
                                   {"outer", "(1, 0)"},
                                   {"block_axes", "(1, 0)"},
                                   {"block_sizes", "(2, 2)"}});
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto executor,
      Executor::SimpleBind(net, {.shapes = {{"data", {5, 3}}}, .grad_req = WriteReq::kNull}));
  EXPECT_EQ(executor->output_shapes()[0], Shape({48}));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto values, executor->arg("data").Data<float>());
  for (int i = 0; i < 15; ++i) values[i] = static_cast<float>(i + 1);
  COOPER_ASSERT_OK(executor->Forward(/*is_train=*/false));
  std::vector<float> expected(48);
  const std::vector<float> slices[] = {
      {1, 4, 2, 5, 3, 6, 0, 0}, {7, 10, 8, 11, 9, 12, 0, 0}, {13, 0, 14, 0, 15, 0, 0, 0}};
  for (int i = 0; i < 3; ++i) std::ranges::copy(slices[i], expected.begin() + 16 * i);
  EXPECT_EQ(Floats((*executor->outputs())[0]), expected);
}

TEST(PackedWeightTest, Errors) {
  const AttrMap good = {{"shape", "(4, 6)"}, {"outer", "(0, 1)"}};
  struct Case {
    const char* name;
    AttrMap attrs;
    const char* message;
  };
  const Case cases[] = {
      {"Elements", {{"shape", "(4, 7)"}}, "input 'weight' (4, 6)"},
      {"NoExtent", {{"shape", "(4, 0)"}}, "extents above 0"},
      {"Huge", {{"shape", "(4000000000, 4000000000)"}}, "too many elements"},
      {"Order", {{"outer", "(0, 0)"}}, "outer (0, 0) is not an order of 2 axes"},
      {"NoAxis", {{"block_axes", "(2,)"}, {"block_sizes", "(2,)"}}, "block_axes (2)"},
      {"NoSize", {{"block_axes", "(1,)"}}, "as many axes as sizes"},
      {"LargeBlock", {{"block_axes", "(1,)"}, {"block_sizes", "(4097,)"}}, "greatest product"},
      {"NegativeBlock", {{"block_axes", "(1,)"}, {"block_sizes", "(-2,)"}}, "block_sizes (-2)"},
  };
  for (const Case& c : cases) {
    AttrMap attrs = good;
    for (const auto& [name, value] : c.attrs) attrs[name] = value;
    EXPECT_THAT(Executor::SimpleBind(PackedWeight(attrs),
                                     {.shapes = {{"data", {4, 6}}}, .grad_req = WriteReq::kNull}),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(c.message)))
        << c.name;
  }
}

TEST(WinogradWeightTest, Errors) {
  const AttrMap good = {{"filters", "32"}, {"channels", "16"}, {"slice", "16"},
                        {"format", "1"},   {"alpha", "4"},     {"filter_block", "16"}};
  struct Case {
    const char* name;
    AttrMap attrs;
    const char* message;
  };
  const Case cases[] = {
      {"Slices", {{"slice", "24"}}, "whole slices"},
      {"FilterBlocks", {{"filter_blocks", "2"}}, "whole groups of 2 blocks of 16 filters"},
      {"ChannelBlocks", {{"channel_block", "5"}}, "1 blocks of 5 channels"},
      {"Alpha", {{"alpha", "5"}}, "an even alpha"},
      {"Format", {{"format", "9"}}, "format"},
      {"Weight", {{"channels", "32"}}, "(filters, channels, 3, 3)"},
  };
  for (const Case& c : cases) {
    AttrMap attrs = good;
    for (const auto& [name, value] : c.attrs) attrs[name] = value;
    const auto symbol = Symbol::Create(
        "_winograd_weight", {.name = "w", .inputs = {Symbol::Variable("data")}, .attrs = attrs});
    absl::Status status = symbol.status();
    if (status.ok()) {
      status = Executor::SimpleBind(
                   *symbol, {.shapes = {{"data", {32, 16, 3, 3}}}, .grad_req = WriteReq::kNull})
                   .status();
    }
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(c.message)))
        << c.name;
  }
}

AttrMap TileAttrs(const char* alpha) {
  return {{"filters", "32"}, {"channels", "3"}, {"slice", "16"}, {"format", "5"}, {"alpha", alpha}};
}

TEST(WinogradWeightTest, TileFormatHasFiltersInnermost) {
  const Symbol net =
      Op("_winograd_weight",
         {.name = "w", .inputs = {Symbol::Variable("data")}, .attrs = TileAttrs("6")});
  const NDArray data = RandomArrays({Shape({32, 3, 3, 3})}, 1)[0];
  COOPER_ASSERT_OK_AND_ASSIGN(const auto executor, Executor::Bind(net, {.args = {{"data", data}}}));
  COOPER_ASSERT_OK(executor->Forward(/*is_train=*/false));
  const std::vector<float> once = Floats((*executor->outputs())[0]);
  // The four corners of a window are corners of its tile: element 0 is the first one.
  EXPECT_EQ(once[0], Floats(data)[0]);
  EXPECT_EQ(once[1], Floats(data)[27]) << "filters are innermost";
  EXPECT_EQ(once[16], Floats(data)[9]) << "then channels";
  EXPECT_EQ(once[35 * 48], Floats(data)[8]);
}

TEST(WinogradWeightTest, TileFormatHasTilesOf6) {
  const Symbol net =
      Op("_winograd_weight",
         {.name = "w", .inputs = {Symbol::Variable("data")}, .attrs = TileAttrs("4")});
  EXPECT_THAT(
      Executor::SimpleBind(net, {.shapes = {{"data", {32, 3, 3, 3}}}, .grad_req = WriteReq::kNull}),
      StatusIs(absl::StatusCode::kUnimplemented,
               HasSubstr("format 5 with slices of 16 filters and alpha 4, expected 16 and "
                         "6")));
}

// Tests that weights are checked if a file says that they are packed.
TEST(PackedWeightTest, OfAnotherConvolution) {
  const Symbol conv =
      Op("_fused_convolution", {.name = "conv",
                                .inputs = {Symbol::Variable("data"), Symbol::Variable("weight")},
                                .attrs = {{"kernel", "(3, 3)"},
                                          {"num_filter", absl::StrCat(OneDnnChannelBlock())},
                                          {"block", absl::StrCat(OneDnnChannelBlock())},
                                          {"no_bias", "True"},
                                          {"weight_packing", "any"}}});
  EXPECT_THAT(Executor::SimpleBind(
                  conv, {.shapes = {{"data", {1, 1, 8, 8, OneDnnChannelBlock()}}, {"weight", {16}}},
                         .grad_req = WriteReq::kNull}),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("is packed as any")));
}

}  // namespace
}  // namespace cooper
