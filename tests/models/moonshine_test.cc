// Compares small models of Moonshine and Moonshine Streaming with transformers. tests/golden/make_moonshine.py makes
// the files.
#include "tests/support/moonshine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "encdec/engine/base/error.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/model.h"
#include "encdec/models/session/streaming_encoder.h"
#include "tests/support/batch_dependence.h"
#include "tests/support/comparison.h"
#include "tests/support/message_of.h"
#include "tests/support/temp_folder.h"

namespace encdec {
namespace {

using testing::HasSubstr;

// Returns the largest difference to `expected`; `result` may have more rows.
double difference_from(const Tensor& result, const Tensor& expected) {
  double most = 0;
  EXPECT_EQ(result.width(), expected.width());
  EXPECT_GE(result.elements(), expected.elements());
  for (Dim i = 0; i < expected.elements(); ++i) {
    most = std::max(most, std::fabs(double{result.data<float>()[i]} - double{expected.data<float>()[i]}));
  }
  return most;
}

class MoonshineTest : public testing::TestWithParam<const char*> {
 protected:
  const std::filesystem::path folder_ = kMoonshine / GetParam();
  const std::shared_ptr<const WeightStore> expected_ = read_safetensors(folder_ / "transformers.safetensors");
  const std::vector<Tensor> clips_ = moonshine_clips();
  const std::vector<TokenIds> targets_{clips_.size(), ids_in(*expected_, "decoder_input_ids")};
};

TEST_P(MoonshineTest, EqualsTransformers) {
  const Model model = Model::load(folder_);
  const ForwardResult all = model.forward(clips_, targets_);
  for (std::size_t i = 0; i < clips_.size(); ++i) {
    const std::string clip = std::to_string(i) + "/";
    const auto own = [&](const Tensor& tensor) { return tensor.slice(static_cast<Dim>(i), 1); };
    EXPECT_LT(difference_from(own(all.encoder_last_hidden_state), *expected_->find(clip + "encoder_last_hidden_state")),
              2e-5)
        << clip;
    EXPECT_LT(difference_from(own(all.logits), *expected_->find(clip + "logits")), 2e-5) << clip;
  }
}

TEST_P(MoonshineTest, GeneratesTheTokensOfTransformers) {
  const Model model = Model::load(folder_);
  std::vector<GenerateInput> inputs;
  for (const Tensor& clip : clips_) inputs.push_back({.source = TokenIds(), .frames = clip});
  for (const int beams : {1, 5}) {
    const auto results = model.generate_inputs(inputs, {.num_beams = beams, .max_new_tokens = 16});
    for (std::size_t i = 0; i < results.size(); ++i) {
      EXPECT_EQ(results[i].hypotheses[0].token_ids,
                ids_in(*expected_, std::to_string(i) + "/beams_" + std::to_string(beams)));
    }
  }
}

TEST_P(MoonshineTest, DoesNotDependOnTheBatchOrOnThreads) {
  for (const Precision precision : {Precision::float32, Precision::bfloat16, Precision::int8}) {
    const Model model = Model::load(folder_, {.precision = precision});
    if (depends_on_batch(model)) continue;
    const Model threaded = Model::load(folder_, {.threads = 3, .precision = precision});
    const ForwardResult all = model.forward(clips_, targets_);
    const ForwardResult by_threads = threaded.forward(clips_, targets_);
    EXPECT_TRUE(same_bits(all.logits, by_threads.logits));
    for (std::size_t i = 0; i < clips_.size(); ++i) {
      const ForwardResult alone = model.forward(std::span(clips_).subspan(i, 1), std::span(targets_).subspan(i, 1));
      EXPECT_TRUE(same_bits(alone.logits, all.logits.slice(static_cast<Dim>(i), 1)));
    }
  }
}

TEST_P(MoonshineTest, OtherPrecisionsStayClose) {
  const auto logits = [&](Precision precision) {
    return Model::load(folder_, {.precision = precision}).forward(clips_, targets_).logits;
  };
  const Tensor exact = logits(Precision::float32);
  EXPECT_LT(difference_from(logits(Precision::bfloat16), exact), 0.5);
  EXPECT_LT(difference_from(logits(Precision::int8), exact), 0.8);
}

INSTANTIATE_TEST_SUITE_P(Models, MoonshineTest, testing::ValuesIn(kMoonshineModels));

TEST(Moonshine, FramesAreChecked) {
  const TokenIds target{1};
  const auto message = [&](const char* folder, const Shape& shape) {
    const Model model = Model::load(kMoonshine / folder);
    const Tensor wrong = Tensor::allocate(shape);
    return message_of<InputError>([&] { model.forward(std::span(&wrong, 1), std::span(&target, 1)); });
  };
  EXPECT_EQ(message("untied", {894, 1}), "source 1: frames float32 [894, 1], expected float32 [895 or more, 1]");
  EXPECT_EQ(message("untied", {1000, 2}), "source 1: frames float32 [1000, 2], expected float32 [895 or more, 1]");
  EXPECT_EQ(message("streaming", {22401, 1}), "source 1: frames float32 [22401, 1], expected float32 [1 to 22400, 1]");
}

// Returns the message about a config.json in which `changes` replace keys; null removes a key.
std::string refusal(const char* model, const nlohmann::json& changes) {
  const TempFolder folder;
  std::filesystem::copy(kMoonshine / model, folder.path());
  nlohmann::json config = read_json_object(folder / "config.json").value();
  config.merge_patch(changes);
  folder.write("config.json", config.dump());
  return message_of<ConfigError>([&] { Model::load(folder.path()); });
}

TEST(Moonshine, RefusesSettingsThatItDoesNotCompute) {
  EXPECT_THAT(refusal("untied", {{"enc_depth", 6}}), HasSubstr("/config.json: 'enc_depth' belongs to an old format"));
  EXPECT_THAT(refusal("untied", {{"encoder_num_key_value_heads", 1}}),
              HasSubstr("encoder_num_key_value_heads is 1, expected 2 as in encoder_num_attention_heads"));
  EXPECT_THAT(refusal("untied", {{"rope_parameters", {{"rope_type", "linear"}}}}),
              HasSubstr("rope_type' is \"linear\", expected \"default\""));
  EXPECT_THAT(refusal("untied", {{"decoder_num_attention_heads", 5}, {"decoder_num_key_value_heads", 5}}),
              HasSubstr("5 does not divide the model dimension 24"));
  EXPECT_THAT(refusal("old_keys", {{"partial_rotary_factor", 1.0}}),
              HasSubstr("rotary positions for heads of 9, expected an even width"));
  const auto encoder = [](const char* key, const nlohmann::json& value) {
    return refusal("streaming", {{"encoder_config", {{key, value}}}});
  };
  EXPECT_THAT(encoder("sliding_windows", nlohmann::json::parse("[[5, 3]]")),
              HasSubstr("1 sliding_windows, expected 4: one for each layer of the encoder"));
  EXPECT_THAT(encoder("sliding_windows", nlohmann::json::parse("[[5, 3], [0, 3], [5], [5, 3]]")),
              HasSubstr("sliding_windows: expected pairs of a number from 1 and a number from 0"));
  EXPECT_THAT(encoder("sample_rate", 8000), HasSubstr("sample_rate' is 8000, expected 16000"));
  EXPECT_THAT(encoder("frame_ms", 10.0), HasSubstr("frame_ms' is 10.0, expected 5.0"));
  EXPECT_THAT(refusal("streaming", {{"encoder_config", nullptr}}), HasSubstr("encoder_config"));
}

class StreamingEncoderTest : public testing::TestWithParam<const char*> {};

TEST_P(StreamingEncoderTest, PiecesOfAnySizeGiveTheBitsOfTheWholeRecording) {
  for (const Precision precision : {Precision::float32, Precision::bfloat16, Precision::int8}) {
    const Model model = Model::load(kMoonshine / GetParam(), {.precision = precision});
    if (depends_on_batch(model)) continue;
    const auto team = std::make_shared<ThreadTeam>(2);
    Session session(model.network(), team);
    StreamingEncoder encoder(model.network(), team);
    for (const Tensor& clip : moonshine_clips()) {
      const Tensor whole = session.encode(std::span(&clip, 1)).hidden;
      const std::span samples(clip.data<float>(), static_cast<std::size_t>(clip.rows()));
      for (const std::size_t size : {1, 79, 320, 1000, 6500, 100'000}) {
        if (size == 1 && samples.size() > 7000) continue;
        std::vector<float> rows;
        for (std::size_t first = 0; first < samples.size(); first += size) {
          encoder.push(samples.subspan(first, std::min(size, samples.size() - first)), rows);
        }
        EXPECT_LT(rows.size(), static_cast<std::size_t>(whole.elements()));
        encoder.finish(rows);
        ASSERT_EQ(rows.size(), static_cast<std::size_t>(whole.elements())) << size;
        EXPECT_TRUE(same_bits(Tensor(rows.data(), DataType::float32, whole.shape()), whole)) << size;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, StreamingEncoderTest, testing::Values("streaming", "streaming_tied"));

TEST(StreamingEncoder, GivesARowOnceTheRowsAheadAreKnown) {
  const Model model = Model::load(kMoonshine / "streaming_tied");  // reads 12 rows of 320 samples ahead
  StreamingEncoder encoder(model.network(), std::make_shared<ThreadTeam>());
  std::vector<float> rows;
  const std::vector<float> samples(320, 0.25f);
  for (std::size_t count = 1; count <= 20; ++count) {
    encoder.push(samples, rows);
    EXPECT_EQ(rows.size(), (count <= 12 ? 0 : count - 12) * 24) << count;
  }
  encoder.finish(rows);
  EXPECT_EQ(rows.size(), 20 * 24);
  rows.clear();
  encoder.finish(rows);
  EXPECT_TRUE(rows.empty());
}

TEST(StreamingEncoder, RefusesOtherModels) {
  const Model model = Model::load(kMoonshine / "untied");
  EXPECT_EQ(message_of<ConfigError>([&] { StreamingEncoder(model.network(), std::make_shared<ThreadTeam>()); }),
            "moonshine cannot encode in chunks, expected moonshine_streaming");
}

TEST(Session, OpensSourcesFromTheRowsOfAStreamingEncoder) {
  const Model model = Model::load(kMoonshine / "streaming");
  if (depends_on_batch(model)) GTEST_SKIP() << "the backend's bits depend on the number of rows";
  const auto team = std::make_shared<ThreadTeam>();
  Session session(model.network(), team);
  const Tensor clip = moonshine_clips().back();
  const TokenIds target{1, 20, 30};
  const auto logits = [&](const Session::Encoded& encoded) {
    const Session::TargetTokens tokens{session.open_target(encoded.sources[0]), target};
    const Tensor result = session.decode(std::span(&tokens, 1));
    return std::vector<float>(result.data<float>(), result.data<float>() + result.elements());
  };
  const auto whole = logits(session.encode(std::span(&clip, 1)));
  StreamingEncoder encoder(model.network(), team);
  std::vector<float> rows;
  encoder.push(std::span(clip.data<float>(), static_cast<std::size_t>(clip.rows())), rows);
  encoder.finish(rows);
  const Tensor stored(rows.data(), DataType::float32,
                      {static_cast<Dim>(rows.size()) / encoder.width(), encoder.width()});
  EXPECT_EQ(logits(session.encode(std::span(&clip, 1), std::span(&stored, 1))), whole);
  const Tensor both[] = {clip, clip}, known[] = {Tensor(), stored};
  const Session::Encoded together = session.encode(both, known);
  EXPECT_TRUE(same_bits(together.hidden.slice(0, stored.rows()), together.hidden.slice(stored.rows(), stored.rows())));
}

}  // namespace
}  // namespace encdec
