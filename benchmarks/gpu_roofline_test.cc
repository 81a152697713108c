#include "benchmarks/gpu_roofline.h"

#include "executor/compile/compiled_program.h"
#include "executor/executor.h"
#include "executor/executor_fixtures.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

TEST(RooflineTest, TheSlowerOfTheTwoCounts) {
  EXPECT_DOUBLE_EQ(RooflineSeconds({.bytes = 3.35e12, .flops = 1}), 1);
  EXPECT_DOUBLE_EQ(RooflineSeconds({.bytes = 1, .flops = 66.9e12}), 1);
}

double LeastBytes(const Symbol& symbol, const KnownShapes& shapes, WriteReq grad_req) {
  const auto compiled = Executor::Compile(symbol, {.shapes = shapes, .grad_req = grad_req});
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  return MinWork((*compiled)->program()).bytes;
}

TEST(RooflineTest, EachArrayOfAnOperatorCountsOnce) {
  const Symbol data = Symbol::Variable("data");
  const Symbol sum = Op("elemwise_add", {.inputs = {data, Symbol::Variable("other")}});
  EXPECT_EQ(LeastBytes(sum, {{"data", {10}}}, WriteReq::kNull), 3 * 40);
  const Symbol square = Op("square", {.inputs = {data}});
  EXPECT_EQ(LeastBytes(square, {{"data", {10}}}, WriteReq::kNull), 2 * 40);
  // The gradient reads the data and the head gradient.
  EXPECT_EQ(LeastBytes(square, {{"data", {10}}}, WriteReq::kWrite), (2 + 3) * 40);
  EXPECT_EQ(LeastBytes(square, {{"data", {10}}}, WriteReq::kAdd), (2 + 4) * 40);
  const Symbol view = Op("Reshape", {.inputs = {square}, .attrs = {{"shape", "(2, 5)"}}});
  EXPECT_EQ(LeastBytes(view, {{"data", {10}}}, WriteReq::kNull), 2 * 40) << "a view moves nothing";
  const Symbol zeros = Op("zeros_like", {.inputs = {square}});
  EXPECT_EQ(LeastBytes(zeros, {{"data", {10}}}, WriteReq::kNull), 3 * 40) << "a shape has no bytes";
}

TEST(RooflineTest, OfALookUpTheRowsThatAreReadCount) {
  const Symbol embed = Op("Embedding", {.inputs = {Symbol::Variable("data")},
                                        .attrs = {{"input_dim", "1000"}, {"output_dim", "4"}}});
  EXPECT_EQ(LeastBytes(embed, {{"data", {5}}}, WriteReq::kNull), (5 + 20 + 20) * 4);
}

}  // namespace
}  // namespace cooper
