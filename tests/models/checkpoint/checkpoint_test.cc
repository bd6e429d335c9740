#include "encdec/models/checkpoint/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/models/checkpoint/golden_weights.h"
#include "tests/support/message_of.h"
#include "tests/support/safetensors_writer.h"
#include "tests/support/temp_folder.h"

namespace encdec {
namespace {

using testing::HasSubstr;

std::string folder_refusal(const std::filesystem::path& folder) {
  return refusal_of(folder.string(), [&] { open_checkpoint(folder); });
}

TEST(Checkpoint, OpensPyTorchAndReturnsItsNotes) {
  const TempFolder folder;
  folder.write("pytorch_model.bin", read_golden("pytorch/nested.bin"));
  const auto checkpoint = open_checkpoint(folder.path());
  EXPECT_EQ(checkpoint.format, CheckpointFormat::pytorch);
  EXPECT_FALSE(checkpoint.settings.config);
  EXPECT_EQ(checkpoint.weights->tensors().size(), 2u);
  EXPECT_EQ(checkpoint.notes.size(), 1u);
  EXPECT_EQ(open_checkpoint(kGoldenCheckpoints / "pytorch_sharded").weights->tensors().size(), 3u);
}

TEST(Checkpoint, PrefersSafetensors) {
  const TempFolder folder;
  folder.write("pytorch_model.bin", "damaged");
  folder.write("model.npz", "damaged");
  write_safetensors(folder / "model.safetensors", {{"x", Tensor::allocate({1})}});
  EXPECT_EQ(open_checkpoint(folder.path()).format, CheckpointFormat::safetensors);
}

TEST(Checkpoint, OpensTheOnlyNpz) {
  const TempFolder folder;
  folder.write("any.npz", read_golden("npz/stored.npz"));
  EXPECT_FALSE(open_checkpoint(folder.path()).settings.network);
  folder.write("other.npz", read_golden("npz/stored.npz"));
  EXPECT_THAT(folder_refusal(folder.path()), HasSubstr("2 .npz files, such as any.npz and other.npz"));
  folder.write("decoder.yml", "models:\n  - ../any.npz\n");
  EXPECT_THAT(folder_refusal(folder.path()),
              HasSubstr("decoder.yml: models has '../any.npz', expected the name of a file in this folder"));
  folder.write("decoder.yml", "models:\n  - any.npz\n  - other.npz\n");
  EXPECT_THAT(folder_refusal(folder.path()), HasSubstr("an ensemble of 2 models"));
  folder.write("decoder.yml", "models:\n  - missing.npz\n");
  EXPECT_THAT(folder_refusal(folder.path()), HasSubstr("missing.npz: No such file"));
}

const std::filesystem::path kWhisper = std::filesystem::path(ENCDEC_GOLDEN_DIR) / "whisper_formats";

TEST(Checkpoint, NamesWhatToDownloadInsteadOfFilesOfWhisper) {
  for (const auto& [name, format] : {std::pair("ggml-tiny.bin", "whisper.cpp"), std::pair("tiny.pt", "PyTorch")}) {
    const TempFolder folder;
    const auto file = folder.write(name, "x");
    EXPECT_THAT(folder_refusal(file),
                HasSubstr(fmt::format("weights of {}, expected a folder with safetensors", format)));
    EXPECT_THAT(folder_refusal(file), HasSubstr("hf download openai/whisper-tiny"));
    EXPECT_THAT(folder_refusal(folder.path()),
                HasSubstr(fmt::format("weights only as {} ({}), expected", name, format)));
    EXPECT_THAT(folder_refusal(folder.path()), HasSubstr("hf download openai/whisper-tiny"));
  }
  const TempFolder folder;
  EXPECT_THAT(folder_refusal(folder.write("model.bin", "x")),
              HasSubstr("model.bin: a file, expected the folder of a checkpoint"));
}

TEST(Checkpoint, ConvertedModelsNameTheSpecialTokensOfWhisper) {
  const auto checkpoint = open_checkpoint(kWhisper / "ctranslate2" / "int8");
  EXPECT_EQ(checkpoint.settings.network->required_string("spec_name"), "WhisperSpec");
  EXPECT_EQ(checkpoint.settings.config->required_string("eos_token"), "<|endoftext|>");
  EXPECT_EQ(checkpoint.settings.config->required_string("decoder_start_token"), "<|startoftranscript|>");
  EXPECT_TRUE(checkpoint.settings.config->has("alignment_heads"));
}

TEST(Checkpoint, AModelBinBesideAModelTypeIsNotOfCTranslate2) {
  const TempFolder folder;
  folder.write("config.json", R"({"model_type": "marian"})");
  folder.write("model.bin", read_golden("ctranslate2/marian_int8/model.bin"));
  EXPECT_THAT(folder_refusal(folder.path()), HasSubstr("no weights among its files (config.json, model.bin)"));
}

TEST(Checkpoint, SaysWhatItFoundInstead) {
  const TempFolder folder;
  EXPECT_THAT(folder_refusal(folder.path()),
              HasSubstr("no weights among its files (there are none), expected model.safe"));
  EXPECT_THAT(folder_refusal(folder / "missing"), HasSubstr("missing: No such file or directory"));
  EXPECT_THAT(folder_refusal(folder.write("a.txt", "x")), HasSubstr("a.txt: a file, expected the folder"));
  for (const std::string name : {"b.txt", "c.txt", "d.txt", "e.txt", "f.txt", "g\n.txt"}) folder.write(name, "x");
  EXPECT_THAT(folder_refusal(folder.path()), HasSubstr("(a.txt, b.txt, c.txt, d.txt, e.txt and 2 more)"));
  folder.write("tf_model.h5", "x");
  EXPECT_THAT(folder_refusal(folder.path()),
              HasSubstr("weights only as tf_model.h5 (TensorFlow), expected model.safe"));
}

TEST(Checkpoint, NamesUnsupportedFormats) {
  for (const std::string name : {"flax_model.msgpack", "encoder.onnx", "t5.gguf", "model.ckpt.index", "weights.pt"}) {
    const TempFolder folder;
    folder.write(name, "x");
    EXPECT_THAT(folder_refusal(folder.path()), HasSubstr("weights only as " + name));
  }
}

}  // namespace
}  // namespace encdec
