#include "encdec/models/tokenizer/families/whisper_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "encdec/engine/base/error.h"
#include "encdec/models/checkpoint/mapped_file.h"
#include "encdec/models/tokenizer/load_tokenizer.h"
#include "tests/models/checkpoint/pickle_writer.h"
#include "tests/support/message_of.h"
#include "tests/support/temp_folder.h"
#include "tests/support/zip_writer.h"

namespace encdec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Ids = std::vector<std::int32_t>;
namespace fs = std::filesystem;

const fs::path kWhisperFormats = fs::path(ENCDEC_GOLDEN_DIR) / "whisper_formats";
const fs::path kNative = fs::path(ENCDEC_GOLDEN_DIR) / "tokenizer_native";

std::string content(const fs::path& path) {
  return read_text_file(path, 1u << 20);
}

// Ranks are the ids of pieces. Merging by rank gives the same ids as a list of merges.
TEST(WhisperTokenizer, RanksGiveTheSameIdsAsMerges) {
  const auto merges = load_tokenizer(kNative / "whisper", "whisper");
  const fs::path file = kNative / "whisper" / "vocab.json";
  const Vocabulary vocabulary = Vocabulary::read(file);
  std::vector<std::string> pieces(vocabulary.size());
  for (const Vocabulary::Entry& entry : vocabulary.entries()) {
    pieces[static_cast<std::size_t>(entry.id)] = entry.piece();
  }
  pieces.emplace_back("<|startoftranscript|>");
  const auto found = whisper_vocabulary(PieceList(pieces));
  ASSERT_TRUE(found);
  const auto ranks = whisper_tokenizer(*found, "file");
  const auto texts = parse_json(content(kNative / "texts.json"), "texts.json");
  for (const auto& text : texts) {
    const auto expected = encode_target_part(*merges, text.get<std::string>());
    // The tokenizer built from the vocabulary alone has no languages.
    EXPECT_EQ(encode_target_part(*ranks, text.get<std::string>()), expected) << text;
  }
}

TEST(WhisperTokenizer, IsTheSameInEveryFormat) {
  const auto expected = load_tokenizer(kWhisperFormats / "hugging_face", "whisper");
  const Ids tokens = expected->encode(" Hello, wörld", {.target_language = "French"});
  EXPECT_EQ(expected->pieces(tokens, TextSide::target).front(), "<|startoftranscript|>");
  for (const char* path : {"openai", "openai/tiny.pt", "ggml/tiny-f16.bin", "ggml/tiny-q5_0.bin", "ctranslate2/int8"}) {
    SCOPED_TRACE(path);
    const auto tokenizer = load_tokenizer(kWhisperFormats / path, "whisper");
    ASSERT_NE(tokenizer, nullptr);
    EXPECT_EQ(tokenizer->kind(), "byte-level BPE");
    EXPECT_EQ(tokenizer->encode(" Hello, wörld", {.target_language = "French"}), tokens);
    EXPECT_EQ(tokenizer->languages(), expected->languages());
    for (std::int32_t id = 0; id < 287 + 107 + 21; ++id) {
      EXPECT_EQ(tokenizer->piece(id, TextSide::target), expected->piece(id, TextSide::target));
      EXPECT_EQ(tokenizer->decode(Ids{id}), expected->decode(Ids{id}));
    }
    EXPECT_EQ(tokenizer->token_id("<|0.40|>"), 287 + 107 + 20);
    EXPECT_THROW(tokenizer->piece(287 + 107 + 21, TextSide::target), InputError);
  }
}

TEST(WhisperTokenizer, LanguagesHaveCodesAndNames) {
  const auto tokenizer = load_tokenizer(kWhisperFormats / "openai", "whisper");
  EXPECT_EQ(tokenizer->languages().size(), 99u);
  EXPECT_EQ(tokenizer->language_token("fr"), 287 + 2 + 6);
  const auto second = [&](const EncodeOptions& options) {
    return std::string(tokenizer->piece(tokenizer->encode("a", options)[1], TextSide::target));
  };
  EXPECT_EQ(second({}), "<|notimestamps|>");
  EXPECT_EQ(second({.source_language = "FR"}), "<|fr|>");
  EXPECT_EQ(second({.source_language = "fr", .target_language = "castilian"}), "<|es|>");
  EXPECT_THROW(second({.target_language = "klingon"}), InputError);
  EXPECT_THROW(second({.target_language = "yue"}), InputError);
}

TEST(WhisperTokenizer, TimesAreNotText) {
  const auto tokenizer = load_tokenizer(kNative / "whisper_saved", "whisper");
  const Ids ids = {*tokenizer->token_id("<|0.00|>"), *tokenizer->token_id("a"), *tokenizer->token_id("<|0.98|>")};
  EXPECT_EQ(tokenizer->decode(ids), "a");
}

TEST(WhisperTokenizer, HebrewHasAnotherNameInTheFirstCheckpoints) {
  WhisperVocabulary vocabulary;
  for (int byte = 0; byte < 256; ++byte) vocabulary.texts.emplace_back(1, static_cast<char>(byte));
  vocabulary.special_tokens = {"<|endoftext|>", "<|startoftranscript|>", "<|iw|>"};
  const auto tokenizer = whisper_tokenizer(vocabulary, "file");
  EXPECT_THAT(tokenizer->languages(), ElementsAre("he"));
  EXPECT_THAT(tokenizer->encode("a", {.target_language = "hebrew"}), ElementsAre(257, 258, 'a', 256));
}

TEST(WhisperTokenizer, ReadsFilesOfTiktoken) {
  EXPECT_THAT(parse_tiktoken("IQ== 0\r\nIg== 1\n\n= 2\n", "file"), ElementsAre("!", "\"", ""));
  const auto refusal = [](const char* text) {
    return refusal_of<TokenizerError>("file: ", [&] { parse_tiktoken(text, "file"); });
  };
  EXPECT_THAT(refusal("IQ== 1\n"), HasSubstr("'IQ== 1', expected a text in base64, a space and 0"));
  EXPECT_THAT(refusal("IQ== 0\nIQ=== 1\n"), HasSubstr("'IQ=== 1', expected a text in base64, a space and 1"));
  for (const char* text :
       {"IQ==", "IQ== ", "IQ== x", "IQ== 0 0", "IQ==0", " 0x", "IQ== -0", "IQ== 99999999999999999999"}) {
    EXPECT_THAT(refusal(text), HasSubstr("expected a text in base64, a space and 0")) << text;
  }
}

TEST(WhisperTokenizer, RefusesImpossibleVocabularies) {
  const auto refusal = [](std::vector<std::string> more, std::vector<std::string> special) {
    WhisperVocabulary vocabulary{.special_tokens = std::move(special)};
    for (int byte = 0; byte < 256; ++byte) vocabulary.texts.emplace_back(1, static_cast<char>(byte));
    vocabulary.texts.insert(vocabulary.texts.end(), more.begin(), more.end());
    return refusal_of<TokenizerError>("file: ", [&] { whisper_tokenizer(vocabulary, "file"); });
  };
  EXPECT_EQ(refusal({}, {}), "no exception");
  EXPECT_THAT(refusal({"ab", "ab"}, {}), HasSubstr("'ab' is there twice"));
  EXPECT_THAT(refusal({"ab"}, {"ab"}), HasSubstr("special token 'ab', expected names that differ"));
  EXPECT_THAT(refusal({}, {"x1", "x1"}), HasSubstr("special token 'x1'"));
  EXPECT_THAT(refusal({}, {""}), HasSubstr("special token ''"));
}

TEST(WhisperTokenizer, OtherVocabulariesOfCTranslate2AreNotWhispers) {
  EXPECT_FALSE(whisper_vocabulary(PieceList({"a", "</s>"})));
  EXPECT_FALSE(whisper_vocabulary(PieceList({"a", "<|endoftext|>", "b", "<|startoftranscript|>"})));
  EXPECT_FALSE(whisper_vocabulary(PieceList({"▁a", "<|endoftext|>", "<|startoftranscript|>"})));
  EXPECT_TRUE(whisper_vocabulary(PieceList({"Ġa", "<|endoftext|>", "<|startoftranscript|>"})));
}

class WhisperFolder : public testing::Test {
 protected:
  void copy(const char* from, const char* name) { folder_.write(name, content(kWhisperFormats / from)); }
  std::unique_ptr<Tokenizer> load(const char* name) const { return load_tokenizer(folder_ / name, "whisper"); }

  TempFolder folder_;
};

TEST_F(WhisperFolder, APtFileHasNoTokenizerItself) {
  copy("openai/tiny.pt", "tiny.pt");
  EXPECT_EQ(load("tiny.pt"), nullptr);
  EXPECT_EQ(load_tokenizer(folder_.path(), "whisper"), nullptr);
}

TEST_F(WhisperFolder, APtFileUsesTheTokenizerBesideIt) {
  copy("openai/tiny.pt", "tiny.pt");
  copy("openai/multilingual.tiktoken", "gpt2.tiktoken");
  EXPECT_EQ(load("tiny.pt")->token_id("<|endoftext|>"), 287);
  for (const char* file : {"vocab.json", "merges.txt", "added_tokens.json"}) {
    folder_.write(file, content(kWhisperFormats / "hugging_face" / file));
  }
  folder_.write("gpt2.tiktoken", "damaged");
  EXPECT_EQ(load("tiny.pt")->token_id("<|endoftext|>"), 287);
  EXPECT_EQ(load_tokenizer(folder_.path(), "whisper")->token_id("<|endoftext|>"), 287);
  folder_.write("tokenizer.json", "{}");
  EXPECT_THROW(load("tiny.pt"), TokenizerError);
}

// Returns the smallest .pt file with a vocabulary of this size and without tensors.
std::string openai_file(std::int64_t vocabulary) {
  std::vector<std::pair<std::string, std::string>> sizes;
  for (const char* name : {"n_mels", "n_audio_ctx", "n_audio_state", "n_audio_head", "n_audio_layer", "n_text_ctx",
                           "n_text_state", "n_text_head", "n_text_layer"}) {
    sizes.emplace_back(name, pickle_integer(2));
  }
  sizes.emplace_back("n_vocab", pickle_integer(vocabulary));
  const std::string all = pickle_dict({{"dims", pickle_dict(sizes)}, {"model_state_dict", pickle_dict({})}});
  return zip_bytes({{"top/data.pkl", pickle_of(all)}});
}

TEST_F(WhisperFolder, ATokenizerOfAnotherModelIsRefused) {
  for (const char* file : {"vocab.json", "merges.txt", "added_tokens.json"}) {
    folder_.write(file, content(kWhisperFormats / "hugging_face" / file));
  }
  folder_.write("small.pt", openai_file(415));
  EXPECT_EQ(load("small.pt")->token_id("<|endoftext|>"), 287);
  const auto path = folder_.write("tiny.pt", openai_file(51865));
  EXPECT_THAT(refusal_of<TokenizerError>(path.string(), [&] { load("tiny.pt"); }),
              HasSubstr("tiny.pt: <|endoftext|> is token 287 of the tokenizer beside it, expected token 50257"));
}

TEST_F(WhisperFolder, AGgmlFileUsesItsOwnWhateverIsBesideIt) {
  copy("ggml/tiny-q5_0.bin", "ggml-tiny.bin");
  folder_.write("tokenizer.json", "{}");
  EXPECT_EQ(load("ggml-tiny.bin")->token_id("<|endoftext|>"), 287);
  EXPECT_EQ(load_tokenizer(folder_ / "ggml-tiny.bin", "")->token_id("<|endoftext|>"), 287);
}

TEST_F(WhisperFolder, OtherFilesHaveNoTokenizer) {
  folder_.write("model.bin", "x");
  EXPECT_EQ(load("model.bin"), nullptr);
}

TEST_F(WhisperFolder, AVocabularyFileHasOnePiecePerLine) {
  std::string lines;
  for (const auto& piece : parse_json(content(kWhisperFormats / "ctranslate2" / "int8" / "vocabulary.json"), "x")) {
    lines += piece.get<std::string>() + "\n";
  }
  folder_.write("vocabulary.txt", lines);
  EXPECT_EQ(load_tokenizer(folder_.path(), "")->kind(), "byte-level BPE");
  EXPECT_EQ(load_tokenizer(folder_.path(), "whisper")->token_id("<|0.40|>"), 414);
}

}  // namespace
}  // namespace encdec
