#ifndef COOPER_NDARRAY_FILES_READ_ARRAY_H_
#define COOPER_NDARRAY_FILES_READ_ARRAY_H_

// Reads one array of a list; the list itself is read by params_file.cc.

#include "absl/status/status.h"
#include "ndarray/files/byte_reader.h"
#include "ndarray/files/params_entry.h"

namespace cooper {

// Reads an array of any version (params_format.h) from the front of `reader` into `entry`, whose
// name stays unchanged. kInvalidArgument, naming the field, if the bytes are no array.
absl::Status ReadArray(ByteReader& reader, ParamsEntry* entry);

}  // namespace cooper

#endif  // COOPER_NDARRAY_FILES_READ_ARRAY_H_
