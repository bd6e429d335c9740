#include "encdec/models/tokenizer/load_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <utility>

#include "encdec/engine/base/base64.h"
#include "encdec/engine/base/refuse.h"
#include "encdec/models/checkpoint/file_names.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/checkpoint/mapped_file.h"
#include "encdec/models/checkpoint/marian_files.h"
#include "encdec/models/tokenizer/base/tokenizer_settings.h"
#include "encdec/models/tokenizer/families/pipeline_families.h"
#include "encdec/models/tokenizer/families/plain_tokenizer.h"
#include "encdec/models/tokenizer/families/slow_families.h"
#include "encdec/models/tokenizer/pipeline/tokenizer_json.h"

namespace encdec {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// The functions below load the tokenizer of a SlowFamily from a folder in the format of transformers.
std::unique_ptr<Tokenizer> load_marian(const fs::path& folder) {
  TokenizerSettings settings = TokenizerSettings::merge(TokenizerFiles::read(folder), marian_tokens());
  std::optional<Vocabulary> target_vocabulary;
  if (settings.separate_vocabularies) target_vocabulary = Vocabulary::read(folder / "target_vocab.json");
  return marian_tokenizer({.source_model = SentencePieceModel::read(folder / "source.spm"),
                           .target_model = SentencePieceModel::read(folder / "target.spm"),
                           .vocabulary = Vocabulary::read(folder / "vocab.json"),
                           .target_vocabulary = std::move(target_vocabulary),
                           .settings = std::move(settings)},
                          folder.string());
}

std::unique_ptr<Tokenizer> load_m2m100(const fs::path& folder) {
  SentencePieceModel model = SentencePieceModel::read(folder / "sentencepiece.bpe.model");
  Vocabulary vocabulary = Vocabulary::read(folder / "vocab.json");
  return m2m100_tokenizer(std::move(model), std::move(vocabulary), TokenizerFiles::read(folder), folder.string());
}

std::unique_ptr<Tokenizer> load_plbart(const fs::path& folder) {
  const fs::path path = folder / "sentencepiece.bpe.model";
  const std::string model = read_text_file(path, kMaxSentencePieceBytes);
  return plbart_tokenizer(model, TokenizerFiles::read(folder), path.string());
}

std::unique_ptr<Tokenizer> load_byt5(const fs::path& folder) {
  return byt5_tokenizer(TokenizerFiles::read(folder), folder.string());
}

std::unique_ptr<Tokenizer> load_blenderbot_small(const fs::path& folder) {
  Vocabulary vocabulary = Vocabulary::read(folder / "vocab.json");
  const std::string merges = read_text_file(folder / "merges.txt", native_files::kMaxBytes);
  return blenderbot_small_tokenizer(std::move(vocabulary), merges, TokenizerFiles::read(folder), folder.string());
}

// A family whose tokenizer is a SlowTokenizer.
struct SlowFamily {
  std::string_view tokenizer_class;
  std::vector<const char*> files;  // a folder must have all of these files or none
  std::unique_ptr<Tokenizer> (*load)(const fs::path& folder);
};

const std::vector<SlowFamily>& slow_families() {
  static const std::vector<SlowFamily> families = {
      {"MarianTokenizer", {"source.spm", "target.spm", "vocab.json"}, load_marian},
      {"M2M100Tokenizer", {"vocab.json", "sentencepiece.bpe.model"}, load_m2m100},
      {"PLBartTokenizer", {"sentencepiece.bpe.model"}, load_plbart},
      {"ByT5Tokenizer", {}, load_byt5},
      {"BlenderbotSmallTokenizer", {"vocab.json", "merges.txt"}, load_blenderbot_small},
  };
  return families;
}

// Returns the table of the first Precompiled normalizer. `file` has either a single normalizer or a sequence of them.
std::optional<NormalizationTable> normalization_table(const Json& file, const std::string& name) {
  const auto normalizer = file.find("normalizer");
  if (normalizer == file.end() || !normalizer->is_object()) return std::nullopt;
  const auto list = normalizer->find("normalizers");
  const bool is_list = list != normalizer->end() && list->is_array();
  for (std::size_t i = 0; i < (is_list ? list->size() : 1); ++i) {
    const Json& step = is_list ? (*list)[i] : *normalizer;
    if (!step.is_object() || !step.contains("type") || step["type"] != "Precompiled") continue;
    const auto table = step.find("precompiled_charsmap");
    if (table == step.end() || !table->is_string()) continue;
    if (const auto bytes = decode_base64(table->get_ref<const std::string&>())) return NormalizationTable(*bytes, name);
    refuse<TokenizerError>(name, "normalizer: precompiled_charsmap is not base64");
  }
  return std::nullopt;
}

// Returns whether tokenizer.json contains the type of model that the family's pipeline needs.
bool fits(const TokenizerJsonFile& file, const PipelineFamily& family) {
  const std::string_view model = family.model;
  // Llama 3 is byte-level, but some of its checkpoints name the class of Llama 2.
  const auto has_bytes = [&] { return file.rest->value().dump().find("\"ByteLevel\"") != std::string::npos; };
  if (family.tokenizer_class == "LlamaTokenizer" && has_bytes()) return false;
  if (model == "Unigram") return file.pieces.has_value();
  if (model == "BPE") return file.vocabulary.has_value() && file.merges.has_value();
  return file.vocabulary.has_value() && !file.merges;
}

// Returns the side at which tokenizer.json truncates texts; nullopt for the default side.
std::optional<TruncationSide> truncation_side_of(const JsonObject& file) {
  const auto truncation = file.object("truncation");
  const std::string side = truncation ? truncation->string("direction").value_or("") : "";
  return side == "Left" ? std::optional(TruncationSide::left) : std::nullopt;
}

// Loads a tokenizer.json. Uses the file's own pipeline if there is no family or if !fits().
std::unique_ptr<Tokenizer> load_tokenizer_json(const fs::path& json, TokenizerFiles files,
                                               const PipelineFamily* family) {
  PipelineData data{.name = json.string(), .config = files.tokenizer_config};
  data.file = TokenizerJsonFile::parse(read_text_file(json, kMaxTokenizerJsonBytes), data.name);
  const JsonObject& rest = *data.file.rest;
  const auto merge = [&](NamedTokens named_tokens) {
    data.settings = TokenizerSettings::merge(files, std::move(named_tokens));
    if (!data.settings.truncation_side) data.settings.truncation_side = truncation_side_of(rest);
  };
  if (family == nullptr || !fits(data.file, *family)) {
    merge({});
    return pipeline_tokenizer(family_parts::load(data), data.name);
  }
  // Families also use the normalisation table of tokenizer.json and, if tokenizer_config.json lists no added tokens,
  // the added tokens of tokenizer.json.
  data.file.normalization_table = normalization_table(rest.value(), data.name);
  if (rest.value().contains("added_tokens") && !files.has_added_tokens_decoder()) files.tokenizer = rest;
  merge(family->named_tokens);
  return pipeline_tokenizer(family->make(data), data.name);
}

// Loads a pipeline from tokenizer.json, or else from the family's own files. Takes settings from tokenizer_config.json,
// special_tokens_map.json and added_tokens.json. Returns null if the folder has no file to load the pipeline from.
std::unique_ptr<Tokenizer> load_pipeline(const fs::path& folder, const PipelineFamily* family) {
  const fs::path json = folder / "tokenizer.json";
  if (file_exists(json)) return load_tokenizer_json(json, TokenizerFiles::read_small(folder), family);
  if (family == nullptr || !has_files(folder, family->files)) return nullptr;
  const TokenizerFiles files = TokenizerFiles::read_small(folder);
  PipelineData data{.name = (folder / family->files[0]).string(),
                    .config = files.tokenizer_config,
                    .settings = TokenizerSettings::merge(files, family->named_tokens)};
  std::vector<NamedText> texts;
  for (const char* file : family->files) {
    texts.push_back({(folder / file).string(), read_text_file(folder / file, native_files::kMaxBytes)});
  }
  family->read(texts, data);
  return pipeline_tokenizer(family->make(data), data.name);
}

// The tokenizer classes of transformers by model_type, for checkpoints that name no class.
constexpr std::pair<std::string_view, std::string_view> kClassOfType[] = {
    {"albert", "AlbertTokenizer"},
    {"bart", "RobertaTokenizer"},
    {"bert", "BertTokenizer"},
    {"blenderbot", "BlenderbotTokenizer"},
    {"blenderbot-small", "BlenderbotSmallTokenizer"},
    {"byt5", "ByT5Tokenizer"},
    {"camembert", "CamembertTokenizer"},
    {"deberta-v2", "DebertaV2Tokenizer"},
    {"distilbert", "BertTokenizer"},
    {"electra", "BertTokenizer"},
    {"gpt2", "GPT2Tokenizer"},
    {"gpt_neo", "GPT2Tokenizer"},
    {"gptj", "GPT2Tokenizer"},
    {"longformer", "RobertaTokenizer"},
    {"m2m_100", "M2M100Tokenizer"},
    {"marian", "MarianTokenizer"},
    {"mbart", "MBartTokenizer"},
    {"mbart50", "MBart50Tokenizer"},
    {"mpnet", "MPNetTokenizer"},
    {"mt5", "T5Tokenizer"},
    {"nllb", "NllbTokenizer"},
    {"nllb-moe", "NllbTokenizer"},
    {"opt", "GPT2Tokenizer"},
    {"pegasus", "PegasusTokenizer"},
    {"plbart", "PLBartTokenizer"},
    {"roberta", "RobertaTokenizer"},
    {"switch_transformers", "T5Tokenizer"},
    {"t5", "T5Tokenizer"},
    {"umt5", "T5Tokenizer"},
    {"whisper", "WhisperTokenizer"},
    {"xlm-roberta", "XLMRobertaTokenizer"},
};

// Model types that always use the pipeline of their tokenizer.json, even if the checkpoint names a class.
constexpr std::array kUsesOwnPipeline = {"umt5", "pegasus_x", "bigbird_pegasus", "xlm-roberta-xl", "mistral"};

// Returns the tokenizer class in tokenizer_config.json, else in config.json, else the model type's default, else "".
// Removes the ending "Fast".
std::string tokenizer_class(const fs::path& folder, std::string_view model_type) {
  for (const char* file : {"tokenizer_config.json", "config.json"}) {
    if (!file_exists(folder / file)) continue;
    if (auto name = read_json_object(folder / file).string("tokenizer_class")) {
      return name->ends_with("Fast") ? name->substr(0, name->size() - 4) : *name;
    }
  }
  for (const auto& [type, name] : kClassOfType) {
    if (type == model_type) return std::string(name);
  }
  return {};
}

// Loads the tokenizer of the class `name`. Returns null if the folder has none of the files of the class.
std::unique_ptr<Tokenizer> load_family(const fs::path& folder, std::string_view name, std::string_view model_type) {
  for (const SlowFamily& family : slow_families()) {
    if (family.tokenizer_class == name) return has_files(folder, family.files) ? family.load(folder) : nullptr;
  }
  if (std::find(kUsesOwnPipeline.begin(), kUsesOwnPipeline.end(), model_type) != kUsesOwnPipeline.end()) {
    if (auto tokenizer = load_pipeline(folder, nullptr)) return tokenizer;
  }
  return load_pipeline(folder, find_pipeline_family(name));
}

// Vocabulary files of transformers. A folder that has one of these files, but no supported tokenizer, is an error.
constexpr const char* kMainFiles[] = {"tokenizer.json", "spiece.model",    "sentencepiece.bpe.model",
                                      "spm.model",      "tokenizer.model", "source.spm",
                                      "target.spm",     "vocab.json",      "vocab.txt",
                                      "merges.txt"};
// Marian's second vocabulary, settings files, and CTranslate2's vocabularies.
constexpr const char* kOtherFiles[] = {"target_vocab.json",      "tokenizer_config.json",  "special_tokens_map.json",
                                       "added_tokens.json",      "vocabulary.json",        "vocabulary.txt",
                                       "shared_vocabulary.json", "shared_vocabulary.txt",  "source_vocabulary.json",
                                       "source_vocabulary.txt",  "target_vocabulary.json", "target_vocabulary.txt"};

// Returns whether a folder has a model in Marian's own format.
bool is_marian_release(const fs::path& folder) {
  return !file_exists(folder / "config.json") && MarianFiles(folder).is_release();
}

}  // namespace

std::vector<std::string> tokenizer_files(const fs::path& folder) {
  std::vector<std::string> files;
  if (is_marian_release(folder)) files = MarianFiles(folder).vocabularies();
  for (const auto names : std::initializer_list<std::span<const char* const>>{kMainFiles, kOtherFiles}) {
    std::ranges::copy_if(names, std::back_inserter(files),
                         [&](const char* name) { return file_exists(folder / name); });
  }
  std::ranges::sort(files);
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return files;
}

std::unique_ptr<Tokenizer> load_tokenizer(const fs::path& folder, std::string_view model_type) {
  try {
    if (is_marian_release(folder)) return load_marian_release(folder);
    std::string name = tokenizer_class(folder, model_type);
    // NLLB and M2M-100 have the same model_type, but only M2M-100 has a vocab.json.
    if (name == "M2M100Tokenizer" && !file_exists(folder / "vocab.json")) name = "NllbTokenizer";
    if (auto tokenizer = load_family(folder, name, model_type)) return tokenizer;
    // Try CTranslate2's vocabulary for Whisper, then CTranslate2's vocabularies for any model.
    if (model_type.empty() || model_type == "whisper") {
      if (auto tokenizer = load_whisper_tokenizer(folder)) return tokenizer;
    }
    if (auto tokenizer = load_ctranslate2_tokenizer(folder)) return tokenizer;
    // No tokenizer was found. This is an error if the folder has a vocabulary file.
    const auto* file = std::ranges::find_if(kMainFiles, [&](const char* each) { return file_exists(folder / each); });
    if (file == std::end(kMainFiles)) return nullptr;
    refuse<TokenizerError>(folder.string(), "{} exists, but {}; expected a tokenizer.json", *file,
                           name.empty() ? fmt::format("model_type '{}' has no known tokenizer", printable(model_type))
                                        : fmt::format("it is not a file that {} can use", printable(name)));
  } catch (const ConfigError& error) {  // a value of the wrong type in one of the tokenizer's own files
    throw TokenizerError(error.what());
  }
}

}  // namespace encdec
