#ifndef COOPER_TESTS_CUDA_EMULATOR_HOST_DEVICE_ATOMICS_H_
#define COOPER_TESTS_CUDA_EMULATOR_HOST_DEVICE_ATOMICS_H_

// Atomic operations of device code. They are relaxed, as on a GPU, and return the old value.

#include <atomic>
#include <type_traits>

namespace cooper::cuda_emulator {

// Replaces *target by update(*target), atomically, and returns the old value.
template <typename T, typename F>
T AtomicUpdate(T* target, F&& update) {
  const std::atomic_ref<T> atomic(*target);
  T old = atomic.load(std::memory_order_relaxed);
  while (!atomic.compare_exchange_weak(old, update(old), std::memory_order_relaxed)) {
  }
  return old;
}

}  // namespace cooper::cuda_emulator

template <typename T>
T atomicAdd(T* target, std::type_identity_t<T> value) {
  return ::cooper::cuda_emulator::AtomicUpdate(
      target, [value](T old) { return static_cast<T>(old + value); });
}

template <typename T>
T atomicSub(T* target, std::type_identity_t<T> value) {
  return ::cooper::cuda_emulator::AtomicUpdate(
      target, [value](T old) { return static_cast<T>(old - value); });
}

template <typename T>
T atomicMin(T* target, std::type_identity_t<T> value) {
  return ::cooper::cuda_emulator::AtomicUpdate(
      target, [value](T old) { return value < old ? value : old; });
}

template <typename T>
T atomicMax(T* target, std::type_identity_t<T> value) {
  return ::cooper::cuda_emulator::AtomicUpdate(
      target, [value](T old) { return old < value ? value : old; });
}

template <typename T>
T atomicAnd(T* target, std::type_identity_t<T> value) {
  return ::cooper::cuda_emulator::AtomicUpdate(target, [value](T old) { return old & value; });
}

template <typename T>
T atomicOr(T* target, std::type_identity_t<T> value) {
  return ::cooper::cuda_emulator::AtomicUpdate(target, [value](T old) { return old | value; });
}

template <typename T>
T atomicExch(T* target, std::type_identity_t<T> value) {
  return std::atomic_ref<T>(*target).exchange(value, std::memory_order_relaxed);
}

template <typename T>
T atomicCAS(T* target, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
  std::atomic_ref<T>(*target).compare_exchange_strong(expected, value, std::memory_order_relaxed);
  return expected;
}

#endif  // COOPER_TESTS_CUDA_EMULATOR_HOST_DEVICE_ATOMICS_H_
