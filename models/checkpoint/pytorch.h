#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "encdec/engine/base/weights.h"
#include "encdec/models/checkpoint/mapped_file.h"

namespace encdec {

// Reads the weights of a checkpoint that torch.save wrote. The path is a folder with pytorch_model.bin, a folder with
// the files listed in its pytorch_model.bin.index.json (see shards.h), or such a file or index itself.
//
// The file is memory-mapped. A tensor in row-major order is a view of it (unaligned in files before torch 1.6 and in
// some later files); tied tensors share memory. A tensor with other strides is copied. Truncating the file while it is
// in use ends the process: see MappedFile.
//
// A file is a zip archive, or has the form of torch before 1.6: see torch_file.h. Both contain a pickle, which is a
// program for Python. None of it is executed: see pickle.h. A pickle may name dicts, dense tensors, parameters, and the
// small values beside them. Refused are
// - any other global;
// - the tar archives of torch before 0.1.10, TorchScript, big-endian files and compressed entries;
// - a storage of another size than the pickle says, and one that is a part of another storage;
// - a tensor that reaches beyond its storage.
//
// The tensors are those at the top level. If there are none, they are those in 'state_dict', 'model', 'module' or
// 'model_state_dict'. Other entries are ignored with a note. A tensor of more than 4 dimensions, or of a type that
// DataType does not have (complex, 8-bit floats, ...), becomes uint8 [bytes].
//
// Throws FileError naming the file and the tensor, with what was found and what was expected. If given, `notes`
// receives lines for users.
std::shared_ptr<const WeightStore> read_pytorch(const std::filesystem::path& folder_or_file,
                                                std::vector<std::string>* notes = nullptr);

// The same for the bytes of one file.
std::shared_ptr<WeightStore> parse_pytorch(const FileBytes& file, std::vector<std::string>* notes = nullptr);

}  // namespace encdec
