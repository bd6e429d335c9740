#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "encdec/engine/base/mutex.h"
#include "encdec/models/model/model.h"
#include "encdec/models/session/streaming_encoder.h"

namespace encdec {

// Encodes an utterance that grows. Each call encodes only the new samples. Thread-safe.
class UtteranceEncoder {
 public:
  // Returns null if StreamingEncoder does not support the model, or may differ from Session::encode().
  static std::shared_ptr<UtteranceEncoder> make(const Model& model);
  explicit UtteranceEncoder(std::shared_ptr<const Transformer> model)
      : encoder_(std::move(model), std::make_shared<ThreadTeam>()) {}

  // Returns the output [rows, D] for the first samples. If an earlier call had more samples or threw, returns {}.
  Tensor rows(std::span<const float> samples);

 private:
  Mutex mutex_;
  StreamingEncoder encoder_ ENCDEC_GUARDED_BY(mutex_);
  std::size_t read_ ENCDEC_GUARDED_BY(mutex_) = 0;          // number of samples encoded
  std::vector<float> rows_ ENCDEC_GUARDED_BY(mutex_) = {};  // rows that later samples do not change
};

}  // namespace encdec
