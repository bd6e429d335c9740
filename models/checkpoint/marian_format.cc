// Marian's own formats: .npz and .bin files with the network's options inside, and options of its decoder beside them.
#include <nlohmann/json.hpp>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/checkpoint/checkpoint_format.h"
#include "encdec/models/checkpoint/marian_binary.h"
#include "encdec/models/checkpoint/marian_files.h"
#include "encdec/models/checkpoint/npz.h"
#include "encdec/models/checkpoint/shards.h"
#include "encdec/models/checkpoint/stored_values.h"
#include "encdec/models/checkpoint/unpacked_file.h"
#include "encdec/models/checkpoint/yaml.h"

namespace encdec {
namespace {

namespace fs = std::filesystem;

void open_marian(const fs::path& file, Checkpoint& checkpoint) {
  constexpr std::string_view kOptions = "special:model.yml";
  const bool is_npz = file.extension() == ".npz";
  const bool is_packed = without_packing(file.native()) != file.native();
  checkpoint.format = is_npz ? CheckpointFormat::npz : CheckpointFormat::marian;
  checkpoint.weights = is_npz      ? read_npz(file)
                       : is_packed ? parse_marian_binary(read_unpacked(file))
                                   : read_file(file, parse_marian_binary);
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
  return {.format = CheckpointFormat::npz,
          .files = "one .npz file or model*.bin of Marian",
          .find = [](const CheckpointSource& source) -> std::optional<fs::path> {
            return MarianFiles(source.path).model();
          },
          .open = open_marian};
}

}  // namespace encdec
