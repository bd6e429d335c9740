#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "encdec/engine/base/activation.h"
#include "encdec/engine/base/named_values.h"
#include "encdec/engine/base/tensor.h"
#include "encdec/engine/matmul.h"
#include "encdec/models/network/config.h"
#include "encdec/models/session/token_ids.h"
#include "encdec/models/tokenizer/base/tokenizer.h"

namespace encdec {

// Kinds of vectors that a model may give.
enum class EmbedOutput : std::uint8_t {
  dense,    // one vector [D] of each text
  sparse,   // weights of some tokens of the vocabulary, for each text (Formal et al. 2021)
  tokens,   // the last hidden states of all tokens [tokens, D], special tokens included
  colbert,  // vectors of length 1 of all tokens but the first (Khattab & Zaharia 2020)
};

inline constexpr std::array kEmbedOutputNames = {
    Named{EmbedOutput::dense, "dense"},
    Named{EmbedOutput::sparse, "sparse"},
    Named{EmbedOutput::tokens, "token"},
    Named{EmbedOutput::colbert, "ColBERT"},
};

// The vector of a text or pair, or the vectors of its tokens.
struct VectorResult {
  EmbedOutput output = EmbedOutput::dense;
  // An embedding [D], scores by label [labels], the weights of `token_ids`, or vectors of tokens [rows, width].
  std::vector<float> values = {};
  TokenIds token_ids = {};  // the tokens of a sparse vector, ascending; their weights are not 0
  std::size_t rows = 0;     // number of vectors of tokens
  std::size_t width = 0;
  std::size_t source_tokens = 0;  // number of tokens read, special tokens included
};

// The modules that turn the last hidden states of a text's tokens into one vector. They follow the Transformer in a
// sentence-transformers folder and are listed in its modules.json: Pooling, Dense, LayerNorm, Normalize (Reimers &
// Gurevych 2019, section 3), or SpladePooling, which makes a sparse vector. Those of a CrossEncoder make the logits of
// a classifier instead. Also the linear maps of BGE-M3 (Chen et al. 2024, section 3.2), which make its other vectors.
// Read-only: may be used by many threads at once.
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

  // Returns the folder that read() has read; empty if there was none.
  const std::filesystem::path& folder() const { return folder_; }
  // Returns the prompt to put before each text: `text` if set, else the folder's prompt named `name`, else its default
  // prompt. Throws ConfigError if the folder has no prompt of that name.
  std::string prompt(const std::optional<std::string>& text, const std::optional<std::string>& name) const;
  // Returns the number of a text's first rows that the folder's pooling leaves out: those of the prompt and of the
  // special tokens before it if include_prompt is false, else 0.
  Dim rows_left_out(const Tokenizer* tokenizer, const std::string& prompt) const;
  // Returns the number of elements of a vector.
  Dim width() const { return width_; }
  // Returns the maximum number of tokens of a text, special tokens included; 0 for no limit.
  std::size_t max_length() const { return max_length_; }
  // Returns the weight of each token in `ids` [tokens] of a text: the largest of its rows in `hidden` [tokens, D].
  // Tokens without a positive weight are left out. REQUIRES: reads_lexical().
  std::map<std::int32_t, float> lexical_weights(const TokenIds& ids, const Tensor& hidden) const;
  // Returns the ColBERT vectors [tokens - 1, number of elements] of a text. REQUIRES: gives(EmbedOutput::colbert).
  std::vector<float> colbert(const Tensor& hidden) const;
  // Returns the number of elements of a ColBERT vector.
  Dim colbert_width() const { return colbert_ ? colbert_->output_width() : 0; }
  // Returns whether sparse vectors are made of lexical_weights().
  bool reads_lexical() const { return lexical_.has_value(); }
  // Returns whether the folder has a modules.json.
  bool has_modules() const { return has_modules_; }
  // Returns how SpladePooling makes a sparse vector; nullopt if the folder has no such module.
  const std::optional<SparsePooling>& splade() const { return splade_; }
  // Returns whether a model with this configuration and these modules gives vectors of a kind.
  bool gives(EmbedOutput output, const TransformerConfig& config) const;
  // Throws ConfigError unless gives().
  void expect(EmbedOutput output, const TransformerConfig& config) const;
  // Returns whether the vector of a text is the logits of a classifier.
  bool is_cross_encoder() const { return is_cross_encoder_; }
  // Returns whether a vector depends on the hidden states of the first token alone.
  bool reads_first_row() const { return pools_prompts_ && pooling_ == std::vector{Pooling::first_token}; }

  // Returns the vector of one text. `hidden` [tokens, D] has at least one row; pooling leaves out the first `left_out`
  // rows. Only the first `dimensions` elements are kept (0 for all); with `normalize` they are then scaled to length 1.
  std::vector<float> embed(const Tensor& hidden, Dim left_out = 0, int dimensions = 0, bool normalize = false) const;

 private:
  // y = activation(weight x + bias) (+ x, or + residual x)
  struct Dense {
    Tensor weight;  // float32 [outputs, inputs]
    Tensor bias;    // float32 [outputs], or empty
    Activation activation = Activation::identity;
    bool adds_input = false;
    Tensor residual = {};  // float32 [outputs, inputs]; empty if x is added as it is, or nothing

    // Appends y.
    void apply(std::span<const float> input, std::vector<float>& output) const;
  };
  // Reads a linear map if the file exists. If `outputs` is 0, the file says how many there are.
  static std::optional<Dense> read_torch_linear(const std::filesystem::path& file, Dim inputs, Dim outputs);
  // y = weight (x - mean) / sqrt(variance + 1e-5) + bias
  struct LayerNorm {
    Tensor weight, bias;  // float32 [width]
    void apply(std::span<float> vector) const;
  };
  struct Normalize {};  // scales to length 1
  static Dense read_dense(const std::filesystem::path& folder, Dim inputs);
  void read_prompts(const std::filesystem::path& path);

  std::vector<Pooling> pooling_{Pooling::mean};
  std::vector<std::variant<Dense, LayerNorm, Normalize>> steps_;
  std::optional<SparsePooling> splade_;
  std::optional<Dense> lexical_;           // sparse_linear.pt: D -> 1
  std::shared_ptr<const MatMul> colbert_;  // colbert_linear.pt; null if there is none
  bool has_modules_ = false;
  bool is_cross_encoder_ = false;
  std::map<std::string, std::string> prompts_;  // by name
  std::string default_prompt_;
  bool pools_prompts_ = true;
  std::filesystem::path folder_;
  std::size_t max_length_ = 0;
  Dim width_ = 0;
};

}  // namespace encdec
