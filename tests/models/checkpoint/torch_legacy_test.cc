#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "encdec/models/checkpoint/mapped_file.h"
#include "encdec/models/checkpoint/torch_file.h"
#include "tests/models/checkpoint/golden_weights.h"
#include "tests/models/checkpoint/pickle_writer.h"
#include "tests/models/checkpoint/torch_parsing.h"

namespace encdec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string storage_of(const std::vector<float>& values) {
  const std::uint64_t count = values.size();
  std::string bytes(reinterpret_cast<const char*>(&count), sizeof(count));
  return bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
}

std::string pickle_list(const std::vector<std::string>& items) {
  std::string bytes = "](";
  for (const std::string& item : items) bytes += item;
  return bytes + "e";
}

std::string dict_of(const PickledTensor& tensor) {
  return pickle_dict({{"x", pickle_tensor(tensor)}});
}

// The parts of a file. By default: a state dict with one tensor, x, in storage "0" of 6 floats, 0 to 5.
struct LegacyFile {
  std::string version = "M\xe9\3";
  std::string machine = pickle_dict({{"protocol_version", "M\xe9\3"}, {"little_endian", "\x88"}});
  std::string object = dict_of({.view = "N"});
  std::string keys = pickle_list({pickle_text("0")});
  std::string storages = storage_of({0, 1, 2, 3, 4, 5});
};

std::string legacy_bytes(const LegacyFile& file) {
  return pickle_of("\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19") + pickle_of(file.version) +
         pickle_of(file.machine) + pickle_of(file.object) + pickle_of(file.keys) + file.storages;
}

std::string legacy_refusal(const LegacyFile& file) {
  return torch_refusal_of(legacy_bytes(file));
}

TEST(TorchLegacy, FilesWithoutTheMagicNumberAreReadAsArchives) {
  for (const std::string& bytes : {std::string(), pickle_of("N")}) {
    EXPECT_THAT(torch_refusal_of(bytes), HasSubstr("no end record of a zip archive"));
  }
}

TEST(TorchLegacy, TiedTensorsShareTheMemoryOfTheFile) {
  const auto file = MappedFile::open(kGoldenCheckpoints / "pytorch_legacy" / "views.bin");
  const auto store = parse_pytorch({file->bytes(), file, "x.bin"});
  const std::byte* whole = store->find("whole")->raw();
  EXPECT_EQ(store->find("tied")->raw(), whole);
  EXPECT_EQ(store->find("rows")->raw(), whole + 5 * sizeof(float));
  EXPECT_GE(whole, file->bytes().data());
  EXPECT_LE(whole + 20 * sizeof(float), file->bytes().data() + file->bytes().size());
}

TEST(TorchLegacy, StoragesAreInTheOrderOfTheirKeys) {
  const std::string object =
      pickle_dict({{"x", pickle_tensor({.key = "7", .count = 2, .sizes = {2}, .strides = {1}, .view = "N"})},
                   {"y", pickle_tensor({.key = "5", .count = 3, .sizes = {3}, .strides = {1}, .view = "N"})}});
  const auto store = parse_torch(legacy_bytes({.object = object,
                                               .keys = pickle_list({pickle_text("5"), pickle_text("7")}),
                                               .storages = storage_of({1, 2, 3}) + storage_of({4, 5})}));
  EXPECT_THAT(floats_of(*store.find("x")), ElementsAre(4, 5));
  EXPECT_THAT(floats_of(*store.find("y")), ElementsAre(1, 2, 3));
}

TEST(TorchLegacy, RefusesOtherVersionsAndMachines) {
  EXPECT_THAT(legacy_refusal({.version = "K\1"}), HasSubstr("x.bin: version 1, expected 1001"));
  EXPECT_THAT(legacy_refusal({.version = "N"}), HasSubstr("x.bin: version ?, expected 1001"));
  EXPECT_THAT(legacy_refusal({.machine = pickle_dict({{"little_endian", "\x89"}})}), HasSubstr("a big-endian machine"));
  EXPECT_THAT(legacy_refusal({.machine = pickle_dict({{"little_endian", "\x88"}, {"little_endian", "\x89"}})}),
              HasSubstr("a big-endian machine"));
  EXPECT_THAT(legacy_refusal({.machine = "}"}), HasSubstr("x.bin: machine: 'little_endian' is missing"));
  EXPECT_THAT(legacy_refusal({.machine = "N"}), HasSubstr("x.bin: machine: not a dict"));
}

TEST(TorchLegacy, OnlyTheObjectMayNameGlobals) {
  const std::string type = pickle_global("torch", "FloatStorage");
  EXPECT_THAT(legacy_refusal({.version = type}), HasSubstr("x.bin: version: byte 2: global 'torch FloatStorage'"));
  EXPECT_THAT(legacy_refusal({.machine = type}), HasSubstr("x.bin: machine: byte 2: global"));
  EXPECT_THAT(legacy_refusal({.keys = type}), HasSubstr("x.bin: storage keys: byte 2: global"));
  EXPECT_THAT(legacy_refusal({.object = pickle_global("os", "system")}), HasSubstr("x.bin: object: byte 2: global"));
}

TEST(TorchLegacy, RefusesStoragesThatAreViewsOfOthers) {
  const std::string view = pickle_tuple({pickle_text("1"), pickle_integer(0), pickle_integer(6)});
  EXPECT_THAT(legacy_refusal({.object = dict_of({.view = view})}),
              HasSubstr("x.bin: object: a view of another storage, expected a whole storage"));
}

TEST(TorchLegacy, RefusesStoragesWithWrongSizes) {
  const auto with = [](const PickledTensor& tensor) { return legacy_refusal({.object = dict_of(tensor)}); };
  EXPECT_THAT(with({.count = 7}), HasSubstr("x.bin: storage '0' of 6 elements, expected 7 as in its id"));
  EXPECT_THAT(with({.count = -1}), HasSubstr("the size of its storage is not a size"));
  EXPECT_THAT(with({.count = INT64_MAX}), HasSubstr("float32 elements, expected fewer"));
  EXPECT_THAT(with({.storage = "DoubleStorage"}), HasSubstr("24 bytes left at byte"));
  EXPECT_THAT(with({.storage = "HalfStorage"}), HasSubstr("12 bytes after the end, expected none"));
  EXPECT_THAT(with({.storage = "Tensor"}), HasSubstr("a storage of an unknown class"));
  EXPECT_THAT(with({.key = "1"}), HasSubstr("x.bin: storage '0' is not used"));
  EXPECT_THAT(with({.key = std::string(1'000'000, 'n')}), HasSubstr("has 1000000 bytes, expected at most 1000"));
  EXPECT_THAT(legacy_refusal({.object = pickle_dict({{"x", pickle_tensor({})}, {"y", pickle_tensor({.count = 7})}})}),
              HasSubstr("x.bin: storage '0' of 24 bytes and of 28, expected one size"));
}

TEST(TorchLegacy, RefusesInvalidListsOfKeys) {
  const std::string key = pickle_text("0"), one = storage_of({0, 1, 2, 3, 4, 5});
  EXPECT_THAT(legacy_refusal({.keys = "N"}), HasSubstr("x.bin: storage keys: not a list"));
  EXPECT_THAT(legacy_refusal({.keys = pickle_list({"K\1"})}), HasSubstr("x.bin: storage '?' is not used"));
  EXPECT_THAT(legacy_refusal({.keys = pickle_list({key, key}), .storages = one + one}),
              HasSubstr("x.bin: storage '0' is there twice"));
  EXPECT_THAT(legacy_refusal({.keys = pickle_list({key, key})}), HasSubstr("0 bytes left"));
  EXPECT_THAT(legacy_refusal({.keys = "]", .storages = ""}),
              HasSubstr("x.bin: tensor 'x': storage '0' is missing, expected it in the file"));
  EXPECT_THAT(legacy_refusal({.storages = one + "x"}), HasSubstr("x.bin: 1 bytes after the end"));
}

TEST(TorchLegacy, RefusesTensorsOutsideTheirStorages) {
  EXPECT_THAT(legacy_refusal({.object = dict_of({.offset = 1, .view = "N"})}),
              HasSubstr("x.bin: tensor 'x': float32 of shape [2, 3] with strides [3, 1] from element 1, expected it "
                        "inside a storage of 6 elements"));
  EXPECT_THAT(legacy_refusal({.object = dict_of({.sizes = {1 << 20, 1 << 20}, .strides = {0, 0}})}),
              HasSubstr("expected copies that are not much larger than the file"));
}

}  // namespace
}  // namespace encdec
