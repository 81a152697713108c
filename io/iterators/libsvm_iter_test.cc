#include "io/iterators/libsvm_iter.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/batch/iter_fixtures.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Write(const std::string& name, const std::string& text) {
  std::string path = ::testing::TempDir() + "/libsvm_iter_test_" + name;
  COOPER_EXPECT_OK(WriteFileAtomically(path, text));
  return path;
}

std::unique_ptr<LibSvmIter> Make(const LibSvmIterOptions& options) {
  auto iter = LibSvmIter::Create(options);
  EXPECT_TRUE(iter.ok()) << iter.status();
  return *std::move(iter);
}

std::vector<std::vector<float>> Labels(DataIter& iter) {
  std::vector<std::vector<float>> batches;
  for (const DataBatch& batch : Epoch(iter)) batches.push_back(*batch.label[0].ToVector<float>());
  return batches;
}

TEST(LibSvmIterTest, ServesDenseRows) {
  const std::string data = Write("data", "1.5 0:0.5 2:-1e2\n-2 \t# no entries\r\n\n3 2:1 1:2 0\n");
  const auto iter = Make({.data_libsvm = data, .data_shape = {3}, .batch_size = 3});
  EXPECT_EQ(DescsToString(iter->provide_data()), "data (3, 3) float32 NCHW");
  EXPECT_EQ(DescsToString(iter->provide_label()), "softmax_label (3,) float32 NCHW");
  COOPER_ASSERT_OK_AND_ASSIGN(const auto batch, iter->Next());
  EXPECT_THAT(*batch->data[0].ToVector<float>(), ElementsAre(0.5, 0, -100, 0, 0, 0, 1, 2, 1));
  EXPECT_THAT(*batch->label[0].ToVector<float>(), ElementsAre(1.5, -2, 3));
}

TEST(LibSvmIterTest, PassesOverWeightsAndQueries) {
  const std::string data = Write("data", "1:0.5 qid:7 0:2\n2:3 0:4\n");
  const auto iter = Make({.data_libsvm = data, .data_shape = {1}, .batch_size = 2});
  COOPER_ASSERT_OK_AND_ASSIGN(const auto batch, iter->Next());
  EXPECT_THAT(*batch->data[0].ToVector<float>(), ElementsAre(2, 4));
  EXPECT_THAT(*batch->label[0].ToVector<float>(), ElementsAre(1, 2));
}

TEST(LibSvmIterTest, FillsTheLastBatchFromTheStartOrWithZeros) {
  LibSvmIterOptions options = {
      .data_libsvm = Write("data", "1 0:1\n2 0:2\n3 0:3"), .data_shape = {1}, .batch_size = 2};
  const auto iter = Make(options);
  EXPECT_THAT(Labels(*iter), ElementsAre(ElementsAre(1, 2), ElementsAre(3, 1)));
  COOPER_ASSERT_OK(iter->Reset());
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string state, iter->SaveState());
  EXPECT_THAT(Labels(*iter), ElementsAre(ElementsAre(2, 3)));
  options.round_batch = false;
  const auto padded = Make(options);
  const std::vector<DataBatch> batches = Epoch(*padded);
  ASSERT_EQ(batches.size(), 2u);
  EXPECT_THAT(*batches[1].data[0].ToVector<float>(), ElementsAre(3, 0));
  EXPECT_THAT(*batches[1].label[0].ToVector<float>(), ElementsAre(3, 0));
  EXPECT_THAT(padded->LoadState(state),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("round_batch")));
}

TEST(LibSvmIterTest, LabelsOfAnotherFileFollowTheirRows) {
  LibSvmIterOptions options = {.data_libsvm = Write("data", "0 0:1\n0 0:2 1:2 2:2\n0 0:3\n0 0:4\n"),
                               .data_shape = {3},
                               .label_libsvm = Write("label", "0 1:1\n0 1:2\n0 1:3\n0 0:9 1:4\n"),
                               .label_shape = {2},
                               .num_parts = 2};
  std::vector<std::vector<float>> labels;
  for (options.part_index = 0; options.part_index < 2; ++options.part_index) {
    for (const DataBatch& batch : Epoch(*Make(options))) {
      labels.push_back(*batch.label[0].ToVector<float>());
      EXPECT_EQ((*batch.data[0].ToVector<float>())[0], labels.back()[1]);
    }
  }
  EXPECT_THAT(labels, ElementsAre(ElementsAre(0, 1), ElementsAre(0, 2), ElementsAre(0, 3),
                                  ElementsAre(9, 4)));
}

TEST(LibSvmIterTest, PartsHaveEachRowOfSeveralFilesOnce) {
  const std::string files =
      Write("a", "1\n22222\n\n3") + ";" + Write("b", "4\n5 0:1\n") + ";" + Write("c", "# none\n6");
  for (int64_t num_parts = 1; num_parts < 40; ++num_parts) {
    std::vector<float> labels;
    for (int64_t part = 0; part < num_parts; ++part) {
      const auto iter = LibSvmIter::Create(
          {.data_libsvm = files, .data_shape = {1}, .num_parts = num_parts, .part_index = part});
      if (!iter.ok()) {
        EXPECT_THAT(iter.status(), StatusIs(absl::StatusCode::kInvalidArgument,
                                            HasSubstr("has no rows in part ")));
        continue;
      }
      for (const auto& batch : Labels(**iter)) labels.push_back(batch[0]);
    }
    EXPECT_THAT(labels, ElementsAre(1, 22222, 3, 4, 5, 6)) << num_parts;
  }
}

TEST(LibSvmIterTest, NamesFileLineAndField) {
  const struct {
    const char* text;
    const char* says;
  } cases[] = {
      {"x 0:1\n", "line 1: field 1: 'x' is not a label, or a label and a weight"},
      {"1:y 0:1\n", "line 1: field 1: '1:y' is not a label"},
      {"1\n\n1 0:1 1:x\n", "line 3: field 3: '1:x' is not a column and its value"},
      {"1 a:1\n", "line 1: field 2: 'a:1' is not a column"},
      {"1 0:1:2\n", "line 1: field 2: '0:1:2' is not a column"},
      {"1 qid:x\n", "line 1: field 2: 'qid:x' is not a qid"},
      {"1 0:1 qid:3\n", "line 1: field 3: 'qid:3' is not a column"},
      {"1 2:1\n", "line 1: field 2: '2:1' is not in a column from 0 to 1"},
      {"1 -1:1\n", "line 1: field 2: '-1:1' is not in a column from 0 to 1"},
      {"1 1:1 0:1 1:2\n", "line 1: column 1 comes twice"},
      {"# none\n", "' has no rows in part 0 of 1"},
  };
  for (const auto& test : cases) {
    const std::string path = Write("bad", test.text);
    EXPECT_THAT(
        LibSvmIter::Create({.data_libsvm = path, .data_shape = {2}}),
        StatusIs(absl::StatusCode::kInvalidArgument,
                 ::testing::AllOf(HasSubstr("LibSVMIter: '" + path + "'"), HasSubstr(test.says))));
  }
}

TEST(LibSvmIterTest, RefusesOptions) {
  const std::string rows = Write("data", "1\n2\n");
  const struct {
    LibSvmIterOptions options;
    const char* says;
  } cases[] = {
      {{.data_libsvm = rows}, "data_shape is (), expected one extent of at least 1"},
      {{.data_libsvm = rows, .data_shape = {1, 2}}, "data_shape is (1, 2), expected one extent"},
      {{.data_libsvm = rows, .data_shape = {1}, .label_shape = {2}},
       "label_shape is (2,), expected (1,): the labels come from data_libsvm"},
      {{.data_libsvm = rows, .data_shape = {1}, .label_libsvm = rows},
       "label_shape with label_libsvm is (1,), expected one extent of at least 2"},
      {{.data_libsvm = rows, .data_shape = {1}, .num_parts = 2, .part_index = 2},
       "part_index is 2, num_parts 2, expected 0 <= part_index < num_parts"},
      {{.data_libsvm = rows, .data_shape = {1}, .batch_size = 0}, "batch_size is 0"},
      {{.data_libsvm = rows,
        .data_shape = {1},
        .label_libsvm = Write("3_rows", "1\n2\n3\n"),
        .label_shape = {2}},
       "3_rows' has 3 rows, '"},
  };
  for (const auto& test : cases) {
    EXPECT_THAT(LibSvmIter::Create(test.options),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(test.says)));
  }
  EXPECT_THAT(LibSvmIter::Create({.data_libsvm = "/no/such/file", .data_shape = {1}}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/no/such/file")));
}

}  // namespace
}  // namespace cooper
