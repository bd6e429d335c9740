#include "encdec/models/tokenizer/families/pipeline_data.h"

#include <algorithm>
#include <map>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/models/tokenizer/sentencepiece/sentencepiece_proto.h"

namespace encdec {
namespace {

constexpr std::size_t kMaxLines = 2'000'000;  // a longer file is assumed to be damaged

// Splits a text into lines without line ends. A line ends with "\n" or "\r\n".
std::vector<std::string_view> lines_of(std::string_view text, const std::string& name) {
  if (const auto offset = find_invalid_utf8(text)) {
    refuse<TokenizerError>(name, "not valid UTF-8 at byte {}", *offset);
  }
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (end < text.size() && line.ends_with('\r')) line.remove_suffix(1);
    if (line.size() > 2 * kMaxPieceBytes || lines.size() == kMaxLines) {
      refuse<TokenizerError>(name, "line {}: {} bytes, expected at most {} lines of at most {} bytes", lines.size() + 1,
                             line.size(), kMaxLines, 2 * kMaxPieceBytes);
    }
    lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// Returns the pieces of a sentencepiece model. Stores the model's table, control and user-defined pieces in `data`.
std::vector<SentencePieceProto::Piece> read_sentencepiece(const NamedText& file, PipelineData& data) {
  using Type = SentencePieceProto::PieceType;
  SentencePieceProto proto = SentencePieceProto::parse(file.text, file.name);
  data.file.normalization_table = std::move(proto.normalizer.table);
  for (const SentencePieceProto::Piece& piece : proto.pieces) {
    if (piece.type != Type::control && piece.type != Type::user_defined) continue;
    data.sentencepiece_tokens.push_back(
        {.content = piece.text, .normalized = false, .special = piece.type == Type::control});
  }
  return std::move(proto.pieces);
}

}  // namespace

std::string PipelineData::token(std::string_view key, std::string_view otherwise) const {
  return value_of(settings.named_tokens, std::string(key)).value_or(std::string(otherwise));
}

void PipelineData::add_special(const std::vector<AddedToken>& tokens) {
  for (const AddedToken& token : tokens) {
    if (std::ranges::count(settings.special_tokens, token.content) > 0) continue;
    settings.special_tokens.push_back(token.content);
    settings.described_tokens.emplace(token.content, token);
  }
}

void PipelineData::describe(std::string_view key, AddedToken token) {
  token.content = this->token(key);
  settings.described_tokens.emplace(token.content, token);
}

namespace native_files {

void read_pieces(const std::vector<NamedText>& files, PipelineData& data) {
  auto& pieces = data.file.pieces.emplace();
  for (SentencePieceProto::Piece& piece : read_sentencepiece(files[0], data)) {
    pieces.push_back({std::move(piece.text), piece.score});
  }
}

void read_piece_vocabulary(const std::vector<NamedText>& files, PipelineData& data) {
  Vocabulary& vocabulary = data.file.vocabulary.emplace();
  std::int32_t id = 0;
  for (const SentencePieceProto::Piece& piece : read_sentencepiece(files[0], data)) {
    vocabulary.add(piece.text, id++, files[0].name);
  }
}

void read_byte_pairs(const std::vector<NamedText>& files, PipelineData& data) {
  data.file.vocabulary = Vocabulary::parse(files[0].text, files[0].name);
  data.file.merges = parse_merges(files[1].text, files[1].name);
}

void read_lines(const std::vector<NamedText>& files, PipelineData& data) {
  data.file.vocabulary = parse_vocabulary_lines(files[0].text, files[0].name);
}

Vocabulary parse_vocabulary_lines(std::string_view text, const std::string& name) {
  // If a line occurs twice, the last one counts.
  std::map<std::string_view, std::int32_t> ids;
  std::int32_t id = 0;
  for (const std::string_view line : lines_of(text, name)) ids[line] = id++;
  Vocabulary vocabulary;
  for (const auto& [piece, last] : ids) vocabulary.add(std::string(piece), last, name);
  return vocabulary;
}

Merges parse_merges(std::string_view text, const std::string& name) {
  Merges merges;
  std::size_t number = 0;
  for (const std::string_view line : lines_of(text, name)) {
    ++number;
    if (line.empty() || line.starts_with("#version")) continue;
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos || line.find(' ', space + 1) != std::string_view::npos) {
      refuse<TokenizerError>(name, "line {}: '{}', expected two pieces with a space between", number, printable(line));
    }
    merges.emplace_back(line.substr(0, space), line.substr(space + 1));
  }
  return merges;
}

Merges merges_of(const Vocabulary& vocabulary) {
  struct Merge {
    std::int32_t result;
    std::size_t left_characters;
    std::string_view left;
    std::string_view right;
  };
  // Split each subword at every character, and keep the splits whose two parts are subwords.
  std::vector<Merge> found;
  for (const Vocabulary::Entry& entry : vocabulary.entries()) {
    std::size_t characters = 0;
    for (const auto [character, offset] : code_points(entry.piece())) {
      const std::string_view left = entry.piece().substr(0, offset), right = entry.piece().substr(offset);
      if (characters > 0 && vocabulary.id(left) && vocabulary.id(right)) {
        found.push_back({entry.id, characters, left, right});
      }
      ++characters;
    }
  }
  // Sort by the id of the result, then by the length of the left part.
  std::sort(found.begin(), found.end(), [](const Merge& a, const Merge& b) {
    return a.result != b.result ? a.result < b.result : a.left_characters < b.left_characters;
  });
  Merges merges;
  merges.reserve(found.size());
  for (const Merge& merge : found) merges.emplace_back(merge.left, merge.right);
  return merges;
}

}  // namespace native_files
}  // namespace encdec
