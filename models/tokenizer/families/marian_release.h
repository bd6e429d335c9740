#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "encdec/models/tokenizer/base/tokenizer.h"
#include "encdec/models/tokenizer/base/vocabulary.h"

namespace encdec {

// Reads YAML text as JSON values; `file` is for messages.
using YamlParser = std::function<nlohmann::json(std::string_view text, const std::string& file)>;

// The tokenizer of a model as Marian itself writes it. `decoder`, the content of decoder.yml, names the vocabularies of
// both sides: maps of pieces to ids, in YAML or JSON. With source.spm and target.spm beside them (OPUS-MT releases) it
// is a MarianTokenizer, else texts are tokens with spaces between. Throws TokenizerError, naming the file, if one is
// missing or damaged.
std::unique_ptr<Tokenizer> load_marian_release(const std::filesystem::path& folder, const nlohmann::json& decoder,
                                               const YamlParser& parse_yaml);

// A map of pieces to ids, which are all there and all different; `name` is for messages.
Vocabulary vocabulary_from(const nlohmann::json& map, const std::string& name);

}  // namespace encdec
