#include "ndarray/files/npz_file.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/named_arrays.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/files/zip_writer.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;

NamedArrays SomeArrays() {
  return {{"arg:weight", *NDArray::FromVector<float>({2, 2}, {1, 2, 3, 4})},
          {"ids", *NDArray::FromVector<int64_t>({3}, {5, 6, 7})},
          {"scalar", *NDArray::FromVector<uint8_t>({}, {9})},
          {"empty", *NDArray::Empty({0, 3})}};
}

// Returns an archive with this entry.
std::string Archive(const std::string& name, const std::string& data) {
  std::string bytes;
  ZipWriter writer(
      [&bytes](absl::string_view part) {
        bytes.append(part.data(), part.size());
        return absl::OkStatus();
      },
      {});
  COOPER_EXPECT_OK(writer.Add(name, {data}));
  COOPER_EXPECT_OK(writer.Finish());
  return bytes;
}

TEST(NpzFileTest, SavesAndLoads) {
  const std::string path = testing::TempDir() + "/some.npz";
  const NamedArrays arrays = SomeArrays();
  for (const bool compress : {false, true}) {
    COOPER_ASSERT_OK(SaveNpz(path, arrays, {.compress = compress}));
    EXPECT_THAT(ReadFile(path), SerializeNpz(arrays, {.compress = compress}));
    COOPER_ASSERT_OK_AND_ASSIGN(const NamedArrays loaded, LoadNpz(path));
    ASSERT_EQ(loaded.size(), arrays.size());
    for (size_t i = 0; i < arrays.size(); ++i) {
      EXPECT_EQ(loaded[i].first, arrays[i].first);
      EXPECT_EQ(loaded[i].second.ToString(), arrays[i].second.ToString());
      EXPECT_EQ(loaded[i].second.ToVector<double>().value(),
                arrays[i].second.ToVector<double>().value());
    }
  }
}

TEST(NpzFileTest, CompressesZeros) {
  const NamedArrays arrays = {{"zeros", *NDArray::Zeros({1 << 16})}};
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string stored, SerializeNpz(arrays));
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string compressed,
                              SerializeNpz(arrays, {.compress = true}));
  EXPECT_GT(stored.size(), 4u << 16);
  EXPECT_LT(compressed.size(), 2000u);
}

TEST(NpzFileTest, LoadsArraysByName) {
  const std::string path = testing::TempDir() + "/by_name.npz";
  COOPER_ASSERT_OK(SaveNpz(path, SomeArrays()));
  COOPER_ASSERT_OK_AND_ASSIGN(const NpzFile file, NpzFile::Open(path));
  EXPECT_THAT(file.names(), ElementsAre("arg:weight", "ids", "scalar", "empty"));
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray ids, file.Load("ids"));
  EXPECT_THAT(ids.ToVector<int64_t>(), IsOkAndHolds(ElementsAre(5, 6, 7)));
  COOPER_ASSERT_OK_AND_ASSIGN(const NpyHeader header, file.Describe("arg:weight"));
  EXPECT_EQ(header.shape, Shape({2, 2}));
  for (const absl::Status& missing : {file.Load("isd").status(), file.Describe("isd").status()}) {
    EXPECT_THAT(missing, StatusIs(absl::StatusCode::kNotFound,
                                  HasSubstr("by_name.npz': there is no array 'isd'; did you mean "
                                            "'ids'?")));
  }
}

// Others are loaded where one array cannot be.
TEST(NpzFileTest, NamesTheEntryThatItCannotLoad) {
  const std::string path = testing::TempDir() + "/text.npz";
  std::string header = "{'descr': '<U1', 'fortran_order': False, 'shape': (1,), }";
  header.resize(117, ' ');
  COOPER_ASSERT_OK(WriteFileAtomically(
      path, Archive("words.npy", std::string("\x93NUMPY\1\0v\0", 10) + header + "\na\0\0\0")));
  COOPER_ASSERT_OK_AND_ASSIGN(const NpzFile file, NpzFile::Open(path));
  const auto refused = StatusIs(
      kUnimplemented, HasSubstr("text.npz': entry 'words.npy' at offset 0: offset 20: the elements "
                                "are text ('<U1'), which an NDArray cannot hold; save numbers"));
  EXPECT_THAT(file.Load("words"), refused);
  EXPECT_THAT(file.Describe("words"), refused);
  EXPECT_THAT(LoadNpz(path), refused);
}

TEST(NpzFileTest, RefusesOtherFiles) {
  const struct {
    const char* name;
    std::string bytes;
    const char* message;
  } cases[] = {
      {"Empty", "", "offset 0: not a NumPy archive (.npz): the file is empty"},
      {"Npy", std::string("\x93NUMPY\1\0v\0", 10), "LoadNpy (ndarray/files/npy_file.h) reads it"},
      {"Params", std::string("\x12\1\0\0\0\0\0\0", 8), "the file is a list of arrays (.params)"},
      {"CutOff", Archive("a.npy", "").substr(0, 50), "offset 50: no zip archive ends here"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_THAT(NpzFile::Parse(c.bytes), StatusIs(kInvalid, HasSubstr(c.message)));
  }
  const std::string entry = Archive("note.txt", "hello, world");
  COOPER_ASSERT_OK_AND_ASSIGN(const NpzFile file, NpzFile::Parse(entry));
  EXPECT_THAT(file.Load("note.txt"),
              StatusIs(kInvalid, HasSubstr("entry 'note.txt' at offset 0: offset 0: not a NumPy "
                                           "array (.npy): the file is text that begins with")));
}

TEST(NpzFileTest, RefusesTwoEntriesOfOneArray) {
  std::string bytes;
  ZipWriter writer(
      [&bytes](absl::string_view part) {
        bytes.append(part.data(), part.size());
        return absl::OkStatus();
      },
      {});
  COOPER_ASSERT_OK(writer.Add("a.npy", {}));
  COOPER_ASSERT_OK(writer.Add("a", {}));
  COOPER_ASSERT_OK(writer.Finish());
  EXPECT_THAT(NpzFile::Parse(bytes), StatusIs(kInvalid, HasSubstr("entry 'a' at offset 35: another "
                                                                  "entry names this array too")));
}

TEST(NpzFileTest, RefusesDamagedElements) {
  for (const bool compress : {false, true}) {
    COOPER_ASSERT_OK_AND_ASSIGN(
        std::string bytes, SerializeNpz({{"a", *NDArray::Full({100}, 1)}}, {.compress = compress}));
    bytes[bytes.size() - 22 - 51 - 1] ^= 1;  // the last byte before the directory
    COOPER_ASSERT_OK_AND_ASSIGN(const NpzFile file, NpzFile::Parse(bytes));
    EXPECT_THAT(file.Load("a"), StatusIs(kInvalid, HasSubstr("entry 'a.npy' at offset 0: ")));
  }
}

TEST(NpzFileTest, LimitsBytes) {
  COOPER_ASSERT_OK_AND_ASSIGN(
      const std::string bytes,
      SerializeNpz({{"a", *NDArray::Zeros({1000})}, {"b", *NDArray::Zeros({1000})}},
                   {.compress = true}));
  COOPER_ASSERT_OK_AND_ASSIGN(const NpzFile small, NpzFile::Parse(bytes, {.max_bytes = 4000}));
  EXPECT_THAT(small.Load("a"), StatusIs(absl::StatusCode::kResourceExhausted,
                                        HasSubstr("it has 4128 bytes, more than max_bytes, which "
                                                  "is 4000")));
  COOPER_ASSERT_OK_AND_ASSIGN(const NpzFile one, NpzFile::Parse(bytes, {.max_bytes = 5000}));
  COOPER_EXPECT_OK(one.Load("b"));
  EXPECT_THAT(one.LoadAll(), StatusIs(absl::StatusCode::kResourceExhausted,
                                      HasSubstr("more bytes than max_bytes, which is 5000")));
  COOPER_ASSERT_OK_AND_ASSIGN(const NpzFile both, NpzFile::Parse(bytes, {.max_bytes = 9000}));
  COOPER_EXPECT_OK(both.LoadAll());
}

TEST(NpzFileTest, RefusesToSaveBadLists) {
  const std::string path = testing::TempDir() + "/kept.npz";
  COOPER_ASSERT_OK(SaveNpz(path, SomeArrays()));
  const NDArray array = *NDArray::Zeros({1});
  const struct {
    NamedArrays arrays;
    const char* message;
  } cases[] = {
      {{{"a", NDArray()}}, "cannot save 'a': it is null"},
      {{{"", array}}, "cannot save '': a name is needed"},
      {{{"a", array}, {"a", array}}, "cannot save 'a': another array has this name"},
      {{{"a", *NDArray::Zeros(Shape(std::vector<int64_t>(65, 1)))}},
       "cannot save 'a': an array has 65"},
      {{{std::string("a\0", 2), array}}, "'a\\x00.npy' cannot be the name of an entry"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(SaveNpz(path, c.arrays), StatusIs(kInvalid, HasSubstr(c.message)));
  }
  COOPER_ASSERT_OK_AND_ASSIGN(const NamedArrays kept, LoadNpz(path));
  EXPECT_EQ(kept.size(), 4u);
}

}  // namespace
}  // namespace cooper
