#include "ndarray/files/npy_file.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
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

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;

// Returns a file of this version with this text as its header, and these elements.
std::string File(const std::string& text, const std::string& elements, int major = 1,
                 int minor = 0) {
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(major);
  bytes += static_cast<char>(minor);
  const auto size = static_cast<uint32_t>(text.size());
  bytes.append(reinterpret_cast<const char*>(&size), major == 1 ? 2 : 4);
  return bytes + text + elements;
}

std::string Text(const std::string& descr, const std::string& shape, bool fortran_order = false) {
  return absl::StrCat("{'descr': ", descr, ", 'fortran_order': ", fortran_order ? "True" : "False",
                      ", 'shape': ", shape, ", }\n");
}

template <typename T>
std::string Raw(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

TEST(NpyFileTest, ReadsEveryVersion) {
  const std::string text = Text("'<i4'", "(2,)");
  for (const int major : {1, 2, 3}) {
    COOPER_ASSERT_OK_AND_ASSIGN(const NDArray array,
                                ParseNpy(File(text, Raw<int32_t>({5, -6}), major)));
    EXPECT_EQ(array.ToString(), "(2,) int32 cpu(0)");
    EXPECT_THAT(array.ToVector<int32_t>(), IsOkAndHolds(ElementsAre(5, -6)));
  }
}

TEST(NpyFileTest, ReadsWhatPythonMayWrite) {
  const std::string data = Raw<float>({1, 2});
  for (const char* text : {
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }       \n",
           "{\"shape\":(1,2),\"fortran_order\":False,\"descr\":\"<f4\"}",
           " { 'descr' : '=f4' , 'fortran_order' : True , 'shape' : ( 2L , ) } ",
           "{'descr': 'f4', 'fortran_order': False, 'shape': (2, 1, 1)}\n",
       }) {
    SCOPED_TRACE(text);
    COOPER_ASSERT_OK_AND_ASSIGN(const NDArray array, ParseNpy(File(text, data)));
    EXPECT_THAT(array.ToVector<float>(), IsOkAndHolds(ElementsAre(1, 2)));
  }
}

TEST(NpyFileTest, ReadsBigEndianElements) {
  const struct {
    const char* descr;
    std::string elements;
    double expected;
  } cases[] = {
      {"'>f4'", std::string("\x3f\xc0\0\0", 4), 1.5},
      {"'>f8'", std::string("\x3f\xf8\0\0\0\0\0\0", 8), 1.5},
      {"'>f2'", std::string("\x3e\0", 2), 1.5},
      {"'>i4'", std::string("\0\0\1\2", 4), 258},
      {"'>i8'", std::string("\0\0\0\0\0\0\1\2", 8), 258},
      {"'>i1'", std::string("\x80", 1), -128},
      {"'>V2'", std::string("\x3f\xc0", 2), 1.5},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.descr);
    COOPER_ASSERT_OK_AND_ASSIGN(const NDArray array,
                                ParseNpy(File(Text(c.descr, "()"), c.elements)));
    EXPECT_THAT(array.ToVector<double>(), IsOkAndHolds(ElementsAre(c.expected)));
  }
}

TEST(NpyFileTest, ReadsFortranOrder) {
  const struct {
    const char* shape;
    std::vector<uint8_t> expected;
  } cases[] = {
      {"(6,)", {0, 1, 2, 3, 4, 5}},
      {"(2, 3)", {0, 2, 4, 1, 3, 5}},
      {"(1, 3, 2)", {0, 3, 1, 4, 2, 5}},
      {"(3, 2, 1)", {0, 3, 1, 4, 2, 5}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.shape);
    COOPER_ASSERT_OK_AND_ASSIGN(
        const NDArray array,
        ParseNpy(File(Text("'|u1'", c.shape, true), Raw<uint8_t>({0, 1, 2, 3, 4, 5}))));
    EXPECT_THAT(array.ToVector<uint8_t>(), IsOkAndHolds(c.expected));
  }
  COOPER_EXPECT_OK(ParseNpy(File(Text("'|u1'", "(3, 0)", true), "")));
}

TEST(NpyFileTest, ReadsBoolsAsZeroOrOne) {
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray array,
                              ParseNpy(File(Text("'|b1'", "(3,)"), std::string("\0\1\2", 3))));
  EXPECT_THAT(array.ToVector<int32_t>(), IsOkAndHolds(ElementsAre(0, 1, 1)));
}

// The bytes of numpy.save(file, numpy.array([[1, -2]], 'float32')) of NumPy 1.23.
TEST(NpyFileTest, WritesWhatNumPyWrites) {
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray array, NDArray::FromVector<float>({1, 2}, {1, -2}));
  std::string text = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }";
  text.resize(117, ' ');
  EXPECT_THAT(SerializeNpy(array), IsOkAndHolds(File(text + "\n", Raw<float>({1, -2}))));
}

TEST(NpyFileTest, SavesAndLoadsEveryDType) {
  const struct {
    DType dtype;
    const char* descr;
  } cases[] = {
      {DType::kFloat32, "'<f4'"}, {DType::kFloat64, "'<f8'"}, {DType::kFloat16, "'<f2'"},
      {DType::kUint8, "'|u1'"},   {DType::kInt32, "'<i4'"},   {DType::kInt8, "'|i1'"},
      {DType::kInt64, "'<i8'"},   {DType::kBool, "'|b1'"},    {DType::kBfloat16, "'<V2'"},
  };
  const std::string path = testing::TempDir() + "/every.npy";
  for (const auto& c : cases) {
    SCOPED_TRACE(c.descr);
    for (const Shape& shape : {Shape({2, 3}), Shape({6}), Shape({1, 6, 1})}) {
      COOPER_ASSERT_OK_AND_ASSIGN(const NDArray bits,
                                  NDArray::FromVector<float>(shape, {0, 1, 1, 0, 1, 0}));
      COOPER_ASSERT_OK_AND_ASSIGN(const NDArray array, bits.AsType(c.dtype));
      COOPER_ASSERT_OK(SaveNpy(path, array));
      EXPECT_THAT(ReadFile(path), IsOkAndHolds(HasSubstr(c.descr)));
      COOPER_ASSERT_OK_AND_ASSIGN(const NDArray loaded, LoadNpy(path));
      EXPECT_EQ(loaded.ToString(), array.ToString());
      EXPECT_EQ(loaded.ToVector<float>().value(), array.ToVector<float>().value());
    }
  }
}

TEST(NpyFileTest, SavesViewsScalarsAndEmptyArrays) {
  const std::string path = testing::TempDir() + "/others.npy";
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray rows, NDArray::FromVector<float>({3}, {1, 2, 3}));
  for (const NDArray& array : {*rows.Slice(1, 2), *rows.At(2), *NDArray::Empty({0, 4})}) {
    COOPER_ASSERT_OK(SaveNpy(path, array));
    COOPER_ASSERT_OK_AND_ASSIGN(const NDArray loaded, LoadNpy(path));
    EXPECT_EQ(loaded.shape(), array.shape());
    EXPECT_EQ(loaded.ToVector<float>().value(), array.ToVector<float>().value());
  }
}

TEST(NpyFileTest, RefusesToSaveWhatNumPyCannotRead) {
  const std::string path = testing::TempDir() + "/kept.npy";
  COOPER_ASSERT_OK(SaveNpy(path, *NDArray::Zeros({1})));
  EXPECT_THAT(SaveNpy(path, NDArray()), StatusIs(kInvalid, HasSubstr("cannot save a null array")));
  EXPECT_THAT(SaveNpy(path, *NDArray::Zeros(Shape(std::vector<int64_t>(65, 1)))),
              StatusIs(kInvalid, HasSubstr("kept.npy': an array has 65 axes, a NumPy array at "
                                           "most 64")));
  COOPER_EXPECT_OK(LoadNpy(path)) << "the old file stays";
}

TEST(NpyFileTest, RefusesElementsByName) {
  const struct {
    const char* descr;
    const char* message;
  } cases[] = {
      {"'<u2'",
       "the elements are uint16 ('<u2'), which an NDArray cannot hold; convert them with "
       "array.astype('int32')"},
      {"'<i2'", "int16 ('<i2')"},
      {"'>u4'",
       "uint32 ('>u4'), which an NDArray cannot hold; convert them with "
       "array.astype('int64')"},
      {"'<u8'",
       "uint64 ('<u8'), which an NDArray cannot hold; convert them with "
       "array.astype('int64') if all are below 2**63"},
      {"'<c8'", "complex numbers ('<c8'), which an NDArray cannot hold; save array.real"},
      {"'<f16'", "floats of another width ('<f16')"},
      {"'<U5'", "text ('<U5')"},
      {"'|S3'", "text ('|S3')"},
      {"'|O'", "Python objects, which are pickled and never read ('|O')"},
      {"'<M8[ns]'", "dates ('<M8[ns]')"},
      {"'<m8'", "time spans ('<m8')"},
      {"'|V20'", "raw bytes ('|V20')"},
      {"[('a', '<f4'), ('b', '<i8')]", "the elements are records, which an NDArray cannot hold"},
      {"('<f4', (2,))", "the elements are records"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.descr);
    EXPECT_THAT(ParseNpy(File(Text(c.descr, "(1,)"), std::string(64, '\0'))),
                StatusIs(kUnimplemented, AllOf(HasSubstr("offset 20: "), HasSubstr(c.message))));
  }
}

TEST(NpyFileTest, RefusesDamagedFiles) {
  const auto dictionary = [](const char* order, const std::string& shape) {
    return absl::StrCat("{'descr': '<f4', 'fortran_order': ", order, ", 'shape': ", shape, "}");
  };
  const struct {
    const char* name;
    std::string bytes;
    const char* message;
  } cases[] = {
      {"Empty", "", "offset 0: not a NumPy array (.npy): the file is empty"},
      {"Zip", std::string("PK\3\4\0\0\0\0\0\0", 10), "LoadNpz (ndarray/files/npz_file.h) reads"},
      {"Text", "1,2,3\n4,5,6\n", "the file is text that begins with '1,2,3'"},
      {"Magic", "\x93NUMPX\1\1....", "not a NumPy array (.npy)"},
      {"Version", File("{}", "", 4), "offset 6: the format is 4.0, expected 1.0, 2.0 or 3.0"},
      {"Minor", File("{}", "", 1, 2), "the format is 1.2"},
      {"Length", File("{}", "", 2).substr(0, 10), "offset 10: the file ends here, but the length"},
      {"Header", File(std::string(100, ' '), "").substr(0, 60),
       "offset 60: the file ends here, but the header ends at 110"},
      {"LongHeader", File(std::string(70000, ' '), "", 2),
       "offset 8: the header has 70000 bytes, expected at most 65536"},
      {"NoDictionary", File("[1]", ""), "offset 10: expected '{' in the header"},
      {"Call", File("{'descr': __import__('os'), }", ""), "expected a string in quotes"},
      {"Escape", File("{'descr': '\\x3cf4'}", ""), "expected a string without a backslash"},
      {"OpenString", File("{'descr", ""), "offset 11: the string has no end"},
      {"Unknown", File("{'a': 1}", ""), "unexpected key 'a'"},
      {"Twice", File("{'shape': (), 'shape': ()}", ""), "unexpected key 'shape'"},
      {"Missing", File("{'shape': ()}", ""), "expected the keys 'descr', 'fortran_order' and"},
      {"DType", File("{'descr': '<q9'}", ""), "offset 20: unknown dtype '<q9'"},
      {"NoDType", File("{'descr': ''}", ""), "unknown dtype ''"},
      {"Order", File(dictionary("1", "()"), ""), "expected True or False"},
      {"NoTuple", File(dictionary("False", "2"), ""), "expected '('"},
      {"Number", File(dictionary("False", "(2)"), ""), "expected ',' behind the only extent"},
      {"Negative", File(dictionary("False", "(-1,)"), ""), "expected an extent, a number from 0"},
      {"Float", File(dictionary("False", "(1.5,)"), ""), "expected ','"},
      {"Huge", File(dictionary("False", "(9223372036854775808,)"), ""), "expected an extent"},
      {"Overflow", File(dictionary("False", "(4611686018427387904, 4)"), ""),
       "has too many elements"},
      {"OverflowToZero", File(dictionary("False", "(4611686018427387904, 4, 0)"), ""),
       "has too many elements"},
      {"Axes", File(dictionary("False", Shape(std::vector<int64_t>(65, 1)).ToString()), ""),
       "the shape has more than 64 axes"},
      {"Behind", File(dictionary("False", "()") + "x", ""), "expected nothing behind"},
      {"Claimed", File(dictionary("False", "(1000000000000,)"), "1234"),
       "4 bytes follow, expected 4000000000000 for an array of shape (1000000000000,) and dtype "
       "float32; the copy or download was cut off"},
      {"Longer", File(dictionary("False", "()"), "12345"),
       "5 bytes follow, expected 4 for an array of shape () and dtype float32; several arrays"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_THAT(ParseNpy(c.bytes), StatusIs(kInvalid, HasSubstr(c.message)));
  }
}

TEST(NpyFileTest, RefusesAFileThatEndsAnywhere) {
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray array, NDArray::Zeros({3}));
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string whole, SerializeNpy(array));
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(ParseNpy(whole.substr(0, size)), StatusIs(kInvalid, HasSubstr("offset ")));
  }
}

TEST(NpyFileTest, MessagesNameThePath) {
  const std::string path = testing::TempDir() + "/bad.npy";
  COOPER_ASSERT_OK(WriteFileAtomically(path, "hello, world"));
  EXPECT_THAT(LoadNpy(path), StatusIs(kInvalid, HasSubstr("bad.npy': offset 0: not a NumPy")));
  EXPECT_THAT(LoadNpy(path + ".none"), StatusIs(absl::StatusCode::kNotFound, HasSubstr(".none")));
}

}  // namespace
}  // namespace cooper
