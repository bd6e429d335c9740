#include "encdec/models/checkpoint/language_pair.h"

#include <regex>

#include "encdec/models/checkpoint/file_names.h"
#include "encdec/models/checkpoint/json.h"

namespace encdec {

std::optional<LanguagePair> language_pair_of(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "tokenizer_config.json";
  if (file_exists(file.string())) {
    const JsonObject config = read_json_object(file);
    const auto source = config.string("source_lang"), target = config.string("target_lang");
    if (source && target && !source->empty() && !target->empty()) return LanguagePair{*source, *target};
  }
  static const std::regex kName("opus-mt-(?:tc-)?(?:big-|base-)?([a-z]{2,3})-([a-z]{2,3})");
  const std::string name = std::filesystem::absolute(folder).lexically_normal().filename().string();
  std::smatch match;
  if (std::regex_match(name, match, kName)) return LanguagePair{match[1], match[2]};
  return std::nullopt;
}

}  // namespace encdec
