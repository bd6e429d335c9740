#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "encdec/engine/base/mutex.h"
#include "encdec/models/model/model.h"
#include "encdec/models/session/streaming_encoder.h"

namespace encdec {

// The encoder's rows of an utterance that grows: a call encodes only the samples that no call before it had.
// Thread-safe.
class UtteranceEncoder {
 public:
  // Returns null if the model has no StreamingEncoder, or if its rows could have other bits than those of
  // Session::encode(), as with oneDNN.
  static std::shared_ptr<UtteranceEncoder> make(const Model& model);
  explicit UtteranceEncoder(std::shared_ptr<const Transformer> model)
      : encoder_(std::move(model), std::make_shared<ThreadTeam>()) {}

  // Returns the rows [rows, D] of the first samples of the utterance. Returns an empty tensor if an earlier call had
  // more samples or was cancelled.
  Tensor rows(std::span<const float> samples);

 private:
  Mutex mutex_;
  StreamingEncoder encoder_ ENCDEC_GUARDED_BY(mutex_);
  std::size_t read_ ENCDEC_GUARDED_BY(mutex_) = 0;          // number of samples that are encoded
  std::vector<float> rows_ ENCDEC_GUARDED_BY(mutex_) = {};  // rows that are final
};

}  // namespace encdec
