#pragma once

#include <filesystem>
#include <string>

namespace encdec {

// Copies the planted student to PARENT/SOURCE_TARGET, with the names of files of Firefox, and returns that folder. The
// student replaces each piece of its vocabulary by that piece's partner, in both directions: "ffjmk" by "gfh", and
// "gfh" by "ffjmk".
inline std::filesystem::path write_student(const std::filesystem::path& parent, const std::string& source,
                                           const std::string& target) {
  namespace fs = std::filesystem;
  const fs::path from = fs::path(ENCDEC_GOLDEN_DIR) / "students" / "planted" / "model";
  const fs::path folder = parent / (source + "_" + target);
  const std::string pair = source + target;
  fs::create_directories(folder);
  fs::copy_file(from / "model.enxx.intgemm.alphas.bin", folder / ("model." + pair + ".intgemm.alphas.bin"));
  fs::copy_file(from / "lex.50.50.enxx.s2t.bin", folder / ("lex.50.50." + pair + ".s2t.bin"));
  fs::copy_file(from / "vocab.enxx.spm", folder / ("vocab." + pair + ".spm"));
  return folder;
}

}  // namespace encdec
