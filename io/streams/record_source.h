#ifndef COOPER_IO_STREAMS_RECORD_SOURCE_H_
#define COOPER_IO_STREAMS_RECORD_SOURCE_H_

// A source (sample_source.h) whose shards are RecordIO files and whose samples a function decodes.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "io/records/record_reader.h"
#include "io/streams/sample.h"
#include "io/streams/sample_source.h"

namespace cooper {

// Sets the fields of a sample, which has no elements, from the bytes of a record. Called from
// several threads at a time. Must not throw: on a helper thread an exception ends the program. An
// error is returned with path and offset before its message.
using DecodeRecord = std::function<absl::Status(absl::string_view record, Sample* sample)>;

// Creates a source with one shard per path. The position of a reader is the offset of a record.
// Files are opened when they are read. With skip_corrupted, corrupted records are no samples; then
// the samples of a shard must be the same each time it is read, as those of any source.
// kInvalidArgument if there is no path.
absl::StatusOr<std::shared_ptr<const SampleSource>> RecordSource(
    std::vector<std::string> paths, std::vector<SampleField> fields, DecodeRecord decode,
    const RecordReaderOptions& options = {});

}  // namespace cooper

#endif  // COOPER_IO_STREAMS_RECORD_SOURCE_H_
