#pragma once

#include <filesystem>
#include <memory>

#include "encdec/engine/base/weights.h"
#include "encdec/models/checkpoint/mapped_file.h"

namespace encdec {

// The arrays of a NumPy archive (.npz), as Marian writes its models: a zip archive of NAME.npy, stored or deflated.
// Memory-mapped: arrays are views of the file, unaligned, where they are stored in row-major order; column-major arrays
// (fortran_order) are transposed into copies. Files that are truncated while they are in use end the process: see
// MappedFile.
//
// An array is refused unless it keeps every rule of the format (NumPy, numpy/lib/format.py, versions 1.0 to 3.0): a
// header of at most 64 KiB with descr, fortran_order and shape, and exactly as much data as they say: before any data
// is inflated, which is what a ZipArchive allows. Types that are not plain little-endian numbers are refused: objects
// are pickles, which are programs. Arrays of more than 4 dimensions, and of types that DataType does not have, are
// given as their bytes, uint8 [bytes].
//
// Throws FileError: which file, which array, what was found, what was expected.
std::shared_ptr<const WeightStore> read_npz(const std::filesystem::path& path);

// The same for a file that is given as its bytes.
std::shared_ptr<WeightStore> parse_npz(const FileBytes& file);

}  // namespace encdec
