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

// Kinds of vectors that a model may compute from a text.
enum class EmbedOutput : std::uint8_t {
  dense,    // one vector [D]
  sparse,   // weights of some tokens of the vocabulary (Formal et al. 2021)
  tokens,   // the last hidden states of all tokens [tokens, D], special tokens included
  colbert,  // a unit vector for each token except the first (Khattab & Zaharia 2020)
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
  // An embedding [D], scores [labels], the weights of `token_ids`, or token vectors [rows, width].
  std::vector<float> values = {};
  TokenIds token_ids = {};  // tokens with a weight other than 0 in a sparse vector, ascending
  std::size_t rows = 0;
  std::size_t width = 0;
  std::size_t source_tokens = 0;  // number of tokens read, special tokens included
};

// The modules after the Transformer in a sentence-transformers folder, which turn the last hidden
// states of a text's tokens into one vector. modules.json lists them: Pooling, Dense, LayerNorm and
// Normalize (Reimers & Gurevych 2019, section 3), or SpladePooling, which makes a sparse vector.
// The modules of a CrossEncoder make a classifier's logits instead. Also contains BGE-M3's linear
// maps for sparse and ColBERT vectors (Chen et al. 2024, section 3.2). Read-only and thread-safe.
class SentenceEmbedder {
 public:
  // How hidden states are combined into one vector: one token's hidden state, the maximum, or a mean.
  enum class Pooling : std::uint8_t { first_token, max, mean, mean_by_root_length, weighted_mean, last_token };

  // Makes an object that computes the mean of the hidden states, like sentence-transformers without modules.json.
  SentenceEmbedder() = default;
  // Reads modules.json, if it exists, and the files that it lists. Throws FileError or ConfigError,
  // naming the file, for a module that is damaged, unsupported or does not fit `model_dim`.
  static SentenceEmbedder read(const std::filesystem::path& folder, Dim model_dim);
  // Returns the Transformer's folder: `folder`, or the subfolder that modules.json names.
  static std::filesystem::path transformer_folder(const std::filesystem::path& folder);

  // Returns the folder passed to read(), or an empty path if read() was not used.
  const std::filesystem::path& folder() const { return folder_; }
  // Returns the prompt to put before each text: `text` if set, else the folder's prompt `name` if set, else the
  // folder's default prompt. Throws ConfigError for an unknown name.
  std::string prompt(const std::optional<std::string>& text, const std::optional<std::string>& name) const;
  // Returns the number of a text's first rows that pooling leaves out. If include_prompt is false, these are the rows
  // of the prompt and of special tokens before the prompt; otherwise there are no such rows.
  Dim rows_left_out(const Tokenizer* tokenizer, const std::string& prompt) const;
  Dim width() const { return width_; }
  // Returns the maximum number of tokens of a text, special tokens included, or 0 if there is no limit.
  std::size_t max_length() const { return max_length_; }
  // Returns the weight of each token in `ids` [tokens] of a text, with hidden states `hidden` [tokens, D]. A repeated
  // token gets the largest of its weights. Omits tokens without a positive weight. REQUIRES: reads_lexical().
  std::map<std::int32_t, float> lexical_weights(const TokenIds& ids, const Tensor& hidden) const;
  // Returns ColBERT vectors [tokens - 1, colbert_width()]. REQUIRES: gives(EmbedOutput::colbert).
  std::vector<float> colbert(const Tensor& hidden) const;
  Dim colbert_width() const { return colbert_ ? colbert_->output_width() : 0; }
  // Returns whether sparse vectors come from lexical_weights().
  bool reads_lexical() const { return lexical_.has_value(); }
  bool has_modules() const { return has_modules_; }
  // Returns the settings of SpladePooling, or nullopt if there is no such module.
  const std::optional<SparsePooling>& splade() const { return splade_; }
  // Returns whether a model with this configuration computes this kind of vectors.
  bool gives(EmbedOutput output, const TransformerConfig& config) const;
  // Throws ConfigError unless gives().
  void expect(EmbedOutput output, const TransformerConfig& config) const;
  bool is_cross_encoder() const { return is_cross_encoder_; }
  // Returns whether a vector depends only on the hidden state of the first token.
  bool reads_first_row() const { return pools_prompts_ && pooling_ == std::vector{Pooling::first_token}; }

  // Returns the dense vector of one text with hidden states `hidden` [tokens, D]. Pooling leaves
  // out the first `left_out` rows. Keeps the first `dimensions` elements (0 for all) and then, with
  // `normalize`, scales them to length 1. REQUIRES: `hidden` has at least one row.
  std::vector<float> embed(const Tensor& hidden, Dim left_out = 0, int dimensions = 0, bool normalize = false) const;

 private:
  // y = activation(weight x + bias) (+ x, or + residual x)
  struct Dense {
    Tensor weight;  // float32 [outputs, inputs]
    Tensor bias;    // float32 [outputs], or empty
    Activation activation = Activation::identity;
    bool adds_input = false;
    Tensor residual = {};  // float32 [outputs, inputs]; empty for an identity

    void apply(std::span<const float> input, std::vector<float>& output) const;
  };
  // Reads a linear map if the file exists. If `outputs` is 0, the file sets the number of outputs.
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
  std::shared_ptr<const MatMul> colbert_;  // colbert_linear.pt; may be null
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
