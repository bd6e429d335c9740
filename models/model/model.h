#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "encdec/engine/base/tensor.h"
#include "encdec/models/checkpoint/checkpoint.h"
#include "encdec/models/embedding/sentence_embedder.h"
#include "encdec/models/generation/generate_options.h"
#include "encdec/models/generation/prompter.h"
#include "encdec/models/network/config.h"
#include "encdec/models/session/attention_reader.h"
#include "encdec/models/session/session.h"
#include "encdec/models/tokenizer/base/tokenizer.h"

namespace encdec {

// How a model is loaded, and what its matmuls compute in.
struct LoadOptions {
  // Threads inside one operation; 0 for default_threads(): what the environment says, or one per available CPU. Results
  // do not depend on it.
  int threads = 0;
  // In what matmuls compute, whatever the checkpoint stores. Where the CPU has no instructions for it, a note says what
  // it does instead.
  Precision precision = Precision::float32;
  // A folder for packed weights, made if it is missing; none if empty. The first load writes a file there, as large as
  // the weights in memory, and later loads of the same weights with these options on such a CPU read that instead of
  // packing. What is damaged or cannot be written is a note, never an error. Results do not depend on it. That file
  // stays mapped: cutting it while a model uses it ends the process (SIGBUS).
  std::filesystem::path packed_weights_cache = {};
};

// Names and values of nodes, as they are computed; see NodeObserver.
struct ForwardOptions {
  NodeObserver observer = {};  // none if empty
};

// What one pass gives.
struct ForwardResult {
  Tensor logits;                     // [B, T, V], zeros after the end of a shorter row; empty in an encoder-only model
  Tensor encoder_last_hidden_state;  // [B, S, D], likewise; empty in a decoder-only model
};

// How to score; languages as in GenerateOptions.
struct ScoreOptions {
  std::string source_lang = {};  // of the source
  std::string target_lang = {};  // of the target
  // Sources scored together; 0 for what fits memory and CPU. Results do not depend on it.
  int batch_size = 0;
};

// How likely a target is.
struct ScoreResult {
  double score = 0.0;               // sum of the tokens' log-probabilities
  std::vector<float> token_scores;  // of each token of the target
};

// Which maps to make; languages as in GenerateOptions.
struct AttentionMapOptions {
  AttentionSelection selection = {};  // all maps if nothing is said
  std::string source_lang = {};       // of the source
  std::string target_lang = {};       // of the target
};

// A checkpoint folder, ready to use. All functions may be called from many threads at once; each call has memory of its
// own, kept for later calls, and shares the weights, as copies of a model do.
//
// A source's result is the same, bit by bit, alone or in any batch, for any number of threads. Another instruction set
// may round differently.
class Model {
 public:
  // `folder` as its publisher ships it: settings, weights in any format that open_checkpoint() knows, tokenizer files.
  // Throws FileError, ConfigError, WeightError or TokenizerError: what is wrong with which file.
  static Model load(const std::filesystem::path& folder, const LoadOptions& options = {});

  // Sizes and choices of the family.
  const TransformerConfig& config() const;
  // In which the weights are stored.
  CheckpointFormat format() const;
  // In what matmuls compute; what `automatic` became.
  Precision precision() const;
  // Where that is not what was asked for to the letter, a line about it; else empty.
  const std::string& precision_note() const;
  // Where weights are left over that such checkpoints do not usually have, as where config.json has fewer layers than
  // they do, a line about it; else empty.
  const std::string& weights_note() const;
  // The checkpoint's defaults, as options that ask for them; with neutral values for what it does not say.
  const GenerateOptions& generation_config() const;
  // What its file asks for beyond what this version does: "penalty_alpha 0.6".
  const std::vector<std::string>& unsupported_settings() const;
  // Null where the folder has no tokenizer.
  const Tokenizer* tokenizer() const;
  // The graphs and weights, for those who want to look inside or run them by themselves.
  std::shared_ptr<const Transformer> network() const;
  // The checkpoint's tensors, as they are stored.
  const WeightStore& weights() const;
  // The settings of the checkpoint's files, for components built on a Model.
  const Checkpoint& checkpoint() const;
  // What such components need to run the network; refers to this model.
  ModelParts parts() const;
  // Things in the folder that this version passes over, a line each.
  const std::vector<std::string>& notes() const;
  // Digits that stand for all that results depend on: weights, settings and vocabularies of the folder, the precision,
  // this library's version and oneDNN's, and the instructions of this CPU that are used. Models with the same ones give
  // the same bytes, on whatever machine; ENCDEC_MAX_ISA keeps machines to the same instructions. Reads the weights.
  // Throws FileError.
  std::string fingerprint() const;

  // One result a source, in their order; a decoder-only model goes on with it as the beginning of a text. Throws
  // TokenizerError if there is no tokenizer or a text is not UTF-8, ConfigError for options that are out of range or
  // not supported by this model, InputError for tokens outside the vocabulary and sources longer than the model can
  // take.
  std::vector<GenerateResult> generate(const std::vector<std::string>& sources,
                                       const GenerateOptions& options = {}) const;
  // The same for token ids, used exactly as given: no end token is appended.
  std::vector<GenerateResult> generate_ids(std::span<const TokenIds> sources,
                                           const GenerateOptions& options = {}) const;
  // The same for any inputs, also with prefixes.
  std::vector<GenerateResult> generate_inputs(std::span<const GenerateInput> inputs,
                                              const GenerateOptions& options = {}) const;
  // The same, input by input: memory does not grow with their number.
  void generate_stream(GenerateStream& stream, const GenerateOptions& options = {}) const;

  // How likely the model finds each target after its source (teacher forcing). The target is what generate() would
  // give: without start token; an end token at the end is a token like any other. Throws as forward() and generate()
  // do.
  std::vector<ScoreResult> score(const std::vector<std::string>& sources, const std::vector<std::string>& targets,
                                 const ScoreOptions& options = {}) const;
  // The same for token ids, used exactly as given.
  std::vector<ScoreResult> score_ids(std::span<const TokenIds> sources, std::span<const TokenIds> targets,
                                     const ScoreOptions& options = {}) const;

  // How the model divides its attention while it reads a source and a target (teacher forcing). Rows of an
  // encoder-decoder's decoder maps stand for the tokens of the target: they tell what the model looked at to produce
  // each, be it likely or not. A decoder-only model reads the source and goes on with the target; an encoder-only model
  // takes an empty target. The target is as in score(). Throws as score() does, and as read_attention() does.
  AttentionMaps attention(const std::string& source, const std::string& target,
                          const AttentionMapOptions& options = {}) const;
  // The same for token ids, used exactly as given.
  AttentionMaps attention_ids(const TokenIds& source, const TokenIds& target,
                              const AttentionMapOptions& options = {}) const;

  // One pass over sources and targets of the same number (teacher forcing): targets begin with the decoder start token.
  // An encoder-only model has no targets, a decoder-only model no sources. Throws InputError if the numbers are not so,
  // a row is empty or too long, or a token is outside the vocabulary.
  ForwardResult forward(std::span<const TokenIds> sources, std::span<const TokenIds> targets,
                        const ForwardOptions& options = {}) const;

  // The same for models that read sound: frames [F, mel bands] each, F a multiple of kFramesPerRow.
  ForwardResult forward(std::span<const Tensor> sources, std::span<const TokenIds> targets,
                        const ForwardOptions& options = {}) const;

  // One vector a text, float32 [N, D]: sentence embeddings of an encoder-only model, pooled and normalised as the
  // checkpoint's own files say (sentence-transformers), else the mean of the last hidden states. Throws as generate()
  // does, and ConfigError for models with a decoder and for prompts that the folder does not name.
  Tensor embed(const std::vector<std::string>& texts, const EmbedOptions& options = {}) const;

 private:
  friend class RequestQueue;
  struct Impl;
  explicit Model(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

}  // namespace encdec
