#include "encdec/models/checkpoint/ctranslate2.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "encdec/models/checkpoint/byte_reader.h"
#include "encdec/models/checkpoint/checkpoint_format.h"
#include "encdec/models/checkpoint/marian_binary.h"
#include "encdec/models/checkpoint/shards.h"
#include "encdec/models/checkpoint/tensor_layout.h"
#include "encdec/models/checkpoint/whisper_format.h"

namespace encdec {
namespace {

constexpr std::uint32_t kLastVersion = 6;
constexpr std::uint32_t kFirstVersionWithConfig = 6;

// Scale of int16 weights for which the file has no scale.
constexpr float kFirstInt16Scale = 1000.0f;

// torch's type names, in the order of CTranslate2's type numbers.
constexpr std::array<std::string_view, 6> kVariableTypes = {"float32", "int8", "int16", "int32", "float16", "bfloat16"};

using Variables = std::map<std::string, Tensor, std::less<>>;

// Returns true if the model's variables have OpenNMT-tf's names, such as
// "transformer/decoder/layer_0/masked_multi_head/conv1d_1/kernel:0".
bool has_names_of_opennmt_tf(const CTranslate2Model& model) {
  constexpr std::array<std::string_view, 4> kTransformers = {"", "TransformerBase", "TransformerBig",
                                                             "TransformerSpec"};
  return model.revision == 1 && std::ranges::find(kTransformers, model.spec_name) != kTransformers.end();
}

// Converts an OpenNMT-tf name to the name in later revisions.
std::string without_names_of_opennmt_tf(std::string name) {
  const std::string_view attention = name.find("encoder") != name.npos ? "self_attention" : "attention";
  const std::array<std::pair<std::string_view, std::string_view>, 10> parts = {{{"transformer/", ""},
                                                                                {":0", ""},
                                                                                {"w_embs", "embeddings/weight"},
                                                                                {"kernel", "weight"},
                                                                                {"LayerNorm", "layer_norm"},
                                                                                {"dense", "projection"},
                                                                                {"conv1d_", "linear_"},
                                                                                {"conv1d", "linear_0"},
                                                                                {"masked_multi_head", "self_attention"},
                                                                                {"multi_head", attention}}};
  for (const auto& [old, now] : parts) {
    if (const std::size_t at = name.find(old); at != name.npos) name.replace(at, old.size(), now);
  }
  return name;
}

class ModelReader {
 public:
  explicit ModelReader(const FileBytes& file)
      : file_(file), reader_(file.bytes, file.name), first_int16_scale_(Tensor::allocate({1})) {
    *first_int16_scale_.data<float>() = kFirstInt16Scale;
  }

  CTranslate2Model read() {
    if (reader_.left() >= 32) refuse_git_lfs_pointer(file_.bytes, file_.name);
    CTranslate2Model model{0, "", 1, nullptr};
    version_ = model.version = reader_.number<std::uint32_t>("the version");
    if (version_ < 1 || version_ > kLastVersion) {
      refuse(file_.name, "version {} of the format, expected 1 to {}", version_, kLastVersion);
    }
    if (version_ >= 2) {
      model.spec_name = string("the spec's name");
      model.revision = reader_.number<std::uint32_t>("the spec's revision");
    }
    renames_ = has_names_of_opennmt_tf(model);
    // The counts may be wrong, but each iteration consumes bytes from the file or throws.
    for (auto left = reader_.number<std::uint32_t>("the number of variables"); left > 0; --left) read_variable();
    if (version_ >= 3) {
      for (auto left = reader_.number<std::uint32_t>("the number of aliases"); left > 0; --left) read_alias();
    }
    if (reader_.left() > 0) refuse(file_.name, "{} bytes after the end, expected none", reader_.left());
    model.weights = store();
    return model;
  }

 private:
  // Reads a string: first the length, then the characters and a NUL byte. The length includes the NUL byte.
  std::string string(std::string_view what) {
    const auto length = reader_.number<std::uint16_t>(what);
    const std::string_view text = as_text(reader_.take(length, what));
    if (length == 0 || text.find('\0') != text.size() - 1) {
      refuse(file_.name, "'{}' for {}, expected text that ends with a NUL byte", printable(text), what);
    }
    return std::string(text.substr(0, text.size() - 1));
  }

  // Throws FileError if `name` is already the name of a variable or an alias.
  void check_new(const std::string& name) const {
    if (variables_.contains(name) || aliases_.contains(name)) {
      refuse(file_.name, "variable '{}' is there twice, expected it once", printable(name));
    }
  }

  const StoredType& type(const std::string& where) {
    const auto number = reader_.number<std::uint8_t>("a variable's type");
    const auto named = [](std::string_view name) -> const StoredType& {
      return *stored_type(&StoredType::torch, name);
    };
    if (version_ >= 4) {
      if (number < kVariableTypes.size()) return named(kVariableTypes[number]);
      refuse(where, "type {}, expected 0 to {}", number, kVariableTypes.size() - 1);
    }
    // In place of a type, older files store the size of an element: 4 for float32, 1 for int8, 2 for int16.
    for (const std::string_view name : std::span(kVariableTypes).first(3)) {
      if (named(name).bytes() == number) return named(name);
    }
    refuse(where, "elements of {} bytes, expected 1, 2 or 4", number);
  }

  void read_variable() {
    std::string name = string("a variable's name");
    if (renames_) name = without_names_of_opennmt_tf(std::move(name));
    check_new(name);
    const std::string where = fmt::format("{}: variable '{}'", file_.name, printable(name));
    std::vector<std::uint64_t> dims(reader_.number<std::uint8_t>("a variable's rank"));
    if (dims.size() > Shape::kMaxRank) {
      refuse(where, "{} dimensions, expected at most {}", dims.size(), Shape::kMaxRank);
    }
    for (std::uint64_t& dim : dims) dim = reader_.number<std::uint32_t>("a variable's shape");
    const StoredType& stored = type(where);
    const std::uint64_t count = reader_.number<std::uint32_t>("a variable's size");
    // The stored size is a number of bytes since version 4, and a number of elements in older versions.
    const std::uint64_t bytes = version_ >= 4 ? count : count * stored.bytes();
    if (stored_bytes(stored, dims) != bytes) {
      refuse(where, "{} bytes, expected as many as {} of shape [{}] takes", bytes, stored.torch, fmt::join(dims, ", "));
    }
    const auto data = reader_.take(bytes, fmt::format("variable '{}'", printable(name)));
    variables_.emplace(std::move(name), stored_tensor(data, stored, {.sizes = dims}, file_.owner));
  }

  // Reads an alias. The target of an alias must be a variable, so chains of aliases are refused.
  void read_alias() {
    std::string alias = string("an alias");
    std::string target = string("an alias's variable");
    check_new(alias);
    if (!variables_.contains(target)) {
      refuse(file_.name, "alias '{}' of '{}', which is no variable", printable(alias), printable(target));
    }
    aliases_.emplace(std::move(alias), std::move(target));
  }

  // Returns the variable with this name or alias; null if there is none.
  const Variables::value_type* find(const std::string& name) const {
    const auto alias = aliases_.find(name);
    const auto found = variables_.find(alias == aliases_.end() ? name : alias->second);
    return found == variables_.end() ? nullptr : &*found;
  }

  // Returns the scale of a quantised variable; null for other variables.
  const Tensor* find_scale(const Variables::value_type& variable) const {
    const auto& [name, tensor] = variable;
    if (tensor.type() != DataType::int8 && tensor.type() != DataType::int16) return nullptr;
    if (const auto* scale = find(name + "_scale")) return &scale->second;
    return tensor.type() == DataType::int16 && name.ends_with("weight") ? &first_int16_scale_ : nullptr;
  }

  bool is_scale(const std::string& name) const {
    constexpr std::string_view kEnding = "_scale";
    if (!name.ends_with(kEnding)) return false;
    const auto* scaled = find(name.substr(0, name.size() - kEnding.size()));
    return scaled != nullptr && find_scale(*scaled) != nullptr;
  }

  // Returns `scale` with one element per row of `tensor`, or with a single element for all rows. A convolution has one
  // scale per index of its first dimension; the scale is repeated for all rows with that index.
  Tensor scale_of_rows(const std::string& name, const Tensor& tensor, const Tensor& scale) const {
    const std::int64_t count = scale.elements(), rows = tensor.rows();
    const bool is_first = tensor.shape().rank() > 0 && count == tensor.shape()[0];
    if (scale.type() != DataType::float32 || (count != 1 && count != rows && !is_first)) {
      refuse(file_.name, "variable '{}_scale': {} of shape {}, expected float32 [{}] or [1]", printable(name),
             to_string(scale.type()), to_string(scale.shape()), rows);
    }
    if (count == 1 || count == rows) return scale;
    Tensor repeated = Tensor::allocate({rows});
    for (std::int64_t i = 0; i < rows; ++i) copy_as_float(scale, i / (rows / count), 1, repeated.data<float>() + i);
    return repeated;
  }

  // Returns all variables and aliases except scales. The store contains each quantised tensor together with its scale.
  std::shared_ptr<WeightStore> store() const {
    auto store = std::make_shared<WeightStore>(file_.name);
    const auto add = [&](const std::string& name, const Tensor& tensor, const Tensor* scale) {
      scale != nullptr ? store->add(name, tensor, *scale) : store->add(name, tensor);
    };
    for (const auto& variable : variables_) {
      const auto& [name, tensor] = variable;
      if (is_scale(name)) continue;
      const Tensor* scale = find_scale(variable);
      const Tensor of_rows = scale != nullptr ? scale_of_rows(name, tensor, *scale) : Tensor();
      add(name, tensor, scale != nullptr ? &of_rows : nullptr);
    }
    for (const auto& [alias, target] : aliases_) {
      if (!is_scale(alias) && !is_scale(target)) add(alias, *store->find(target), store->find_scale(target));
    }
    return store;
  }

  const FileBytes& file_;
  ByteReader reader_;
  std::uint32_t version_ = 0;
  bool renames_ = false;
  Tensor first_int16_scale_;
  Variables variables_;
  std::map<std::string, std::string, std::less<>> aliases_;
};

// Returns `config` with Whisper's special tokens, which are the same in all Whisper models.
JsonObject with_tokens_of_whisper(const CTranslate2Model& model, const std::optional<JsonObject>& config) {
  nlohmann::json settings = config ? config->value() : nlohmann::json::object();
  for (const char* key : {"unk_token", "bos_token", "eos_token"}) settings[key] = kWhisperEnd;
  settings["decoder_start_token"] = kWhisperStart;
  return JsonObject(std::move(settings), config ? config->file() : model.weights->origin());
}

}  // namespace

CTranslate2Model parse_ctranslate2(const FileBytes& file) {
  return ModelReader(file).read();
}

CTranslate2Model read_ctranslate2(const std::filesystem::path& file) {
  CTranslate2Model model;
  read_file(file, [&model](const FileBytes& bytes) {
    model = parse_ctranslate2(bytes);
    return model.weights;
  });
  return model;
}

std::optional<JsonObject> token_settings(const CTranslate2Model& model, std::optional<JsonObject> config) {
  if (model.spec_name == "WhisperSpec") return with_tokens_of_whisper(model, config);
  if (model.version >= kFirstVersionWithConfig) return config;
  const WeightStore& store = *model.weights;
  const auto token = [&](std::string_view name, const char* usual) { return text(store, name).value_or(usual); };
  const auto flag = [&](std::string_view name, bool usual) { return scalar(store, name).value_or(usual) != 0; };
  nlohmann::json settings = config ? config->value() : nlohmann::json::object();
  settings["unk_token"] = token("unk_token", "<unk>");
  settings["bos_token"] = token("bos_token", "<s>");
  settings["eos_token"] = token("eos_token", "</s>");
  settings["add_source_bos"] = flag("with_source_bos", false);
  settings["add_source_eos"] = flag("with_source_eos", false);
  settings["decoder_start_token"] = settings[flag("with_target_bos", true) ? "bos_token" : "eos_token"];
  if (flag("user_decoder_start_tokens", false)) settings["decoder_start_token"] = nullptr;  // the user sets this token
  return JsonObject(std::move(settings), store.origin());
}

// A config.json with model_type belongs to transformers, so a model.bin next to it is not CTranslate2's.
FormatRow ctranslate2_format() {
  return {.format = CheckpointFormat::ctranslate2,
          .files = "model.bin of CTranslate2",
          .find =
              [](const CheckpointFolder& folder) {
                const bool is_converted = !folder.config || !folder.config->has("model_type");
                const std::filesystem::path file = folder.path / "model.bin";
                const bool is_ours =
                    folder.has("model.bin") && is_converted && !is_marian_binary(MappedFile::open(file)->bytes());
                return is_ours ? std::optional(file) : std::nullopt;
              },
          .open =
              [](const std::filesystem::path& file, Checkpoint& checkpoint) {
                CTranslate2Model model = read_ctranslate2(file);
                CheckpointSettings& settings = checkpoint.settings;
                settings.form = CheckpointSettings::Form::ctranslate2;
                settings.config = token_settings(model, std::move(settings.config));
                settings.tokens_are_texts = true;
                nlohmann::json network = {{"spec_name", model.spec_name}, {"spec_revision", model.revision}};
                settings.network = JsonObject(std::move(network), file.string());
                checkpoint.weights = std::move(model.weights);
              },
          .read_config =
              [](const std::filesystem::path& file, std::optional<JsonObject> config) {
                return token_settings(read_ctranslate2(file), std::move(config));
              }};
}

}  // namespace encdec
