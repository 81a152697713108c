// Fuzzes files compressed by gzip or zstd: any bytes, and members with bytes changed. Whatever
// sizes a reader asks for, and wherever it seeks, it gets the bytes that one pass gives, or an
// error at some place before damaged bytes; whole members give their texts. The files of MNIST are
// read in the same way, plain and compressed.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "io/iterators/byte_stream.h"
#include "io/iterators/mnist_iter.h"
#include "io/iterators/ndarray_iter.h"
#include "io/streams/gzip_fixtures.h"
#include "io/streams/zstd_fixtures.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/fuzz_seeds.h"
#include "tests/fuzz/scratch_folder.h"

namespace cooper {
namespace {

constexpr size_t kMaxText = 2000;
constexpr int64_t kMaxBytes = int64_t{1} << 16;  // of a decompressed file that is read to its end

struct Pass {
  std::string bytes;
  absl::Status end;
};

// Reads to the end, an error, or kMaxBytes, `step` bytes at a time.
Pass ReadAll(ByteStream& stream, int64_t step) {
  Pass pass;
  std::string block(static_cast<size_t>(step), '\0');
  while (std::ssize(pass.bytes) < kMaxBytes) {
    const auto count = stream.Read(block.data(), step);
    pass.end = count.status();
    if (!count.ok() || *count == 0) break;
    pass.bytes.append(block, 0, static_cast<size_t>(*count));
  }
  return pass;
}

std::string Members(FuzzInput& input, std::string* texts) {
  std::string bytes;
  const bool is_zstd = kHasZstd && input.OneIn(2);
  for (uint64_t count = 1 + input.Below(3); count > 0; --count) {
    const std::string text = input.Text(kMaxText);
    bytes += is_zstd ? Zstd(text) : Gzip(text);
    *texts += text;
  }
  return bytes;
}

void ReadAnyFile(FuzzInput& input) {
  std::string texts;
  std::string bytes = input.OneIn(2) ? Members(input, &texts) : input.Text(kMaxText);
  bool is_whole = !texts.empty();
  for (uint64_t changes = input.Below(3); changes > 0 && !bytes.empty(); --changes) {
    bytes[input.Below(bytes.size())] = static_cast<char>(input.Below(256));
    is_whole = false;
  }
  const char* const endings[] = {"", ".gz", ".zst"};
  const std::string path = ScratchFolder() + "/file" + endings[input.Below(3)];
  WriteUnsynced(path, bytes);
  const auto stream = ByteStream::Open(path);
  if (!stream.ok()) return;
  const Pass pass = ReadAll(**stream, 1 << 16);
  CHECK(!is_whole || (pass.end.ok() && pass.bytes == texts));
  for (int i = 0; i < 3; ++i) {
    const int64_t from = input.Between(0, std::ssize(pass.bytes));
    const absl::Status moved = (*stream)->SeekTo(from);
    CHECK(moved.ok()) << moved;
    const Pass rest = ReadAll(**stream, input.Between(1, 3000));
    if (std::ssize(pass.bytes) >= kMaxBytes) return;
    CHECK(rest.end.ok() == pass.end.ok());
    const std::string expected = pass.bytes.substr(static_cast<size_t>(from));
    if (pass.end.ok()) CHECK(rest.bytes == expected);
    const size_t common = std::min(rest.bytes.size(), expected.size());
    CHECK(rest.bytes.substr(0, common) == expected.substr(0, common));
  }
  CHECK(!pass.end.ok() || !(*stream)->SeekTo(std::ssize(pass.bytes) + 1).ok());
}

std::string Word(uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
  return bytes;
}

void ReadMnist(FuzzInput& input) {
  const auto count = static_cast<uint32_t>(input.Below(5));
  std::string images = absl::StrCat(Word(0x803), Word(count), Word(2), Word(3));
  for (uint32_t i = 0; i < 6 * count; ++i) images += static_cast<char>(i);
  std::string labels = absl::StrCat(Word(0x801), Word(count), std::string(count, '\7'));
  for (std::string* file : {&images, &labels}) {
    if (input.OneIn(4)) *file = input.Text(100);
    for (uint64_t changes = input.Below(3); changes > 0 && !file->empty(); --changes) {
      (*file)[input.Below(file->size())] = static_cast<char>(input.Below(256));
    }
    for (const char* magic : {"\x1f\x8b", "\x28\xb5\x2f\xfd"}) {
      if (absl::StartsWith(*file, magic)) return;  // compressed already
    }
    if (file->find("\x2a\x4d\x18") == 1) return;  // the same, with a frame to skip
  }
  MnistIterOptions options = {.image = ScratchFolder() + "/images",
                              .label = ScratchFolder() + "/labels",
                              .batch_size = 1,
                              .shuffle = input.OneIn(2),
                              .flat = input.OneIn(2),
                              .silent = true};
  WriteUnsynced(options.image, images);
  WriteUnsynced(options.label, labels);
  const auto plain = MnistIter(options);
  WriteUnsynced(options.image, Gzip(images));
  WriteUnsynced(options.label, Gzip(labels));
  const auto compressed = MnistIter(options);
  CHECK(plain.status() == compressed.status()) << plain.status() << compressed.status();
  if (!plain.ok()) return;
  while (true) {
    const auto one = (*plain)->Next(), other = (*compressed)->Next();
    CHECK(one.ok() && other.ok() && one->has_value() == other->has_value());
    if (!one->has_value()) return;
    CHECK((*one)->data[0].ToVector<float>().value() == (*other)->data[0].ToVector<float>().value());
  }
}

}  // namespace
}  // namespace cooper

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cooper::FuzzInput input(data, size);
  if (input.OneIn(2)) {
    cooper::ReadMnist(input);
  } else {
    cooper::ReadAnyFile(input);
  }
  return 0;
}

extern "C" void CooperFuzzSeeds(std::vector<cooper::FuzzSeed>* seeds) {
  const std::string member = cooper::Gzip("some text, some text, some text\n");
  const std::string frame = cooper::Zstd("some text, some text, some text\n");
  const struct {
    const char* name;
    std::string bytes;
  } files[] = {{"plain", "text"},
               {"member", member},
               {"two_members", member + member},
               {"zeros", member + std::string(100, '\0')},
               {"garbage", member + "garbage"},
               {"no_trailer", member.substr(0, member.size() - 8)},
               {"cut", member.substr(0, 14)},
               {"magic", "\x1f\x8b"},
               {"frame", frame},
               {"two_frames", frame + frame},
               {"window", std::string("\x28\xb5\x2f\xfd\x00\x70\x01\x00\x00", 9)},
               {"skipped", std::string("\x5e\x2a\x4d\x18\x02\x00\x00\x00xy", 10) + frame}};
  for (const auto& [name, bytes] : files) {
    seeds->push_back({name, cooper::SeedBytes()
                                .Below(0, 2)
                                .Below(0, 2)
                                .Text(bytes, cooper::kMaxText)
                                .Below(0, 3)
                                .bytes()});
  }
  seeds->push_back({"mnist", cooper::SeedBytes().Below(1, 2).Below(4, 5).bytes()});
}
