#include "encdec/models/checkpoint/pytorch.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "encdec/engine/base/error.h"
#include "tests/models/checkpoint/golden_weights.h"
#include "tests/models/checkpoint/pickle_writer.h"
#include "tests/models/checkpoint/torch_parsing.h"
#include "tests/support/damage.h"
#include "tests/support/zip_writer.h"

namespace encdec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Returns an archive with a pickle and with storage "0" of 6 floats, 0 to 5.
std::string archive_of(const std::string& pickle, const std::vector<ZipWriterEntry>& more = {}) {
  std::string data;
  for (const float value : {0.f, 1.f, 2.f, 3.f, 4.f, 5.f}) data.append(reinterpret_cast<const char*>(&value), 4);
  std::vector<ZipWriterEntry> entries = {{"top/data.pkl", pickle}, {"top/data/0", data}};
  entries.insert(entries.end(), more.begin(), more.end());
  return zip_bytes(entries);
}

// Returns an archive whose state dict has one tensor, x.
std::string with_tensor(const std::string& tensor) {
  return archive_of(pickle_of(pickle_dict({{"x", tensor}})));
}

TEST(PyTorch, ReadsWhatTorchSaved) {
  for (const std::string folder : {"pytorch/", "pytorch_legacy/"}) {
    for (const std::string name : {"plain", "protocol_4", "types", "views", "nested"}) {
      SCOPED_TRACE(folder + name);
      expect_golden(parse_torch(read_golden(folder + name + ".bin")), "pytorch/" + name + ".bin");
    }
  }
}

TEST(PyTorch, TiedTensorsShareTheMemoryOfTheFile) {
  const auto store = read_pytorch(kGoldenCheckpoints / "pytorch" / "views.bin");
  const std::byte* whole = store->find("whole")->raw();
  EXPECT_EQ(store->find("tied")->raw(), whole);
  EXPECT_EQ(store->find("rows")->raw(), whole + 5 * sizeof(float));
  EXPECT_NE(store->find("transposed")->raw(), whole);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(whole) % 64, 0u);
}

TEST(PyTorch, ReportsWhatItIgnores) {
  for (const char* file : {"pytorch/nested.bin", "pytorch_legacy/nested.bin"}) {
    std::vector<std::string> notes;
    parse_torch(read_golden(file), &notes);
    EXPECT_THAT(notes, ElementsAre("x.bin: 1 entries that are not tensors are ignored, the first is 'note'")) << file;
  }
  std::vector<std::string> notes;
  parse_torch(read_golden("pytorch/views.bin"), &notes);
  EXPECT_THAT(notes, IsEmpty());
}

TEST(PyTorch, ReadsTheFilesOfAnIndex) {
  for (const char* folder : {"pytorch_sharded", "pytorch_sharded_legacy"}) {
    const auto store = read_pytorch(kGoldenCheckpoints / folder);
    ASSERT_EQ(store->tensors().size(), 3u) << folder;
    EXPECT_EQ(store->find("a")->shape(), Shape({3, 4}));
    EXPECT_EQ(floats_of(*store->find("b")), floats_of(store->find("a")->slice(0, 1)));
    EXPECT_EQ(floats_of(*store->find("c")), floats_of(store->find("a")->slice(1, 1)));
  }
}

TEST(PyTorch, RefusesOtherObjects) {
  EXPECT_THAT(
      torch_refusal_of(read_golden("pytorch_refused/sparse.bin")),
      HasSubstr("global 'torch._utils _rebuild_sparse_tensor' is not allowed, expected only a dict of dense tensors"));
  EXPECT_THAT(torch_refusal_of(read_golden("pytorch_refused/quantized.bin")),
              HasSubstr("_rebuild_qtensor' is not allowed"));
  EXPECT_THAT(torch_refusal_of(read_golden("pytorch_refused/module.bin")),
              HasSubstr("global 'torch.nn.modules.linear Linear' is not allowed"));
}

TEST(PyTorch, RefusesTarArchives) {
  std::string tar(1024, '\0');
  tar.replace(257, 5, "ustar");
  EXPECT_THAT(torch_refusal_of(tar), HasSubstr("in the tar format of torch before 0.1.10, expected a newer format"));
}

TEST(PyTorch, RefusesArchivesOfOtherPrograms) {
  const std::string pickle = pickle_of(pickle_dict({{"x", pickle_tensor({})}}));
  EXPECT_THAT(torch_refusal_of(zip_bytes({{"data.pkl", pickle}})), HasSubstr("without NAME/data.pkl"));
  EXPECT_THAT(torch_refusal_of(archive_of(pickle, {{"other/data.pkl", pickle}})), HasSubstr("expected one data.pkl"));
  EXPECT_THAT(torch_refusal_of(archive_of(pickle, {{"top/byteorder", "big"}})), HasSubstr("byte order 'big'"));
  EXPECT_THAT(torch_refusal_of(archive_of(pickle, {{"top/constants.pkl", ""}})), HasSubstr("TorchScript"));
  ZipWriterEntry compressed{"top/byteorder", deflated("little")};
  compressed.method = 8, compressed.size = 6, compressed.checksum = zip_checksum("little");
  EXPECT_THAT(torch_refusal_of(archive_of(pickle, {compressed})), HasSubstr("is compressed, expected it stored"));
}

TEST(PyTorch, HonoursOffsetsAndStrides) {
  const auto values = [](const PickledTensor& tensor) {
    return floats_of(*parse_torch(with_tensor(pickle_tensor(tensor))).find("x"));
  };
  EXPECT_THAT(values({}), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(values({.sizes = {3, 2}, .strides = {1, 3}}), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(values({.offset = 1, .sizes = {2, 2}, .strides = {3, 1}}), ElementsAre(1, 2, 4, 5));
  EXPECT_THAT(values({.offset = 5, .sizes = {}, .strides = {}}), ElementsAre(5));
  EXPECT_THAT(values({.offset = 4, .sizes = {1, 2, 1}, .strides = {77, 1, 99}}), ElementsAre(4, 5));
  EXPECT_THAT(values({.offset = 2, .sizes = {2, 2}, .strides = {0, 0}}), ElementsAre(2, 2, 2, 2));
  EXPECT_THAT(values({.offset = 1 << 20, .sizes = {0, 3}, .strides = {3, 1}}), ElementsAre());
}

TEST(PyTorch, RefusesTensorsThatReachBeyondTheirStorage) {
  constexpr std::int64_t kHuge = INT64_MAX;
  const std::vector<PickledTensor> cases = {{.offset = 1},
                                            {.sizes = {7}, .strides = {1}},
                                            {.sizes = {2, 3}, .strides = {4, 1}},
                                            {.offset = 6, .sizes = {}, .strides = {}},
                                            {.offset = kHuge, .sizes = {2}, .strides = {kHuge}},
                                            {.sizes = {kHuge, kHuge}, .strides = {kHuge, 1}},
                                            {.sizes = {kHuge, 4}, .strides = {4, 1}},
                                            {.sizes = {1ll << 32, 1ll << 32}, .strides = {1ll << 32, 1}}};
  for (const PickledTensor& tensor : cases) {
    EXPECT_THAT(torch_refusal_of(with_tensor(pickle_tensor(tensor))),
                testing::AllOf(HasSubstr("x.bin: tensor 'x': float32 of shape"), HasSubstr("inside a storage of 6")));
  }
  EXPECT_THAT(torch_refusal_of(with_tensor(pickle_tensor({.offset = -1}))), HasSubstr("its offset is not a size"));
  EXPECT_THAT(torch_refusal_of(with_tensor(pickle_tensor({.strides = {-3, 1}}))),
              HasSubstr("its stride is not a size"));
  EXPECT_THAT(torch_refusal_of(with_tensor(pickle_tensor({.sizes = {6}}))), HasSubstr("expected one stride per size"));
}

TEST(PyTorch, LimitsCopiesToTheSizeOfTheFile) {
  // A tensor of 2^40 elements that are all the same element of the storage.
  EXPECT_THAT(torch_refusal_of(with_tensor(pickle_tensor({.sizes = {1 << 20, 1 << 20}, .strides = {0, 0}}))),
              HasSubstr("expected copies that are not much larger than the file"));
  std::vector<std::pair<std::string, std::string>> many;
  for (int i = 0; i < 100; ++i) {
    many.emplace_back(fmt::format("x{}", i), pickle_tensor({.sizes = {1 << 16}, .strides = {0}}));
  }
  EXPECT_THAT(torch_refusal_of(archive_of(pickle_of(pickle_dict(many)))), HasSubstr("expected copies"));
}

TEST(PyTorch, RefusesStoragesWithWrongSizes) {
  const auto with = [](PickledTensor tensor) { return torch_refusal_of(with_tensor(pickle_tensor(tensor))); };
  EXPECT_THAT(with({.key = "1"}), HasSubstr("storage '1' is missing"));
  EXPECT_THAT(with({.key = "../0"}), HasSubstr("storage '../0' is missing"));
  EXPECT_THAT(with({.count = 7}), HasSubstr("a storage of 7 float32 elements in 24 bytes"));
  EXPECT_THAT(with({.count = INT64_MAX}), HasSubstr("a storage of 9223372036854775807 float32 elements"));
  EXPECT_THAT(with({.count = -1}), HasSubstr("is not a size"));
  EXPECT_THAT(with({.storage = "DoubleStorage"}), HasSubstr("a storage of 6 float64 elements in 24 bytes"));
  EXPECT_THAT(with({.storage = "Tensor"}), HasSubstr("a storage of an unknown class"));
  EXPECT_THAT(with({.storage = "QInt8Storage"}), HasSubstr("global 'torch QInt8Storage' is not allowed"));
}

TEST(PyTorch, RefusesFilesWithoutTensorsOrWithDuplicateNames) {
  const std::string tensor = pickle_tensor({}), wrong = pickle_tensor({.key = "1"});
  EXPECT_THAT(torch_refusal_of(archive_of(pickle_of("}"))), HasSubstr("no tensors, expected a dict of them"));
  EXPECT_THAT(torch_refusal_of(archive_of(pickle_of("N"))), HasSubstr("no tensors"));
  EXPECT_THAT(torch_refusal_of(archive_of(pickle_of(tensor))), HasSubstr("no tensors"));
  // Tensor y, after the duplicate, is not read: reading it would be another error.
  EXPECT_THAT(torch_refusal_of(archive_of(pickle_of(pickle_dict({{"x", tensor}, {"x", tensor}, {"y", wrong}})))),
              HasSubstr("tensor 'x' is there twice"));
}

TEST(PyTorch, LongTextsAreNotCopiedForEveryTensor) {
  const std::string name(1'000'000, 'n'), tensor = pickle_tensor({});
  std::string dict = "}(" + pickle_text(name) + std::string("q\0", 2) + tensor + "q\1";
  for (int i = 0; i < 10000; ++i) dict += std::string("h\0h\1", 4);
  EXPECT_THAT(torch_refusal_of(archive_of(pickle_of(dict + "u"))),
              HasSubstr("a name of 1000000 bytes, expected at most 1000"));
  EXPECT_THAT(torch_refusal_of(with_tensor(pickle_tensor({.key = name}))),
              HasSubstr("the key of its storage has 1000000 bytes, expected at most 1000"));
}

TEST(PyTorch, ADictThatContainsItselfHasNoTensors) {
  // d = {}; d['model'] = d
  EXPECT_THAT(
      torch_refusal_of(archive_of(pickle_of(std::string("}q\0", 3) + pickle_text("model") + std::string("h\0s", 3)))),
      HasSubstr("no tensors"));
}

TEST(PyTorch, FindsTensorsInNestedDicts) {
  const std::string dict = pickle_dict({{"x", pickle_tensor({})}});
  for (const std::string name : {"state_dict", "model", "module", "model_state_dict"}) {
    EXPECT_EQ(parse_torch(archive_of(pickle_of(pickle_dict({{"epoch", "K\3"}, {name, dict}})))).tensors().size(), 1u);
  }
  EXPECT_EQ(
      parse_torch(archive_of(pickle_of(pickle_dict({{"model", pickle_dict({{"module", dict}})}})))).tensors().size(),
      1u);
  EXPECT_THAT(torch_refusal_of(archive_of(pickle_of(pickle_dict({{"optimizer", dict}})))), HasSubstr("no tensors"));
}

TEST(PyTorch, ReportsAnErrorForEveryDamage) {
  for (const char* file : {"pytorch/plain.bin", "pytorch/nested.bin", "pytorch/views.bin", "pytorch_legacy/plain.bin",
                           "pytorch_legacy/protocol_4.bin", "pytorch_legacy/types.bin", "pytorch_legacy/views.bin",
                           "pytorch_legacy/nested.bin"}) {
    const std::string whole = read_golden(file);
    EXPECT_GT(read_damaged(whole, [](const std::string& text) { read_all(parse_torch(text)); }).refused, whole.size());
  }
}

}  // namespace
}  // namespace encdec
