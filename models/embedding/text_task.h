#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "encdec/models/generation/prompter.h"
#include "encdec/models/tokenizer/base/tokenizer.h"

namespace encdec {

// The work of one call that wants a vector of each text: its embedding, or a classifier's scores. Turns texts into
// tokens, and what the network computes from these into vectors. May be used by many threads at once.
class TextTask {
 public:
  // What compute() takes.
  enum class Reads : std::uint8_t {
    rows,       // last hidden states of all tokens [tokens, D]
    first_row,  // those of the first token alone [1, D]
    logits,     // a classifier's logits: [1, labels], or [tokens, labels] if it classifies tokens
  };

  virtual ~TextTask() = default;
  TextTask(const TextTask&) = delete;
  TextTask& operator=(const TextTask&) = delete;

  // Returns the tokens of a text, or of a pair of texts if `second` is not null. Throws InputError, naming the text by
  // `number`, if the model cannot read it.
  Encoding encode(const std::string& text, const std::string* second, std::size_t number) const;
  Reads reads() const { return settings_.reads; }

  // Returns the number of elements of a vector.
  virtual Dim width() const = 0;
  // Writes the vector [width()] of a text.
  virtual void compute(const Tensor& input, float* vector) const = 0;

 protected:
  struct Settings {
    Reads reads = Reads::rows;
    std::string prompt = {};     // put before each text
    std::size_t max_length = 0;  // in tokens; 0: the network's limit
    Truncation truncation = Truncation::longest_first;
    LongSources long_texts = LongSources::truncate;
    int batch_size = 0;
  };
  // Throws ConfigError if the batch size is out of range or the model has a decoder; TokenizerError if there is no
  // tokenizer. REQUIRES: what `parts` refers to outlives this object.
  TextTask(const ModelParts& parts, Settings settings);

 private:
  ModelParts parts_;
  Settings settings_;
};

}  // namespace encdec
