// Makes RecordIO files of images, with the command line of MXNet's im2rec.py:
//
//   im2rec --list --recursive train images/   writes train.lst, a line per image of images/
//   im2rec --resize=256 --num-thread=4 train images/
//                                             writes train.rec and train.idx for each train*.lst
//
// Lists of extensions have commas between: --exts=.jpg,.png.

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <string>
#include <system_error>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "io/images/image_list.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/threads/parallel.h"
#include "tools/im2rec/pack_images.h"
#include "tools/program_main.h"

ABSL_FLAG(bool, list, false, "make lists, not records");
ABSL_FLAG(std::vector<std::string>, exts, cooper::ListOptions().exts, "the endings of images");
ABSL_FLAG(int64_t, chunks, 1, "number of lists");
ABSL_FLAG(double, train_ratio, 1, "part of the images in PREFIX_train.lst");
ABSL_FLAG(double, test_ratio, 0, "part of the images in PREFIX_test.lst");
ABSL_FLAG(bool, recursive, false, "search folders, and give the images of each a label of its own");
ABSL_FLAG(bool, no_shuffle, false, "keep the order of the names");
ABSL_FLAG(bool, pass_through, false, "pack the files as they are");
ABSL_FLAG(int64_t, resize, 0, "length of the shorter edge; 0: as it is");
ABSL_FLAG(bool, center_crop, false, "crop to the square in the centre");
ABSL_FLAG(int, quality, 95, "of JPEG, 1 to 100; or PNG's compression, at most 9");
ABSL_FLAG(int, num_thread, 1, "number of threads");
ABSL_FLAG(int, color, 1, "1: colour, 0: gray, -1: as in the file");
ABSL_FLAG(std::string, encoding, ".jpg", ".jpg or .png");
ABSL_FLAG(bool, pack_label, false, "pack all labels of a list, not only the first");

namespace cooper {
namespace {

absl::Status MakeLists(const std::string& prefix, const std::string& root) {
  COOPER_ASSIGN_OR_RETURN(const std::vector<ListedImage> images,
                          ListImages(root, {.exts = absl::GetFlag(FLAGS_exts),
                                            .recursive = absl::GetFlag(FLAGS_recursive),
                                            .shuffle = !absl::GetFlag(FLAGS_no_shuffle)}));
  return WriteLists(prefix, images,
                    {.chunks = absl::GetFlag(FLAGS_chunks),
                     .train_ratio = absl::GetFlag(FLAGS_train_ratio),
                     .test_ratio = absl::GetFlag(FLAGS_test_ratio)});
}

absl::Status MakeRecords(const std::string& prefix, const std::string& root) {
  if (absl::GetFlag(FLAGS_color) < -1 || absl::GetFlag(FLAGS_color) > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("--color is ", absl::GetFlag(FLAGS_color), ", expected -1, 0 or 1"));
  }
  const PackOptions options = {.pass_through = absl::GetFlag(FLAGS_pass_through),
                               .center_crop = absl::GetFlag(FLAGS_center_crop),
                               .resize = absl::GetFlag(FLAGS_resize),
                               .quality = absl::GetFlag(FLAGS_quality),
                               .color = static_cast<ImageColor>(absl::GetFlag(FLAGS_color)),
                               .encoding = absl::GetFlag(FLAGS_encoding),
                               .pack_label = absl::GetFlag(FLAGS_pack_label)};
  SetNumThreads(absl::GetFlag(FLAGS_num_thread));
  std::filesystem::path folder = std::filesystem::path(prefix).parent_path();
  if (folder.empty()) folder = ".";
  const std::string name = std::filesystem::path(prefix).filename().string();
  std::error_code error;
  std::vector<std::filesystem::path> paths;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    const std::string file = it->path().filename().string();
    if (absl::StartsWith(file, name) && absl::EndsWith(file, ".lst")) paths.push_back(it->path());
  }
  if (error) {
    return absl::NotFoundError(
        absl::StrCat("cannot read folder '", folder.string(), "': ", error.message()));
  }
  std::sort(paths.begin(), paths.end());
  int64_t failures = 0;
  for (std::filesystem::path& path : paths) {
    COOPER_ASSIGN_OR_RETURN(const std::vector<ListedImage> images, ReadImageList(path.string()));
    COOPER_ASSIGN_OR_RETURN(const PackedImages packed,
                            PackImages(images, root, path.replace_extension().string(), options));
    std::cout << path.string() << ".rec: " << packed.packed << " images" << std::endl;
    for (const std::string& failure : packed.failures) std::cerr << "left out: " << failure << "\n";
    failures += std::ssize(packed.failures);
  }
  if (paths.empty()) {
    return absl::NotFoundError(
        absl::StrCat("there is no list ", prefix, "*.lst: make one with --list"));
  }
  if (failures == 0) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(failures, " images were left out"));
}

}  // namespace
}  // namespace cooper

int main(int argc, char** argv) {
  // MXNet's names have dashes where flags have underscores.
  for (int a = 1; a < argc; ++a) {
    if (!absl::StartsWith(argv[a], "--")) continue;
    for (char* at = argv[a] + 2; *at != '\0' && *at != '='; ++at) {
      if (*at == '-') *at = '_';
    }
  }
  std::vector<std::string> names;
  const auto run = [&names]() -> absl::Status {
    if (names.size() != 2) {
      return absl::InvalidArgumentError("give a prefix and a folder: im2rec [--list] PREFIX ROOT");
    }
    return absl::GetFlag(FLAGS_list) ? cooper::MakeLists(names[0], names[1])
                                     : cooper::MakeRecords(names[0], names[1]);
  };
  return cooper::ProgramMain({.name = "im2rec",
                              .summary = "im2rec [--list] PREFIX ROOT: lists images, and packs "
                                         "listed images into records.",
                              .flags_of = "tools/im2rec/",
                              .arguments = &names},
                             argc, argv, run);
}
