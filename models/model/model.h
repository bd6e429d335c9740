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

struct LoadOptions {
  // Number of threads per operation; 0 for default_threads(). Results do not depend on this number.
  int threads = 0;
  // Precision of matrix products, whatever type the checkpoint stores. If this CPU has no instructions for this
  // precision, ModelNotes::precision describes how the products are computed instead.
  Precision precision = Precision::float32;
  // Backend of matrix products; if unset, the environment's ENCDEC_BACKEND or else BackendChoice::automatic. With
  // BackendChoice::onednn, on some CPUs results depend on the batch; see ModelNotes::precision.
  std::optional<BackendChoice> backend = {};
  // Speculative decoding, see docs/speculative.md. With draft_precision alone, the draft model is a
  // copy of the decoder in bfloat16, int8 or int4; there is no draft model if draft_precision equals `precision`.
  std::optional<Precision> draft_precision = {};
  // Folder of a smaller checkpoint with the same vocabulary, loaded in draft_precision (if unset,
  // `precision`). If the draft model does not fit this model, load() throws ConfigError with the difference.
  std::filesystem::path draft_model = {};
  // Folder for files of packed weights, created if missing; empty for none. The first load writes a
  // file as large as the weights in memory. Later loads of the same weights, with the same options
  // and CPU instructions, read the file instead of packing. Results do not depend on the file.
  // A file that is damaged or cannot be written causes a note in ModelNotes::lines, never an error.
  // A loaded model keeps the file mapped, so truncation of the file ends the process with SIGBUS.
  std::filesystem::path packed_weights_cache = {};
};

// Notes for users about a loaded model.
struct ModelNotes {
  // How matrix products are computed; empty unless Precision::automatic was requested, the CPU
  // lacks instructions for the precision, or oneDNN's result for a row depends on other rows.
  std::string precision;
  // Set if the checkpoint has unexpected unused tensors, usually more layers than config.json.
  std::string weights;
  // Unsupported generation settings of the checkpoint, which are ignored: "penalty_alpha 0.6".
  std::vector<std::string> ignored_settings;
  // Parts of the checkpoint that are not used or not supported, and problems with the packed weights cache.
  std::vector<std::string> lines;
};

struct ForwardOptions {
  NodeObserver observer = {};  // called with each node and its output; may be unset
};

// Result of Model::forward(). Rows after the end of a shorter sequence are zero.
struct ForwardResult {
  Tensor logits;                     // [B, T, V]; of a classifier [B, labels] or [B, S, labels]
  Tensor encoder_last_hidden_state;  // [B, S, D]; empty in a decoder-only model
};

// Options of Model::score(). Languages are named as in GenerateOptions.
struct ScoreOptions {
  std::string source_lang = {};
  std::string target_lang = {};
  // Maximum number of sources scored together; 0: chosen automatically. Results do not depend on this number.
  int batch_size = 0;
};

struct ScoreResult {
  double score = 0.0;               // sum of `token_scores`
  std::vector<float> token_scores;  // log-probability of each token of the target
};

// Options of Model::attention(). Languages are named as in GenerateOptions.
struct AttentionMapOptions {
  AttentionSelection selection = {};  // all maps by default
  std::string source_lang = {};
  std::string target_lang = {};
};

// A loaded checkpoint. Thread-safe. Copies of a model share its weights. Each running call has its
// own working memory, which later calls reuse.
// The result of a source is bitwise identical alone, in any batch and with any number of threads,
// except as described at LoadOptions::backend. A CPU with other instructions may round differently.
class Model {
 public:
  // Loads a published checkpoint: settings, weights in any format of open_checkpoint(), and
  // tokenizer files. `model` is a folder, or OWNER/NAME in the Hugging Face cache (see
  // model_folder()). Throws FileError, ConfigError, WeightError or TokenizerError, naming the file.
  static Model load(const std::filesystem::path& model, const LoadOptions& options = {});

  const TransformerConfig& config() const;
  // Returns the precision of matrix products; for Precision::automatic, the precision that load() chose.
  Precision precision() const;
  BackendChoice backend() const;
  // Returns the name of the code that computes matrix products in a precision, for users: "encdec (panels)".
  std::string backend_of(Precision precision) const;
  // Returns the checkpoint's defaults for generation. All options that generation_config.json may contain are set;
  // options without a value in the checkpoint have neutral values.
  const GenerateOptions& generation_config() const;
  // Returns null if the folder has no tokenizer.
  const Tokenizer* tokenizer() const;
  // Returns the graphs and their weights, for callers that inspect or run them directly.
  std::shared_ptr<const Transformer> network() const;
  // Returns the settings and the tensors as they are stored.
  const Checkpoint& checkpoint() const;
  // Returns the modules that turn hidden states into vectors, for Embedder and Classifier.
  const SentenceEmbedder& modules() const;
  // Returns the parts for components built on a Model. The result refers to this model.
  ModelParts parts() const;
  const ModelNotes& notes() const;
  // Returns hexadecimal digits that identify everything on which results depend: the folder's
  // weights, settings and vocabularies, the precision, the versions of this library and of oneDNN,
  // and the CPU instructions used. Models with equal fingerprints give bitwise identical results on
  // any machine; ENCDEC_MAX_ISA sets common instructions. Reads all weights. Throws FileError.
  std::string fingerprint() const;

  // Generates from each source and returns one result per source, in the same order. A decoder-only model continues the
  // source. Throws
  // - TokenizerError if there is no tokenizer or a text is not UTF-8;
  // - ConfigError if an option is out of range or not supported by this model;
  // - InputError for a token outside the vocabulary and for a source that is too long.
  std::vector<GenerateResult> generate(const std::vector<std::string>& sources,
                                       const GenerateOptions& options = {}) const;
  // The same for token ids, which are used exactly as given: no end token is appended.
  std::vector<GenerateResult> generate_ids(std::span<const TokenIds> sources,
                                           const GenerateOptions& options = {}) const;
  // The same for texts, token ids or frames, optionally with prefixes.
  std::vector<GenerateResult> generate_inputs(std::span<const GenerateInput> inputs,
                                              const GenerateOptions& options = {}) const;
  // The same, but reads inputs and writes results one by one, in bounded memory.
  void generate_stream(GenerateStream& stream, const GenerateOptions& options = {}) const;

  // Returns for each target how likely the model is to generate this target from its source (teacher forcing). A target
  // has no start token; an end token at its end counts like any other token.
  // Throws as forward() and generate().
  std::vector<ScoreResult> score(const std::vector<std::string>& sources, const std::vector<std::string>& targets,
                                 const ScoreOptions& options = {}) const;
  // The same for token ids, which are used exactly as given.
  std::vector<ScoreResult> score_ids(std::span<const TokenIds> sources, std::span<const TokenIds> targets,
                                     const ScoreOptions& options = {}) const;

  // Returns the attention weights of the model when it reads a source and a target (teacher forcing).
  // The target is as in score().
  // - Encoder-decoder: a row of a decoder map belongs to a target token, and shows which positions the model attended
  //   to when it computed this token's probability.
  // - Decoder-only: the model reads the source, then the target.
  // - Encoder-only: the target must be empty, otherwise throws InputError.
  // Throws as score() and read_attention().
  AttentionMaps attention(const std::string& source, const std::string& target,
                          const AttentionMapOptions& options = {}) const;
  // The same for token ids, which are used exactly as given.
  AttentionMaps attention_ids(const TokenIds& source, const TokenIds& target,
                              const AttentionMapOptions& options = {}) const;

  // Runs the network once over all sources and targets (teacher forcing). Each target begins with
  // the decoder start token. An encoder-decoder needs one target per source. Encoder-only models
  // and classifiers need empty `targets`, and decoder-only models empty `sources`. Throws InputError if the numbers of
  // sources and targets are wrong, a sequence is empty or too long, a token is outside the vocabulary, or a source
  // lacks the end token that the classifier reads.
  ForwardResult forward(std::span<const TokenIds> sources, std::span<const TokenIds> targets,
                        const ForwardOptions& options = {}) const;

  // The same for speech models. Sources are frames, float32 [F, mel bands]; see FrameOptions.
  ForwardResult forward(std::span<const Tensor> sources, std::span<const TokenIds> targets,
                        const ForwardOptions& options = {}) const;

 private:
  struct Impl;
  class Loader;
  explicit Model(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

}  // namespace encdec
