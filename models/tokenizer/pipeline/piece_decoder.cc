#include "encdec/models/tokenizer/pipeline/piece_decoder.h"

#include <utility>

#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/models/tokenizer/pipeline/characters.h"
#include "encdec/models/tokenizer/pipeline/pipeline_text.h"

namespace encdec {
namespace {

// Removes spaces before punctuation and contractions. Only tokenizers' WordPiece decoder also contracts " do not".
std::string clean_up(std::string text, bool with_do_not) {
  constexpr std::pair<std::string_view, std::string_view> kReplacements[] = {
      {" .", "."},   {" ?", "?"},           {" !", "!"},   {" ,", ","},     {" ' ", "'"},   {" n't", "n't"},
      {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [from, to] : kReplacements) {
    if (with_do_not || from != " do not") text = replace_all(text, from, to);
  }
  return text;
}

}  // namespace

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  std::size_t begin = 0;
  for (std::size_t found = text.find(from); found != std::string_view::npos; found = text.find(from, begin)) {
    result.append(text, begin, found - begin).append(to);
    begin = found + from.size();
  }
  return result.append(text, begin);
}

std::string clean_up_spaces(std::string text) {
  return clean_up(std::move(text), false);
}

namespace piece_decoders {

void append_piece_bytes(std::string_view piece, std::string& bytes) {
  const std::size_t before = bytes.size();
  for (std::string_view rest = piece; !rest.empty();) {
    const Character c = first_character(rest);
    const int byte = character_byte(c.value);
    if (byte < 0) {
      bytes.resize(before);
      bytes += piece;
      return;
    }
    bytes += static_cast<char>(byte);
    rest.remove_prefix(c.bytes);
  }
}

namespace {

// Inserts `by` wherever an empty text matches: before every character and at the end.
std::string put_between_characters(std::string_view piece, std::string_view by) {
  std::string result(by);
  while (!piece.empty()) {
    const std::size_t bytes = first_character(piece).bytes;
    result.append(piece.substr(0, bytes)).append(by);
    piece.remove_prefix(bytes);
  }
  return result;
}

}  // namespace

PieceDecoder sequence(std::vector<PieceDecoder> parts) {
  return [parts = std::move(parts)](std::vector<std::string>& pieces) {
    for (const PieceDecoder& part : parts) {
      part(pieces);
      std::size_t bytes = 0;
      for (const std::string& piece : pieces) bytes += piece.size();
      check_rewritten_size(bytes);
    }
  };
}

PieceDecoder metaspace(MetaspaceOptions options) {
  return [options = std::move(options)](std::vector<std::string>& pieces) {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      pieces[i] = replace_all(pieces[i], options.replacement, i > 0 || options.keep_first ? " " : "");
    }
  };
}

void byte_level(std::vector<std::string>& pieces) {
  std::string bytes;
  for (const std::string& piece : pieces) append_piece_bytes(piece, bytes);
  pieces = {replace_invalid_utf8(bytes)};
}

PieceDecoder word_piece(WordPieceOptions options) {
  return [options = std::move(options)](std::vector<std::string>& pieces) {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      std::string& piece = pieces[i];
      if (i > 0 && piece.starts_with(options.prefix)) {
        piece.erase(0, options.prefix.size());
      } else if (i > 0) {
        piece.insert(0, 1, ' ');
      }
      if (options.clean_up) piece = clean_up(std::move(piece), true);
    }
  };
}

PieceDecoder bpe(std::string suffix) {
  return [suffix = std::move(suffix)](std::vector<std::string>& pieces) {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const std::string_view by = i + 1 < pieces.size() ? " " : "";
      pieces[i] = suffix.empty() ? put_between_characters(pieces[i], by) : replace_all(pieces[i], suffix, by);
    }
  };
}

PieceDecoder replace(Pattern pattern, std::string content) {
  return [pattern = std::move(pattern), content = std::move(content)](std::vector<std::string>& pieces) {
    std::size_t bytes = 0;
    for (std::string& piece : pieces) {
      if (piece.empty()) continue;
      std::vector<PatternMatch> matches;
      pattern(piece, [&](const PatternMatch& match) { matches.push_back(match); });
      check_rewritten_size(bytes += piece.size() + matches.size() * content.size());
      std::string result;
      std::size_t begin = 0;
      for (const PatternMatch& match : matches) {
        result.append(piece, begin, match.begin - begin).append(content);
        begin = match.end;
      }
      piece = result.append(piece, begin);
    }
  };
}

void byte_fallback(std::vector<std::string>& pieces) {
  std::vector<std::string> result;
  std::string bytes;  // the current run of byte tokens
  const auto flush = [&] {
    if (find_invalid_utf8(bytes)) {
      result.insert(result.end(), bytes.size(), "\uFFFD");
    } else if (!bytes.empty()) {
      result.push_back(bytes);
    }
    bytes.clear();
  };
  for (std::string& piece : pieces) {
    if (const auto byte = piece_byte(piece)) {
      bytes += static_cast<char>(*byte);
      continue;
    }
    flush();
    result.push_back(std::move(piece));
  }
  flush();
  pieces = std::move(result);
}

void fuse(std::vector<std::string>& pieces) {
  std::string all;
  for (const std::string& piece : pieces) all += piece;
  pieces = {std::move(all)};
}

PieceDecoder strip(StripOptions options) {
  return [options = std::move(options)](std::vector<std::string>& pieces) {
    for (std::string& piece : pieces) {
      const std::string_view content = options.content;
      std::string_view kept = piece;
      for (std::size_t i = 0; i < options.start && kept.starts_with(content); ++i) kept.remove_prefix(content.size());
      for (std::size_t i = 0; i < options.stop && kept.ends_with(content); ++i) kept.remove_suffix(content.size());
      piece = std::string(kept);
    }
  };
}

}  // namespace piece_decoders
}  // namespace encdec
