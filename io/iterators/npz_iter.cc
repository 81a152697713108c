#include "io/iterators/npz_iter.h"

#include "ndarray/array/array_map.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/files/npz_file.h"

namespace cooper {

absl::StatusOr<std::unique_ptr<NDArrayIter>> NpzIter(const std::string& path, const NpzInputs& data,
                                                     const NpzInputs& label,
                                                     NDArrayIterOptions options) {
  COOPER_ASSIGN_OR_RETURN(const NpzFile file, NpzFile::Open(path));
  ArrayMap loaded;  // by their names in the file
  const auto load = [&](const NpzInputs& inputs) -> absl::StatusOr<NamedSources> {
    NamedSources sources;
    for (const auto& [input, name] : inputs) {
      NDArray& array = loaded[name];
      if (array.is_null()) {
        COOPER_ASSIGN_OR_RETURN(array, file.Load(name));
      }
      sources.emplace_back(input, array);
    }
    return sources;
  };
  COOPER_ASSIGN_OR_RETURN(NamedSources data_sources, load(data));
  COOPER_ASSIGN_OR_RETURN(NamedSources label_sources, load(label));
  return AddContext(
      NDArrayIter::Create(std::move(data_sources), std::move(label_sources), std::move(options)),
      "'", path, "'");
}

}  // namespace cooper
