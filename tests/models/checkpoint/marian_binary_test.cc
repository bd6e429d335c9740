#include "encdec/models/checkpoint/marian_binary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include "encdec/engine/base/error.h"
#include "encdec/models/checkpoint/marian_files.h"
#include "encdec/models/checkpoint/unpacked_file.h"
#include "tests/support/damage.h"
#include "tests/support/message_of.h"
#include "tests/support/temp_folder.h"

namespace encdec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct BinaryItem {
  std::string name;
  std::uint64_t type = 0x404;
  std::vector<std::int32_t> shape = {};
  std::string data = {};
};

template <class T>
std::string bytes_of(std::initializer_list<T> values) {
  return {reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(T)};
}

std::string binary_file(const std::vector<BinaryItem>& items, std::uint64_t version = 1) {
  std::string file = bytes_of<std::uint64_t>({version, items.size()}), names, shapes, data;
  for (const BinaryItem& item : items) {
    file += bytes_of<std::uint64_t>({item.name.size() + 1, item.type, item.shape.size(), item.data.size()});
    names += item.name + '\0';
    for (const std::int32_t size : item.shape) shapes += bytes_of({size});
    data += item.data;
  }
  return file + names + shapes + bytes_of<std::uint64_t>({3}) + "gap" + data;
}

std::shared_ptr<WeightStore> parsed(const std::string& file) {
  const ExactBytes memory(file);
  return parse_marian_binary({memory.bytes(), memory.owner(), "x.bin"});
}

std::string refusal(const std::string& file) {
  return refusal_of("x.bin: ", [&] { parsed(file); });
}

const std::string kIntegers = bytes_of<std::int8_t>({1, -2, 3, -4, 5, -127});
const std::vector<BinaryItem> kItems = {
    {"Wemb", 0x4101, {3, 2}, kIntegers + bytes_of({2.0f})},
    {"decoder_l1_rnn_W", 0x4101, {2, 3}, kIntegers + bytes_of({4.0f}) + "padding"},
    {"encoder_l1_ffn_b1", 0x404, {1, 2}, bytes_of({0.5f, -1.5f})},
};

TEST(MarianBinary, MatricesOfIntegersAreTransposedButEmbeddingsAreNot) {
  const auto store = parsed(binary_file(kItems));
  EXPECT_EQ(store->find("encoder_l1_ffn_b1")->data<float>()[1], -1.5f);
  EXPECT_EQ(store->find("Wemb")->shape(), Shape({3, 2}));
  EXPECT_EQ(store->find("decoder_l1_rnn_W")->shape(), Shape({3, 2}));
  EXPECT_EQ(*store->find_scale("Wemb")->data<float>(), 2.0f);
  EXPECT_EQ(*store->find_scale("decoder_l1_rnn_W")->data<float>(), 4.0f);
  const auto* integers = reinterpret_cast<const std::int8_t*>(store->find("decoder_l1_rnn_W")->raw());
  EXPECT_EQ(std::vector(integers, integers + 6), (std::vector<std::int8_t>{1, -2, 3, -4, 5, -127}));
}

TEST(MarianBinary, RefusesWhatDoesNotFit) {
  EXPECT_THAT(refusal(binary_file({}, 2)), HasSubstr("version other than 1"));
  EXPECT_THAT(refusal(binary_file({{"W", 0x2801, {1}, "abcd"}})),
              HasSubstr("item 'W': type 0x2801, which is packed for one kind of CPU"));
  EXPECT_THAT(refusal(binary_file({{"W", 0x999, {1}, "abcd"}})), HasSubstr("type 0x999"));
  EXPECT_THAT(refusal(binary_file({{"W", 0x404, {-1}, "abcd"}})), HasSubstr("a dimension of -1"));
  EXPECT_THAT(refusal(binary_file({{"W", 0x404, {2}, "abcd"}})), HasSubstr("4 bytes of data, too few for"));
  EXPECT_THAT(refusal(binary_file({{"W", 0x4101, {4}, "abcd"}})), HasSubstr("4 bytes of data, too few for"));
  EXPECT_THAT(refusal(binary_file({{"W", 0x404, {1 << 30, 1 << 30, 1 << 30}, "abcd"}})), HasSubstr("4 bytes of data"));
  EXPECT_THAT(refusal(binary_file({{"W", 0x4101, {1}, "a" + bytes_of({0.0f})}})), HasSubstr("multiplier 0, expected"));
  EXPECT_THAT(refusal("version https://git-lfs.github.com/spec/v1\n"), HasSubstr("a Git LFS pointer"));
  const DamageReport report =
      read_damaged(binary_file(kItems), [](const std::string& file) { read_all(*parsed(file)); });
  EXPECT_GT(report.refused, 300u);
}

std::string gzip(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, MAX_WBITS + 16, 9, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string zstd(const std::string& text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  return packed;
}

TEST(UnpackedFile, DecompressesByTheEndingOfTheName) {
  const TempFolder folder;
  std::string text;
  for (int i = 0; i < 700'000; ++i) text += static_cast<char>(i * i % 251);
  for (const auto& [name, content] : {std::pair("plain", text), {"a.gz", gzip(text)}, {"a.zst", zstd(text)}}) {
    const FileBytes file = read_unpacked(folder.write(name, content));
    EXPECT_EQ(as_text(file.bytes), text) << name;
  }
}

TEST(UnpackedFile, RefusesDamageMoreBytesBehindAndBombs) {
  const TempFolder folder;
  const std::string text = "some text, and some text again";
  for (const auto& [name, packed] : {std::pair("a.gz", gzip(text)), {"a.zst", zstd(text)}}) {
    const auto refused = [&](const std::string& content) {
      const auto path = folder.write(name, content);
      return refusal_of(path.string(), [&] { read_unpacked(path); });
    };
    EXPECT_THAT(refused(packed + "x"), HasSubstr("damaged or truncated"));
    EXPECT_THAT(refused(""), HasSubstr("damaged or truncated"));
    EXPECT_THAT(refused("not packed"), HasSubstr("damaged or truncated"));
    for (std::size_t size = 1; size < packed.size(); ++size) {
      EXPECT_THAT(refused(packed.substr(0, size)), HasSubstr("damaged or truncated")) << size;
    }
  }
  const std::string zeros(64 << 20, '\0');
  for (const auto& [name, packed] : {std::pair("a.gz", gzip(zeros)), {"a.zst", zstd(zeros)}}) {
    const auto path = folder.write(name, packed);
    EXPECT_THAT(refusal_of(path.string(), [&] { read_unpacked(path); }), HasSubstr("bytes grow to more than"));
  }
}

TEST(MarianFiles, FindsTheFilesOfEachForm) {
  const TempFolder folder;
  const std::string model = binary_file(kItems);
  folder.write("model.ende.intgemm.alphas.bin", model);
  folder.write("lex.50.50.ende.s2t.bin.gz", "");
  folder.write("vocab.ende.spm", "");
  EXPECT_EQ(MarianFiles(folder.path()).model(), folder / "model.ende.intgemm.alphas.bin");
  EXPECT_EQ(MarianFiles(folder.path()).shortlist(), folder / "lex.50.50.ende.s2t.bin.gz");
  EXPECT_THAT(MarianFiles(folder.path()).vocabularies(), ElementsAre("vocab.ende.spm", "vocab.ende.spm"));
  EXPECT_TRUE(MarianFiles(folder.path()).is_release());
  folder.write("srcvocab.ende.spm.zst", "");
  folder.write("trgvocab.ende.spm.zst", "");
  EXPECT_THAT(MarianFiles(folder.path()).vocabularies(), ElementsAre("srcvocab.ende.spm.zst", "trgvocab.ende.spm.zst"));
  folder.write("model.other.bin", "another format");
  EXPECT_EQ(MarianFiles(folder.path()).model(), folder / "model.ende.intgemm.alphas.bin");
  folder.write("model.other.bin", model);
  EXPECT_THAT(refusal_of(folder.path().string(), [&] { MarianFiles(folder.path()).model(); }),
              HasSubstr("2 model*.bin files, such as model.ende.intgemm.alphas.bin and model.other.bin"));
  folder.write(
      "config.intgemm8bitalpha.yml",
      "models: [model.other.bin]\nvocabs: [a.spm, srcvocab.ende.spm]\nshortlist: [lex.50.50.ende.s2t.bin, false]\n");
  EXPECT_EQ(MarianFiles(folder.path()).model(), folder / "model.other.bin");
  EXPECT_EQ(MarianFiles(folder.path()).shortlist(), folder / "lex.50.50.ende.s2t.bin.gz");
  EXPECT_THAT(MarianFiles(folder.path()).vocabularies(), ElementsAre("a.spm", "srcvocab.ende.spm.zst"));
}

}  // namespace
}  // namespace encdec
