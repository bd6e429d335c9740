#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

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

// Returns a lexical shortlist in Marian's binary form. Tokens below `frequent` are always allowed, entries
// [offsets[i], offsets[i + 1]) for source token i.
inline std::string shortlist_file(std::uint64_t frequent, const std::vector<std::uint64_t>& offsets,
                                  const std::vector<std::uint32_t>& entries) {
  const std::uint64_t head[] = {frequent, 2, offsets.size(), entries.size()};
  std::string body(reinterpret_cast<const char*>(head), sizeof(head));
  body.append(reinterpret_cast<const char*>(offsets.data()), offsets.size() * sizeof(offsets[0]));
  body.append(reinterpret_cast<const char*>(entries.data()), entries.size() * sizeof(entries[0]));
  std::uint64_t hash = 0;
  for (std::size_t at = 0; at + 8 <= body.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, body.data() + at, 8);
    hash ^= word + 0x9e3779b9 + (hash << 6) + (hash >> 2);
  }
  const std::uint64_t begin[] = {0xF11A48D5013417F5, hash};
  return std::string(reinterpret_cast<const char*>(begin), sizeof(begin)) + body;
}

}  // namespace encdec
