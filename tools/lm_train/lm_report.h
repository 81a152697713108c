#ifndef COOPER_TOOLS_LM_TRAIN_LM_REPORT_H_
#define COOPER_TOOLS_LM_TRAIN_LM_REPORT_H_

// Renders the HTML page of a training run of the language model: its learning curves, and the cost
// of each bucket.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cooper {

struct LmEpoch {
  int number = 0;  // from 1
  double train_perplexity = 0;
  std::optional<double> valid_perplexity;
  int64_t batches = 0;
  int64_t real_tokens = 0;
  int64_t padded_tokens = 0;  // including the real ones
  double seconds = 0;         // of training
};

struct LmBucket {
  std::string key;
  int64_t batches = 0;
  int64_t real_tokens = 0;
  int64_t padded_tokens = 0;
  double seconds = 0;
  int64_t planned_bytes = 0;     // of its training plan; 0: it was not bound for training
  int64_t evaluation_bytes = 0;  // of its validation plan; 0: there is none
};

struct LmRun {
  std::vector<LmEpoch> epochs;
  std::vector<LmBucket> buckets;  // of all epochs together
  int64_t arena_bytes = 0;        // one arena for all buckets
  std::optional<double> perplexity_floor;
  std::vector<std::string> arguments;  // of the program's command line
};

// Returns one HTML file (tools/html_page.h). Charts omit perplexities that are not finite.
std::string LmReportPage(const LmRun& run);

}  // namespace cooper

#endif  // COOPER_TOOLS_LM_TRAIN_LM_REPORT_H_
