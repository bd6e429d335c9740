#include "encdec/shard.h"

#include <encdec/models/checkpoint/file_names.h>
#include <encdec/models/checkpoint/mapped_file.h>
#include <encdec/models/checkpoint/packed_weights_file.h>
#include <encdec/models/model/fingerprint.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "encdec/commands.h"
#include "encdec/line_reader.h"
#include "encdec/options.h"
#include "encdec/output_file.h"

namespace encdec::cli {
namespace {

constexpr int kMaxShards = 99'999;  // file names have five digits
constexpr std::size_t kMaxManifestBytes = std::size_t{1} << 20;

std::string hash_of_lines(const std::string& path, const Shard& shard) {
  LineReader lines(path, shard);
  ContentHasher hasher;
  std::string line;
  while (lines.next(line)) hasher.add_text(line);
  return to_string(hasher.hash());
}

}  // namespace

std::string Shard::output(const std::string& whole) const {
  return fmt::format("{}-{:05}-of-{:05}", whole, number, count);
}

Shard parse_shard(const std::string& text) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const int number = parse_number<int>(text.substr(0, slash)).value_or(0);
  const int count = parse_number<int>(text.substr(std::min(slash + 1, text.size()))).value_or(0);
  if (number < 1 || number > count || count > kMaxShards) {
    throw UsageError(fmt::format("--shard: '{}', expected I/N with I from 1 to N, and N at most {}", text, kMaxShards));
  }
  return {number, count};
}

ShardManifest::ShardManifest(const Shard& shard, const std::string& input, const std::string& output,
                             const nlohmann::ordered_json& settings)
    : output_(output) {
  nlohmann::ordered_json json = {
      {"shard", shard.number}, {"shards", shard.count}, {"input_hash", hash_of_lines(input, shard)}};
  json.update(settings);
  description_ = json.dump();
}

bool ShardManifest::is_done() const {
  if (!file_exists(output_) || !file_exists(output_ + ".json")) return false;
  const std::string found = read_text_file(output_ + ".json", kMaxManifestBytes);
  // After the description, the file has only the number of lines.
  const std::string_view same = std::string_view(description_).substr(0, description_.size() - 1);
  return found.starts_with(same) && found.substr(same.size()).starts_with(",\"lines\":");
}

void ShardManifest::write(std::int64_t lines) const {
  OutputFile file(output_ + ".json", OutputFile::Unfinished::remove);
  file.write(fmt::format("{},\"lines\":{}}}\n", description_.substr(0, description_.size() - 1), lines));
  file.commit();
}

}  // namespace encdec::cli
