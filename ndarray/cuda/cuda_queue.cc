#include "ndarray/cuda/cuda_queue.h"

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/cuda/cuda_status.h"
#include "ndarray/cuda/device_scope.h"
#include "ndarray/cuda/peer_access.h"
#include "ndarray/cuda/set_words.h"

namespace cooper {

namespace {

class CudaGraph : public DeviceGraph {
 public:
  explicit CudaGraph(int device_id) : device_id_(device_id) {}
  // CUDA frees a running graph when it has ended.
  ~CudaGraph() override {
    const CudaDeviceScope scope(device_id_);
    if (exec_ != nullptr && cudaGraphExecDestroy(exec_) != cudaSuccess) cudaGetLastError();
  }

  absl::Status Instantiate(cudaGraph_t graph) {
    return CudaStatus(cudaGraphInstantiate(&exec_, graph, 0), "cudaGraphInstantiate");
  }
  cudaGraphExec_t exec() const { return exec_; }

 private:
  const int device_id_;
  cudaGraphExec_t exec_ = nullptr;
};

}  // namespace

cudaMemcpyKind CudaCopyKind(Context dst_context, Context src_context) {
  if (dst_context.is_cpu()) return cudaMemcpyDeviceToHost;
  return src_context.is_cpu() ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToDevice;
}

std::string DescribeCudaCopy(Context dst_context, Context src_context, int64_t bytes) {
  return absl::StrCat("copying ", bytes, " bytes from ", src_context.ToString(), " to ",
                      dst_context.ToString());
}

bool IsPinned(Context src_context, const void* src) {
  cudaPointerAttributes attributes = {};
  return src_context.is_cpu() && cudaPointerGetAttributes(&attributes, src) == cudaSuccess &&
         attributes.type != cudaMemoryTypeUnregistered;
}

bool AccessesPageableMemory(int device_id) {
  int reaches = 0;
  if (cudaDeviceGetAttribute(&reaches, cudaDevAttrPageableMemoryAccess, device_id) == cudaSuccess) {
    return reaches != 0;
  }
  cudaGetLastError();
  return true;
}

absl::StatusOr<std::unique_ptr<CudaQueue>> CudaQueue::Create(int device_id) {
  std::unique_ptr<CudaQueue> queue(new CudaQueue(device_id));
  COOPER_RETURN_IF_ERROR(queue->Open(cudaStreamDefault));
  return queue;
}

absl::Status CudaQueue::Open(unsigned flags) {
  const CudaDeviceScope scope(device_id_);
  COOPER_RETURN_IF_ERROR(scope.status());
  COOPER_RETURN_IF_ERROR(
      CudaStatus(cudaStreamCreateWithFlags(&stream_, flags), "cudaStreamCreateWithFlags"));
  return CudaStatus(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming),
                    "cudaEventCreateWithFlags");
}

CudaQueue::~CudaQueue() {
  const CudaDeviceScope scope(device_id_);
  if (stream_ != nullptr && cudaStreamSynchronize(stream_) != cudaSuccess) cudaGetLastError();
  if (event_ != nullptr && cudaEventDestroy(event_) != cudaSuccess) cudaGetLastError();
  if (stream_ != nullptr && cudaStreamDestroy(stream_) != cudaSuccess) cudaGetLastError();
}

absl::Status CudaQueue::WaitFor(DeviceQueue& other) {
  if (other.handle() == nullptr) return absl::OkStatus();  // a CPU queue: its work has run
  if (&other == this) return absl::OkStatus();
  auto& there = static_cast<CudaQueue&>(other);
  const std::lock_guard<std::mutex> lock(there.mutex_);
  {
    const CudaDeviceScope scope(there.device_id_);
    COOPER_RETURN_IF_ERROR(scope.status());
    COOPER_RETURN_IF_ERROR(
        CudaStatus(cudaEventRecord(there.event_, there.stream_), "cudaEventRecord"));
  }
  const CudaDeviceScope scope(device_id_);
  COOPER_RETURN_IF_ERROR(scope.status());
  return CudaStatus(cudaStreamWaitEvent(stream_, there.event_, 0), "cudaStreamWaitEvent");
}

absl::Status CudaQueue::Copy(void* dst, Context dst_context, const void* src, Context src_context,
                             int64_t bytes) {
  if (bytes == 0) return absl::OkStatus();
  const CudaDeviceScope scope(device_id_);
  COOPER_RETURN_IF_ERROR(scope.status());
  // A launch of the recording would access the host memory at that later time.
  if (recorded_random_ != nullptr && (src_context.is_cpu() || dst_context.is_cpu())) {
    return absl::FailedPreconditionError("a copy from or to host memory cannot be recorded");
  }
  const bool peers = !dst_context.is_cpu() && !src_context.is_cpu() &&
                     dst_context.device_id != src_context.device_id;
  const auto count = static_cast<size_t>(bytes);
  if (peers) EnablePeerAccess(dst_context.device_id, src_context.device_id);
  COOPER_RETURN_IF_ERROR(CudaStatus(
      peers ? cudaMemcpyPeerAsync(dst, dst_context.device_id, src, src_context.device_id, count,
                                  stream_)
            : cudaMemcpyAsync(dst, src, count, CudaCopyKind(dst_context, src_context), stream_),
      DescribeCudaCopy(dst_context, src_context, bytes)));
  const bool read_later =
      src_context.is_cpu() && (AccessesPageableMemory(device_id_) || IsPinned(src_context, src));
  return read_later ? Synchronize() : absl::OkStatus();
}

absl::Status CudaQueue::Synchronize() {
  const CudaDeviceScope scope(device_id_);
  COOPER_RETURN_IF_ERROR(scope.status());
  return CudaStatus(cudaStreamSynchronize(stream_), "waiting for a queue");
}

// Records on a separate stream, so that work which other threads enqueue in this queue meanwhile is
// not recorded. The stream is non-blocking, so that other threads may use the default stream, and
// the capture mode is limited to this thread, so that other threads may allocate.
absl::StatusOr<std::unique_ptr<DeviceGraph>> CudaQueue::Record(
    RecordedRandom* random, absl::FunctionRef<absl::Status(DeviceQueue& queue)> enqueue) {
  const CudaDeviceScope scope(device_id_);
  COOPER_RETURN_IF_ERROR(scope.status());
  CudaQueue recorder(device_id_);
  COOPER_RETURN_IF_ERROR(recorder.Open(cudaStreamNonBlocking));
  recorder.recorded_random_ = random;
  COOPER_RETURN_IF_ERROR(
      CudaStatus(cudaStreamBeginCapture(recorder.stream_, cudaStreamCaptureModeThreadLocal),
                 "cudaStreamBeginCapture"));
  const absl::Status recorded = enqueue(recorder);
  cudaGraph_t graph = nullptr;
  const cudaError_t error = cudaStreamEndCapture(recorder.stream_, &graph);
  auto result = std::make_unique<CudaGraph>(device_id_);
  absl::Status status = recorded;
  if (error != cudaSuccess) {
    cudaGetLastError();
    status = absl::FailedPreconditionError(
        absl::StrCat("the work cannot be recorded: ", cudaGetErrorString(error),
                     recorded.ok() ? "" : "; ", recorded.message()));
  }
  if (status.ok()) status = result->Instantiate(graph);
  if (graph != nullptr) cudaGraphDestroy(graph);
  if (!status.ok()) return status;
  return result;
}

absl::Status CudaQueue::SetWords(uint64_t* words, uint64_t first, uint64_t second) {
  const CudaDeviceScope scope(device_id_);
  COOPER_RETURN_IF_ERROR(scope.status());
  return CudaStatus(cooper::SetWords(stream_, words, first, second), "setting words");
}

absl::Status CudaQueue::EnqueueFn(const DeviceGraph& graph) {
  const CudaDeviceScope scope(device_id_);
  COOPER_RETURN_IF_ERROR(scope.status());
  return CudaStatus(cudaGraphLaunch(static_cast<const CudaGraph&>(graph).exec(), stream_),
                    "cudaGraphLaunch");
}

}  // namespace cooper
