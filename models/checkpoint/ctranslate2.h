#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "encdec/engine/base/weights.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/checkpoint/mapped_file.h"

namespace encdec {

// The content of a CTranslate2 model.bin.
struct CTranslate2Model {
  std::uint32_t version;   // version of the file format
  std::string spec_name;   // "TransformerSpec", ...; empty before version 2 of the format
  std::uint32_t revision;  // revision of the specification; 1 before version 2 of the format
  std::shared_ptr<WeightStore> weights;
};

// Reads a model.bin in versions 1 to 6 of the format. The file is memory-mapped, and tensors are views of it,
// unaligned. Truncating the file while it is in use ends the process: see MappedFile.
//
// - An int8 or int16 variable X with a variable X_scale is a quantised tensor (see WeightStore); X_scale is then not a
//   tensor of its own.
// - An int16 weight without a scale has the scale of the first converters, 1000.
// - An alias is a second name of the same tensor and its scale.
// - Settings are small tensors; tensor_layout.h reads them.
// - Revision 1 of a Transformer uses OpenNMT-tf's names of variables. They are replaced by the names of later
//   revisions.
//
// Throws FileError for a name that occurs twice, an alias of an alias or of an unknown name, more than 4 dimensions,
// data of another size than the shape says, and bytes after the last alias. The message names the file and the
// variable, with what was found and what was expected.
CTranslate2Model read_ctranslate2(const std::filesystem::path& file);

// The same for the bytes of a file.
CTranslate2Model parse_ctranslate2(const FileBytes& file);

// Returns how the folder's model uses its tokens, in the form of config.json since version 6 of the format: unk_token,
// bos_token, eos_token, decoder_start_token, add_source_bos, add_source_eos. Older converters stored these among the
// variables, or left out the usual values; for such a model these keys of config.json are ignored. A WhisperSpec model
// never stores them. Returns nullopt only if `config` is nullopt. Throws WeightError, naming the variable, if one is
// not a token or a flag.
std::optional<JsonObject> token_settings(const CTranslate2Model& model, std::optional<JsonObject> config);

}  // namespace encdec
