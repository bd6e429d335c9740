#include "encdec/models/checkpoint/openai.h"

#include <map>
#include <utility>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/checkpoint/pytorch.h"
#include "encdec/models/checkpoint/torch_file.h"
#include "encdec/models/checkpoint/whisper_format.h"

namespace encdec {
namespace {

constexpr std::size_t kMaxSizes = 100;  // a model has ten

// Returns the value of a dict's first key `wanted`; null if there is none.
const Pickle::Object* find_value(const Pickle& pickle, const Pickle::Dict& dict, std::string_view wanted) {
  for (const auto& [key, value] : dict.items) {
    const auto* name = pickle.get<Pickle::Text>(key);
    if (name != nullptr && name->text == wanted) return &pickle[value];
  }
  return nullptr;
}

}  // namespace

std::optional<JsonObject> parse_openai_sizes(const FileBytes& file) {
  const TorchFile opened = open_torch_file(file);
  const Pickle& pickle = opened.pickle;
  const auto* all = pickle.get<Pickle::Dict>(pickle.root());
  const Pickle::Object* found = all != nullptr ? find_value(pickle, *all, "dims") : nullptr;
  const auto* dims = found != nullptr ? std::get_if<Pickle::Dict>(found) : nullptr;
  if (dims == nullptr || find_value(pickle, *all, "model_state_dict") == nullptr) return std::nullopt;
  if (dims->items.size() > kMaxSizes) {
    refuse(file.name, "dims: {} sizes, expected those of a model of Whisper", dims->items.size());
  }
  std::map<std::string, std::int64_t, std::less<>> sizes;
  for (const auto& [key, value] : dims->items) {
    const auto* name = pickle.get<Pickle::Text>(key);
    const auto* size = pickle.get<std::int64_t>(value);
    if (name == nullptr || size == nullptr) continue;  // skipped: whisper_sizes() reports a size that is missing
    if (!sizes.emplace(name->text.substr(0, kMaxTorchNameBytes), *size).second) {
      refuse(file.name, "dims: '{}' is there twice, expected it once", printable(name->text));
    }
  }
  return whisper_sizes(sizes, file.name);
}

OpenAiModel parse_openai(const FileBytes& file, std::vector<std::string>* notes) {
  auto sizes = parse_openai_sizes(file);
  if (!sizes) {
    refuse(file.name, "no 'dims' beside a 'model_state_dict', expected a model of openai/whisper in a .pt file");
  }
  return {*std::move(sizes), parse_pytorch(file, notes)};
}

std::optional<JsonObject> read_openai_sizes(const std::filesystem::path& file) {
  const auto mapped = MappedFile::open(file);
  return parse_openai_sizes({mapped->bytes(), mapped, file.string()});
}

OpenAiModel read_openai(const std::filesystem::path& file, std::vector<std::string>* notes) {
  const auto mapped = MappedFile::open(file);
  OpenAiModel model = parse_openai({mapped->bytes(), mapped, file.string()}, notes);
  model.weights->add_file(mapped);
  return model;
}

}  // namespace encdec
