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
  std::string spec_name;   // "TransformerSpec", ...; empty before format version 2
  std::uint32_t revision;  // revision of the specification; 1 before format version 2
  std::shared_ptr<WeightStore> weights;
};

// Reads a model.bin in format versions 1 to 6. Tensors are unaligned views of the mapped file.
// Truncating the file while it is in use ends the process: see MappedFile.
// - An int8 or int16 variable X with a variable X_scale becomes one quantised tensor (see
//   WeightStore).
// - An int16 weight without a scale has scale 1000, as the first converters assumed.
// - An alias is a second name of a tensor and its scale.
// - Settings are small tensors: see scalar() and text() in tensor_layout.h.
// - In revision 1 of a Transformer, the names of later revisions replace OpenNMT-tf's names.
// Throws FileError, naming the file and the variable, for a duplicate name, an alias of an alias or
// an unknown name, more than 4 dimensions, a size other than the shape's, and trailing bytes.
CTranslate2Model read_ctranslate2(const std::filesystem::path& file);

CTranslate2Model parse_ctranslate2(const FileBytes& file);

// Returns config.json with the settings of special tokens, under the keys of format version 6: unk_token, bos_token,
// eos_token, decoder_start_token, add_source_bos, add_source_eos. For older versions the values come from the
// variables, or are the converters' defaults, and replace the values of these keys in `config`. Files of a WhisperSpec
// model never contain these tokens, so the values are constants. Returns nullopt only if `config` is nullopt. Throws
// WeightError, naming the variable, if its value is not a token or a flag.
std::optional<JsonObject> token_settings(const CTranslate2Model& model, std::optional<JsonObject> config);

}  // namespace encdec
