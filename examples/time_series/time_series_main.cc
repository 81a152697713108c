// Trains on series of two kinds and prints the prediction errors. Started again with the same
// argument after a kill, it resumes.

#include <iostream>
#include <string>

#include "absl/status/status.h"
#include "examples/time_series/time_series.h"
#include "ndarray/base/init_logging.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

absl::Status Run(const std::string& prefix) {
  const SeriesData data = MakeSeries(2000, 1);
  COOPER_ASSIGN_OR_RETURN(auto batches, SeriesBatches(data));
  COOPER_ASSIGN_OR_RETURN(auto model, MakeSeriesModel(*batches));
  COOPER_RETURN_IF_ERROR(TrainSeries(*model, *batches, prefix, 10));
  COOPER_ASSIGN_OR_RETURN(const auto scores, ScoreSeries(*model, MakeSeries(500, 2)));
  for (const auto& [name, value] : scores) std::cout << name << " " << value << "\n";
  return absl::OkStatus();
}

}  // namespace
}  // namespace cooper

int main(int argc, char** argv) {
  cooper::InitLogging();
  const absl::Status status = cooper::Run(argc > 1 ? argv[1] : "/tmp/time_series");
  if (!status.ok()) std::cerr << status << "\n";
  return status.ok() ? 0 : 1;
}
