#include "executor/run/recorded_part.h"

#include <utility>

#include "absl/status/statusor.h"
#include "glog/logging.h"
#include "ndarray/array/device_graphs.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

absl::Status RecordedPart::Run(RecordingQueue& queue, Context context, int64_t pointers,
                               const RunRandom& random, EnqueueFn enqueue) {
  const bool stayed = std::exchange(pointers_, pointers) == pointers;
  if (!stayed) {
    graph_ = nullptr;
    refused_ = false;
  }
  if (!DeviceGraphsAreOn()) return enqueue(queue, /*recorded=*/false);
  // The first run of a kernel may load the kernel and initialize libraries, which cannot be
  // recorded.
  const bool may_record = stayed || DeviceGraphsFromFirstRun();
  if (may_record && graph_ == nullptr && !refused_) Record(queue, context, enqueue);
  if (graph_ == nullptr) return enqueue(queue, /*recorded=*/false);
  if (random_.drawn) {
    // SetWords passes the values themselves: `random` may not exist any more when the device reads
    // them.
    COOPER_RETURN_IF_ERROR(
        queue.SetWords(static_cast<uint64_t*>(words_->data()), random.seed, random.stream));
  }
  return queue.EnqueueFn(*graph_);
}

void RecordedPart::Record(RecordingQueue& queue, Context context, EnqueueFn enqueue) {
  if (words_ == nullptr) {
    absl::StatusOr<std::shared_ptr<Storage>> words = Storage::Allocate(sizeof(RunRandom), context);
    if (!words.ok()) return;
    words_ = *std::move(words);
  }
  random_ = {.words = static_cast<const uint64_t*>(words_->data())};
  absl::StatusOr<std::unique_ptr<DeviceGraph>> graph =
      queue.Record(&random_, [&](DeviceQueue& to) { return enqueue(to, /*recorded=*/true); });
  // If a kernel failed, it fails again when it runs, and that error is returned.
  refused_ = !graph.ok();
  if (graph.ok()) {
    graph_ = *std::move(graph);
  } else {
    VLOG(1) << "work of " << context.ToString()
            << " is launched kernel by kernel: " << graph.status().message();
  }
}

}  // namespace cooper
