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

// How to embed: what sentence-transformers' encode() knows.
struct EmbedOptions {
  // Texts encoded together; 0 for what keeps the CPU busy. Results do not depend on it.
  int batch_size = 0;
  // Scale vectors to length 1, whether or not the folder's own files ask for it.
  bool normalize = false;
  // Leave only the first so many numbers of each vector, before that; 0 for all.
  int dimensions = 0;
  // What goes in front of each text. If not set, the folder's prompt of that name; of none, its default prompt.
  std::optional<std::string> prompt = {};
  std::optional<std::string> prompt_name = {};  // "query", "document": config_sentence_transformers.json
  // What becomes of texts of more tokens than the model reads.
  LongSources long_texts = LongSources::truncate;
};

// From the last hidden states of a text's tokens to one vector: the modules behind the Transformer in a
// sentence-transformers folder (Reimers & Gurevych 2019, section 3), as its modules.json lists them: Pooling, Dense,
// Normalize. Read-only: usable from many threads at once.
class SentenceEmbedder {
 public:
  // What one vector is made of: one token's states, or a mean or the maximum of all.
  enum class Pooling : std::uint8_t { first_token, max, mean, mean_by_root_length, weighted_mean, last_token };

  // The mean of the hidden states: what sentence-transformers does with a folder that has no modules.json.
  SentenceEmbedder() = default;
  // Reads modules.json and what it names, if the folder has one. Throws FileError or ConfigError, naming the file, for
  // modules that are damaged, are not supported or do not fit a model of dimension `model_dim`.
  static SentenceEmbedder read(const std::filesystem::path& folder, Dim model_dim);
  // Where a folder with modules.json keeps the Transformer: itself, or a folder inside it.
  static std::filesystem::path transformer_folder(const std::filesystem::path& folder);

  // What goes in front of texts: this text, else the folder's prompt of that name, else its default one. Throws
  // ConfigError for a name that the folder does not know, and for a prompt that its pooling leaves out.
  std::string prompt(const std::optional<std::string>& text, const std::optional<std::string>& name) const;
  // Numbers of an embedding.
  Dim width() const { return width_; }
  // Tokens of the longest text, special ones included; 0 for no limit.
  std::size_t max_length() const { return max_length_; }

  // hidden [tokens, D], at least one token -> the embedding, or its first `dimensions` numbers (all for 0), scaled to
  // length 1 if that is asked for.
  std::vector<float> embed(const Tensor& hidden, int dimensions = 0, bool normalize = false) const;

 private:
  // activation(weight x + bias)
  struct Dense {
    Tensor weight;  // float32 [outputs, inputs]
    Tensor bias;    // float32 [outputs], or empty
    Activation activation = Activation::identity;
  };
  static Dense read_dense(const std::filesystem::path& folder, Dim inputs);
  void read_prompts(const std::filesystem::path& path);
  void check_prompt(const std::string& prompt) const;

  std::vector<Pooling> pooling_{Pooling::mean};
  std::vector<std::optional<Dense>> steps_;     // without a dense layer: scales to length 1
  std::map<std::string, std::string> prompts_;  // by name
  std::string default_prompt_;
  bool pools_prompts_ = true;
  std::string origin_;  // the folder, for messages
  std::size_t max_length_ = 0;
  Dim width_ = 0;
};

}  // namespace encdec
