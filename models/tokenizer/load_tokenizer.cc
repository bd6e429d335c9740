#include "encdec/models/tokenizer/load_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "encdec/engine/base/error.h"
#include "encdec/models/checkpoint/file_names.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/checkpoint/mapped_file.h"
#include "encdec/models/checkpoint/yaml.h"
#include "encdec/models/tokenizer/base/tokenizer_settings.h"
#include "encdec/models/tokenizer/families/blenderbot_small_tokenizer.h"
#include "encdec/models/tokenizer/families/byt5_tokenizer.h"
#include "encdec/models/tokenizer/families/m2m100_tokenizer.h"
#include "encdec/models/tokenizer/families/marian_release.h"
#include "encdec/models/tokenizer/families/marian_tokenizer.h"
#include "encdec/models/tokenizer/families/pipeline_loader.h"
#include "encdec/models/tokenizer/families/plain_tokenizer.h"
#include "encdec/models/tokenizer/families/plbart_tokenizer.h"

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

// By the class; null if the folder has none of its files.
std::unique_ptr<Tokenizer> load_family(const fs::path& folder, std::string_view name, std::string_view model_type) {
  for (const SlowFamily& family : slow_families()) {
    if (family.tokenizer_class == name) return has_files(folder, family.files) ? family.load(folder) : nullptr;
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
