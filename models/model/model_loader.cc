// Loads a model: Model::load().
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "encdec/engine/backend/backends.h"
#include "encdec/engine/base/error.h"
#include "encdec/engine/base/machine.h"
#include "encdec/engine/thread_team.h"
#include "encdec/models/checkpoint/marian_files.h"
#include "encdec/models/checkpoint/unpacked_file.h"
#include "encdec/models/families/model_description.h"
#include "encdec/models/generation/generation_settings.h"
#include "encdec/models/generation/lexical_shortlist.h"
#include "encdec/models/model/fingerprint.h"
#include "encdec/models/model/hub_cache.h"
#include "encdec/models/model/model_impl.h"
#include "encdec/models/model/packed_weights_cache.h"
#include "encdec/models/session/precision_probe.h"
#include "encdec/models/tokenizer/load_tokenizer.h"

namespace encdec {
namespace {

int checked_threads(int threads) {
  if (threads < 0) throw ConfigError(fmt::format("threads is {}, expected at least 0", threads));
  return threads == 0 ? default_threads() : threads;
}

// Returns whether a tensor is a setting, such as CTranslate2's number of heads, and not a weight.
bool is_setting(const std::string& name, const WeightStore& store) {
  const Tensor& tensor = *store.find(name);
  return tensor.elements() <= 1 || (!is_weight_type(tensor.type()) && store.find_scale(name) == nullptr);
}

// Returns a note about unused weights, or "" if there are none. Ignores weights whose name contains a part in `usual`.
std::string describe_left_over(const std::vector<std::string>& unused, std::span<const std::string_view> usual) {
  const auto is_unusual = [&](const std::string& name) {
    return std::ranges::none_of(usual, [&](std::string_view part) { return name.find(part) != name.npos; });
  };
  const auto count = std::ranges::count_if(unused, is_unusual);
  if (count == 0) return "";
  return fmt::format("{} tensors are not used, such as '{}': does config.json have fewer layers than the weights?",
                     count, printable(*std::ranges::find_if(unused, is_unusual)));
}

// Returns a token's text for messages, or its id if the vocabulary does not contain it.
std::string spelled(const Tokenizer& tokenizer, std::int32_t id, TextSide side) {
  try {
    return printable(tokenizer.piece(id, side));
  } catch (const InputError&) {
    return fmt::format("{}", id);
  }
}

// Chooses the head of an encoder-only model.
// - A CrossEncoder's modules are the head.
// - The head of a masked language model is kept only if sparse vectors are computed from its logits: if SpladePooling
//   is among the modules or, without modules.json, if the head's weights exist.
void choose_head(const SentenceEmbedder& embedder, const WeightScope& weights, const std::filesystem::path& folder,
                 TransformerConfig& config) {
  HeadConfig& head = config.head;
  if (embedder.is_cross_encoder()) head = {.kind = HeadKind::modules, .labels = embedder.width()};
  if (const auto& splade = embedder.splade()) {
    if (head.kind != HeadKind::vocabulary) {
      refuse<ConfigError>(folder.string(),
                          "SpladePooling without the head of a masked language model, expected "
                          "architectures in config.json to end with ForMaskedLM");
    }
    head.sparse = *splade;
  } else if (head.kind == HeadKind::vocabulary) {
    const auto has = [scope = weights / "head"](const char* layer) { return (scope / layer).has("weight"); };
    if (!embedder.has_modules() && has("dense") && has("norm") && has("output")) return;
    head = {};
  }
}

}  // namespace

// The steps of Model::load(), in order.
class Model::Loader {
 public:
  Loader(const std::filesystem::path& model, const LoadOptions& options)
      : options_(options),
        path_(model_folder(model)),
        folder_(SentenceEmbedder::transformer_folder(path_)),
        threads_(checked_threads(options.threads)),
        backend_(options.backend ? *options.backend : backend::default_backend()) {
    // Read the settings and the names of the tensors. Weights are read when the network is built.
    impl_->folder = path_;
    impl_->checkpoint = open_checkpoint(folder_);
    lines_ = checkpoint_.notes;
    description_ = describe_model(checkpoint_);
    impl_->config = std::move(description_.config);
  }

  std::shared_ptr<const Impl> load() {
    if (!config_.has_decoder()) read_heads();
    impl_->tokenizer = load_tokenizer(folder_, config_.model_type);
    read_shortlist();
    if (config_.has_decoder()) read_generation();
    build_network();
    impl_->sessions = std::make_unique<SessionPool>(impl_->network, threads_, make_draft());
    note_unused_weights();
    return impl_;
  }

 private:
  // Reads the modules and the head with which an encoder-only model computes vectors or labels from hidden states.
  void read_heads() {
    impl_->modules = SentenceEmbedder::read(path_, config_.model_dim());
    choose_head(impl_->modules, WeightScope(checkpoint_.weights, description_.weight_names), path_, config_);
    // If only the first token's hidden state is used, the last layer computes only this token's row.
    const HeadConfig& head = config_.head;
    const bool reads_first_rows =
        head.kind == HeadKind::sequences ? head.pooling == HeadPooling::first : impl_->modules.reads_first_row();
    // Exclude models whose layers share weights, which would be packed again for the last layer. Exclude models with a
    // single layer, because a first layer may differ from the others.
    config_.gathers_rows = reads_first_rows && config_.encoder.layers > 1 && !config_.encoder.shares_weights;
  }

  void read_shortlist() {
    if (checkpoint_.settings.form != CheckpointSettings::Form::marian) return;
    const MarianFiles files(folder_);
    const auto file = files.shortlist();
    if (!file) return;
    const auto vocabularies = files.vocabularies();
    impl_->lexical_shortlist = std::make_shared<const LexicalShortlist>(
        read_unpacked(*file), LexicalShortlist::Sizes{.source = config_.encoder.vocabulary,
                                                      .target = config_.decoder.vocabulary,
                                                      .is_shared = vocabularies[0] == vocabularies[1]});
  }

  // Reads the checkpoint's generation settings, and notes unsupported settings.
  void read_generation() {
    StoredSettings stored = read_generation_settings(checkpoint_, config_, impl_->tokenizer.get());
    impl_->generation = with_neutral_values(stored.options);
    impl_->notes.ignored_settings = std::move(stored.unsupported);
    for (const std::string& setting : impl_->notes.ignored_settings) {
      lines_.push_back(fmt::format("generation setting not supported yet, ignored: {}", setting));
    }
  }

  PackOptions pack_options(Precision precision) const {
    return {.threads = threads_,
            .precision = precision,
            .backend = backend_,
            .memory = std::make_shared<WeightMemory>(),
            .team = team_};
  }

  std::shared_ptr<const Transformer> make_network(const PackOptions& pack, const Transformer* encodes_for_it) const {
    const WeightScope scope(checkpoint_.weights, description_.weight_names, pack);
    try {
      return std::make_shared<const Transformer>(config_, scope, encodes_for_it);
    } catch (const ShapeError& error) {  // the sizes in the settings contradict each other
      const auto& json = checkpoint_.settings.network;
      refuse<ConfigError>(json ? json->file() : checkpoint_.folder.string(), "{}", error.what());
    }
  }

  // Builds the network, with packed weights from the cache if a cache is set.
  std::shared_ptr<const Transformer> make_cached_network(Precision precision) {
    if (options_.packed_weights_cache.empty()) return make_network(pack_options(precision), nullptr);
    if (!content_) content_ = content_of(*checkpoint_.weights);
    for (bool is_again = false;; is_again = true) {
      PackOptions pack = pack_options(precision);  // the network of an earlier round is freed by now
      const auto cache =
          std::make_shared<PackedWeightsCache>(options_.packed_weights_cache, packed_weights_key(*content_, pack));
      pack.packed = cache;
      auto network = make_network(pack, nullptr);
      cache->finish();
      lines_.insert(lines_.end(), cache->notes().begin(), cache->notes().end());
      // If weights were packed and written, build the network again from the file, whose pages all processes share.
      if (is_again || !cache->has_written()) return network;
    }
  }

  // Builds the network in the requested or the fastest precision, and notes the choice.
  void build_network() {
    team_ = std::make_shared<ThreadTeam>(threads_);
    const auto build = [this](Precision precision) { return make_cached_network(precision); };
    const bool is_automatic = options_.precision == Precision::automatic;
    impl_->network = is_automatic ? fastest_network(backend_, build) : build(options_.precision);
    std::string& text = impl_->notes.precision;
    if (is_automatic) text = fmt::format("precision auto: {}", to_string(precision()));
    if (const std::string note = backend::note(backend_, precision()); !note.empty()) {
      text += (text.empty() ? "" : "; ") + note;
    }
  }

  Precision precision() const { return impl_->network->weights.pack().precision; }

  // Throws ConfigError unless `draft` can be this model's draft model.
  void check_draft(const Model& draft) const {
    const TransformerConfig &ours = config_, &other = draft.config();
    const auto expect = [&](std::string_view what, const auto& found, const auto& expected) {
      if (found == expected) return;
      refuse<ConfigError>(draft.impl_->folder.string(), "{} is {}, expected {} as in {}", what, found, expected,
                          path_.string());
    };
    expect("architecture", to_string(other.architecture), to_string(ours.architecture));
    expect("number of labels", other.head.labels, ours.head.labels);
    expect("vocabulary", other.decoder.vocabulary, ours.decoder.vocabulary);
    expect("source vocabulary", other.input_stack().vocabulary, ours.input_stack().vocabulary);
    expect("number of mel bands", other.encoder.frames.width, ours.encoder.frames.width);
    if (other.encoder.frames.per_row != ours.encoder.frames.per_row)
      expect("family", other.model_type, ours.model_type);
    // Compare the vocabularies token by token.
    if (draft.tokenizer() == nullptr || impl_->tokenizer == nullptr) return;
    for (const TextSide side : {TextSide::source, TextSide::target}) {
      for (std::int32_t id = 0; id < static_cast<std::int32_t>(ours.decoder.vocabulary); ++id) {
        expect(fmt::format("token {}", id), spelled(*draft.tokenizer(), id, side),
               spelled(*impl_->tokenizer, id, side));
      }
    }
  }

  // Returns the draft model: another checkpoint or a copy of the decoder. Returns null if the options ask for neither.
  std::shared_ptr<const Transformer> make_draft() const {
    const Precision own = options_.draft_precision.value_or(precision());
    if (!options_.draft_model.empty()) {
      const Model other =
          Model::load(options_.draft_model, {.threads = threads_, .precision = own, .backend = backend_});
      check_draft(other);
      return other.network();
    }
    if (!config_.has_decoder() || own == precision()) return nullptr;
    if (own == Precision::float32 || own == Precision::automatic) {
      throw ConfigError(fmt::format("draft_precision is {}, expected bfloat16, int8 or int4", to_string(own)));
    }
    return make_network(pack_options(own), impl_->network.get());
  }

  void note_unused_weights() {
    std::vector<std::string> unused = impl_->network->weights.unused();
    std::erase_if(unused, [&](const std::string& name) { return is_setting(name, *checkpoint_.weights); });
    for (const std::string& name : unused) lines_.push_back(fmt::format("tensor not used: {}", name));
    impl_->notes.weights = describe_left_over(unused, description_.usually_unused);
  }

  const LoadOptions& options_;
  const std::filesystem::path path_, folder_;  // folder of the model; folder of the network inside it
  const int threads_;
  const BackendChoice backend_;
  std::shared_ptr<ThreadTeam> team_;  // set by build_network()
  const std::shared_ptr<Impl> impl_ = std::make_shared<Impl>();
  const Checkpoint& checkpoint_ = impl_->checkpoint;
  std::vector<std::string>& lines_ = impl_->notes.lines;
  TransformerConfig& config_ = impl_->config;
  ModelDescription description_;        // the configuration in it has been moved to config_
  std::optional<ContentHash> content_;  // hash that identifies the weights in the cache
};

Model Model::load(const std::filesystem::path& model, const LoadOptions& options) {
  return Model(Loader(model, options).load());
}

}  // namespace encdec
