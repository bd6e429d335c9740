#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "encdec/engine/base/weights.h"
#include "encdec/models/checkpoint/mapped_file.h"

namespace encdec {

// Reads the weights of a checkpoint that torch.save wrote. The path is a folder with pytorch_model.bin or
// pytorch_model.bin.index.json (see shards.h), or one of these files. A row-major tensor is a view of the mapped file,
// unaligned in files before torch 1.6 and in some later ones; tied tensors share memory. A tensor with other strides is
// copied. Truncating the file while it is in use ends the process: see MappedFile.
//
// A file is a zip archive, or has the format before torch 1.6: see torch_file.h. Both contain a
// pickle, a Python program, which is not executed: see pickle.h. These are refused:
// - globals other than dicts, dense tensors, parameters, and the small values stored with them;
// - tar archives of torch before 0.1.10, TorchScript, big-endian files and compressed entries;
// - a storage whose size differs from the pickle's, or that is a view of another storage;
// - a tensor that reaches beyond its storage.
// Throws FileError, naming the file and the tensor.
//
// Reads the tensors at the top level or, if there are none, the tensors in 'state_dict', 'model', 'module' or
// 'model_state_dict'. Other entries are ignored with a note; `notes` may be null. A tensor of more than 4 dimensions,
// or of a type without a DataType (complex, 8-bit floats, ...), becomes uint8 [bytes].
std::shared_ptr<const WeightStore> read_pytorch(const std::filesystem::path& folder_or_file,
                                                std::vector<std::string>* notes = nullptr);

std::shared_ptr<WeightStore> parse_pytorch(const FileBytes& file, std::vector<std::string>* notes = nullptr);

}  // namespace encdec
