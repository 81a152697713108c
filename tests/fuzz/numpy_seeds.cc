// Provides the seeds of numpy_fuzz: arrays of each dtype, order and version, archives of each kind,
// and headers, directories and entries that are wrong in one place.

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "glog/logging.h"
#include "ndarray/files/zip_writer.h"
#include "tests/fuzz/fuzz_seeds.h"

namespace cooper {
namespace {

std::string Npy(const std::string& descr, const std::string& shape, const std::string& elements,
                bool fortran_order = false, int major = 1) {
  const std::string text =
      absl::StrCat("{'descr': '", descr, "', 'fortran_order': ", fortran_order ? "True" : "False",
                   ", 'shape': ", shape, ", }\n");
  const auto size = static_cast<uint32_t>(text.size());
  std::string bytes = absl::StrCat("\x93NUMPY", std::string(1, static_cast<char>(major)));
  bytes.push_back('\0');
  bytes.append(reinterpret_cast<const char*>(&size), major == 1 ? 2 : 4);
  return absl::StrCat(bytes, text, elements);
}

std::string Zip(const std::vector<FuzzSeed>& entries, const ZipWriterOptions& options) {
  std::string archive;
  ZipWriter writer(
      [&archive](absl::string_view part) {
        archive.append(part.data(), part.size());
        return absl::OkStatus();
      },
      options);
  for (const auto& [name, bytes] : entries) CHECK(writer.Add(name, {bytes}).ok());
  CHECK(writer.Finish().ok());
  return archive;
}

std::vector<FuzzSeed> Seeds() {
  const std::string eight = std::string("\0\1\2\3\4\5\6\7", 8);
  std::vector<FuzzSeed> seeds;
  for (const char* descr : {"<f4", ">f4", "<f8", ">f2", "|u1", "<i4", "|i1", ">i8", "|b1", "<V2",
                            "<u2", "<u4", "<u8", "<c8", "<U1", "|S8", "|O", "<M8[s]", "|V8"}) {
    const int64_t item = descr[2] - '0';
    const int64_t count = item > 0 && item <= 8 ? 8 / item : 1;
    seeds.push_back(
        {absl::StrCat("dtype_", descr), Npy(descr, absl::StrCat("(", count, ",)"), eight)});
  }
  seeds.push_back({"fortran", Npy("<i1", "(2, 4)", eight, true)});
  seeds.push_back({"scalar", Npy("<i8", "()", eight)});
  seeds.push_back({"empty", Npy("<i8", "(2, 0, 3)", "", true)});
  seeds.push_back({"version_2", Npy("<f4", "(2,)", eight, false, 2)});
  seeds.push_back({"version_3", Npy("<f4", "(2,)", eight, true, 3)});
  seeds.push_back({"version_4", Npy("<f4", "(2,)", eight, false, 4)});
  seeds.push_back({"claimed", Npy("<f4", "(1000000000000,)", eight)});
  seeds.push_back({"overflow", Npy("<f4", "(4611686018427387904, 4, 0)", eight)});
  seeds.push_back({"long", Npy("<f4", "(2L,)", absl::StrCat(eight, eight))});

  const std::vector<FuzzSeed> entries = {{"a.npy", Npy("<f4", "(2,)", eight)},
                                         {"b.npy", Npy("|u1", "(8,)", eight)},
                                         {"text.txt", "hello"}};
  const std::string stored = Zip(entries, {});
  const std::string deflated = Zip(entries, {.compress = true});
  seeds.push_back({"stored", stored});
  seeds.push_back({"deflated", deflated});
  seeds.push_back({"zip64", Zip(entries, {.compress = true, .zip64_from = 0})});
  seeds.push_back({"no_entries", Zip({}, {})});
  seeds.push_back({"same_array", Zip({{"a", "x"}, {"a.npy", "x"}}, {})});
  seeds.push_back({"zeros", Zip({{"z.npy", Npy("|u1", "(5000,)", std::string(5000, '\0'))}},
                                {.compress = true})});
  // One number of the end record and of the first directory record after another, all ones.
  const size_t directory = stored.find("PK\1\2");
  for (const size_t at :
       {directory + 8, directory + 10, directory + 16, directory + 20, directory + 24,
        directory + 28, directory + 30, directory + 42, stored.size() - 18, stored.size() - 12,
        stored.size() - 10, stored.size() - 6}) {
    std::string changed = stored;
    std::memset(changed.data() + at, 0xff, 4);
    seeds.push_back({absl::StrCat("ones_", at), changed});
  }
  for (size_t end = 0; end < deflated.size(); end += 16) {
    seeds.push_back({absl::StrCat("cut_", end), deflated.substr(0, end)});
  }
  return seeds;
}

}  // namespace
}  // namespace cooper

extern "C" void CooperFuzzSeeds(std::vector<cooper::FuzzSeed>* seeds) { *seeds = cooper::Seeds(); }
