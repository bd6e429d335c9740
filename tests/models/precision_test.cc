// Tests how near reduced precisions are to float32, and which precision `automatic` selects.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "encdec/engine/backend/backends.h"
#include "encdec/models/model.h"
#include "encdec/models/session/precision_probe.h"
#include "tests/support/random_marian.h"

namespace encdec {
namespace {

const std::filesystem::path kPronunciation = std::filesystem::path(ENCDEC_PRETRAINED_DIR) / "english-pronunciation";

double divergence_from_float32(const std::filesystem::path& folder, Precision precision) {
  const Model reference = Model::load(folder), reduced = Model::load(folder, {.precision = precision});
  return divergence(probe(reference.network()), probe(reduced.network()), reference.config());
}

// One checkpoint of each family. Random weights are the hardest to round, because they have no redundancy.
TEST(Precision, ReducedPrecisionsStayNearFloat32) {
  for (const char* name :
       {"bart/base", "bert/base", "blenderbot/base", "gpt2/with_prefix", "m2m_100/untied", "marian/shared_swish",
        "mbart/untied", "mt5/tied", "pegasus/stored_positions", "t5/v1_0", "t5/v1_1"}) {
    const std::filesystem::path folder = std::filesystem::path(ENCDEC_GOLDEN_DIR) / name / "model";
    if (!std::filesystem::exists(folder)) {
      ADD_FAILURE() << folder;
      continue;
    }
    const double bfloat16 = divergence_from_float32(folder, Precision::bfloat16);
    const double int8 = divergence_from_float32(folder, Precision::int8);
    EXPECT_GT(bfloat16, 0.0) << name << ": nothing was rounded";
    EXPECT_LT(bfloat16, 1e-3) << name;
    EXPECT_GT(int8, bfloat16) << name;
    EXPECT_LT(int8, kNegligibleDivergence) << name;
  }
}

TEST(Precision, AutomaticSelectsInt8IfItKeepsTheResults) {
  const Model model = Model::load(kPronunciation, {.precision = Precision::automatic});
  EXPECT_EQ(model.precision(), Precision::int8);
  EXPECT_EQ(model.notes().precision, "precision auto: int8");
}

TEST(Precision, AutomaticAvoidsInt8IfItChangesTheResults) {
  const RandomMarian checkpoint(RandomMarian::Outliers::weights);
  EXPECT_GT(divergence_from_float32(checkpoint.folder(), Precision::int8), kNegligibleDivergence);
  const Precision expected =
      backend::multiplies_in(BackendChoice::automatic, Precision::bfloat16) ? Precision::bfloat16 : Precision::float32;
  EXPECT_EQ(Model::load(checkpoint.folder(), {.precision = Precision::automatic}).precision(), expected);
}

TEST(Precision, AutomaticSelectsForModelsThatReadSound) {
  for (const char* name : {"whisper_formats/hugging_face", "moonshine/untied", "moonshine/streaming"}) {
    const std::filesystem::path folder = std::filesystem::path(ENCDEC_GOLDEN_DIR) / name;
    EXPECT_LT(divergence_from_float32(folder, Precision::bfloat16), 1e-3) << name;
    const Model model = Model::load(folder, {.precision = Precision::automatic});
    EXPECT_TRUE(model.notes().precision.starts_with("precision auto: ")) << name;
  }
}

TEST(Precision, ANoteReportsMissingInstructions) {
  const Model model = Model::load(kPronunciation, {.precision = Precision::bfloat16});
  EXPECT_EQ(model.notes().precision.empty(), backend::multiplies_in(BackendChoice::automatic, Precision::bfloat16))
      << model.notes().precision;
  EXPECT_EQ(Model::load(kPronunciation).notes().precision, "");
  EXPECT_EQ(Model::load(kPronunciation, {.precision = Precision::int8}).notes().precision, "");
}

TEST(Precision, DivergenceIsZeroForEqualProbesAndNaNForNaN) {
  const Model model = Model::load(kPronunciation);
  const Tensor logits = probe(model.network());
  EXPECT_EQ(divergence(logits, logits, model.config()), 0.0);
  Tensor other = Tensor::allocate(logits.shape());
  std::copy_n(logits.data<float>(), logits.elements(), other.data<float>());
  other.row(3)[5] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(divergence(logits, other, model.config())));
}

}  // namespace
}  // namespace encdec
