#pragma once

#include <cstdint>
#include <optional>

#include "encdec/models/model.h"

namespace encdec::python {

// What becomes of a source that the model cannot take.
enum class OnError : std::uint8_t {
  raise,  // its error ends the call
  null,   // it has no result
};

// As GenerateStream, with results that may be missing.
class ResultStream {
 public:
  virtual ~ResultStream() = default;
  virtual std::optional<GenerateInput> next(GenerateStream::Wait wait) = 0;
  virtual void write(std::optional<GenerateResult> result) = 0;
};

// As Model::generate_stream().
void generate_each(const Model& model, const GenerateOptions& options, ResultStream& stream, OnError on_error);

}  // namespace encdec::python
