#include "executor/kernels/loss/fc_softmax_slices.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

TEST(FcSoftmaxSlicesTest, EachClassIsInOneSlice) {
  for (const int64_t classes : {1, 7, 255, 256, 511, 512, 513, 1100, 10000}) {
    for (const int64_t threads : {1, 2, 3, 4, 7, 64}) {
      SCOPED_TRACE(testing::Message() << classes << " classes, " << threads << " threads");
      const FcSoftmaxSlices slices(classes, threads);
      EXPECT_TRUE(slices.count() == threads || slices.count() == 1);
      int64_t end = 0, offset = 0;
      for (int64_t i = 0; i < slices.count(); ++i) {
        const FcSoftmaxSlice slice = slices.At(i);
        EXPECT_EQ(slice.index, i);
        EXPECT_EQ(slice.begin, end);
        EXPECT_GT(slice.size(), 0);
        EXPECT_EQ(slice.offset, offset);
        EXPECT_GE(slice.stride, slice.size());
        EXPECT_EQ(slice.offset % 16, 0) << "two threads would write to one cache line";
        for (const int64_t label : {slice.begin, slice.end - 1}) {
          EXPECT_TRUE(slice.Has(label));
          EXPECT_EQ(slices.Of(label).index, i);
        }
        EXPECT_FALSE(slice.Has(slice.begin - 1));
        EXPECT_FALSE(slice.Has(slice.end));
        end = slice.end;
        offset += slice.stride;
      }
      EXPECT_EQ(end, classes);
      EXPECT_EQ(slices.row_size(), offset);
    }
  }
}

// Every element of (rows, classes) is in exactly one part, and in exactly one part of the classes.
TEST(FcSoftmaxSlicesTest, PartsCoverEverythingOnce) {
  for (const int threads : {1, 2, 3}) {
    SetNumThreads(threads);
    for (const int64_t classes : {1, 17, 600, 1100}) {
      const FcSoftmaxSlices slices(classes, threads);
      for (const auto& [rows, part] : {std::pair<int64_t, int64_t>{1, 1}, {7, 3}, {8, 4}, {5, 9}}) {
        SCOPED_TRACE(testing::Message() << threads << " threads, " << classes << " classes, "
                                        << rows << " rows, " << part << " at a time");
        std::vector<int> in_parts(rows * classes), in_shares(classes);
        slices.ForEachPart(
            rows, part, 1,
            [&, part = part](const FcSoftmaxSlice& slice, int64_t begin, int64_t end) {
              EXPECT_LT(begin, end);
              EXPECT_LE(end - begin, part);
              for (int64_t i = begin; i < end; ++i) {
                for (int64_t j = slice.begin; j < slice.end; ++j) {
                  ++in_parts[i * classes + j];
                }
              }
            });
        EXPECT_THAT(in_parts, testing::Each(1));
        slices.ForEachClasses([&](const FcSoftmaxSlice& slice, int64_t begin, int64_t end) {
          for (int64_t j = begin; j < end; ++j) ++in_shares[slice.begin + j];
        });
        EXPECT_THAT(in_shares, testing::Each(1));
      }
    }
  }
}

TEST(FcSoftmaxSlicesTest, FewClassesStayTogether) {
  EXPECT_EQ(FcSoftmaxSlices(100, 2).count(), 1);
  EXPECT_EQ(FcSoftmaxSlices(10000, 2).count(), 2);
  EXPECT_EQ(FcSoftmaxSlices(10000, 64).count(), 1);
}

}  // namespace
}  // namespace cooper
