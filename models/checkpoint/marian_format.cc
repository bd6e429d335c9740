// Marian's own format: an .npz file with its options inside, and decoder.yml beside it.
#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/checkpoint/checkpoint_format.h"
#include "encdec/models/checkpoint/npz.h"
#include "encdec/models/checkpoint/shards.h"
#include "encdec/models/checkpoint/stored_values.h"
#include "encdec/models/checkpoint/yaml.h"

namespace encdec {
namespace {

namespace fs = std::filesystem;

// Returns the .npz file that decoder.yml names under 'models'; nullopt if it names none.
std::optional<fs::path> named_npz(const CheckpointSource& source) {
  if (!source.has("decoder.yml")) return std::nullopt;
  const JsonObject decoder = read_yaml_object(source.path / "decoder.yml");
  const auto models = decoder.strings("models");
  if (models.size() > 1) refuse(decoder.file(), "an ensemble of {} models, expected one", models.size());
  if (models.empty() || !models.front().ends_with(".npz")) return std::nullopt;
  check_plain_file_name(models.front(), decoder.file());
  return source.path / models.front();
}

std::optional<fs::path> find_npz(const CheckpointSource& source) {
  if (auto named = named_npz(source)) return named;
  std::vector<std::string> found;
  std::ranges::copy_if(source.names, std::back_inserter(found), [](const auto& n) { return n.ends_with(".npz"); });
  if (found.size() > 1) {
    refuse(source.path.string(), "{} .npz files, such as {} and {}, expected one, or decoder.yml to name one",
           found.size(), printable(found[0]), printable(found[1]));
  }
  return found.empty() ? std::nullopt : std::optional(source.path / found.front());
}

void open_npz(const fs::path& file, Checkpoint& checkpoint) {
  constexpr std::string_view kOptions = "special:model.yml";
  checkpoint.weights = read_npz(file);
  checkpoint.settings.form = CheckpointSettings::Form::marian;
  checkpoint.settings.network.reset();
  checkpoint.settings.tokens_are_texts = true;
  const std::string where = fmt::format("{}: {}", file.string(), kOptions);
  if (const auto options = text(*checkpoint.weights, kOptions)) {
    if (options->size() > kMaxConfigBytes) {
      refuse(where, "{} bytes, expected at most {}", options->size(), kMaxConfigBytes);
    }
    checkpoint.settings.network = JsonObject(parse_yaml(*options, where), where);
  }
}

}  // namespace

FormatRow marian_format() {
  return {.format = CheckpointFormat::npz, .files = "one .npz file", .find = find_npz, .open = open_npz};
}

}  // namespace encdec
