#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "encdec/models/embedding/vectors.h"
#include "encdec/models/generation/prompter.h"
#include "encdec/models/tokenizer/base/tokenizer.h"

namespace encdec {

// The work of one call on texts that an encoder-only model or a classifier reads. Turns texts into tokens; a class for
// each kind of call turns what the network computes from them into results. May be used by many threads at once.
class TextTask {
 public:
  // Rows of the network that the call needs for each text.
  enum class Reads : std::uint8_t {
    rows,       // last hidden states of all tokens [tokens, D]
    first_row,  // last hidden state of the first token alone [1, D]
    logits,     // a classifier's logits: [1, labels], or [tokens, labels] if it classifies tokens
    weights,    // weights of all tokens of the vocabulary [1, V], from a masked language model's logits
  };

  virtual ~TextTask() = default;
  TextTask(const TextTask&) = delete;
  TextTask& operator=(const TextTask&) = delete;

  // The first text of the last pair. Pairs in a row that share it are tokenized once.
  struct FirstText {
    const std::string* text = nullptr;
    TokenIds tokens = {};
  };

  // Returns the tokens of a text, or of a pair of texts if `second` is not null. Throws InputError, naming the text by
  // `number`, if the model cannot read it. REQUIRES: the text of `last`, if there is one, exists.
  Encoding encode(const std::string& text, const std::string* second, std::size_t number, FirstText& last) const;
  // Returns the tokens of a text in windows that the model can read: all tokens of the text, in order, with special
  // tokens around each window. Neighbouring windows have `stride` tokens in common. Without a stride there is one
  // window, encode(text). Throws as encode() does, and InputError if the stride is larger than half a window.
  // REQUIRES: with a stride, encode() sets ranges.
  std::vector<Encoding> encode_windows(const std::string& text, std::size_t number) const;
  Reads reads() const { return settings_.reads; }
  std::size_t max_length() const { return settings_.max_length; }  // maximum number of tokens of a text; 0: no limit

 protected:
  struct Settings {
    Reads reads = Reads::rows;
    std::string prompt = {};     // put before each text
    std::size_t max_length = 0;  // in tokens; 0: the network's limit
    Truncation truncation = Truncation::longest_first;
    LongSources long_texts = LongSources::truncate;
    int batch_size = 0;
    bool with_ranges = false;  // encode() sets Encoding::ranges
    std::size_t stride = 0;    // tokens that neighbouring windows have in common; 0: a text has one window
  };
  // Throws ConfigError if the batch size is out of range, or if the model has a decoder and the call does not read
  // logits; TokenizerError if there is no tokenizer. REQUIRES: what `parts` refers to outlives this object.
  TextTask(const ModelParts& parts, Settings settings);
  const std::string& prompt() const { return settings_.prompt; }
  // Returns the smaller of the folder's limit of tokens and that of the call; 0 means no limit.
  static std::size_t smaller_limit(std::size_t folder, int call);

 private:
  Encoding read(const std::string& text, const std::string* second, std::size_t number, std::size_t max_length,
                FirstText& last) const;
  void check(const TokenIds& ids, std::size_t number) const;

  ModelParts parts_;
  Settings settings_;
};

// The work of a call that wants a vector of each text: its embedding, or a classifier's scores.
class VectorTask : public TextTask {
 public:
  // Returns the number of elements of a vector; 0 for a sparse vector.
  virtual Dim width() const = 0;
  // Returns the result of a text with the tokens `ids`. `input` is what reads() says.
  virtual VectorResult compute(const TokenIds& ids, const Tensor& input) const = 0;

 protected:
  using TextTask::TextTask;
};

}  // namespace encdec
