// Measures ImageRecordIter alone (benchmarks/peers/README.md, "Images in records"). Prints a line
// of JSON for each epoch.
//
//   image_records --imgrec=images.rec --make=1000    writes JPEG images of 256 x 256 pixels
//   image_records --imgrec=images.rec --threads=1

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "benchmarks/json_line.h"
#include "io/batch/data_batch.h"
#include "io/images/codec/image.h"
#include "io/images/codec/record_image.h"
#include "io/images/image_record_iter.h"
#include "io/images/imgproc/resize_image.h"
#include "io/records/record_writer.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/random/random.h"
#include "ndarray/threads/parallel.h"

ABSL_FLAG(std::string, imgrec, "", "the file of records");
ABSL_FLAG(int, make, 0, "writes so many images instead");
ABSL_FLAG(int, threads, 1, "threads that decode");
ABSL_FLAG(int, epochs, 2, "");

namespace cooper {
namespace {

// Writes coarse noise, enlarged, with fine noise on it: JPEG files of some 20 KB.
absl::Status MakeImages(const std::string& path, int count) {
  RandomGenerator random;
  COOPER_ASSIGN_OR_RETURN(const auto writer, RecordWriter::Create(path));
  for (int i = 0; i < count; ++i) {
    Image coarse{.height = 16, .width = 16, .channels = 3};
    for (int k = 0; k < 16 * 16 * 3; ++k) {
      coarse.pixels.push_back(static_cast<uint8_t>(random.NextBelow(240)));
    }
    COOPER_ASSIGN_OR_RETURN(Image image, ResizeImage(coarse, 256, 256));
    for (uint8_t& pixel : image.pixels) pixel += static_cast<uint8_t>(random.NextBelow(16));
    COOPER_ASSIGN_OR_RETURN(const std::string record,
                            PackImg({.label = static_cast<float>(i % 10)}, image, {.quality = 90}));
    COOPER_RETURN_IF_ERROR(writer->Write(record));
  }
  return writer->Close();
}

absl::Status Run() {
  const std::string path = absl::GetFlag(FLAGS_imgrec);
  if (const int count = absl::GetFlag(FLAGS_make); count > 0) return MakeImages(path, count);
  SetNumThreads(absl::GetFlag(FLAGS_threads));
  COOPER_ASSIGN_OR_RETURN(
      const auto iter,
      ImageRecordIter::Create(
          {.records = {.path_imgrec = path, .batch_size = 32, .round_batch = false},
           .image = {.data_shape = {3, 224, 224}, .rand_crop = true, .rand_mirror = true},
           .normalize = {.mean_r = 124,
                         .mean_g = 117,
                         .mean_b = 104,
                         .std_r = 58,
                         .std_g = 57,
                         .std_b = 57}}));
  using Clock = std::chrono::steady_clock;
  for (int epoch = 0; epoch < absl::GetFlag(FLAGS_epochs); ++epoch) {
    const Clock::time_point start = Clock::now();
    int64_t images = 0;
    while (true) {
      COOPER_ASSIGN_OR_RETURN(const std::optional<DataBatch> batch, iter->Next());
      if (!batch.has_value()) break;
      images += iter->batch_size() - batch->pad;
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    PrintLine({{"epoch", epoch + 1}, {"images", images}, {"seconds", seconds}});
    COOPER_RETURN_IF_ERROR(iter->Reset());
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace cooper

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  const absl::Status status = cooper::Run();
  if (status.ok()) return EXIT_SUCCESS;
  std::cerr << status << "\n";
  return EXIT_FAILURE;
}
