#include "universal_transformer/universal_transformer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "encdec/engine/base/error.h"
#include "golden_layer.h"
#include "tests/layers/attention_fixture.h"
#include "tests/support/comparison.h"
#include "tests/support/layer_runner.h"
#include "tests/support/naive_reference.h"
#include "tests/support/random_tensors.h"
#include "tests/support/weights_builder.h"
#include "universal_cases.h"
#include "universal_transformer/universal_session.h"

namespace lessons::universal {
namespace {

using reference::Mask;
using reference::Matrix;

// For outputs of about 1 after up to 12 blocks; the same bound as for the golden values of whole checkpoints. Error
// bounds that are propagated through many norms are too loose to show much; the tests of the layers check theirs one by
// one.
constexpr double kTolerance = 2e-5;

testing::AssertionResult near(Matrix expected, const Tensor& actual, double tolerance = kTolerance) {
  std::ranges::fill(expected.errors, tolerance);
  return is_close_to(expected, actual);
}
testing::AssertionResult near(const Tensor& expected, const Tensor& actual) {
  return near(Matrix(expected), actual);
}

// The formulas of the paper for one source and one target, in double precision.
class Naive {
 public:
  Naive(const UniversalTransformerConfig& config, const std::function<Tensor(const std::string&)>& weight)
      : config_(config), weight_(weight) {}

  Matrix encode(const Ids& source) const { return loop("encoder", config_.encoder, source, nullptr); }
  Matrix logits(const Ids& source, const Ids& target) const {
    const Matrix memory = encode(source);
    return map("output_projection", loop("decoder", config_.decoder, target, &memory));
  }

 private:
  Matrix at(const std::string& name) const { return Matrix(weight_(name)); }
  Matrix map(const std::string& name, const Matrix& x) const {
    const Matrix bias = at(name + ".bias");
    return linear(x, at(name + ".weight"), &bias);
  }
  Matrix norm(const std::string& name, const Matrix& x) const {
    return layer_norm(x, at(name + ".weight"), at(name + ".bias"), static_cast<double>(config_.norm_epsilon));
  }
  Matrix attend(const std::string& name, const Matrix& x, const Matrix& memory, Mask mask) const {
    return map(name + ".output", multi_head_attention(map(name + ".query", x), map(name + ".key", memory),
                                                      map(name + ".value", memory), config_.heads, {.mask = mask}));
  }
  Matrix sinusoids(std::int64_t first, std::int64_t count) const {
    return config_.layout == SinusoidLayout::interleaved
               ? reference::sinusoids_interleaved(first, count, config_.model_dim)
               : reference::sinusoids_halves(first, count, config_.model_dim);
  }
  Matrix block(const std::string& side, Matrix x, const Matrix* memory) const {
    x = norm(side + ".self_attention_norm",
             add(x, attend(side + ".self_attention", x, x, memory != nullptr ? Mask::causal : Mask::none)));
    if (memory != nullptr) {
      x = norm(side + ".cross_attention_norm", add(x, attend(side + ".cross_attention", x, *memory, Mask::none)));
    }
    const Matrix y =
        map(side + ".transition.project", reference::activate(config_.activation, map(side + ".transition.expand", x)));
    return norm(side + ".transition_norm", add(x, y));
  }
  Matrix loop(const std::string& side, const UniversalStackConfig& stack, const Ids& ids, const Matrix* memory) const {
    const Matrix table = at(side + ".embedding.weight");
    std::vector<Matrix> rows;
    for (const std::int32_t id : ids) rows.push_back(table.slice_rows(id, 1));
    Matrix state = reference::stack(rows);
    for (double& value : state.values) value *= static_cast<double>(stack.embedding_scale);
    const auto count = static_cast<std::int64_t>(ids.size());
    Matrix result(count, config_.model_dim);
    std::vector<double> halting(ids.size());
    for (int step = 0; step < stack.steps; ++step) {
      const std::vector<Matrix> steps(ids.size(), sinusoids(config_.first_step + step, 1));
      const Matrix x = add(add(state, sinusoids(config_.first_position, count)), reference::stack(steps));
      const Matrix transformed = block(side, x, memory);
      if (!stack.halting_threshold) {
        state = result = transformed;
        continue;
      }
      const Matrix p = sigmoid(map(side + ".halting", x));
      for (std::int64_t r = 0; r < count; ++r) {
        const auto i = static_cast<std::size_t>(r);
        const bool was_running = halting[i] < 1;
        if (was_running) {
          const double sum = halting[i] + p.at(r, 0);
          const bool halts = sum > static_cast<double>(*stack.halting_threshold);
          EXPECT_GT(std::abs(sum - static_cast<double>(*stack.halting_threshold)), 1e-4) << "rounding would decide";
          const double weight = halts ? 1 - halting[i] : p.at(r, 0);
          halting[i] = halts ? 1 : sum;
          for (std::int64_t c = 0; c < result.columns; ++c) {
            result.at(r, c) = transformed.at(r, c) * weight + result.at(r, c) * (1 - weight);
          }
        }
        if (!was_running && stack.halted_state == HaltedState::copied) continue;
        for (std::int64_t c = 0; c < result.columns; ++c) state.at(r, c) = transformed.at(r, c);
      }
    }
    return result;
  }

  const UniversalTransformerConfig& config_;
  std::function<Tensor(const std::string&)> weight_;
};

Naive naive_for(const UniversalTransformerConfig& config) {
  return {config, [weights = weights_for(config)](const std::string& name) { return weights.at(name); }};
}

TEST(UniversalTransformer, FollowsTheFormulasForEverySize) {
  for (const Sizes& sizes : kSizes) {
    for (const Loop loop : kLoops) {
      UniversalTransformerConfig config = config_for(sizes, loop, 4);
      if (sizes.model_dim == 15) {
        config.layout = SinusoidLayout::halves;
        config.first_position = 0;
        config.first_step = 3;
      }
      const Naive naive = naive_for(config);
      UniversalSession session(make_model(config));
      std::vector<Matrix> encoded, logits;
      for (std::size_t i = 0; i < sources().size(); ++i) {
        encoded.push_back(naive.encode(sources()[i]));
        logits.push_back(naive.logits(sources()[i], targets()[i]));
      }
      EXPECT_TRUE(near(reference::stack(encoded), session.encode(sources()).hidden)) << sizes.model_dim;
      EXPECT_TRUE(near(reference::stack(logits), session.forward(sources(), targets()))) << sizes.model_dim;
    }
  }
}

// Golden cases.

Batch unpacked(const Tensor& ids, const Tensor& lengths) {
  Batch batch;
  const auto* next = ids.data<std::int32_t>();
  for (Dim i = 0; i < lengths.elements(); ++i) {
    const auto length = lengths.data<std::int32_t>()[i];
    batch.emplace_back(next, next + length);
    next += length;
  }
  return batch;
}

struct Golden {
  explicit Golden(const std::string& name_) : name(name_) {
    UniversalStackConfig stack{.vocabulary = 11};
    config.model_dim = 10;
    config.heads = 2;
    config.hidden_dim = 13;
    if (name == "five_steps") {
      stack.steps = 5;
      stack.embedding_scale = std::sqrt(10.0f);
    } else if (name == "from_zero_halves") {
      stack.steps = 3;
      config.first_position = config.first_step = 0;
      config.layout = SinusoidLayout::halves;
    } else if (name.starts_with("adaptive")) {
      stack.steps = name == "adaptive_cut_off" ? 2 : 6;
      stack.halting_threshold = 0.9f;
      if (name == "adaptive_copied") stack.halted_state = HaltedState::copied;
    }
    config.encoder = config.decoder = stack;
    config.decoder.vocabulary = 7;
  }

  Batch ids(const std::string& side) const {
    return unpacked(file.input(name, side + "_ids"), file.input(name, side + "_lengths"));
  }
  Tensor output(const std::string& part) const { return file.output(name, part); }
  std::vector<std::int32_t> integers(const std::string& part) const {
    const Tensor tensor = output(part);
    return {tensor.data<std::int32_t>(), tensor.data<std::int32_t>() + tensor.elements()};
  }

  GoldenLayer file{"universal_transformer"};
  std::string name;
  UniversalTransformerConfig config;
};

void expect_halting(const Golden& golden, const std::string& side, const DepthRecurrence::Result& result) {
  EXPECT_EQ(golden.integers(side + "_updates"), std::vector(result.updates.begin(), result.updates.end()));
  EXPECT_EQ(*std::ranges::max_element(result.updates), result.steps);
  const Tensor remainders = golden.output(side + "_remainders");
  for (std::size_t i = 0; i < result.remainders.size(); ++i) {
    EXPECT_NEAR(result.remainders[i], remainders.data<float>()[i], kTolerance);
  }
}

TEST(UniversalTransformer, MatchesPyTorch) {
  for (const std::string& name : GoldenLayer("universal_transformer").cases()) {
    SCOPED_TRACE(name);
    const Golden golden(name);
    const WeightScope weights = golden.file.weights(name);
    UniversalSession session(std::make_shared<const UniversalTransformer>(golden.config, weights));
    const auto encoded = session.encode(golden.ids("source"));
    EXPECT_TRUE(near(golden.output("encoded"), encoded.hidden));
    expect_halting(golden, "encoder", encoded);
    const Tensor logits = session.forward(golden.ids("source"), golden.ids("target"));
    EXPECT_TRUE(near(golden.output("logits"), logits));
    EXPECT_TRUE(near(golden.output("hidden"), session.decoded().hidden));
    expect_halting(golden, "decoder", session.decoded());
  }
}

// Both are computed in double precision; PyTorch's values are stored as float32.
TEST(UniversalTransformer, PyTorchAndTheFormulasAgree) {
  for (const std::string& name : GoldenLayer("universal_transformer").cases()) {
    const Golden golden(name);
    const Naive naive(golden.config, [&](const std::string& weight) { return golden.file.weight(name, weight); });
    std::vector<Matrix> logits;
    for (std::size_t i = 0; i < 3; ++i) {
      logits.push_back(naive.logits(golden.ids("source")[i], golden.ids("target")[i]));
    }
    EXPECT_TRUE(near(reference::stack(logits), golden.output("logits"), 1e-6)) << name;
  }
}

TEST(UniversalTransformer, PyTorchsPositionsHaltAtDifferentSteps) {
  for (const char* name : {"adaptive_transformed", "adaptive_copied"}) {
    std::vector<std::int32_t> updates = Golden(name).integers("encoder_updates");
    std::ranges::sort(updates);
    EXPECT_GE(std::unique(updates.begin(), updates.end()) - updates.begin(), 3);
  }
  EXPECT_FALSE(near(Golden("adaptive_transformed").output("logits"), Golden("adaptive_copied").output("logits")))
      << "these cases do not distinguish the two";
}

}  // namespace
}  // namespace lessons::universal
