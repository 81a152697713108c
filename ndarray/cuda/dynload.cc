#include "ndarray/cuda/dynload.h"

#include <dlfcn.h>

#include <cstdlib>
#include <sstream>
#include <string>

namespace cooper {
namespace {

// Opens the library with global symbols: cuDNN looks up symbols of cuBLAS, which is opened first.
void* Open(const std::string& path) { return dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL); }

}  // namespace

void* LoadCudaLibrary(const char* soname) {
  const char* folders = std::getenv("COOPER_CUDA_LIB_PATH");
  std::istringstream stream(folders == nullptr ? "" : folders);
  for (std::string folder; std::getline(stream, folder, ':');) {
    if (void* library = Open(folder + "/" + soname)) return library;
  }
  if (void* library = Open(soname)) return library;
  return Open(std::string("/usr/local/cuda/lib64/") + soname);
}

void* CudaSymbol(const char* soname, const char* symbol) {
  void* library = LoadCudaLibrary(soname);
  return library == nullptr ? nullptr : dlsym(library, symbol);
}

}  // namespace cooper
