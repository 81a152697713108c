#ifndef COOPER_TOOLS_LM_TRAIN_LM_STREAM_H_
#define COOPER_TOOLS_LM_TRAIN_LM_STREAM_H_

// Trains on texts that do not fit in memory: the flags --vocabulary and --pool_samples, and --train
// with a pattern, a list or a compressed file.

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "io/streams/bucket_stream.h"
#include "module/kvstore/kvstore.h"
#include "tools/lm_train/lm_corpus.h"

namespace cooper {

// Returns whether --train=`train` is read as a stream: if it is a pattern ("data/shard-*.txt"), a
// list with commas between, or a file whose name ends in ".gz" or ".zst".
bool IsStreamed(const std::string& train);

// Returns the corpus without its training sentences. The vocabulary is that of the file
// --vocabulary or, if the flag is empty, has all words of the training text, or the `max_words`
// most frequent ones if that is positive; other words share the number of "<unk>". `valid_path` may
// be empty.
absl::StatusOr<LmCorpus> ReadStreamedCorpus(const std::string& train, const std::string& valid_path,
                                            int64_t max_words);

// Creates the stream of the training text. `options` has what does not depend on --pool_samples
// and on the processes: a null `store` is that of a single process, and any other has to outlive
// the stream.
absl::StatusOr<std::unique_ptr<BucketStream>> MakeLmStream(const std::string& train,
                                                           const LmCorpus& corpus,
                                                           const std::string& length_name,
                                                           BucketStreamOptions options,
                                                           KVStore* store);

}  // namespace cooper

#endif  // COOPER_TOOLS_LM_TRAIN_LM_STREAM_H_
