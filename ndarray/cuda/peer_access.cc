#include "ndarray/cuda/peer_access.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <utility>

#include "cuda_runtime.h"
#include "ndarray/cuda/device_scope.h"

namespace cooper {
namespace {

// Lets device_id access the memory of peer_id. Clears CUDA's last error, so that a failure is not
// reported by the next launch.
void Enable(int device_id, int peer_id) {
  const CudaDeviceScope scope(device_id);
  int can = 0;
  if (!scope.status().ok() || cudaDeviceCanAccessPeer(&can, device_id, peer_id) != cudaSuccess ||
      can == 0) {
    cudaGetLastError();
    return;
  }
  // The program may have enabled it already.
  if (cudaDeviceEnablePeerAccess(peer_id, 0) != cudaSuccess) cudaGetLastError();
}

}  // namespace

void EnablePeerAccess(int device_id, int other_id) {
  static auto* mutex = new std::mutex;
  static auto* pairs = new std::set<std::pair<int, int>>;
  const std::lock_guard<std::mutex> lock(*mutex);
  if (!pairs->insert(std::minmax(device_id, other_id)).second) return;
  Enable(device_id, other_id);
  Enable(other_id, device_id);
}

}  // namespace cooper
