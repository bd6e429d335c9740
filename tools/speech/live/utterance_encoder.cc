#include "encdec/speech/live/utterance_encoder.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "encdec/engine/backend/backends.h"

namespace encdec {

std::shared_ptr<UtteranceEncoder> UtteranceEncoder::make(const Model& model) {
  const bool is_onednn = backend::backend_for(model.backend(), model.precision()).trial != nullptr;
  if (!model.config().encoder.frames.reads_chunks || is_onednn) return nullptr;
  return std::make_shared<UtteranceEncoder>(model.network());
}

Tensor UtteranceEncoder::rows(std::span<const float> samples) {
  const MutexLock lock(mutex_);
  if (samples.size() < read_) return {};
  // Set read_ to the maximum, so that later calls return early if an exception is thrown below.
  const std::size_t before = std::exchange(read_, std::numeric_limits<std::size_t>::max());
  encoder_.push(samples.subspan(before), rows_);
  // Append the rows for an utterance that ends here. Remove these rows afterwards, because the utterance may continue.
  const std::size_t final_rows = rows_.size();
  encoder_.end_here(rows_);
  const Dim width = encoder_.width();
  Tensor all = Tensor::uninitialized({static_cast<Dim>(rows_.size()) / width, width});
  std::ranges::copy(rows_, all.data<float>());
  rows_.resize(final_rows);
  read_ = samples.size();
  return all;
}

}  // namespace encdec
