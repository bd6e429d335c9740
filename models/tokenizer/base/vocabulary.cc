#include "encdec/models/tokenizer/base/vocabulary.h"

#include <fmt/format.h>

#include "encdec/engine/base/cancellation.h"
#include "encdec/models/checkpoint/json_events.h"
#include "encdec/models/checkpoint/mapped_file.h"
#include "encdec/models/checkpoint/refuse.h"

namespace encdec {

class Vocabulary::Reader final : public JsonEvents {
 public:
  Reader(Vocabulary& vocabulary, const std::string& name) : JsonEvents(name), vocabulary_(vocabulary) {}

  bool number_unsigned(std::uint64_t value) override {
    if (!is_open_ || value >= std::uint64_t{kMaxTokenIds}) fail(fmt::to_string(value));
    vocabulary_.add(piece_, static_cast<std::int32_t>(value), file());
    return true;
  }
  bool start_object(std::size_t) override {
    if (is_open_) fail("an object");
    return is_open_ = true;
  }
  bool key(std::string& piece) override {
    piece_ = piece;
    return true;
  }
  bool end_object() override { return true; }

  bool null() override { fail("null"); }
  bool boolean(bool) override { fail("boolean"); }
  bool number_integer(std::int64_t value) override { fail(fmt::to_string(value)); }
  bool number_float(double value, const std::string&) override { fail(fmt::to_string(value)); }
  bool string(std::string&) override { fail("a string"); }
  bool start_array(std::size_t) override { fail("an array"); }
  bool end_array() override { return true; }

 private:
  [[noreturn]] void fail(std::string_view found) const {
    if (!is_open_) refuse<TokenizerError>(file(), "{}, expected an object of pieces and ids", found);
    refuse<TokenizerError>(file(), "'{}' is {}, expected an id from 0 to {}", printable(piece_), found,
                           kMaxTokenIds - 1);
  }

  Vocabulary& vocabulary_;
  bool is_open_ = false;
  std::string piece_;
};

void Vocabulary::add(std::string piece, std::int32_t id, const std::string& name) {
  if (id < 0 || id >= kMaxTokenIds) {
    refuse<TokenizerError>(name, "'{}' is {}, expected an id from 0 to {}", printable(piece), id, kMaxTokenIds - 1);
  }
  poll_cancelled();
  const auto [entry, is_new_piece] = ids_.emplace(std::move(piece), id);
  if (!is_new_piece) refuse<TokenizerError>(name, "'{}' is there twice", printable(entry->first));
  const auto [other, is_new_id] = pieces_.emplace(id, &entry->first);
  if (!is_new_id) {
    refuse<TokenizerError>(name, "'{}' and '{}' both have the id {}", printable(*other->second),
                           printable(entry->first), id);
  }
}

Vocabulary Vocabulary::read(const std::filesystem::path& path) {
  return parse(read_text_file(path, kMaxVocabularyBytes), path.string());
}

Vocabulary Vocabulary::parse(std::string_view json, const std::string& name) {
  Vocabulary vocabulary;
  Reader reader(vocabulary, name);
  read_json_events(json, reader);
  return vocabulary;
}

}  // namespace encdec
