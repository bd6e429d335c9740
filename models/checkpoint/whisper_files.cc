// Files that hold a whole Whisper model: whisper.cpp's ggml files and openai/whisper's .pt files.
#include <algorithm>
#include <utility>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/checkpoint/checkpoint_format.h"
#include "encdec/models/checkpoint/file_names.h"
#include "encdec/models/checkpoint/ggml.h"
#include "encdec/models/checkpoint/openai.h"
#include "encdec/models/checkpoint/whisper_format.h"

namespace encdec {
namespace {

namespace fs = std::filesystem;

// Returns whether a .pt file appears to be a model of openai/whisper.
bool has_openai_sizes(const fs::path& file) {
  try {
    return read_openai_sizes(file).has_value();
  } catch (const FileError&) {  // another kind of file, or damaged
    return false;
  }
}

bool is_openai(const fs::path& file) {
  return file.native().ends_with(".pt") && !is_ggml(file);
}

std::optional<fs::path> find_whisper_file(const CheckpointSource& source) {
  if (source.is_file) {
    const bool is_model = is_ggml(source.path) || is_openai(source.path);
    return is_model ? std::optional(source.path) : std::nullopt;
  }
  std::vector<std::string> ggml, torch;
  for (const std::string& name : source.names) {
    if (name.starts_with("ggml-") && name.ends_with(".bin")) ggml.push_back(name);
    if (name.ends_with(".pt")) torch.push_back(name);
  }
  if (ggml.size() > 1) {
    refuse(source.path.string(), "{} ggml files, such as {} and {}, expected one, or the path of one", ggml.size(),
           printable(ggml[0]), printable(ggml[1]));
  }
  if (ggml.size() == 1) return source.path / ggml[0];
  if (torch.size() == 1 && has_openai_sizes(source.path / torch[0])) return source.path / torch[0];
  return std::nullopt;
}

void open_ggml(const fs::path& file, Checkpoint& checkpoint) {
  GgmlModel model = read_ggml(file);
  const auto texts = whisper_text_tokens(model.sizes.required_integer("n_vocab"));
  checkpoint.format = CheckpointFormat::ggml;
  checkpoint.settings.config = whisper_settings(model.sizes, texts.value_or(model.text_tokens));
  checkpoint.settings.network = std::move(model.sizes);
  checkpoint.weights = std::move(model.weights);
}

void open_openai(const fs::path& file, Checkpoint& checkpoint) {
  OpenAiModel model = read_openai(file, &checkpoint.notes);
  const std::int64_t vocabulary = model.sizes.required_integer("n_vocab");
  checkpoint.format = CheckpointFormat::openai;
  checkpoint.settings.config = whisper_settings(model.sizes, whisper_text_tokens(vocabulary));
  checkpoint.settings.network = std::move(model.sizes);
  checkpoint.weights = std::move(model.weights);
  const auto is_beside = [&file](std::string_view name) { return file_exists(file.parent_path() / name); };
  if (is_beside("tokenizer.json") || (is_beside("vocab.json") && is_beside("merges.txt"))) return;
  if (std::ranges::any_of(kTiktokenFiles, is_beside)) return;
  const bool is_english = whisper_text_tokens(vocabulary) != whisper_text_tokens(vocabulary + 1);
  checkpoint.notes.push_back(fmt::format(
      "{}: has no tokenizer inside, expected tokenizer.json of Hugging Face or {}.tiktoken of openai/whisper "
      "beside it",
      file.string(), is_english ? "gpt2" : "multilingual"));
}

void open_whisper_file(const fs::path& file, Checkpoint& checkpoint) {
  checkpoint.settings.form = CheckpointSettings::Form::whisper;
  is_openai(file) ? open_openai(file, checkpoint) : open_ggml(file, checkpoint);
}

std::optional<StoredVocabulary> read_whisper_vocabulary(const fs::path& file) {
  if (!is_openai(file)) {
    GgmlVocabulary vocabulary = read_ggml_vocabulary(file);
    return StoredVocabulary{file, vocabulary.size, std::move(vocabulary.texts)};
  }
  const auto sizes = read_openai_sizes(file);
  if (!sizes) return std::nullopt;
  return StoredVocabulary{.file = file, .size = sizes->required_integer("n_vocab")};
}

}  // namespace

FormatRow whisper_format() {
  return {.format = CheckpointFormat::ggml,
          .files = "ggml-*.bin or .pt of a Whisper model",
          .single_file = "a ggml file of whisper.cpp or a .pt file of openai/whisper",
          .find = find_whisper_file,
          .open = open_whisper_file,
          .read_vocabulary = read_whisper_vocabulary};
}

}  // namespace encdec
