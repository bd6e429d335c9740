#include "encdec/models/tokenizer/families/pipeline_loader.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "encdec/engine/base/error.h"
#include "encdec/models/checkpoint/file_names.h"
#include "encdec/models/checkpoint/mapped_file.h"
#include "encdec/models/tokenizer/families/family_parts.h"
#include "encdec/models/tokenizer/pipeline/base64.h"
#include "encdec/models/tokenizer/pipeline/tokenizer_json.h"
#include "encdec/models/tokenizer/pipeline/tokenizer_json_file.h"
#include "encdec/models/tokenizer/pipeline/tokenizer_json_parts.h"

namespace encdec {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kTokenizerJson = "tokenizer.json";

PipelineSource empty_source(const TokenizerFiles& files) {
  return {.name = "", .config = files.tokenizer_config.value_or(JsonObject(Json::object(), "tokenizer_config.json"))};
}

// The table of the first Precompiled that is the normalizer or one of a sequence.
std::optional<NormalizationTable> normalization_table(const Json& file, const std::string& name) {
  const auto normalizer = file.find("normalizer");
  if (normalizer == file.end() || !normalizer->is_object()) return std::nullopt;
  const auto list = normalizer->find("normalizers");
  const Json steps = list != normalizer->end() && list->is_array() ? *list : Json::array({*normalizer});
  for (const Json& step : steps) {
    if (!step.is_object() || step.value("type", Json()) != "Precompiled") continue;
    const auto table = step.find("precompiled_charsmap");
    if (table == step.end() || !table->is_string()) continue;
    if (const auto bytes = decode_base64(table->get_ref<const std::string&>())) return NormalizationTable(*bytes, name);
    throw TokenizerError(fmt::format("{}: normalizer: precompiled_charsmap is not base64", name));
  }
  return std::nullopt;
}

// Whether the file's model is of the kind that the family puts its pipeline around.
bool fits(const TokenizerJsonFile& file, std::string_view model) {
  if (model == "Unigram") return file.pieces.has_value();
  if (model == "BPE") return file.vocabulary.has_value() && file.merges.has_value();
  return file.vocabulary.has_value() && !file.merges;
}

PipelineSource json_source(TokenizerJsonFile file, const std::string& name, TokenizerFiles files,
                           const PipelineFamily& family) {
  PipelineSource source = empty_source(files);
  source.name = name;
  source.is_tokenizer_json = true;
  if (file.pieces) source.pieces = *std::move(file.pieces);
  if (file.vocabulary) source.vocabulary = *std::move(file.vocabulary);
  if (file.merges) source.merges = *std::move(file.merges);
  const JsonObject rest(std::move(*file.rest), name);
  source.normalization_table = normalization_table(rest.value(), name);
  if (rest.has("post_processor")) source.affixes = read_post_processor(rest.required_object("post_processor"));
  if (rest.value().contains("added_tokens")) files.tokenizer = rest;
  if (files.has_added_tokens_decoder()) files.tokenizer.reset();
  source.settings = TokenizerSettings::merge(files, family.named_tokens);
  return source;
}

}  // namespace

std::unique_ptr<Tokenizer> load_pipeline(const fs::path& folder, const PipelineFamily& family) {
  const fs::path json = folder / kTokenizerJson;
  if (is_there(json)) {
    auto file = TokenizerJsonFile::parse(read_text_file(json, kMaxTokenizerJsonBytes), json.string());
    if (!fits(file, family.model)) return load_pipeline(folder);
    PipelineSource source = json_source(std::move(file), json.string(), TokenizerFiles::read_small(folder), family);
    return std::make_unique<PipelineTokenizer>(family.make(source), json.string());
  }
  if (!has_files(folder, family.files)) return nullptr;
  const TokenizerFiles files = TokenizerFiles::read_small(folder);
  PipelineSource source = empty_source(files);
  source.settings = TokenizerSettings::merge(files, family.named_tokens);
  std::vector<NamedText> texts;
  for (const char* file : family.files) {
    texts.push_back({(folder / file).string(), read_text_file(folder / file, native_files::kMaxBytes)});
  }
  source.name = texts[0].name;
  family.read(texts, source);
  return std::make_unique<PipelineTokenizer>(family.make(source), texts[0].name);
}

std::unique_ptr<Tokenizer> load_pipeline(const fs::path& folder) {
  const fs::path json = folder / kTokenizerJson;
  if (!is_there(json)) return nullptr;
  PipelineTokenizer::Parts parts = read_tokenizer_json(json);
  const TokenizerFiles files = TokenizerFiles::read_small(folder);
  PipelineSource source = empty_source(files);
  source.name = json.string();
  source.settings = TokenizerSettings::merge(files, {});
  family_parts::apply_settings(source, parts);
  return std::make_unique<PipelineTokenizer>(std::move(parts), source.name);
}

}  // namespace encdec
