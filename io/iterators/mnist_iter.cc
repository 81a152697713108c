#include "io/iterators/mnist_iter.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "glog/logging.h"
#include "io/batch/check_part.h"
#include "io/batch/gather_rows.h"
#include "io/iterators/byte_stream.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/random/random.h"

namespace cooper {
namespace {

// The first word of a file: zeros, the code of bytes, and the number of axes.
constexpr uint32_t kImageKind = 0x00000803;
constexpr uint32_t kLabelKind = 0x00000801;

constexpr int64_t kChunkBytes = int64_t{1} << 20;

// A file that is read from its beginning.
class IdxFile {
 public:
  static absl::StatusOr<IdxFile> Open(const std::string& path) {
    COOPER_ASSIGN_OR_RETURN(std::unique_ptr<ByteStream> bytes, ByteStream::Open(path));
    return IdxFile(path, std::move(bytes));
  }

  const std::string& path() const { return path_; }

  // Returns the next `bytes` bytes. The memory is at most twice what the file has, whatever its
  // header claims.
  absl::StatusOr<std::string> Read(int64_t bytes) {
    std::string read;
    while (std::ssize(read) < bytes) {
      const auto before = std::ssize(read);
      const int64_t chunk = std::min(kChunkBytes, bytes - before);
      read.resize(static_cast<size_t>(before + chunk));
      COOPER_ASSIGN_OR_RETURN(const int64_t got, bytes_->Read(read.data() + before, chunk));
      if (got == 0) {
        return absl::InvalidArgumentError(absl::StrCat(
            "'", path_, "' ends after ", offset_, " bytes, expected ", bytes - before, " more"));
      }
      read.resize(static_cast<size_t>(before + got));
      offset_ += got;
    }
    return read;
  }

  // Reads another byte, if there is one: compressed data has a checksum behind the last one.
  absl::Status CheckEnd() {
    char next;
    return bytes_->Read(&next, 1).status();
  }

  absl::Status Skip(int64_t bytes) {
    for (; bytes > 0; bytes -= std::min(bytes, kChunkBytes)) {
      COOPER_RETURN_IF_ERROR(Read(std::min(bytes, kChunkBytes)).status());
    }
    return absl::OkStatus();
  }

 private:
  IdxFile(std::string path, std::unique_ptr<ByteStream> bytes)
      : path_(std::move(path)), bytes_(std::move(bytes)) {}

  std::string path_;
  std::unique_ptr<ByteStream> bytes_;
  int64_t offset_ = 0;  // in the decompressed bytes
};

// Reads the words at the beginning of a file, most significant byte first. The first is `kind`.
template <size_t kAxes>
absl::StatusOr<std::array<int64_t, kAxes>> ReadAxes(uint32_t kind, IdxFile* file) {
  COOPER_ASSIGN_OR_RETURN(const std::string bytes, file->Read(4 * (kAxes + 1)));
  const auto word = [&](size_t at) {
    uint32_t value = 0;
    for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
    return value;
  };
  if (word(0) != kind) {
    return absl::InvalidArgumentError(
        absl::StrFormat("'%s' begins with %08x, expected %08x, an idx file of bytes with %d axes",
                        file->path(), word(0), kind, kAxes));
  }
  std::array<int64_t, kAxes> axes;
  for (size_t i = 0; i < kAxes; ++i) axes[i] = word(4 * (i + 1));
  return axes;
}

// The images that a part has, as MXNet computes them.
struct Part {
  int64_t begin = 0, end = 0;

  Part(int64_t count, const MnistIterOptions& options) {
    const double step = static_cast<double>(count) / static_cast<double>(options.num_parts);
    begin = static_cast<int64_t>(step * static_cast<double>(options.part_index));
    end = static_cast<int64_t>(step * static_cast<double>(options.part_index + 1));
  }
  int64_t size() const { return end - begin; }
};

// Reads the images of the part, (images, 1, rows, columns) or (images, rows * columns), and sets
// `count` to the number of images in the file.
absl::StatusOr<NDArray> ReadImages(const MnistIterOptions& options, int64_t* count) {
  COOPER_ASSIGN_OR_RETURN(IdxFile file, IdxFile::Open(options.image));
  COOPER_ASSIGN_OR_RETURN(const auto axes, ReadAxes<3>(kImageKind, &file));
  *count = axes[0];
  COOPER_RETURN_IF_ERROR(
      AddContext(Shape::Create({axes[0], axes[1], axes[2]}).status(), "'", options.image, "'"));
  const int64_t pixels = axes[1] * axes[2];
  const Part part(axes[0], options);
  COOPER_RETURN_IF_ERROR(file.Skip(part.begin * pixels));
  COOPER_ASSIGN_OR_RETURN(const std::string bytes, file.Read(part.size() * pixels));
  COOPER_RETURN_IF_ERROR(file.CheckEnd());
  const Shape shape =
      options.flat ? Shape{part.size(), pixels} : Shape{part.size(), 1, axes[1], axes[2]};
  COOPER_ASSIGN_OR_RETURN(const NDArray images, NDArray::Empty(shape));
  COOPER_ASSIGN_OR_RETURN(const absl::Span<float> values, images.Data<float>());
  std::transform(bytes.begin(), bytes.end(), values.begin(),
                 [](char byte) { return static_cast<unsigned char>(byte) * (1.0f / 256.0f); });
  return images;
}

// Reads the labels of the part, and sets `count` to the number of labels in the file.
absl::StatusOr<NDArray> ReadLabels(const MnistIterOptions& options, int64_t* count) {
  COOPER_ASSIGN_OR_RETURN(IdxFile file, IdxFile::Open(options.label));
  COOPER_ASSIGN_OR_RETURN(const auto axes, ReadAxes<1>(kLabelKind, &file));
  *count = axes[0];
  const Part part(axes[0], options);
  COOPER_RETURN_IF_ERROR(file.Skip(part.begin));
  COOPER_ASSIGN_OR_RETURN(const std::string bytes, file.Read(part.size()));
  COOPER_RETURN_IF_ERROR(file.CheckEnd());
  std::vector<float> labels;
  labels.reserve(bytes.size());
  for (const char byte : bytes) labels.push_back(static_cast<unsigned char>(byte));
  return NDArray::FromVector({part.size()}, labels);
}

absl::StatusOr<std::unique_ptr<NDArrayIter>> Create(const MnistIterOptions& options) {
  COOPER_RETURN_IF_ERROR(CheckPart(options.part_index, options.num_parts));
  int64_t num_images = 0, num_labels = 0;
  COOPER_ASSIGN_OR_RETURN(NDArray images, ReadImages(options, &num_images));
  COOPER_ASSIGN_OR_RETURN(NDArray labels, ReadLabels(options, &num_labels));
  if (num_images != num_labels) {
    return absl::InvalidArgumentError(absl::StrCat("'", options.image, "' has ", num_images,
                                                   " images, '", options.label, "' ", num_labels,
                                                   " labels"));
  }
  if (options.shuffle) {
    const std::vector<int64_t> ids = RandomGenerator(options.seed).Permutation(images.shape()[0]);
    COOPER_ASSIGN_OR_RETURN(images, GatherRows(images, ids));
    COOPER_ASSIGN_OR_RETURN(labels, GatherRows(labels, ids));
  }
  if (!options.silent) {
    LOG(INFO) << "MNISTIter: loaded " << images.shape()[0] << " of " << num_images
              << " images, shuffle=" << options.shuffle << ", shape " << images.shape().ToString();
  }
  return NDArrayIter::Create({{options.data_name, std::move(images)}},
                             {{options.label_name, std::move(labels)}},
                             {.batch_size = options.batch_size,
                              .last_batch_handle = LastBatchHandle::kDiscard,
                              .seed = options.seed});
}

}  // namespace

absl::StatusOr<std::unique_ptr<NDArrayIter>> MnistIter(const MnistIterOptions& options) {
  return AddContext(Create(options), "MNISTIter");
}

}  // namespace cooper
