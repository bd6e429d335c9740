#include "encdec/models/tokenizer/sentencepiece_model.h"

#include <fmt/format.h>
#include <sentencepiece_processor.h>

#include "encdec/engine/error.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/checkpoint/mapped_file.h"
#include "encdec/models/tokenizer/sentencepiece_check.h"
#include "encdec/models/tokenizer/sentencepiece_proto.h"
#include "encdec/models/tokenizer/utf8.h"

// Exported by libsentencepiece, but declared in none of the headers that it installs; weak, should a version hide it.
namespace sentencepiece::logging {
__attribute__((weak)) void SetMinLogLevel(int level);
}

namespace encdec {
namespace {

constexpr int kOnlyFatal = 3;

// The library's messages may quote the file.
TokenizerError error_from(std::string_view message, const std::string& name) {
  return TokenizerError(fmt::format("{}: {}", name, printable(message)));
}

void check(const sentencepiece::util::Status& status, const std::string& name) {
  if (!status.ok()) throw error_from(status.message(), name);
}

}  // namespace

SentencePieceModel SentencePieceModel::read(const std::filesystem::path& path) {
  return {read_text_file(path, kMaxSentencePieceBytes), path.string()};
}

SentencePieceModel::SentencePieceModel(const std::string& bytes, std::string name)
    : processor_(std::make_unique<sentencepiece::SentencePieceProcessor>()), name_(std::move(name)) {
  if (sentencepiece::logging::SetMinLogLevel != nullptr) sentencepiece::logging::SetMinLogLevel(kOnlyFatal);
  const SentencePieceProto proto = SentencePieceProto::parse(bytes, name_);
  try {
    check(processor_->LoadFromSerializedProto(bytes), name_);
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {  // its trie builder throws
    throw error_from(error.what(), name_);
  }
  if (proto.model_type == SentencePieceProto::ModelType::unigram) unigram_.emplace(proto);
}

SentencePieceModel::~SentencePieceModel() = default;
SentencePieceModel::SentencePieceModel(SentencePieceModel&&) noexcept = default;
SentencePieceModel& SentencePieceModel::operator=(SentencePieceModel&&) noexcept = default;

std::vector<std::string> SentencePieceModel::encode(std::string_view text) const {
  check_text(text);
  if (unigram_) return unigram_->encode(text);
  std::vector<std::string> pieces;
  check(processor_->Encode(text, &pieces), name_);
  return pieces;
}

std::string SentencePieceModel::decode(std::span<const std::string> pieces) const {
  std::string text;
  const std::vector<std::string_view> views(pieces.begin(), pieces.end());
  check(processor_->Decode(views, &text), name_);
  return text;
}

const std::string* SentencePieceModel::piece(int id) const {
  return id >= 0 && id < processor_->GetPieceSize() ? &processor_->IdToPiece(id) : nullptr;
}

}  // namespace encdec
