#include "encdec/models/tokenizer/families/plain_tokenizer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/base/refuse.h"
#include "encdec/models/checkpoint/checkpoint.h"
#include "encdec/models/checkpoint/file_names.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/checkpoint/json_events.h"
#include "encdec/models/checkpoint/mapped_file.h"
#include "encdec/models/tokenizer/base/utf8.h"

namespace encdec {
namespace {

constexpr std::string_view kSpaces = " \t\r\n";

void check_count(std::size_t pieces, const std::string& name) {
  if (pieces > kMaxPieces) refuse<TokenizerError>(name, "more than {} pieces", kMaxPieces);
}

// Reads a JSON list of strings without building JSON values.
class ListReader final : public JsonEvents {
 public:
  ListReader(std::vector<std::string>& pieces, const std::string& name) : JsonEvents(name), pieces_(pieces) {}

  bool string(std::string& piece) override {
    poll_cancelled();
    if (!is_open_) fail("a string");
    check_count(pieces_.size() + 1, file());
    pieces_.push_back(std::move(piece));
    return true;
  }
  bool start_array(std::size_t) override {
    if (is_open_) fail("a list");
    return is_open_ = true;
  }
  bool end_array() override { return true; }

  bool null() override { fail("null"); }
  bool boolean(bool) override { fail("boolean"); }
  bool number_integer(std::int64_t) override { fail("a number"); }
  bool number_unsigned(std::uint64_t) override { fail("a number"); }
  bool number_float(double, const std::string&) override { fail("a number"); }
  bool start_object(std::size_t) override { fail("an object"); }
  bool key(std::string&) override { return true; }
  bool end_object() override { return true; }

 private:
  [[noreturn]] void fail(std::string_view found) const {
    if (!is_open_) refuse<TokenizerError>(file(), "{}, expected a list of pieces", found);
    refuse<TokenizerError>(file(), "item {} is {}, expected a piece", pieces_.size(), found);
  }

  std::vector<std::string>& pieces_;
  bool is_open_ = false;
};

// Reads NAME.json, else NAME.txt. Returns nullopt if neither file exists.
std::optional<PieceList> read_list(const std::filesystem::path& folder, const std::string& name) {
  for (const char* ending : {".json", ".txt"}) {
    const std::filesystem::path path = folder / (name + ending);
    if (file_exists(path)) return PieceList::read(path);
  }
  return std::nullopt;
}

// Reads the special tokens from the folder's config. Returns the defaults if there is no config.
PlainOptions read_options(const std::filesystem::path& folder) {
  PlainOptions options;
  const std::optional<JsonObject> config = read_config(folder);
  if (!config) return options;
  const auto set = [&](const char* key, std::string& value) {
    value = config->string(key).value_or(value);
    if (find_invalid_utf8(value)) {
      refuse<TokenizerError>(config->file(), "{} '{}' is not valid UTF-8", key, printable(value));
    }
  };
  set("unk_token", options.unknown_token);
  set("bos_token", options.begin_token);
  set("eos_token", options.end_token);
  options.start_token = options.begin_token;
  set("decoder_start_token", options.start_token);
  options.add_source_begin = config->boolean("add_source_bos").value_or(false);
  options.add_source_end = config->boolean("add_source_eos").value_or(false);
  return options;
}

class PlainTokenizer final : public Tokenizer {
 public:
  PlainTokenizer(PieceList source, std::optional<PieceList> target, PlainOptions options)
      : source_(std::move(source)), target_(std::move(target)), options_(std::move(options)) {
    source_.require(options_.unknown_token);
    if (target_) target_->require(options_.unknown_token);
  }

  std::string kind() const override { return "tokens between spaces"; }

  std::string decode(std::span<const std::int32_t> ids) const override {
    std::vector<std::string_view> kept;
    for (const std::int32_t id : ids) {
      const std::string_view token = piece(id, TextSide::target);
      const bool is_special =
          token == options_.begin_token || token == options_.end_token || token == options_.start_token;
      if (!is_special) kept.push_back(token);
    }
    return fmt::format("{}", fmt::join(kept, " "));
  }

  std::string_view piece(std::int32_t id, TextSide side) const override {
    if (const std::string* found = vocabulary(side).piece(id)) return *found;
    throw InputError(fmt::format("token id {}: the {} vocabulary has {} pieces", id,
                                 side == TextSide::source ? "source" : "target", vocabulary(side).size()));
  }

  std::optional<std::int32_t> token_id(std::string_view token) const override {
    return vocabulary(TextSide::target).id(token);
  }

 private:
  std::vector<std::int32_t> encode_side(std::string_view text, const EncodeOptions& options,
                                        TextSide side) const override {
    check_text(text);
    const std::string& language = options.target_language.empty() ? options.source_language : options.target_language;
    if (!language.empty()) {
      throw InputError(
          fmt::format("language '{}', but the folder has no tokenizer with languages", printable(language)));
    }
    // Targets always get the end token. Sources get only the tokens that the options specify.
    const bool begins = side == TextSide::source && options_.add_source_begin;
    const bool ends = side == TextSide::target || options_.add_source_end;
    std::vector<std::int32_t> ids;
    const auto add = [&](std::string_view token) {
      poll_cancelled();
      const auto id = vocabulary(side).id(token);
      ids.push_back(id ? *id : *vocabulary(side).id(options_.unknown_token));
    };
    if (begins) add(options_.begin_token);
    for (std::size_t begin = 0; (begin = text.find_first_not_of(kSpaces, begin)) != text.npos;) {
      const std::size_t end = std::min(text.find_first_of(kSpaces, begin), text.size());
      add(text.substr(begin, end - begin));
      begin = end;
    }
    // Truncate the text on the right, but keep the end token.
    const std::size_t last = ends ? 1 : 0;
    if (options.max_length > 0 && ids.size() + last > options.max_length) ids.resize(options.max_length - last);
    if (ends) add(options_.end_token);
    return ids;
  }

  const PieceList& vocabulary(TextSide side) const { return side == TextSide::target && target_ ? *target_ : source_; }

  PieceList source_;
  std::optional<PieceList> target_;
  PlainOptions options_;
};

}  // namespace

PieceList::PieceList(std::vector<std::string> pieces) : pieces_(std::move(pieces)) {
  ids_.reserve(pieces_.size());
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    if (!pieces_[i].empty()) ids_.emplace(pieces_[i], static_cast<std::int32_t>(i));
  }
}

PieceList PieceList::read(const std::filesystem::path& path) {
  const std::string text = read_text_file(path, kMaxVocabularyBytes);
  return path.extension() == ".json" ? parse_json(text, path.string()) : parse_lines(text, path.string());
}

PieceList PieceList::parse_json(std::string_view json, const std::string& name) {
  std::vector<std::string> pieces;
  ListReader reader(pieces, name);
  read_json_events(json, reader);
  return PieceList(std::move(pieces));
}

PieceList PieceList::parse_lines(std::string_view text, const std::string& name) {
  if (const auto offset = find_invalid_utf8(text)) {
    refuse<TokenizerError>(name, "not valid UTF-8 at byte {}", *offset);
  }
  std::vector<std::string> pieces;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    check_count(pieces.size() + 1, name);
    pieces.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  // Remove "\r" only if every line has one, because a single subword may end with "\r".
  if (std::all_of(pieces.begin(), pieces.end(), [](const std::string& piece) { return piece.ends_with('\r'); })) {
    for (std::string& piece : pieces) piece.pop_back();
  }
  return PieceList(std::move(pieces));
}

void PieceList::require(const std::string& piece) {
  const bool is_new = ids_.emplace(piece, static_cast<std::int32_t>(pieces_.size())).second;
  if (is_new) pieces_.push_back(piece);
}

const std::string* PieceList::piece(std::int32_t id) const {
  const bool exists = id >= 0 && static_cast<std::size_t>(id) < pieces_.size();
  return exists ? &pieces_[static_cast<std::size_t>(id)] : nullptr;
}

std::unique_ptr<Tokenizer> plain_tokenizer(PieceList source, std::optional<PieceList> target, PlainOptions options) {
  return std::make_unique<PlainTokenizer>(std::move(source), std::move(target), std::move(options));
}

std::unique_ptr<Tokenizer> load_ctranslate2_tokenizer(const std::filesystem::path& folder) {
  auto source = read_list(folder, "shared_vocabulary");
  std::optional<PieceList> target;
  if (!source) {
    source = read_list(folder, "source_vocabulary");
    target = read_list(folder, "target_vocabulary");
    if (source.has_value() != target.has_value()) {
      refuse<TokenizerError>(folder.string(), "no {}_vocabulary, expected source_vocabulary and target_vocabulary",
                             source ? "target" : "source");
    }
  }
  if (!source) source = read_list(folder, "vocabulary");
  if (!source) return nullptr;
  return plain_tokenizer(*std::move(source), std::move(target), read_options(folder));
}

}  // namespace encdec
