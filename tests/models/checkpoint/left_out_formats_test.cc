// In a build without some of the formats.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "encdec/engine/base/error.h"
#include "encdec/models/checkpoint/checkpoint.h"
#include "tests/support/message_of.h"
#include "tests/support/safetensors_writer.h"
#include "tests/support/temp_folder.h"

namespace encdec {
namespace {

using testing::HasSubstr;

// Returns the left-out formats and files of each.
std::multimap<std::string, std::string> left_out_files() {
  const std::multimap<std::string, std::string> files = {{"ctranslate2", "model.bin"},
                                                         {"marian", "model.npz"},
                                                         {"marian", "model.enxx.intgemm.alphas.bin"},
                                                         {"marian", "model.enxx.float32.bin.zst"},
                                                         {"pytorch", "pytorch_model.bin"}};
  std::multimap<std::string, std::string> found;
  for (const auto& [format, file] : files) {
    if (std::string_view(ENCDEC_LEFT_OUT_FORMATS).find(format) != std::string_view::npos) found.emplace(format, file);
  }
  return found;
}

TEST(LeftOutFormats, AreRefusedByName) {
  ASSERT_FALSE(left_out_files().empty());
  for (const auto& [format, file] : left_out_files()) {
    const TempFolder folder;
    folder.write(file, "x");
    const std::string refusal =
        refusal_of<UnsupportedModelError>(folder.path().string(), [&] { open_checkpoint(folder.path()); });
    EXPECT_THAT(refusal, HasSubstr(file + " of the format " + format +
                                   ", which this build does not read, expected a "
                                   "build with " +
                                   format + " in ENCDEC_FORMATS"));
  }
}

TEST(LeftOutFormats, AreNotMissedBesideWeightsOfAnother) {
  for (const auto& [format, file] : left_out_files()) {
    const TempFolder folder;
    folder.write(file, "x");
    write_safetensors(folder / "model.safetensors", {{"x", Tensor::allocate({1})}});
    EXPECT_EQ(open_checkpoint(folder.path()).format, CheckpointFormat::safetensors);
  }
}

TEST(LeftOutFormats, AreListedForAFile) {
  const TempFolder folder;
  const auto file = folder.write("a.txt", "x");
  const std::string refusal = refusal_of<UnsupportedModelError>(file.string(), [&] { open_checkpoint(file); });
  EXPECT_THAT(refusal, HasSubstr("a file, expected the folder of a checkpoint"));
  for (const auto& [format, name] : left_out_files()) EXPECT_THAT(refusal, HasSubstr(format));
}

}  // namespace
}  // namespace encdec
