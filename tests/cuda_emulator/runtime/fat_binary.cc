#include "tests/cuda_emulator/runtime/fat_binary.h"

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace cooper::cuda_emulator {
namespace {

constexpr uint32_t kMagic = 0xBA55ED50;
constexpr uint16_t kPtx = 1;  // kind of an entry; 2 is machine code
constexpr uint64_t kLz4 = 0x2000;
constexpr uint64_t kZstd = 0x8000;

struct Header {
  uint32_t magic;
  uint16_t version;
  uint16_t header_bytes;
  uint64_t bytes;  // of all entries
};

struct Entry {
  uint16_t kind;
  uint16_t version;
  uint32_t header_bytes;
  uint64_t payload_bytes;
  uint32_t compressed_bytes;
  uint32_t unused1;
  uint32_t unused2;
  uint32_t arch;
  uint64_t unused3;
  uint64_t flags;
  uint64_t unused4;
  uint64_t unpacked_bytes;
};
static_assert(sizeof(Header) == 16 && sizeof(Entry) == 64);

absl::StatusOr<std::string> Unzstd(const char* packed, size_t packed_bytes, size_t bytes) {
  using Decompress = size_t (*)(void*, size_t, const void*, size_t);
  void* library = dlopen("libzstd.so.1", RTLD_NOW);
  auto decompress = library == nullptr
                        ? nullptr
                        : reinterpret_cast<Decompress>(dlsym(library, "ZSTD_decompress"));
  if (decompress == nullptr) {
    return absl::NotFoundError(
        "the program's PTX is compressed, and there is no libzstd.so.1 to unpack it: compile with "
        "--no-compress");
  }
  std::string text(bytes, '\0');
  const size_t unpacked = decompress(text.data(), bytes, packed, packed_bytes);
  if (unpacked > bytes) return absl::NotFoundError("the program's PTX cannot be unpacked");
  text.resize(unpacked);
  return text;
}

absl::StatusOr<std::string> TextOf(const char* at, const Entry& entry) {
  const char* payload = at + entry.header_bytes;
  if (entry.flags & kZstd) return Unzstd(payload, entry.compressed_bytes, entry.unpacked_bytes);
  if (entry.flags & kLz4) {
    return absl::NotFoundError("the program's PTX is compressed: compile with --no-compress");
  }
  return std::string(payload, entry.payload_bytes);
}

}  // namespace

absl::StatusOr<std::string> FindPtx(const void* data, int max_arch) {
  Header header;
  std::memcpy(&header, data, sizeof(header));
  if (header.magic != kMagic) {
    return absl::InvalidArgumentError(absl::StrCat("no fat binary: it begins with ",
                                                   absl::Hex(header.magic), ", expected ",
                                                   absl::Hex(kMagic)));
  }
  const char* at = static_cast<const char*>(data) + header.header_bytes;
  const char* const end = at + header.bytes;
  const char* best = nullptr;
  Entry best_entry = {};
  while (at < end) {
    Entry entry;
    std::memcpy(&entry, at, sizeof(entry));
    if (entry.kind == kPtx && entry.arch <= static_cast<uint32_t>(max_arch) &&
        entry.arch >= best_entry.arch) {
      best = at;
      best_entry = entry;
    }
    at += entry.header_bytes + entry.payload_bytes;
  }
  if (best == nullptr) {
    return absl::NotFoundError(absl::StrCat("the program has no PTX for compute capability ",
                                            max_arch / 10, ".", max_arch % 10,
                                            " or below: compile with code=compute_NN"));
  }
  absl::StatusOr<std::string> text = TextOf(best, best_entry);
  if (text.ok()) {
    while (!text->empty() && text->back() == '\0') text->pop_back();
  }
  return text;
}

}  // namespace cooper::cuda_emulator
