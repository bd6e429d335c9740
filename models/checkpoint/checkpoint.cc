#include "encdec/models/checkpoint/checkpoint.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/checkpoint/checkpoint_format.h"
#include "encdec/models/checkpoint/file_names.h"
#include "encdec/models/checkpoint/pytorch.h"

namespace encdec {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxListed = 5;  // maximum number of file names in an error message

// Returns the formats of this build, in the order in which open_checkpoint() tries them.
const std::vector<FormatRow>& all_formats() {
  static const std::vector<FormatRow> formats = [] {
    std::vector<FormatRow> rows;
#define ENCDEC_ADD_FORMAT(name, ...) \
  if constexpr (ENCDEC_READS_##name) rows.push_back(name##_format());
    ENCDEC_FORMAT_ROWS(ENCDEC_ADD_FORMAT)
#undef ENCDEC_ADD_FORMAT
    return rows;
  }();
  return formats;
}

// A format that this build does not include, and the patterns of the format's file names.
struct LeftOutFormat {
  std::string_view name;
  std::vector<std::string_view> file_patterns;
};
std::vector<LeftOutFormat> left_out_formats() {
  std::vector<LeftOutFormat> formats;
#define ENCDEC_ADD_LEFT_OUT(name, ...) \
  if (!ENCDEC_READS_##name) formats.push_back({#name, {__VA_ARGS__}});
  ENCDEC_FORMAT_ROWS(ENCDEC_ADD_LEFT_OUT)
#undef ENCDEC_ADD_LEFT_OUT
  return formats;
}

// Returns true if `name` matches `pattern`, which may contain one '*' for any text.
bool matches(std::string_view name, std::string_view pattern) {
  const std::size_t star = pattern.find('*');
  if (star == pattern.npos) return name == pattern;
  return name.size() + 1 >= pattern.size() && name.starts_with(pattern.substr(0, star)) &&
         name.ends_with(pattern.substr(star + 1));
}

// A weight format that no build of this library reads, and the pattern of its file names.
struct ForeignFormat {
  std::string_view pattern;
  std::string_view name;
  std::string_view expected = {};  // files to use instead; if empty, the files of all formats
};
constexpr std::array<ForeignFormat, 8> kForeign = {
    {{"*tf_model.h5", "TensorFlow"},
     {"*.h5", "HDF5"},
     {"*.msgpack", "Flax"},
     {"*.onnx", "ONNX"},
     {"*.gguf", "GGUF"},
     {"*.index", "TensorFlow"},
     {"ggml-*.bin", "whisper.cpp", "safetensors, for example from: hf download openai/whisper-tiny"},
     {"*.pt", "PyTorch",
      "safetensors or pytorch_model.bin; for Whisper: hf download openai/whisper-tiny; for a fine-tuned Whisper: the "
      "output of transformers' convert_openai_to_hf.py"}}};

// Returns the foreign format whose pattern matches the file name; null if there is none.
const ForeignFormat* foreign_format(std::string_view file_name) {
  const auto found = std::ranges::find_if(kForeign, [&](const auto& f) { return matches(file_name, f.pattern); });
  return found == kForeign.end() ? nullptr : &*found;
}

// Throws UnsupportedModelError if a file name matches a format that this build does not include.
void refuse_left_out(const fs::path& folder, const std::vector<std::string>& names) {
  for (const LeftOutFormat& format : left_out_formats()) {
    for (const std::string_view pattern : format.file_patterns) {
      const auto name = std::ranges::find_if(names, [&](const auto& n) { return matches(n, pattern); });
      if (name == names.end()) continue;
      refuse<UnsupportedModelError>(folder.string(),
                                    "{} of the format {}, which this build does not read, expected a build with {} in "
                                    "ENCDEC_FORMATS",
                                    printable(*name), format.name, format.name);
    }
  }
}

// Returns the names of the files that this build reads, for error messages, in the order of CheckpointFormat.
std::string readable_files() {
  std::vector<FormatRow> formats = all_formats();
  std::ranges::sort(formats, {}, &FormatRow::format);
  std::string files;
  for (const FormatRow& format : formats) {
    const bool is_last = &format == &formats.back();
    files += fmt::format("{}{}", files.empty() ? "" : is_last ? ", or " : ", ", format.files);
  }
  return files;
}

// Throws the error for a path that is a file. The message describes the folder that is expected instead.
[[noreturn]] void refuse_file(const fs::path& file) {
  const ForeignFormat* foreign = foreign_format(file.filename().native());
  if (foreign != nullptr && !foreign->expected.empty()) {
    refuse(file.string(), "weights of {}, expected a folder with {}", foreign->name, foreign->expected);
  }
  const std::vector<LeftOutFormat> others = left_out_formats();
  if (others.empty()) refuse(file.string(), "a file, expected the folder of a checkpoint");
  std::vector<std::string_view> names;
  std::ranges::transform(others, std::back_inserter(names), &LeftOutFormat::name);
  refuse<UnsupportedModelError>(file.string(),
                                "a file, expected the folder of a checkpoint; not read by this build: {} "
                                "(ENCDEC_FORMATS)",
                                fmt::join(names, ", "));
}

// Throws FileError for a folder without readable weights. The message names a foreign format or else some files.
[[noreturn]] void refuse_folder(const fs::path& folder, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const ForeignFormat* foreign = foreign_format(name);
    if (foreign == nullptr) continue;
    const std::string expected = foreign->expected.empty() ? readable_files() : std::string(foreign->expected);
    refuse(folder.string(), "weights only as {} ({}), expected {}", printable(name), foreign->name, expected);
  }
  std::string found = names.empty() ? "there are none" : "";
  for (std::size_t i = 0; i < std::min(names.size(), kMaxListed); ++i) {
    found += fmt::format("{}{}", i > 0 ? ", " : "", printable(names[i], 40));
  }
  if (names.size() > kMaxListed) found += fmt::format(" and {} more", names.size() - kMaxListed);
  refuse(folder.string(), "no weights among its files ({}), expected {}", found, readable_files());
}

CheckpointFolder look_at(const fs::path& folder) {
  std::error_code unknown;  // ignored, because list_files() reports the error
  if (fs::is_regular_file(folder, unknown)) refuse_file(folder);
  CheckpointFolder files{.path = folder, .names = list_files(folder)};
  if (files.has("config.json")) files.config = read_json_object(folder / "config.json");
  return files;
}

struct FoundWeights {
  const FormatRow* format;
  fs::path weights;  // see FormatRow::find
};
// Returns the first format that finds weights, and these weights; nullopt if no format finds weights. Throws
// UnsupportedModelError if the folder has only weights in formats that this build does not include.
std::optional<FoundWeights> find_readable(const CheckpointFolder& files) {
  for (const FormatRow& format : all_formats()) {
    if (auto weights = format.find(files)) return FoundWeights{&format, *std::move(weights)};
  }
  refuse_left_out(files.path, files.names);
  return std::nullopt;
}

}  // namespace

std::string_view to_string(CheckpointFormat format) {
  constexpr std::string_view kNames[] = {"safetensors", "pytorch", "npz", "marian", "ctranslate2"};
  return kNames[static_cast<std::size_t>(format)];
}

bool CheckpointFolder::has(std::string_view name) const {
  return std::ranges::binary_search(names, name);
}

Checkpoint open_checkpoint(const fs::path& folder) {
  const CheckpointFolder files = look_at(folder);
  const auto found = find_readable(files);
  if (!found) refuse_folder(files.path, files.names);
  Checkpoint checkpoint{.folder = files.path, .settings = {.network = files.config, .config = files.config}};
  checkpoint.format = found->format->format;
  found->format->open(found->weights, checkpoint);
  return checkpoint;
}

std::optional<JsonObject> read_config(const fs::path& folder) {
  CheckpointFolder files = look_at(folder);
  const auto found = find_readable(files);
  if (!found || found->format->read_config == nullptr) return std::move(files.config);
  return found->format->read_config(found->weights, std::move(files.config));
}

std::shared_ptr<const WeightStore> read_torch_tensors(const fs::path& file) {
  if constexpr (ENCDEC_READS_pytorch) return read_pytorch(file);
  refuse_left_out(file, {"pytorch_model.bin"});
  return nullptr;
}

}  // namespace encdec
