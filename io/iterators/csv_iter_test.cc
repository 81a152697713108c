#include "io/iterators/csv_iter.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/batch/iter_fixtures.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Write(const std::string& name, const std::string& text) {
  std::string path = ::testing::TempDir() + "/csv_iter_test_" + name;
  EXPECT_THAT(WriteFileAtomically(path, text), IsOk());
  return path;
}

std::unique_ptr<CsvIter> Make(const CsvIterOptions& options) {
  auto iter = CsvIter::Create(options);
  EXPECT_TRUE(iter.ok()) << iter.status();
  return *std::move(iter);
}

struct Batch {
  std::vector<float> label;
  int64_t pad;
  friend bool operator==(const Batch&, const Batch&) = default;
};
void PrintTo(const Batch& batch, std::ostream* os) {
  *os << ::testing::PrintToString(batch.label) << " pad " << batch.pad;
}

std::vector<Batch> Labels(DataIter& iter) {
  std::vector<Batch> batches;
  for (const DataBatch& batch : Epoch(iter)) {
    batches.push_back({*batch.label[0].ToVector<float>(), batch.pad});
  }
  return batches;
}

// Returns rows 1, 2, ... with their number as label.
CsvIterOptions Rows(int rows) {
  std::string data, label;
  for (int i = 1; i <= rows; ++i) {
    const std::string n = std::to_string(i);
    absl::StrAppend(&data, n, ".5, -", n, "\n");
    absl::StrAppend(&label, n, "\r\n");
  }
  const std::string suffix = std::to_string(rows) + ".csv";
  return {.data_csv = Write("data" + suffix, data),
          .data_shape = {2},
          .label_csv = Write("label" + suffix, label),
          .batch_size = 3};
}

TEST(CsvIterTest, ReadsNumbersInTheShapeOfARow) {
  CsvIterOptions options = Rows(3);
  options.data_shape = {1, 2};
  const auto iter = Make(options);
  EXPECT_EQ(DescsToString(iter->provide_data()), "data (3, 1, 2) float32 NCHW");
  EXPECT_EQ(DescsToString(iter->provide_label()), "softmax_label (3,) float32 NCHW");
  COOPER_ASSERT_OK_AND_ASSIGN(const std::optional<DataBatch> batch, iter->Next());
  EXPECT_EQ(batch->data[0].shape(), Shape({3, 1, 2}));
  EXPECT_THAT(*batch->data[0].ToVector<float>(), ElementsAre(1.5, -1, 2.5, -2, 3.5, -3));
}

TEST(CsvIterTest, ReadsTheRowsOfSeveralFiles) {
  CsvIterOptions options = {.data_csv = Write("1.csv", "1\n2") + ";" + Write("2.csv", "3\n"),
                            .data_shape = {1},
                            .label_csv = Write("3.csv", "1\n") + ";" + Write("4.csv", "2\n3\n"),
                            .batch_size = 3};
  COOPER_ASSERT_OK_AND_ASSIGN(const std::optional<DataBatch> batch, Make(options)->Next());
  EXPECT_THAT(*batch->data[0].ToVector<float>(), ElementsAre(1, 2, 3));
  EXPECT_THAT(*batch->label[0].ToVector<float>(), ElementsAre(1, 2, 3));
  Write("2.csv", "3\nx\n");
  EXPECT_THAT(CsvIter::Create(options),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("_2.csv', line 2, field 1")));
}

TEST(CsvIterTest, ReadsInt64AsItIs) {
  const std::string data = Write("int64.csv", "9007199254740993, -9223372036854775808\n1e3,2.5\n");
  const auto iter = Make({.data_csv = data,
                          .data_shape = {2},
                          .label_csv = data,
                          .label_shape = {2},
                          .batch_size = 2,
                          .dtype = DType::kInt64});
  COOPER_ASSERT_OK_AND_ASSIGN(const std::optional<DataBatch> batch, iter->Next());
  const auto values = ElementsAre(9007199254740993, INT64_MIN, 1000, 2);
  EXPECT_THAT(*batch->data[0].ToVector<int64_t>(), values);
  EXPECT_THAT(*batch->label[0].ToVector<int64_t>(), values);
  for (const std::string text :
       {"9223372036854775808", "9007199254740993.0", "1e300", "nan", "x"}) {
    EXPECT_THAT(
        CsvIter::Create(
            {.data_csv = Write("bad_int64.csv", text), .data_shape = {1}, .dtype = DType::kInt64}),
        StatusIs(absl::StatusCode::kInvalidArgument,
                 HasSubstr("line 1, field 1: '" + text + "' is not a number" +
                           (text == "x" ? "" : " that int64 holds; choose another dtype"))));
  }
}

// The expected values are those of MXNet 1.9.1 (dmlc-core's parser).
TEST(CsvIterTest, PassesOverEmptyFieldsAsMXNet) {
  struct Case {
    const char* text;
    DType dtype;
    std::vector<float> values;  // of rows (3,); empty: an error
  };
  const DType f = DType::kFloat32, i = DType::kInt32;
  const Case cases[] = {
      {"1,2,3,\n4,5,6,", f, {1, 2, 3, 4, 5, 6}},
      {"1,2,3,\r\n4,5,6,\r\n", i, {1, 2, 3, 4, 5, 6}},
      {"1,2,3,,", f, {1, 2, 3}},
      {"1,,2,3", i, {1, 2, 3}},
      {",,1,2,3", f, {1, 2, 3}},
      {"1,2,3\n,,,4,5,6,", f, {1, 2, 3, 4, 5, 6}},
      {"1,,3", f, {}},
      {"1,2,", i, {}},
      {",,", f, {}},
      {"1,2,3\n,,\n", f, {}},
      {"1, ,3", f, {1, 0, 3}},
      {" ,1,2", f, {0, 1, 2}},
      {"1, ,3", i, {}},
      {"1,2, ,3", i, {1, 2, 3}},
  };
  for (const Case& test : cases) {
    SCOPED_TRACE(test.text);
    const auto rows = static_cast<int64_t>(test.values.size()) / 3;
    const auto iter = CsvIter::Create({.data_csv = Write("empty.csv", test.text),
                                       .data_shape = {3},
                                       .batch_size = std::max<int64_t>(rows, 1),
                                       .dtype = test.dtype});
    if (rows == 0) {
      EXPECT_THAT(iter, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("expected 3")));
      continue;
    }
    COOPER_ASSERT_OK(iter);
    EXPECT_EQ(*(*(*iter)->Next())->data[0].ToVector<float>(), test.values);
  }
}

TEST(CsvIterTest, RefusesNumbersThatTheDtypeDoesNotHold) {
  struct Case {
    DType dtype;
    const char* held;
    std::vector<const char*> refused;
  };
  const Case cases[] = {
      {DType::kUint8, "0, 255, 254.9", {"256", "-1", "300.5", "inf", "nan"}},
      {DType::kInt8, "-128, 127, 1e2", {"128", "-129", "1e3"}},
      {DType::kInt32, "-2147483648, 2147483647, 7", {"2147483648", "3e9"}},
      {DType::kBool, "0, 1, 0.5", {"2", "-1"}},
      {DType::kFloat32, "16777216, 16777217.0, 0.1", {"16777217", "-16777217"}},
      {DType::kFloat16, "2048, 2049.0, 1e-3", {"2049"}},
      {DType::kBfloat16, "256, -256, 257.0", {"257"}},
      {DType::kFloat64, "9007199254740992, 1e300, nan", {"9007199254740993"}},
  };
  for (const Case& test : cases) {
    const std::string dtype = DTypeName(test.dtype);
    SCOPED_TRACE(dtype);
    const auto create = [&](const std::string& name, const std::string& text) {
      return CsvIter::Create(
          {.data_csv = Write(name, text), .data_shape = {3}, .dtype = test.dtype});
    };
    COOPER_EXPECT_OK(create("held.csv", test.held));
    for (const std::string text : test.refused) {
      EXPECT_THAT(create("refused.csv", absl::StrCat("1,0,1\n0,", text, ",1\n")),
                  StatusIs(absl::StatusCode::kInvalidArgument,
                           HasSubstr(absl::StrCat("refused.csv', line 2, field 2: '", text,
                                                  "' is not a number that ", dtype, " holds"))));
    }
  }
}

TEST(CsvIterTest, PassesOverAByteOrderMark) {
  const auto iter = Make({.data_csv = Write("bom.csv", "\uFEFF1,2\n"), .data_shape = {2}});
  COOPER_ASSERT_OK_AND_ASSIGN(const std::optional<DataBatch> batch, iter->Next());
  EXPECT_THAT(*batch->data[0].ToVector<float>(), ElementsAre(1, 2));
}

TEST(CsvIterTest, RoundBatchBeginsTheNextEpochBehindTheBorrowedRows) {
  const auto iter = Make(Rows(7));
  const std::vector<std::vector<Batch>> epochs = {
      {{{1, 2, 3}, 0}, {{4, 5, 6}, 0}, {{7, 1, 2}, 2}},
      {{{3, 4, 5}, 0}, {{6, 7, 1}, 1}},
      {{{2, 3, 4}, 0}, {{5, 6, 7}, 0}},
      {{{1, 2, 3}, 0}, {{4, 5, 6}, 0}, {{7, 1, 2}, 2}},
  };
  for (const std::vector<Batch>& expected : epochs) {
    EXPECT_EQ(Labels(*iter), expected);
    COOPER_ASSERT_OK(iter->Reset());
  }
  COOPER_ASSERT_OK(iter->Next());
  COOPER_ASSERT_OK(iter->Reset());
  EXPECT_EQ(Labels(*iter)[0], (Batch{{1, 2, 3}, 0}));
}

TEST(CsvIterTest, HardResetBeginsWithTheFirstRow) {
  const auto iter = Make(Rows(7));
  const std::vector<Batch> epoch = Labels(*iter);
  COOPER_ASSERT_OK(iter->HardReset());
  EXPECT_EQ(Labels(*iter), epoch);
}

TEST(CsvIterTest, WithoutRoundBatchPadsWithZeros) {
  CsvIterOptions options = Rows(4);
  options.round_batch = false;
  const auto iter = Make(options);
  for (int epoch = 0; epoch < 2; ++epoch) {
    EXPECT_EQ(Labels(*iter), (std::vector<Batch>{{{1, 2, 3}, 0}, {{4, 0, 0}, 2}}));
    COOPER_ASSERT_OK(iter->Reset());
  }
}

TEST(CsvIterTest, WithoutLabelsTheyAreZero) {
  CsvIterOptions options = Rows(3);
  options.label_csv = "";
  options.dtype = DType::kInt32;
  const auto iter = Make(options);
  EXPECT_EQ(iter->provide_label()[0].dtype, DType::kInt32);
  EXPECT_EQ(Labels(*iter), (std::vector<Batch>{{{0, 0, 0}, 0}}));
}

TEST(CsvIterTest, ResumesInTheMiddleOfAnEpoch) {
  const auto first = Make(Rows(7));
  Labels(*first);
  COOPER_ASSERT_OK(first->Reset());
  COOPER_ASSERT_OK(first->Next());
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string state, first->SaveState());
  const auto second = Make(Rows(7));
  COOPER_ASSERT_OK(second->LoadState(state));
  for (int epoch = 0; epoch < 2; ++epoch) {
    EXPECT_EQ(Labels(*second), Labels(*first));
    COOPER_ASSERT_OK(first->Reset());
    COOPER_ASSERT_OK(second->Reset());
  }
  EXPECT_THAT(Make(Rows(6))->LoadState(state),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("7 rows")));
}

TEST(CsvIterTest, SaysThatABatchIsTooLargeToAllocate) {
  CsvIterOptions options = Rows(3);
  options.batch_size = INT64_MAX;
  EXPECT_THAT(Make(options)->Next(), StatusIs(absl::StatusCode::kResourceExhausted,
                                              HasSubstr("batch of 9223372036854775807 rows")));
}

TEST(CsvIterTest, NamesFileAndLine) {
  const auto error = [](const std::string& text, const std::string& message) {
    const CsvIterOptions options = {.data_csv = Write("bad.csv", text), .data_shape = {2}};
    EXPECT_THAT(CsvIter::Create(options),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)));
  };
  error("1,2\n1,x\n", "bad.csv', line 2, field 2: 'x' is not a number");
  error("1,2\n\n1,2,3\n", "bad.csv', line 3 has 3 numbers, expected 2");
  error("1,2\n1\n", "line 2 has 1 numbers, expected 2");
  error("1,2\n1,\n", "line 2 has 1 numbers in 2 fields, the others being empty, expected 2");
  error("\n", "is empty");
  EXPECT_THAT(CsvIter::Create({.data_csv = "/no/such/file", .data_shape = {2}}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/no/such/file")));
  CsvIterOptions options = Rows(3);
  options.label_csv = Rows(4).label_csv;
  EXPECT_THAT(CsvIter::Create(options),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("has 4 rows")));
  options.batch_size = 0;
  EXPECT_THAT(CsvIter::Create(options),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("batch_size is 0")));
  options = Rows(3);
  options.data_shape = {-1, -2};  // 2 numbers
  EXPECT_THAT(CsvIter::Create(options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("CSVIter: data_shape: negative extent -1 in shape (-1, -2)")));
  options = Rows(3);
  options.label_shape = {int64_t{1} << 32, int64_t{1} << 32};
  EXPECT_THAT(CsvIter::Create(options), StatusIs(absl::StatusCode::kInvalidArgument,
                                                 HasSubstr("CSVIter: label_shape: shape (")));
}

}  // namespace
}  // namespace cooper
