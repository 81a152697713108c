#include "ndarray/files/params_file.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

// Builds a file from numbers.
class Bytes {
 public:
  template <typename T>
  Bytes& Add(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
    return *this;
  }
  Bytes& U32(uint32_t value) { return Add(value); }
  Bytes& U64(uint64_t value) { return Add(value); }
  Bytes& Text(const std::string& text) {
    U64(text.size());
    bytes_ += text;
    return *this;
  }
  Bytes& List(uint64_t count) { return U64(0x112).U64(0).U64(count); }
  // Appends a shape in the form of V1 to V3: rank and extents.
  Bytes& Shape64(const std::vector<int64_t>& dims) {
    U32(static_cast<uint32_t>(dims.size()));
    for (int64_t d : dims) Add(d);
    return *this;
  }
  Bytes& Context(int32_t type = 1) { return Add(type).Add(int32_t{0}); }
  const std::string& str() const { return bytes_; }

 private:
  std::string bytes_;
};

constexpr uint32_t kV1 = 0xF993fac8, kV2 = 0xF993fac9, kV3 = 0xF993faca;

// Appends an array of V2 with the shape (2,) and the floats 1.5 and -2.
Bytes& AddFloats(Bytes& b) {
  return b.U32(kV2).Add(int32_t{0}).Shape64({2}).Context().Add(int32_t{0}).Add(1.5f).Add(-2.0f);
}

NDArray Floats(const Shape& shape, const std::vector<float>& values) {
  return *NDArray::FromVector(shape, values);
}

TEST(ParamsFileTest, ReadsEveryVersionOfAnArray) {
  struct Case {
    const char* name;
    Bytes array;
    Shape shape;
  };
  const std::vector<Case> cases = {
      {"V0", Bytes().U32(2).U32(1).U32(2).Context(2).Add(int32_t{0}).Add(1.5f).Add(-2.0f), {1, 2}},
      {"V1", Bytes().U32(kV1).Shape64({2}).Context().Add(int32_t{0}).Add(1.5f).Add(-2.0f), {2}},
      {"V2",
       Bytes()
           .U32(kV2)
           .Add(int32_t{0})
           .Shape64({2, 1})
           .Context(3)
           .Add(int32_t{0})
           .Add(1.5f)
           .Add(-2.0f),
       {2, 1}},
      {"V3",
       Bytes().U32(kV3).Add(int32_t{0}).Shape64({2}).Context().Add(int32_t{0}).Add(1.5f).Add(-2.0f),
       {2}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Bytes file;
    file.List(1);
    const std::string bytes = file.str() + c.array.str() + Bytes().U64(1).Text("x").str();
    COOPER_ASSERT_OK_AND_ASSIGN(ParamsList list, ParseParams(bytes));
    EXPECT_TRUE(list.named);
    ASSERT_EQ(list.entries.size(), 1u);
    EXPECT_EQ(list.entries[0].name, "x");
    EXPECT_EQ(list.entries[0].array.shape(), c.shape);
    EXPECT_THAT(list.entries[0].array.ToVector<float>(), IsOkAndHolds(ElementsAre(1.5f, -2.0f)));
    // A file that is truncated at any length is an error.
    for (size_t length = 0; length < bytes.size(); ++length) {
      EXPECT_THAT(ParseParams(absl::string_view(bytes).substr(0, length)),
                  StatusIs(absl::StatusCode::kInvalidArgument,
                           HasSubstr(length == 0 ? "is empty" : "left")))
          << length;
    }
  }
}

TEST(ParamsFileTest, ReadsArraysWithoutAShapeAsNull) {
  Bytes file;
  file.List(3).U32(0).U32(kV1).Shape64({}).U32(kV2).Add(int32_t{0}).Shape64({}).U64(0);
  COOPER_ASSERT_OK_AND_ASSIGN(ParamsList list, ParseParams(file.str()));
  ASSERT_EQ(list.entries.size(), 3u);
  for (const ParamsEntry& entry : list.entries) EXPECT_TRUE(entry.array.is_null());
}

TEST(ParamsFileTest, ANullArrayIsNotLoadedByName) {
  const std::string path = ::testing::TempDir() + "/null.params";
  Bytes file;
  file.List(1).U32(kV2).Add(int32_t{0}).Shape64({});
  file.U64(1).U64(8).Add('a').Add('r').Add('g').Add(':').Add('b').Add('i').Add('a').Add('s');
  COOPER_ASSERT_OK(WriteFileAtomically(path, file.str()));
  for (const absl::Status& status :
       {LoadNamedArrays(path).status(), MapNamedArrays(path).status()}) {
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                                 AllOf(HasSubstr("null.params"),
                                       HasSubstr("array 'arg:bias' is null: it was saved before it "
                                                 "had a shape and elements"))));
  }
}

TEST(ParamsFileTest, BoolsAreZeroOrOne) {
  Bytes file;
  file.List(1).U32(kV2).Add(int32_t{0}).Shape64({3}).Context().Add(int32_t{7});
  file.Add(uint8_t{0}).Add(uint8_t{2}).Add(uint8_t{255}).U64(0);
  COOPER_ASSERT_OK_AND_ASSIGN(ParamsList list, ParseParams(file.str()));
  EXPECT_THAT(list.entries[0].array.ToVector<int32_t>(), IsOkAndHolds(ElementsAre(0, 1, 1)));
}

// Returns a file with a row_sparse array (3, 2). It stores the row with index `row` as (1, 2);
// `stored_rows` is the number of rows that its header claims.
Bytes RowSparse(int64_t row, int64_t stored_rows = 1) {
  Bytes b;
  b.List(1).U32(kV2).Add(int32_t{1}).Shape64({stored_rows, 2}).Shape64({3, 2}).Context();
  b.Add(int32_t{0}).Add(int32_t{6}).Shape64({1}).Add(1.0f).Add(2.0f).Add(row);
  b.U64(1).Text("rsp");
  return b;
}

// Returns a file with a csr array (2, 3) that stores 1 in column 0 and 2 in `second_column`.
Bytes Csr(const std::vector<int64_t>& indptr, int64_t second_column) {
  Bytes b;
  b.List(1).U32(kV2).Add(int32_t{2}).Shape64({2}).Shape64({2, 3}).Context().Add(int32_t{0});
  b.Add(int32_t{6}).Shape64({static_cast<int64_t>(indptr.size())}).Add(int32_t{6}).Shape64({2});
  b.Add(1.0f).Add(2.0f);
  for (int64_t i : indptr) b.Add(i);
  b.Add(int64_t{0}).Add(second_column).U64(0);
  return b;
}

TEST(ParamsFileTest, ReadsSparseArrays) {
  COOPER_ASSERT_OK_AND_ASSIGN(ParamsList rsp, ParseParams(RowSparse(1).str()));
  ASSERT_NE(rsp.entries[0].sparse, nullptr);
  EXPECT_EQ(rsp.entries[0].sparse->type, StorageType::kRowSparse);
  EXPECT_EQ(rsp.entries[0].sparse->shape, (Shape{3, 2}));
  COOPER_ASSERT_OK_AND_ASSIGN(NDArray dense, ToDense(rsp.entries[0]));
  EXPECT_THAT(dense.ToVector<float>(), IsOkAndHolds(ElementsAre(0, 0, 1, 2, 0, 0)));

  COOPER_ASSERT_OK_AND_ASSIGN(ParamsList csr, ParseParams(Csr({0, 1, 2}, 2).str()));
  COOPER_ASSERT_OK_AND_ASSIGN(dense, ToDense(csr.entries[0]));
  EXPECT_EQ(dense.shape(), (Shape{2, 3}));
  EXPECT_THAT(dense.ToVector<float>(), IsOkAndHolds(ElementsAre(1, 0, 0, 0, 0, 2)));
}

TEST(ParamsFileTest, RefusesSparseIndicesOutOfRange) {
  for (const Bytes& bytes : {RowSparse(3), RowSparse(-1), Csr({0, 1, 2}, 3), Csr({0, 2, 1}, 2),
                             Csr({-1, 1, 2}, 2), Csr({0, 1, 3}, 2)}) {
    COOPER_ASSERT_OK_AND_ASSIGN(ParamsList list, ParseParams(bytes.str()));
    EXPECT_THAT(ToDense(list.entries[0]),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AnyOf(HasSubstr("is not in [0, "),
                               ContainsRegex("indptr of row [01] is from .* to .*, expected a "
                                             "part of .0, 2."))));
  }
  EXPECT_FALSE(ParseParams(RowSparse(1, 2).str()).ok());
  EXPECT_THAT(ParseParams(Csr({0, 2}, 2).str()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("indptr of shape (3,)")));
}

TEST(ParamsFileTest, RefusesWhatTheBytesCannotHold) {
  struct Case {
    const char* name;
    Bytes bytes;
    const char* message;
  };
  Bytes two_names, one_array;
  two_names.List(1);
  AddFloats(two_names).U64(2).Text("a").Text("b");
  one_array.List(1);
  AddFloats(one_array).U64(uint64_t{1} << 62);
  const int64_t huge = int64_t{1} << 62;
  const Case cases[] = {
      {"Magic", Bytes().U64(0x113).U64(0).U64(0).U64(0), "begins with 0x113, expected 0x112"},
      {"Count", Bytes().List(uint64_t{1} << 62), "number of arrays is 4611686018427387904"},
      {"NameCount", one_array, "number of names is 4611686018427387904"},
      {"NamesMatch", two_names, "2 names for 1 arrays"},
      {"Rank", Bytes().List(1).U32(kV2).Add(int32_t{0}).U32(1u << 30).U64(0), "array 0 of 1"},
      {"V0Rank", Bytes().List(1).U32(0x7fffffff).U64(0), "array 0 of 1: the shape is of"},
      {"RankThatIsThere",
       Bytes().List(1).U32(kV2).Add(int32_t{0}).Shape64(std::vector<int64_t>(65, 1)).Context(),
       "is of 65 dimensions, expected at most 64"},
      {"Extent",
       Bytes().List(1).U32(kV2).Add(int32_t{0}).Shape64({huge, 4}).Context().Add(int32_t{0}),
       "too many elements"},
      {"OverflowToZero",
       Bytes().List(1).U32(kV2).Add(int32_t{0}).Shape64({huge, 4, 0}).Context().Add(int32_t{0}),
       "too many elements"},
      {"Negative", Bytes().List(1).U32(kV2).Add(int32_t{0}).Shape64({-1, -2}).Context(),
       "negative extent -1"},
      {"DType", Bytes().List(1).U32(kV2).Add(int32_t{0}).Shape64({1}).Context().Add(int32_t{99}),
       "unknown dtype code 99"},
      {"Storage", Bytes().List(1).U32(kV2).Add(int32_t{7}).Shape64({1}), "unknown storage type 7"},
      {"NameLength", Bytes().List(1).U32(0).U64(1).U64(~uint64_t{0}), "name 0 of 1 takes"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_THAT(ParseParams(c.bytes.str()),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(c.message)));
  }
}

// Null arrays take 4 bytes each in the file and many times as much in memory.
TEST(ParamsFileTest, RefusesListsOfNullArraysAlone) {
  const auto zeros = [](uint64_t count) {
    return Bytes().List(count).str() + std::string(4 * count + 8, '\0');
  };
  constexpr uint64_t kMany = 1 << 17;
  EXPECT_THAT(ParseParams(zeros(kMany)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("the number of arrays is 131072, but only 524296 bytes are "
                                 "left: most arrays are null")));
  COOPER_ASSERT_OK_AND_ASSIGN(const ParamsList few, ParseParams(zeros(1 << 16)));
  EXPECT_EQ(few.entries.size(), size_t{1} << 16);
  // As many arrays of shape (0,) in the form of V0 are accepted, since they are not null.
  Bytes whole;
  whole.List(kMany);
  for (uint64_t i = 0; i < kMany; ++i) whole.U32(1).U32(0).Context().Add(int32_t{0});
  COOPER_EXPECT_OK(ParseParams(whole.U64(0).str()));
}

TEST(ParamsFileTest, WritesWhatMXNetWrites) {
  Bytes expected;
  expected.List(1);
  AddFloats(expected).U64(1).Text("w");
  EXPECT_THAT(SerializeNamedArrays({{"w", Floats({2}, {1.5f, -2.0f})}}),
              IsOkAndHolds(expected.str()));
}

// MXNet 1.9.1 reads no list with entries of V2 and V3, V2 outside of NumPy mode only, and V3 in
// NumPy mode only.
TEST(ParamsFileTest, WritesOneVersionInAList) {
  const auto versions = [](const NamedArrays& arrays, const ParamsFormat& format) {
    const std::string bytes = *SerializeNamedArrays(arrays, format);
    std::pair<int, int> found;  // of V2 and V3
    for (size_t i = 0; i + sizeof(uint32_t) <= bytes.size(); ++i) {
      uint32_t magic = 0;
      std::memcpy(&magic, bytes.data() + i, sizeof(magic));
      found.first += magic == kV2 ? 1 : 0;
      found.second += magic == kV3 ? 1 : 0;
    }
    return found;
  };
  const NDArray some = Floats({2}, {1, 2}), empty = Floats({0, 3}, {}), scalar = Floats({}, {7});
  ParamsFormat sparse;
  sparse.sparse["a"] = std::make_shared<SparseLayout>();
  const ParamsFormat numpy{.np_shape = true};
  EXPECT_EQ(versions({{"a", some}}, {}), std::pair(1, 0));
  EXPECT_EQ(versions({{"a", some}}, numpy), std::pair(0, 1));
  EXPECT_EQ(versions({{"a", some}, {"b", empty}}, {}), std::pair(0, 2));
  EXPECT_EQ(versions({{"a", some}, {"c", scalar}}, {}), std::pair(0, 2));
  // MXNet reads no sparse array of V3.
  EXPECT_EQ(versions({{"a", some}, {"b", empty}}, sparse), std::pair(2, 0));
  EXPECT_THAT(SerializeNamedArrays({{"c", NDArray()}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("cannot save 'c'")));
}

TEST(ParamsFileTest, WritesTheVersionThatCame) {
  const std::string path = ::testing::TempDir() + "/version.params";
  for (const uint32_t magic : {kV2, kV3}) {
    SCOPED_TRACE(magic);
    Bytes file;
    file.List(1).U32(magic).Add(int32_t{0}).Shape64({2}).Context().Add(int32_t{0});
    file.Add(1.5f).Add(-2.0f).U64(1).Text("w");
    COOPER_ASSERT_OK(WriteFileAtomically(path, file.str()));
    ParamsFormat format;
    COOPER_ASSERT_OK_AND_ASSIGN(const NamedArrays arrays, LoadNamedArrays(path, &format));
    EXPECT_THAT(SerializeNamedArrays(arrays, format), IsOkAndHolds(file.str()));
  }
}

TEST(ParamsFileTest, SavesAndLoadsEveryDType) {
  const std::string path = ::testing::TempDir() + "/every_dtype.params";
  NamedArrays arrays;
  for (int code : {0, 1, 2, 3, 4, 5, 6, 7, 12}) {
    COOPER_ASSERT_OK_AND_ASSIGN(DType dtype, DTypeFromCode(code));
    COOPER_ASSERT_OK_AND_ASSIGN(NDArray array, Floats({2, 2}, {0, 1, 1, 0}).AsType(dtype));
    arrays.emplace_back(DTypeName(dtype), array);
  }
  arrays.emplace_back("scalar", Floats({}, {7}));
  arrays.emplace_back("empty", Floats({2, 0}, {}));
  // A view: only its own rows are saved.
  arrays.emplace_back("view", *Floats({3, 1}, {1, 2, 3}).Slice(1, 2));
  COOPER_ASSERT_OK(SaveNamedArrays(path, arrays));
  COOPER_ASSERT_OK_AND_ASSIGN(NamedArrays loaded, LoadNamedArrays(path));
  ASSERT_EQ(loaded.size(), arrays.size());
  for (size_t i = 0; i < arrays.size(); ++i) {
    SCOPED_TRACE(arrays[i].first);
    EXPECT_EQ(loaded[i].first, arrays[i].first);
    EXPECT_EQ(loaded[i].second.ToString(), arrays[i].second.ToString());
    EXPECT_EQ(*loaded[i].second.ToVector<double>(), *arrays[i].second.ToVector<double>());
  }
}

TEST(ParamsFileTest, SavesListsWithoutNames) {
  const std::string path = ::testing::TempDir() + "/list.params";
  COOPER_ASSERT_OK(SaveArrays(path, {Floats({1}, {3}), Floats({2}, {4, 5})}));
  COOPER_ASSERT_OK_AND_ASSIGN(ParamsList list, ReadParamsFile(path));
  EXPECT_FALSE(list.named);
  ASSERT_EQ(list.entries.size(), 2u);
  EXPECT_THAT(list.entries[1].array.ToVector<float>(), IsOkAndHolds(ElementsAre(4, 5)));
  EXPECT_THAT(LoadNamedArrays(path),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no names")));
}

TEST(ParamsFileTest, SparseArraysAreLoadedDenseAndWrittenAsTheyCame) {
  const std::string path = ::testing::TempDir() + "/sparse.params";
  // A row of zeros that is stored stays stored.
  Bytes rows;
  rows.List(1).U32(kV2).Add(int32_t{1}).Shape64({2, 1}).Shape64({4, 1}).Context();
  rows.Add(int32_t{0}).Add(int32_t{6}).Shape64({2}).Add(0.0f).Add(5.0f).Add(int64_t{3});
  rows.Add(int64_t{1}).U64(1).Text("x");
  Bytes csr;
  csr.List(1).U32(kV2).Add(int32_t{2}).Shape64({3}).Shape64({2, 3}).Context().Add(int32_t{0});
  csr.Add(int32_t{6}).Shape64({3}).Add(int32_t{6}).Shape64({3}).Add(7.0f).Add(0.0f).Add(8.0f);
  csr.U64(0).U64(1).U64(3).U64(2).U64(0).U64(1).U64(1).Text("x");
  const struct {
    const char* name;
    std::string file;
    std::vector<float> dense;
    std::vector<float> changed;  // in place of `dense`
    std::vector<int64_t> changed_indices;
  } kCases[] = {
      {"row_sparse", rows.str(), {0, 5, 0, 0}, {0, 5, 1, 0}, {1, 2, 3}},
      {"csr", csr.str(), {0, 0, 7, 0, 8, 0}, {0, 9, 7, 0, 8, 0}, {1, 2, 0, 1}},
  };
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.name);
    COOPER_ASSERT_OK(WriteFileAtomically(path, c.file));
    ParamsFormat format;
    COOPER_ASSERT_OK_AND_ASSIGN(NamedArrays arrays, LoadNamedArrays(path, &format));
    ASSERT_EQ(arrays.size(), 1);
    EXPECT_THAT(arrays[0].second.ToVector<float>(), IsOkAndHolds(ElementsAreArray(c.dense)));
    COOPER_ASSERT_OK_AND_ASSIGN(const NamedArrays mapped, MapNamedArrays(path));
    EXPECT_THAT(mapped[0].second.ToVector<float>(), IsOkAndHolds(ElementsAreArray(c.dense)));
    EXPECT_THAT(SerializeNamedArrays(arrays, format), IsOkAndHolds(c.file));
    // Elements that have become others than 0 are stored, too.
    arrays[0].second = Floats(arrays[0].second.shape(), c.changed);
    COOPER_ASSERT_OK(SaveNamedArrays(path, arrays, format));
    COOPER_ASSERT_OK_AND_ASSIGN(const ParamsList changed, ReadParamsFile(path));
    EXPECT_THAT(changed.entries[0].sparse->indices.ToVector<int64_t>(),
                IsOkAndHolds(ElementsAreArray(c.changed_indices)));
    EXPECT_THAT(ToDense(changed.entries[0])->ToVector<float>(),
                IsOkAndHolds(ElementsAreArray(c.changed)));
    // An array of another shape is another array.
    arrays[0].second = Floats({2}, {1, 2});
    COOPER_ASSERT_OK_AND_ASSIGN(const std::string other, SerializeNamedArrays(arrays, format));
    EXPECT_EQ(ParseParams(other)->entries[0].sparse, nullptr);
    EXPECT_THAT(ToSparse(arrays[0].second, *format.sparse.at("x")),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("an array (2,) is to be written as a")));
  }
}

TEST(ParamsFileTest, ASmallFileOfAHugeSparseArrayIsRefused) {
  const std::string path = ::testing::TempDir() + "/huge.params";
  Bytes rows;
  rows.List(1).U32(kV2).Add(int32_t{1}).Shape64({1, 1}).Shape64({int64_t{1} << 40, 1}).Context();
  rows.Add(int32_t{0}).Add(int32_t{6}).Shape64({1}).Add(5.0f).Add(int64_t{3}).U64(1).Text("x");
  COOPER_ASSERT_OK(WriteFileAtomically(path, rows.str()));
  for (const absl::Status& status :
       {LoadNamedArrays(path).status(), MapNamedArrays(path).status()}) {
    EXPECT_THAT(status,
                StatusIs(absl::StatusCode::kResourceExhausted,
                         HasSubstr("huge.params': array 'x': a row_sparse array (1099511627776, 1) "
                                   "takes 4398046511104 bytes when it is dense")));
  }
  COOPER_EXPECT_OK(ReadParamsFile(path));
}

TEST(ParamsFileTest, MessagesNameThePath) {
  const std::string path = ::testing::TempDir() + "/text.params";
  COOPER_ASSERT_OK(WriteFileAtomically(path, "not parameters at all"));
  for (const absl::Status& status : {ReadParamsFile(path).status(), LoadNamedArrays(path).status(),
                                     MapNamedArrays(path).status(), CheckParamsFile(path)}) {
    EXPECT_THAT(status,
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("text.params': not a list of arrays (.params): the file is text "
                                   "that begins with 'not parameters at all'")));
  }
  COOPER_ASSERT_OK(SaveArrays(path, {}));
  COOPER_EXPECT_OK(CheckParamsFile(path));
}

TEST(ParamsFileTest, MappedArraysAreViewsWhereTheFileAlignsThem) {
  const std::string path = testing::TempDir() + "/mapped.params";
  const NDArray bytes = *NDArray::FromVector<uint8_t>({3}, {1, 2, 3});
  COOPER_ASSERT_OK(SaveNamedArrays(
      path, {{"first", Floats({2}, {1, 2})}, {"bytes", bytes}, {"behind", Floats({1}, {3})}}));
  COOPER_ASSERT_OK_AND_ASSIGN(const NamedArrays mapped, MapNamedArrays(path));
  ASSERT_EQ(mapped.size(), 3);
  EXPECT_EQ(mapped[0].first, "first");
  EXPECT_THAT(*mapped[0].second.ToVector<float>(), ElementsAre(1, 2));
  EXPECT_THAT(*mapped[1].second.ToVector<uint8_t>(), ElementsAre(1, 2, 3));
  EXPECT_THAT(*mapped[2].second.ToVector<float>(), ElementsAre(3));
  EXPECT_EQ(mapped[0].second.storage(), mapped[1].second.storage());
  EXPECT_NE(mapped[0].second.storage(), mapped[2].second.storage()) << "not aligned: a copy";
}

TEST(ParamsFileTest, MappedArraysAreThisProcesssOwn) {
  const std::string path = testing::TempDir() + "/own.params";
  COOPER_ASSERT_OK(SaveNamedArrays(path, {{"w", Floats({2}, {1, 2})}}));
  COOPER_ASSERT_OK_AND_ASSIGN(const NamedArrays mapped, MapNamedArrays(path));
  COOPER_ASSERT_OK(mapped[0].second.Fill(5));
  COOPER_ASSERT_OK_AND_ASSIGN(const NamedArrays again, LoadNamedArrays(path));
  EXPECT_THAT(*again[0].second.ToVector<float>(), ElementsAre(1, 2)) << "nothing is written back";
  COOPER_ASSERT_OK(SaveNamedArrays(path, {{"w", Floats({1}, {7})}}));
  EXPECT_THAT(*mapped[0].second.ToVector<float>(), ElementsAre(5, 5)) << "the file was replaced";
}

TEST(ParamsFileTest, MappingRefusesWhatLoadingRefuses) {
  const std::string path = testing::TempDir() + "/short.params";
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string whole,
                              SerializeNamedArrays({{"w", Floats({2}, {1, 2})}}));
  for (size_t length = 0; length < whole.size(); ++length) {
    COOPER_ASSERT_OK(WriteFileAtomically(path, whole.substr(0, length)));
    const absl::Status loaded = LoadNamedArrays(path).status();
    EXPECT_FALSE(loaded.ok()) << length;
    EXPECT_EQ(MapNamedArrays(path).status(), loaded) << length;
  }
  EXPECT_THAT(MapNamedArrays(path + "-none"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("-none")));
  EXPECT_THAT(MapNamedArrays("/dev/null"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("/dev/null")));
}

TEST(ParamsFileTest, ANullArrayIsNotSavedAndLeavesTheOldFile) {
  const std::string path = ::testing::TempDir() + "/kept.params";
  COOPER_ASSERT_OK(SaveNamedArrays(path, {{"a", Floats({1}, {1})}}));
  EXPECT_THAT(SaveNamedArrays(path, {{"a", Floats({1}, {2})}, {"b", NDArray()}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'b'")));
  COOPER_ASSERT_OK_AND_ASSIGN(NamedArrays loaded, LoadNamedArrays(path));
  EXPECT_THAT(loaded[0].second.ToVector<float>(), IsOkAndHolds(ElementsAre(1)));
}

}  // namespace
}  // namespace cooper
