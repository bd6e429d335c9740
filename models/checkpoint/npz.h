#pragma once

#include <filesystem>
#include <memory>

#include "encdec/engine/base/weights.h"
#include "encdec/models/checkpoint/mapped_file.h"

namespace encdec {

// Reads the arrays of a NumPy archive (.npz), the format of Marian's models: a zip archive of NAME.npy, stored or
// deflated. The file is memory-mapped. A stored array in row-major order is a view of it, unaligned; a column-major
// array (fortran_order) is copied and transposed. Truncating the file while it is in use ends the process: see
// MappedFile.
//
// An array must keep every rule of the format (NumPy, numpy/lib/format.py, versions 1.0 to 3.0). Its header has at most
// 64 KiB, with descr, fortran_order and shape, and its data has exactly the size that they imply. This is checked
// before data is inflated; ZipArchive limits how much that may be. Only little-endian numbers are accepted: arrays of
// objects are pickles, which are programs. An array of more than 4 dimensions, or of a type that DataType does not
// have, becomes uint8 [bytes].
//
// Throws FileError naming the file and the array, with what was found and what was expected.
std::shared_ptr<const WeightStore> read_npz(const std::filesystem::path& path);

// The same for the bytes of a file.
std::shared_ptr<WeightStore> parse_npz(const FileBytes& file);

}  // namespace encdec
