#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "encdec/engine/base/tensor.h"
#include "encdec/models/checkpoint/checkpoint.h"
#include "encdec/models/generation/generate_options.h"
#include "encdec/models/generation/prompter.h"
#include "encdec/models/network/config.h"
#include "encdec/models/session/attention_reader.h"
#include "encdec/models/session/session.h"
#include "encdec/models/tokenizer/base/tokenizer.h"

namespace encdec {

class SentenceEmbedder;

// Options of Model::load().
struct LoadOptions {
  // Number of threads that compute one operation; 0 for default_threads(): the number that the environment sets, or one
  // per available CPU. Results do not depend on it.
  int threads = 0;
  // Precision of matrix products. It does not depend on the type that the checkpoint stores. If this CPU has no
  // instructions for it, ModelNotes::precision says how the products are computed instead.
  Precision precision = Precision::float32;
  // Backend of matrix products. If not set: the choice of ENCDEC_BACKEND, else BackendChoice::automatic. With
  // BackendChoice::onednn, on some CPUs the result of a source depends on the batch; then ModelNotes::precision says
  // so.
  std::optional<BackendChoice> backend = {};
  // Speculative decoding: another model guesses the next tokens, which the model then checks together. Greedy search
  // and sampling are faster and have the same results. See docs/speculative.md. With draft_precision alone: a copy of
  // the decoder in this precision, bfloat16, int8 or int4; none if it is `precision`.
  std::optional<Precision> draft_precision = {};
  // The folder of a smaller checkpoint with the same vocabulary, loaded in draft_precision (if not set: `precision`).
  // load() throws ConfigError, naming what differs, for one that cannot guess for this model.
  std::filesystem::path draft_model = {};
  // Folder for files of packed weights, created if it does not exist; empty for none. The first load writes a file
  // there, as large as the weights in memory. A later load of the same weights, with the same options and on a CPU with
  // the same instructions, reads that file instead of packing. Results do not depend on it.
  // A damaged file and a file that cannot be written cause a note in ModelNotes::lines, never an error. A loaded model
  // keeps the file mapped: truncating it meanwhile ends the process with SIGBUS.
  std::filesystem::path packed_weights_cache = {};
};

// Lines for users about a loaded model.
struct ModelNotes {
  // How matrix products are computed, if that needs saying: Precision::automatic was requested, the CPU has no
  // instructions for the requested precision, or the result of oneDNN for a row was found to depend on other rows. Else
  // empty.
  std::string precision;
  // Set if the checkpoint has unused tensors of an unusual kind. The usual cause is a config.json with fewer layers
  // than the weights have.
  std::string weights;
  // Generation settings of the checkpoint that are ignored because they are not supported: "penalty_alpha 0.6".
  std::vector<std::string> ignored_settings;
  // Parts of the checkpoint that are not used or not supported, and problems with the packed weights cache.
  std::vector<std::string> lines;
};

// Options of Model::forward().
struct ForwardOptions {
  NodeObserver observer = {};  // called with each node and its output; unset for none
};

// Result of Model::forward(). Rows after the end of a shorter sequence are zero.
struct ForwardResult {
  Tensor logits;                     // [B, T, V]; of a classifier [B, labels] or [B, S, labels]; else empty
  Tensor encoder_last_hidden_state;  // [B, S, D]; empty in a decoder-only model
};

// Options of Model::score(). Languages are named as in GenerateOptions.
struct ScoreOptions {
  std::string source_lang = {};  // language of the sources
  std::string target_lang = {};  // language of the targets
  // Maximum number of sources scored together; 0: the memory and CPU decide. Results do not depend on it.
  int batch_size = 0;
};

// Score of one target.
struct ScoreResult {
  double score = 0.0;               // sum of `token_scores`
  std::vector<float> token_scores;  // log-probability of each token of the target
};

// Options of Model::attention(). Languages are named as in GenerateOptions.
struct AttentionMapOptions {
  AttentionSelection selection = {};  // all maps by default
  std::string source_lang = {};       // language of the source
  std::string target_lang = {};       // language of the target
};

// A loaded checkpoint. All functions may be called from many threads at once. Copies of a model share its weights. Each
// running call has working memory of its own, which later calls reuse.
//
// The result of a source is the same, bit by bit, alone or in any batch and with any number of threads, except as
// LoadOptions::backend says. A CPU with other instructions may round differently.
class Model {
 public:
  // Loads a checkpoint from a folder, or OWNER/NAME from the cache that model_folder() knows, in the form in which it
  // was published: settings, weights in any format that open_checkpoint() reads, and tokenizer files. Throws FileError,
  // ConfigError, WeightError or TokenizerError, naming the file and what is wrong with it.
  static Model load(const std::filesystem::path& model, const LoadOptions& options = {});

  // Returns the sizes and the structure of the network.
  const TransformerConfig& config() const;
  // Returns the precision of matrix products; for Precision::automatic, the precision that load() chose.
  Precision precision() const;
  // Returns the chosen backend of matrix products.
  BackendChoice backend() const;
  // Returns, for users, what multiplies matrices in a precision, such as "encdec (panels)".
  std::string backend_of(Precision precision) const;
  // Returns the checkpoint's defaults for generation. Every option that a generation_config.json can set is set here,
  // to a neutral value if the checkpoint does not say.
  const GenerateOptions& generation_config() const;
  // Returns null if the folder has no tokenizer.
  const Tokenizer* tokenizer() const;
  // Returns the graphs and their weights, for callers that inspect or run them directly.
  std::shared_ptr<const Transformer> network() const;
  // Returns the settings of the checkpoint's files and its tensors as they are stored.
  const Checkpoint& checkpoint() const;
  // Returns what makes vectors of hidden states, for Embedder and Classifier.
  const SentenceEmbedder& modules() const;
  // Returns what components built on a Model need to run its network. The result refers to this model.
  ModelParts parts() const;
  // Returns what users should know of the loaded checkpoint.
  const ModelNotes& notes() const;
  // Returns digits that identify everything that results depend on: weights, settings and vocabularies in the folder,
  // the precision, the versions of this library and of oneDNN, and the instructions of this CPU that are used. Models
  // with equal fingerprints give equal bytes on any machine. ENCDEC_MAX_ISA limits different machines to the same
  // instructions. Reads all weights. Throws FileError.
  std::string fingerprint() const;

  // Generates from each source and returns one result per source, in their order. A decoder-only model continues the
  // source.
  // Throws TokenizerError if there is no tokenizer or a text is not UTF-8; ConfigError if an option is out of range or
  // not supported by this model; InputError for a token outside the vocabulary and for a source that is too long.
  std::vector<GenerateResult> generate(const std::vector<std::string>& sources,
                                       const GenerateOptions& options = {}) const;
  // The same for token ids, which are used exactly as given: no end token is appended.
  std::vector<GenerateResult> generate_ids(std::span<const TokenIds> sources,
                                           const GenerateOptions& options = {}) const;
  // The same for texts, token ids or frames, optionally with prefixes.
  std::vector<GenerateResult> generate_inputs(std::span<const GenerateInput> inputs,
                                              const GenerateOptions& options = {}) const;
  // The same, but reads inputs and writes results one by one, so memory does not grow with their number.
  void generate_stream(GenerateStream& stream, const GenerateOptions& options = {}) const;

  // Returns for each target how likely the model is to generate it from its source (teacher forcing). A target has the
  // form of a generated text: no start token; an end token at its end counts like any other token. Throws as forward()
  // and generate() do.
  std::vector<ScoreResult> score(const std::vector<std::string>& sources, const std::vector<std::string>& targets,
                                 const ScoreOptions& options = {}) const;
  // The same for token ids, which are used exactly as given.
  std::vector<ScoreResult> score_ids(std::span<const TokenIds> sources, std::span<const TokenIds> targets,
                                     const ScoreOptions& options = {}) const;

  // Returns the attention weights of the model while it reads a source and a target (teacher forcing). The target is as
  // in score().
  // - Encoder-decoder: a row of a decoder map belongs to a token of the target. It shows where the model looked in
  //   order to produce that token, whether or not the token is likely.
  // - Decoder-only: the model reads the source, then the target.
  // - Encoder-only: the target must be empty.
  // Throws as score() and read_attention() do, and InputError if an encoder-only model gets a target.
  AttentionMaps attention(const std::string& source, const std::string& target,
                          const AttentionMapOptions& options = {}) const;
  // The same for token ids, which are used exactly as given.
  AttentionMaps attention_ids(const TokenIds& source, const TokenIds& target,
                              const AttentionMapOptions& options = {}) const;

  // Runs the network once over all sources and targets (teacher forcing). Each target begins with the decoder start
  // token. An encoder-decoder needs one target per source, an encoder-only model or a classifier no targets, a
  // decoder-only model no sources. Throws InputError if these numbers differ, a sequence is empty or too long, a token
  // is outside the vocabulary, or a source lacks the end token that the classifier reads.
  ForwardResult forward(std::span<const TokenIds> sources, std::span<const TokenIds> targets,
                        const ForwardOptions& options = {}) const;

  // The same for models that read sound. Each source is frames, float32 [F, mel bands], where F is a
  // multiple of config().encoder.frames.per_row.
  ForwardResult forward(std::span<const Tensor> sources, std::span<const TokenIds> targets,
                        const ForwardOptions& options = {}) const;

 private:
  struct Impl;
  class Loader;
  explicit Model(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

}  // namespace encdec
