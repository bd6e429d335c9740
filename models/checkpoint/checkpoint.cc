#include "encdec/models/checkpoint/checkpoint.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/checkpoint/ctranslate2.h"
#include "encdec/models/checkpoint/file_names.h"
#include "encdec/models/checkpoint/ggml.h"
#include "encdec/models/checkpoint/npz.h"
#include "encdec/models/checkpoint/openai.h"
#include "encdec/models/checkpoint/pytorch.h"
#include "encdec/models/checkpoint/safetensors.h"
#include "encdec/models/checkpoint/shards.h"
#include "encdec/models/checkpoint/stored_values.h"
#include "encdec/models/checkpoint/whisper_format.h"
#include "encdec/models/checkpoint/yaml.h"

namespace encdec {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLookedFor =
    "expected model.safetensors, pytorch_model.bin (or one of their .index.json), one .npz file, model.bin of "
    "CTranslate2, or ggml-*.bin or .pt of a Whisper model";
constexpr std::size_t kMaxListed = 5;  // maximum number of files named in a message

// A format of weights that this library does not read.
struct ForeignFormat {
  std::string_view ending;
  std::string_view name;
};
constexpr std::array<ForeignFormat, 7> kForeign = {{{"tf_model.h5", "TensorFlow"},
                                                    {".h5", "HDF5"},
                                                    {".msgpack", "Flax"},
                                                    {".onnx", "ONNX"},
                                                    {".gguf", "GGUF"},
                                                    {".index", "TensorFlow"},
                                                    {".pt", "PyTorch, under another name than pytorch_model.bin"}}};

// Returns how to get a model from Hugging Face if a missing folder has the form of a model's name there, OWNER/NAME;
// else an empty text.
std::string download_hint(const fs::path& folder) {
  const fs::path owner = folder.parent_path(), name = folder.filename();
  std::error_code unknown;  // ignored: the caller reports why the folder cannot be read
  if (owner.empty() || owner.has_parent_path() || name.empty() || owner.native().starts_with('.') ||
      fs::exists(owner, unknown)) {
    return "";
  }
  const std::string plain = printable(name.native());
  return fmt::format("; from Hugging Face: hf download {}/{} --local-dir {}", printable(owner.native()), plain, plain);
}

// Returns the names of a folder's files, sorted.
std::vector<std::string> list(const fs::path& folder) {
  std::error_code error;
  std::vector<std::string> names;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  if (error) {
    const bool is_missing = error == std::errc::no_such_file_or_directory;
    refuse(folder.string(), "{}{}", error.message(), is_missing ? download_hint(folder) : "");
  }
  std::ranges::sort(names);
  return names;
}

[[noreturn]] void refuse_without_weights(const fs::path& folder, const std::vector<std::string>& names) {
  for (const ForeignFormat& format : kForeign) {
    const auto name = std::ranges::find_if(names, [&](const auto& n) { return n.ends_with(format.ending); });
    if (name == names.end()) continue;
    refuse(folder.string(), "weights only as {} ({}), {}", printable(*name), format.name, kLookedFor);
  }
  std::string found = names.empty() ? "there are none" : "";
  for (std::size_t i = 0; i < std::min(names.size(), kMaxListed); ++i) {
    found += fmt::format("{}{}", i > 0 ? ", " : "", printable(names[i], 40));
  }
  if (names.size() > kMaxListed) found += fmt::format(" and {} more", names.size() - kMaxListed);
  refuse(folder.string(), "no weights among its files ({}), {}", found, kLookedFor);
}

// Returns the .npz file that decoder.yml names, or else the only .npz file; nullopt if there is none.
std::optional<fs::path> find_npz(const Checkpoint& checkpoint, const std::vector<std::string>& names) {
  if (checkpoint.decoder_options) {
    const auto models = checkpoint.decoder_options->strings("models");
    if (models.size() > 1) {
      refuse(checkpoint.decoder_options->file(), "an ensemble of {} models, expected one", models.size());
    }
    if (models.size() == 1 && models.front().ends_with(".npz")) {
      check_plain_file_name(models.front(), checkpoint.decoder_options->file());
      return checkpoint.folder / models.front();
    }
  }
  std::vector<std::string> found;
  std::ranges::copy_if(names, std::back_inserter(found), [](const auto& name) { return name.ends_with(".npz"); });
  if (found.size() > 1) {
    refuse(checkpoint.folder.string(), "{} .npz files, such as {} and {}, expected one, or decoder.yml to name one",
           found.size(), printable(found[0]), printable(found[1]));
  }
  return found.empty() ? std::nullopt : std::optional(checkpoint.folder / found.front());
}

void open_npz(Checkpoint& checkpoint, const fs::path& file) {
  constexpr std::string_view kOptions = "special:model.yml";
  checkpoint.format = CheckpointFormat::npz;
  checkpoint.weights = read_npz(file);
  const std::string where = fmt::format("{}: {}", file.string(), kOptions);
  if (const auto options = text(*checkpoint.weights, kOptions)) {
    if (options->size() > kMaxConfigBytes) {
      refuse(where, "{} bytes, expected at most {}", options->size(), kMaxConfigBytes);
    }
    checkpoint.options = JsonObject(parse_yaml(*options, where), where);
  }
}

void open_ctranslate2(Checkpoint& checkpoint) {
  auto model = read_ctranslate2(checkpoint.folder / "model.bin");
  checkpoint.format = CheckpointFormat::ctranslate2;
  checkpoint.config = token_settings(model, std::move(checkpoint.config));
  checkpoint.weights = std::move(model.weights);
  checkpoint.spec_name = std::move(model.spec_name);
  checkpoint.spec_revision = model.revision;
}

bool is_file(const fs::path& path) {
  std::error_code unknown;  // ignored: opening the file will report the error
  return fs::is_regular_file(path, unknown);
}

// Returns whether a .pt file appears to be a model of openai/whisper.
bool has_openai_sizes(const fs::path& file) {
  try {
    return read_openai_sizes(file).has_value();
  } catch (const FileError&) {  // another kind of file, or damaged
    return false;
  }
}

// Finds the Whisper model in a folder with these files; see find_whisper_file() in the header.
std::optional<WhisperFile> find_whisper_file(const fs::path& folder, const std::vector<std::string>& names) {
  std::vector<std::string> ggml, torch;
  for (const std::string& name : names) {
    if (name.starts_with("ggml-") && name.ends_with(".bin")) ggml.push_back(name);
    if (name.ends_with(".pt")) torch.push_back(name);
  }
  if (ggml.size() > 1) {
    refuse(folder.string(), "{} ggml files, such as {} and {}, expected one, or the path of one", ggml.size(),
           printable(ggml[0]), printable(ggml[1]));
  }
  if (ggml.size() == 1) return WhisperFile{folder / ggml[0], CheckpointFormat::ggml};
  if (torch.size() == 1 && has_openai_sizes(folder / torch[0])) {
    return WhisperFile{folder / torch[0], CheckpointFormat::openai};
  }
  return std::nullopt;
}

void open_ggml(Checkpoint& checkpoint, const fs::path& file) {
  GgmlModel model = read_ggml(file);
  const auto texts = whisper_text_tokens(model.sizes.required_integer("n_vocab"));
  checkpoint.config = whisper_settings(model.sizes, texts.value_or(model.text_tokens));
  checkpoint.options = std::move(model.sizes);
  checkpoint.weights = std::move(model.weights);
}

void open_openai(Checkpoint& checkpoint, const fs::path& file) {
  OpenAiModel model = read_openai(file, &checkpoint.notes);
  const std::int64_t vocabulary = model.sizes.required_integer("n_vocab");
  checkpoint.config = whisper_settings(model.sizes, whisper_text_tokens(vocabulary));
  checkpoint.options = std::move(model.sizes);
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

void open_whisper(Checkpoint& checkpoint, const WhisperFile& file) {
  checkpoint.format = file.format;
  file.format == CheckpointFormat::ggml ? open_ggml(checkpoint, file.path) : open_openai(checkpoint, file.path);
}

}  // namespace

std::string_view to_string(CheckpointFormat format) {
  constexpr std::string_view kNames[] = {"safetensors", "pytorch", "npz", "ctranslate2", "ggml", "openai"};
  return kNames[static_cast<std::size_t>(format)];
}

std::optional<WhisperFile> find_whisper_file(const fs::path& folder_or_file) {
  if (!is_file(folder_or_file)) return find_whisper_file(folder_or_file, list(folder_or_file));
  if (is_ggml(folder_or_file)) return WhisperFile{folder_or_file, CheckpointFormat::ggml};
  if (folder_or_file.native().ends_with(".pt")) return WhisperFile{folder_or_file, CheckpointFormat::openai};
  return std::nullopt;
}

Checkpoint open_checkpoint(const fs::path& folder) {
  Checkpoint checkpoint;
  checkpoint.folder = folder;
  if (is_file(folder)) {
    const auto file = find_whisper_file(folder);
    if (!file) {
      refuse(folder.string(),
             "a file, expected the folder of a checkpoint, a ggml file of whisper.cpp or a .pt file of openai/whisper");
    }
    open_whisper(checkpoint, *file);
    return checkpoint;
  }
  const std::vector<std::string> names = list(folder);
  const auto has = [&names](std::string_view name) { return std::ranges::binary_search(names, name); };
  const auto has_either = [&has](const std::string& name) { return has(name) || has(name + ".index.json"); };

  if (has("config.json")) checkpoint.config = read_json_object(folder / "config.json");
  if (has("decoder.yml")) checkpoint.decoder_options = read_yaml_object(folder / "decoder.yml");
  const bool is_converted = !checkpoint.config || !checkpoint.config->has("model_type");
  if (has("model.bin") && is_converted) {
    open_ctranslate2(checkpoint);
  } else if (has_either("model.safetensors")) {
    checkpoint.format = CheckpointFormat::safetensors;
    checkpoint.weights = read_safetensors(folder);
  } else if (has_either("pytorch_model.bin")) {
    checkpoint.format = CheckpointFormat::pytorch;
    checkpoint.weights = read_pytorch(folder, &checkpoint.notes);
  } else if (const auto npz = find_npz(checkpoint, names)) {
    open_npz(checkpoint, *npz);
  } else if (const auto file = find_whisper_file(folder, names)) {
    open_whisper(checkpoint, *file);
  } else {
    refuse_without_weights(folder, names);
  }
  return checkpoint;
}

}  // namespace encdec
