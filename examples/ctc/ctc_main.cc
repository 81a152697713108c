// Trains a reader of lines of digits and prints how many of 300 new lines it reads without an
// error. With an argument, writes a picture (SVG) of its output for one of them to that file.

#include <algorithm>
#include <iostream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "examples/ctc/ctc.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/init_logging.h"
#include "ndarray/base/status_macros.h"
#include "tools/html_page.h"
#include "tools/output_file.h"
#include "tools/svg_canvas.h"

namespace cooper {
namespace {

std::string Name(int digit) { return digit == 0 ? "blank" : std::to_string(digit - 1); }

// Draws the image and below it the probability of each class in each column.
std::string Picture(const NDArray& image, const std::vector<float>& probabilities,
                    const std::vector<int>& digits) {
  constexpr double kLeft = 60, kTop = 30;
  const std::vector<float> dots = *image.ToVector<float>();
  const auto height = static_cast<int>(image.shape()[0]),
             width = static_cast<int>(image.shape()[1]);
  const int classes = static_cast<int>(probabilities.size()) / width;
  const double cell = (800 - kLeft - 12) / width, row = 16;
  const double below = kTop + height * cell + 30;
  SvgCanvas canvas(800, below + classes * row + 12);
  std::string text = "read:";
  for (const int digit : digits) absl::StrAppend(&text, " ", Name(digit));
  canvas.Label(kLeft, kTop - 10, SvgCanvas::Anchor::kStart, text, "strong");
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      canvas.Rect(kLeft + x * cell, kTop + y * cell, cell, cell, "bar", "", dots[y * width + x]);
    }
  }
  canvas.Label(kLeft, below - 8, SvgCanvas::Anchor::kStart, "probability of each class by column");
  for (int k = 0; k < classes; ++k) {
    const double y = below + k * row;
    canvas.Label(kLeft - 6, y + 12, SvgCanvas::Anchor::kEnd, Name(k));
    canvas.Rect(kLeft, y + 1, width * cell, row - 2, "band");
    for (int x = 0; x < width; ++x) {
      const float p = probabilities[x * classes + k];
      if (p < 0.01f) continue;
      canvas.Rect(kLeft + x * cell, y + 1, cell, row - 2, k == 0 ? "bar" : "marked",
                  absl::StrFormat("column %d, %s: %.2f", x, Name(k), p), p);
    }
  }
  return SvgFile(
      canvas.ToString(absl::StrCat("An image of digits and what is read in it: ", text)));
}

absl::Status Run(const std::string& picture) {
  COOPER_RETURN_IF_ERROR(CheckOutputFile("", picture));
  COOPER_ASSIGN_OR_RETURN(auto model, TrainLineReader(MakeTextLines(1500, 1), 8));
  const TextLines test = MakeTextLines(300, 2);
  COOPER_ASSIGN_OR_RETURN(const ReadLines read, ReadTextLines(*model, test));
  int right = 0;
  for (size_t i = 0; i < read.digits.size(); ++i) right += read.digits[i] == test.digits[i];
  std::cout << right << " of " << read.digits.size() << " lines are read without a fault\n";
  if (picture.empty()) return absl::OkStatus();
  const auto widest = std::max_element(
      test.images.begin(), test.images.end(),
      [](const NDArray& a, const NDArray& b) { return a.shape()[1] < b.shape()[1]; });
  const size_t i = widest - test.images.begin();
  return WriteFileAtomically(picture,
                             Picture(test.images[i], read.probabilities[i], read.digits[i]));
}

}  // namespace
}  // namespace cooper

int main(int argc, char** argv) {
  cooper::InitLogging();
  const absl::Status status = cooper::Run(argc > 1 ? argv[1] : "");
  if (!status.ok()) std::cerr << status << "\n";
  return status.ok() ? 0 : 1;
}
