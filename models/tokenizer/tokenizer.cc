#include "encdec/models/tokenizer/tokenizer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "encdec/engine/error.h"
#include "encdec/models/checkpoint/file_names.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/checkpoint/mapped_file.h"
#include "encdec/models/checkpoint/yaml.h"
#include "encdec/models/tokenizer/marian_tokenizer.h"
#include "encdec/models/tokenizer/native/blenderbot_small_tokenizer.h"
#include "encdec/models/tokenizer/native/byt5_tokenizer.h"
#include "encdec/models/tokenizer/native/m2m100_tokenizer.h"
#include "encdec/models/tokenizer/native/marian_release.h"
#include "encdec/models/tokenizer/native/pipeline_loader.h"
#include "encdec/models/tokenizer/native/plain_tokenizer.h"
#include "encdec/models/tokenizer/native/plbart_tokenizer.h"

namespace encdec {
namespace {

namespace fs = std::filesystem;

// A family whose tokenizer is no pipeline.
struct SlowFamily {
  std::string_view tokenizer_class;
  std::vector<const char*> files;  // all of them, or none
  std::unique_ptr<Tokenizer> (*load)(const fs::path& folder);
};

const std::vector<SlowFamily>& slow_families() {
  static const std::vector<SlowFamily> families = {
      {"MarianTokenizer", {"source.spm", "target.spm", "vocab.json"}, MarianTokenizer::load},
      {"M2M100Tokenizer", {"vocab.json", "sentencepiece.bpe.model"}, M2M100Tokenizer::load},
      {"PLBartTokenizer", {"sentencepiece.bpe.model"}, PLBartTokenizer::load},
      {"ByT5Tokenizer", {}, ByT5Tokenizer::load},
      {"BlenderbotSmallTokenizer", {"vocab.json", "merges.txt"}, BlenderbotSmallTokenizer::load},
  };
  return families;
}

// The class of transformers for checkpoints that do not name one.
struct ModelType {
  std::string_view model_type;
  std::string_view tokenizer_class;
};
constexpr std::array kModelTypes = {
    ModelType{"marian", "MarianTokenizer"},
    ModelType{"t5", "T5Tokenizer"},
    ModelType{"mt5", "T5Tokenizer"},
    ModelType{"umt5", "T5Tokenizer"},
    ModelType{"switch_transformers", "T5Tokenizer"},
    ModelType{"byt5", "ByT5Tokenizer"},
    ModelType{"bart", "RobertaTokenizer"},
    ModelType{"roberta", "RobertaTokenizer"},
    ModelType{"longformer", "RobertaTokenizer"},
    ModelType{"gpt2", "GPT2Tokenizer"},
    ModelType{"gpt_neo", "GPT2Tokenizer"},
    ModelType{"gptj", "GPT2Tokenizer"},
    ModelType{"opt", "GPT2Tokenizer"},
    ModelType{"blenderbot", "BlenderbotTokenizer"},
    ModelType{"blenderbot-small", "BlenderbotSmallTokenizer"},
    ModelType{"mbart", "MBartTokenizer"},
    ModelType{"mbart50", "MBart50Tokenizer"},
    ModelType{"plbart", "PLBartTokenizer"},
    ModelType{"m2m_100", "M2M100Tokenizer"},
    ModelType{"nllb", "NllbTokenizer"},
    ModelType{"nllb-moe", "NllbTokenizer"},
    ModelType{"pegasus", "PegasusTokenizer"},
    ModelType{"xlm-roberta", "XLMRobertaTokenizer"},
    ModelType{"bert", "BertTokenizer"},
    ModelType{"distilbert", "BertTokenizer"},
    ModelType{"electra", "BertTokenizer"},
};

// For these, tokenizer.json holds although a class is named.
constexpr std::array kObeysTokenizerJson = {"umt5", "pegasus_x", "bigbird_pegasus", "xlm-roberta-xl"};

// What tokenizer_config.json names, else config.json, else what the model has by default; empty if none says.
std::string tokenizer_class(const fs::path& folder, std::string_view model_type) {
  for (const char* file : {"tokenizer_config.json", "config.json"}) {
    if (!is_there(folder / file)) continue;
    if (auto name = read_json_object(folder / file).string("tokenizer_class")) {
      return name->ends_with("Fast") ? name->substr(0, name->size() - 4) : *name;
    }
  }
  const auto known = std::find_if(kModelTypes.begin(), kModelTypes.end(),
                                  [&](const ModelType& type) { return type.model_type == model_type; });
  return known != kModelTypes.end() ? std::string(known->tokenizer_class) : "";
}

std::unique_ptr<Tokenizer> load_slow(const fs::path& folder, const SlowFamily& family) {
  const char* missing = nullptr;
  std::size_t present = 0;
  for (const char* file : family.files) {
    is_there(folder / file) ? void(++present) : void(missing = file);
  }
  if (present == 0 && !family.files.empty()) return nullptr;
  if (missing == nullptr) return family.load(folder);
  throw TokenizerError(fmt::format("{}: no {}, expected {}", folder.string(), missing, fmt::join(family.files, ", ")));
}

// By the class; null if the folder has none of its files.
std::unique_ptr<Tokenizer> load_family(const fs::path& folder, std::string_view name, std::string_view model_type) {
  for (const SlowFamily& family : slow_families()) {
    if (family.tokenizer_class == name) return load_slow(folder, family);
  }
  const bool obeys =
      std::find(kObeysTokenizerJson.begin(), kObeysTokenizerJson.end(), model_type) != kObeysTokenizerJson.end();
  if (obeys) {
    if (auto tokenizer = load_pipeline(folder)) return tokenizer;
  }
  const PipelineFamily* family = find_pipeline_family(name);
  return family != nullptr ? load_pipeline(folder, *family) : load_pipeline(folder);
}

// Files that only a tokenizer has.
std::string known_file(const fs::path& folder) {
  for (const char* file : {"tokenizer.json", "spiece.model", "sentencepiece.bpe.model", "tokenizer.model", "source.spm",
                           "target.spm", "vocab.json", "vocab.txt", "merges.txt"}) {
    if (is_there(folder / file)) return file;
  }
  return {};
}

}  // namespace

std::vector<std::int32_t> encode_target_part(const Tokenizer& tokenizer, std::string_view text,
                                             const EncodeOptions& options) {
  const std::vector<std::int32_t> special = tokenizer.encode_target("", options);
  const std::vector<std::int32_t> whole = tokenizer.encode_target(text, options);
  for (std::size_t before = 0; before <= special.size() && special.size() <= whole.size(); ++before) {
    const auto front = std::span(special).first(before), back = std::span(special).subspan(before);
    const auto part = std::span(whole).subspan(before, whole.size() - special.size());
    if (std::ranges::equal(std::span(whole).first(before), front) &&
        std::ranges::equal(std::span(whole).last(back.size()), back)) {
      return {part.begin(), part.end()};
    }
  }
  return whole;
}

std::string decode_known(const Tokenizer& tokenizer, std::span<const std::int32_t> ids) {
  try {
    return tokenizer.decode(ids);
  } catch (const InputError&) {
    std::vector<std::int32_t> known;
    for (const std::int32_t& id : ids) {
      try {
        tokenizer.pieces(std::span(&id, 1), TextSide::target);
        known.push_back(id);
      } catch (const InputError&) {
        continue;
      }
    }
    return tokenizer.decode(known);
  }
}

std::unique_ptr<Tokenizer> load_tokenizer(const fs::path& folder, std::string_view model_type) {
  try {
    if (is_there(folder / "decoder.yml") && !is_there(folder / "config.json")) {
      return load_marian_release(folder, read_yaml_object(folder / "decoder.yml").value(), parse_yaml);
    }
    std::string name = tokenizer_class(folder, model_type);
    // Checkpoints of M2M-100 have a vocab.json; those of NLLB are of the same model_type and have none.
    if (name == "M2M100Tokenizer" && !is_there(folder / "vocab.json")) name = "NllbTokenizer";
    if (auto tokenizer = load_family(folder, name, model_type)) return tokenizer;
    if (auto tokenizer = PlainTokenizer::load_ctranslate2(folder)) return tokenizer;
    const std::string file = known_file(folder);
    if (file.empty()) return nullptr;
    throw TokenizerError(fmt::format("{}: {} is there, but {}, expected a tokenizer.json", folder.string(), file,
                                     name.empty()
                                         ? fmt::format("model_type '{}' has no tokenizer here", printable(model_type))
                                         : fmt::format("not what a {} needs", printable(name))));
  } catch (const ConfigError& error) {  // a value of the wrong type in one of the tokenizer's own files
    throw TokenizerError(error.what());
  }
}

}  // namespace encdec
