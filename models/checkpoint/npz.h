#pragma once

#include <filesystem>
#include <memory>

#include "encdec/engine/base/weights.h"
#include "encdec/models/checkpoint/mapped_file.h"

namespace encdec {

// Reads the arrays of a NumPy archive (.npz), the format of Marian's models: a zip archive of NAME.npy, stored or
// deflated. A stored row-major array is an unaligned view of the mapped file; a column-major array (fortran_order) is
// copied and transposed. Truncating the file while it is in use ends the process: see MappedFile.
//
// An array must follow the format's rules (NumPy, numpy/lib/format.py, versions 1.0 to 3.0). Its
// header has at most 64 KiB, and must match the size of the data. This is checked before data is
// inflated; ZipArchive limits the inflated size. Only little-endian numbers are accepted: arrays of
// objects are pickles, which are programs. An array of more than 4 dimensions, or of a type without
// a DataType, becomes uint8 [bytes]. Throws FileError, naming the file and the array.
std::shared_ptr<const WeightStore> read_npz(const std::filesystem::path& path);

std::shared_ptr<WeightStore> parse_npz(const FileBytes& file);

}  // namespace encdec
