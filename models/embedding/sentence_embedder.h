#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "encdec/engine/base/activation.h"
#include "encdec/engine/base/tensor.h"
#include "encdec/models/generation/generate_options.h"

namespace encdec {

// Options of Model::embed(): those of encode() in sentence-transformers.
struct EmbedOptions {
  // Number of texts encoded together; 0 for enough to keep the CPU busy. Results do not depend on it.
  int batch_size = 0;
  // Scale each vector to length 1, even if the folder's own files do not ask for it.
  bool normalize = false;
  // Number of leading elements to keep of each vector; 0 for all. A vector is cut before it is scaled.
  int dimensions = 0;
  // Prompt put before each text. If unset, the folder's prompt named `prompt_name`; if that is unset too, the folder's
  // default prompt.
  std::optional<std::string> prompt = {};
  std::optional<std::string> prompt_name = {};  // a name in config_sentence_transformers.json: "query", "document"
  // Handling of a text with more tokens than the model reads.
  LongSources long_texts = LongSources::truncate;
};

// The modules that turn the last hidden states of a text's tokens into one vector. They follow the Transformer in a
// sentence-transformers folder and are listed in its modules.json: Pooling, Dense, Normalize (Reimers & Gurevych 2019,
// section 3). Read-only: may be used by many threads at once.
class SentenceEmbedder {
 public:
  // A way to combine hidden states into one vector: take those of one token, or a mean or the maximum over all tokens.
  enum class Pooling : std::uint8_t { first_token, max, mean, mean_by_root_length, weighted_mean, last_token };

  // Makes an embedder that takes the mean of the hidden states, as sentence-transformers does without modules.json.
  SentenceEmbedder() = default;
  // Reads modules.json, if the folder has one, and the files that it lists. Throws FileError or ConfigError, naming the
  // file, for a module that is damaged, is not supported or does not fit a model of dimension `model_dim`.
  static SentenceEmbedder read(const std::filesystem::path& folder, Dim model_dim);
  // Returns the folder that holds the Transformer: `folder`, or the folder inside it that modules.json names.
  static std::filesystem::path transformer_folder(const std::filesystem::path& folder);

  // Returns the prompt to put before each text: `text` if set, else the folder's prompt named `name`, else its default
  // prompt. Throws ConfigError if the folder has no prompt of that name, and for a prompt that the folder's pooling
  // would leave out.
  std::string prompt(const std::optional<std::string>& text, const std::optional<std::string>& name) const;
  // Returns the number of elements of a vector.
  Dim width() const { return width_; }
  // Returns the maximum number of tokens of a text, special tokens included; 0 for no limit.
  std::size_t max_length() const { return max_length_; }
  // Returns whether a vector depends on the hidden states of the first token alone.
  bool reads_first_row() const { return pooling_ == std::vector{Pooling::first_token}; }

  // Returns the vector of one text. `hidden` [tokens, D] has at least one row. Only the first `dimensions` elements are
  // kept (0 for all); with `normalize` they are then scaled to length 1.
  std::vector<float> embed(const Tensor& hidden, int dimensions = 0, bool normalize = false) const;

 private:
  // y = activation(weight x + bias)
  struct Dense {
    Tensor weight;  // float32 [outputs, inputs]
    Tensor bias;    // float32 [outputs], or empty
    Activation activation = Activation::identity;
  };
  static Dense read_dense(const std::filesystem::path& folder, Dim inputs);
  void read_prompts(const std::filesystem::path& path);
  void check_prompt(const std::string& prompt) const;

  std::vector<Pooling> pooling_{Pooling::mean};
  std::vector<std::optional<Dense>> steps_;     // an unset element scales to length 1
  std::map<std::string, std::string> prompts_;  // by name
  std::string default_prompt_;
  bool pools_prompts_ = true;
  std::string origin_;  // folder, for messages
  std::size_t max_length_ = 0;
  Dim width_ = 0;
};

}  // namespace encdec
