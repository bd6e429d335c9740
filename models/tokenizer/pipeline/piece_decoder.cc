#include "encdec/models/tokenizer/pipeline/piece_decoder.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "encdec/models/tokenizer/pipeline/byte_pieces.h"
#include "encdec/models/tokenizer/pipeline/characters.h"
#include "encdec/models/tokenizer/pipeline/pipeline_text.h"
#include "encdec/models/tokenizer/utf8.h"

namespace encdec {
namespace {

struct Replacement {
  std::string_view from;
  std::string_view to;
};

template <std::size_t kCount>
std::string replace_in_turn(std::string text, const Replacement (&replacements)[kCount]) {
  for (const auto& [from, to] : replacements) text = replace_all(text, from, to);
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
  static constexpr Replacement kReplacements[] = {{" .", "."},     {" ?", "?"},     {" !", "!"},   {" ,", ","},
                                                  {" ' ", "'"},    {" n't", "n't"}, {" 'm", "'m"}, {" 's", "'s"},
                                                  {" 've", "'ve"}, {" 're", "'re"}};
  return replace_in_turn(std::move(text), kReplacements);
}

namespace piece_decoders {
namespace {

class Sequence final : public PieceDecoder {
 public:
  explicit Sequence(std::vector<PieceDecoderPtr> parts) : parts_(std::move(parts)) {}

  void decode(std::vector<std::string>& pieces) const override {
    for (const PieceDecoderPtr& part : parts_) {
      part->decode(pieces);
      std::size_t bytes = 0;
      for (const std::string& piece : pieces) bytes += piece.size();
      check_rewritten(bytes);
    }
  }

 private:
  std::vector<PieceDecoderPtr> parts_;
};

class Metaspace final : public PieceDecoder {
 public:
  explicit Metaspace(MetaspaceOptions options) : options_(std::move(options)) {}

  void decode(std::vector<std::string>& pieces) const override {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      pieces[i] = replace_all(pieces[i], options_.replacement, i > 0 || options_.keep_first ? " " : "");
    }
  }

 private:
  MetaspaceOptions options_;
};

class ByteLevel final : public PieceDecoder {
 public:
  void decode(std::vector<std::string>& pieces) const override {
    std::string bytes;
    for (const std::string& piece : pieces) append_bytes(piece, bytes);
    pieces = {replace_invalid_utf8(bytes)};
  }

 private:
  // A piece with any other character is taken as it stands.
  static void append_bytes(std::string_view piece, std::string& bytes) {
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
};

class WordPiece final : public PieceDecoder {
 public:
  explicit WordPiece(WordPieceOptions options) : options_(std::move(options)) {}

  void decode(std::vector<std::string>& pieces) const override {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      std::string& piece = pieces[i];
      if (i > 0 && piece.starts_with(options_.prefix)) {
        piece.erase(0, options_.prefix.size());
      } else if (i > 0) {
        piece.insert(0, 1, ' ');
      }
      if (options_.clean_up) piece = clean_up_piece(std::move(piece));
    }
  }

 private:
  static std::string clean_up_piece(std::string piece) {
    static constexpr Replacement kReplacements[] = {
        {" .", "."},   {" ?", "?"},           {" !", "!"},   {" ,", ","},     {" ' ", "'"},   {" n't", "n't"},
        {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
    return replace_in_turn(std::move(piece), kReplacements);
  }

  WordPieceOptions options_;
};

class Bpe final : public PieceDecoder {
 public:
  explicit Bpe(std::string suffix) : suffix_(std::move(suffix)) {}

  void decode(std::vector<std::string>& pieces) const override {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const std::string_view by = i + 1 < pieces.size() ? " " : "";
      pieces[i] = suffix_.empty() ? between_characters(pieces[i], by) : replace_all(pieces[i], suffix_, by);
    }
  }

 private:
  // An empty suffix is found before every character and at the end.
  static std::string between_characters(std::string_view piece, std::string_view by) {
    std::string result(by);
    while (!piece.empty()) {
      const std::size_t bytes = first_character(piece).bytes;
      result.append(piece.substr(0, bytes)).append(by);
      piece.remove_prefix(bytes);
    }
    return result;
  }

  std::string suffix_;
};

class Replace final : public PieceDecoder {
 public:
  Replace(Pattern pattern, std::string content) : pattern_(std::move(pattern)), content_(std::move(content)) {}

  void decode(std::vector<std::string>& pieces) const override {
    std::size_t bytes = 0;
    for (std::string& piece : pieces) {
      if (piece.empty()) continue;
      const std::vector<Pattern::Match> matches = pattern_.find_all(piece);
      check_rewritten(bytes += piece.size() + matches.size() * content_.size());
      std::string result;
      std::size_t begin = 0;
      for (const Pattern::Match& match : matches) {
        result.append(piece, begin, match.begin - begin).append(content_);
        begin = match.end;
      }
      piece = result.append(piece, begin);
    }
  }

 private:
  Pattern pattern_;
  std::string content_;
};

class ByteFallback final : public PieceDecoder {
 public:
  void decode(std::vector<std::string>& pieces) const override {
    std::vector<std::string> result;
    std::string bytes;
    for (std::string& piece : pieces) {
      if (const auto byte = piece_byte(piece)) {
        bytes += static_cast<char>(*byte);
        continue;
      }
      flush(bytes, result);
      result.push_back(std::move(piece));
    }
    flush(bytes, result);
    pieces = std::move(result);
  }

 private:
  static void flush(std::string& bytes, std::vector<std::string>& result) {
    if (bytes.empty()) return;
    if (find_invalid_utf8(bytes)) {
      result.insert(result.end(), bytes.size(), "\xEF\xBF\xBD");
    } else {
      result.push_back(bytes);
    }
    bytes.clear();
  }
};

class Fuse final : public PieceDecoder {
 public:
  void decode(std::vector<std::string>& pieces) const override {
    std::string all;
    for (const std::string& piece : pieces) all += piece;
    pieces = {std::move(all)};
  }
};

class Strip final : public PieceDecoder {
 public:
  explicit Strip(StripOptions options) : options_(std::move(options)) {}

  void decode(std::vector<std::string>& pieces) const override {
    for (std::string& piece : pieces) {
      const std::string_view content = options_.content;
      std::string_view kept = piece;
      for (std::size_t i = 0; i < options_.start && kept.starts_with(content); ++i) kept.remove_prefix(content.size());
      for (std::size_t i = 0; i < options_.stop && kept.ends_with(content); ++i) kept.remove_suffix(content.size());
      piece = std::string(kept);
    }
  }

 private:
  StripOptions options_;
};

}  // namespace

PieceDecoderPtr sequence(std::vector<PieceDecoderPtr> parts) {
  return std::make_unique<Sequence>(std::move(parts));
}
PieceDecoderPtr metaspace(MetaspaceOptions options) {
  return std::make_unique<Metaspace>(std::move(options));
}
PieceDecoderPtr byte_level() {
  return std::make_unique<ByteLevel>();
}
PieceDecoderPtr word_piece(WordPieceOptions options) {
  return std::make_unique<WordPiece>(std::move(options));
}
PieceDecoderPtr bpe(std::string suffix) {
  return std::make_unique<Bpe>(std::move(suffix));
}
PieceDecoderPtr replace(Pattern pattern, std::string content) {
  return std::make_unique<Replace>(std::move(pattern), std::move(content));
}
PieceDecoderPtr byte_fallback() {
  return std::make_unique<ByteFallback>();
}
PieceDecoderPtr fuse() {
  return std::make_unique<Fuse>();
}
PieceDecoderPtr strip(StripOptions options) {
  return std::make_unique<Strip>(std::move(options));
}

}  // namespace piece_decoders
}  // namespace encdec
