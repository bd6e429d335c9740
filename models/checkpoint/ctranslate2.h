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

// What a model.bin of CTranslate2 holds.
struct CTranslate2Model {
  std::uint32_t version;   // of the format
  std::string spec_name;   // "TransformerSpec", ...; empty before version 2 of the format
  std::uint32_t revision;  // of the spec; 1 before version 2
  std::shared_ptr<WeightStore> weights;
};

// Reads a model.bin, of version 1 to 6 of the format. Memory-mapped: tensors are views of the file, at any
// address: unaligned. Files that are truncated while they are in use end the process: see MappedFile.
//
// An int8 or int16 variable X with a variable X_scale beside it is a quantised tensor (see WeightStore), and the scale
// is not a tensor of its own. An int16 weight without one has the scale of the first converters, 1000. An alias is a
// second name of the same tensor, scale included. Settings stay what they are, small tensors: stored_values.h reads
// them. Revision 1 of a Transformer names its variables as OpenNMT-tf did; they get the names of the later ones.
//
// Refused are names twice, aliases of aliases or of nothing, more than 4 dimensions, data that is not as large as its
// shape says, and files that do not end where the last alias does. Throws FileError: which file, which variable, what
// was found, what was expected.
CTranslate2Model read_ctranslate2(const std::filesystem::path& file);

// The same for a file that is given as its bytes.
CTranslate2Model parse_ctranslate2(const FileBytes& file);

// How a folder's model uses its tokens, as config.json says it since version 6 of the format: unk_token, bos_token,
// eos_token, decoder_start_token, add_source_bos, add_source_eos. Older converters put this among the variables, or
// left it out where it was as usual; whatever a config.json beside them says of it does not count. Those of a
// WhisperSpec never say it. Throws WeightError, naming the variable, for one that is no token or flag.
std::optional<JsonObject> token_settings(const CTranslate2Model& model, std::optional<JsonObject> config);

}  // namespace encdec
