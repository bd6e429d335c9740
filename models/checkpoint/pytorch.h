#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "encdec/engine/base/weights.h"
#include "encdec/models/checkpoint/mapped_file.h"

namespace encdec {

// The weights of a checkpoint that torch.save wrote: a folder with pytorch_model.bin or with the files that its
// pytorch_model.bin.index.json lists (see shards.h), or one file of either kind. Memory-mapped: tensors are views of
// the file where their elements follow each other (unaligned in files before torch 1.6, and in some later ones), tied
// tensors share memory, and tensors with other strides are copied. Files that are truncated while they are in use end
// the process: see MappedFile.
//
// The file is a zip archive, or what torch before 1.6 wrote: see torch_file.h. Either has a pickle in it, a program for
// Python. None of it is run: see pickle.h. It may name dicts, dense tensors, parameters,
// and the small values beside them; any other global is refused, whatever it is named for. So are the tar archives of
// torch before 0.1.10, TorchScript, big-endian files, entries that are compressed, storages that are not as large as
// the pickle says or are parts of others, and tensors that reach beyond their storage.
//
// The tensors are those of the top level, or of 'state_dict', 'model', 'module' or 'model_state_dict' inside of it
// where it has none. Other entries are ignored with a note. Tensors of more than 4 dimensions, and of types that
// DataType does not have (complex, 8-bit floats, ...), are given as their bytes, uint8 [bytes].
//
// Throws FileError: which file, which tensor, what was found, what was expected. `notes` gets lines for users, if
// given.
std::shared_ptr<const WeightStore> read_pytorch(const std::filesystem::path& folder_or_file,
                                                std::vector<std::string>* notes = nullptr);

// The same for one file that is given as its bytes.
std::shared_ptr<WeightStore> parse_pytorch(const FileBytes& file, std::vector<std::string>* notes = nullptr);

}  // namespace encdec
