#include <encdec/models/model.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "commands.h"
#include "options.h"
#include "stats.h"

namespace encdec::cli {
namespace {

struct Options {
  std::string model;
  int source_length = 32;
  int target_length = 64;
  int batch_size = 1;
  int num_beams = 1;
  int threads = 1;
  int repetitions = 5;
  std::int64_t seed = 1;
  Precision precision = Precision::float32;
};

// Arithmetic of one call by the definition of the layers, biases, norms, softmax and embeddings left out.
struct Work {
  double encoder_operations = 0;
  double decoder_operations = 0;
  double step_weight_bytes = 0;  // that a decoding step must read at least
};

Work work_of(const TransformerConfig& config, const Options& options) {
  const auto model = static_cast<double>(config.model_dim);
  const double source = options.source_length, target = options.target_length, batch = options.batch_size;
  const auto inner = [&](const StackConfig& stack) {
    return config.head_dim == 0 ? model : static_cast<double>(stack.heads * config.head_dim);
  };
  const double matrices = config.feed_forward == FeedForwardKind::gated ? 3 : 2;
  const auto block = [&](const StackConfig& stack) {  // weights of self-attention and feed-forward
    return model * (4 * inner(stack) + matrices * static_cast<double>(stack.hidden_dim));
  };
  // Keys and values of the cross-attention are projected for source tokens, everything else for target tokens.
  const double cross = config.has_encoder() ? 2 * model * inner(config.decoder) : 0;
  const double encoder = (block(config.encoder) * config.encoder.layers + cross * config.decoder.layers) * source +
                         2 * inner(config.encoder) * config.encoder.layers * source * source;
  // A decoder-only model reads the source as the beginning of the target, once for all beams.
  const double prompt = config.has_encoder() ? 0 : source;
  const double beams = options.num_beams;
  const double length = prompt + beams * target;
  const double keys = prompt * (prompt + 1) / 2 + beams * target * (prompt + (target + 1) / 2) +
                      (config.has_encoder() ? beams * target * source : 0);
  const double layers = (block(config.decoder) + cross) * config.decoder.layers;
  const double projection = model * static_cast<double>(config.decoder.vocabulary);
  const double decoder =
      layers * length + projection * beams * target + 2 * inner(config.decoder) * config.decoder.layers * keys;
  return {.encoder_operations = config.has_encoder() ? 2 * batch * encoder : 0,
          .decoder_operations = 2 * batch * decoder,
          .step_weight_bytes = (layers + projection) * sizeof(float)};
}

std::vector<TokenIds> random_sources(const TransformerConfig& config, const Options& options) {
  std::mt19937_64 random(static_cast<std::uint64_t>(options.seed));
  std::vector<TokenIds> sources(static_cast<std::size_t>(options.batch_size));
  for (TokenIds& source : sources) {
    for (int i = 0; i < options.source_length; ++i) {
      source.push_back(
          static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(config.input_stack().vocabulary)));
    }
  }
  return sources;
}

struct Repetition {
  double seconds = 0;
  double encode_seconds = 0;
  double decode_seconds = 0;
};

void bench(const Options& options) {
  const Model model = Model::load(options.model, {.threads = options.threads, .precision = options.precision});
  const std::vector<TokenIds> sources = random_sources(model.config(), options);

  Repetition current;
  GenerateOptions generate{.num_beams = options.num_beams,
                           .num_return_sequences = 1,
                           .max_new_tokens = options.target_length,
                           .min_new_tokens = options.target_length,
                           .do_sample = false,
                           .batch_size = options.batch_size};
  generate.on_progress = [&](const GenerateProgress& progress) {
    current.encode_seconds = progress.encode_seconds;
    current.decode_seconds = progress.decode_seconds;
  };
  std::vector<Repetition> repetitions;
  for (int i = 0; i <= options.repetitions; ++i) {
    const Stopwatch stopwatch;
    model.generate_ids(sources, generate);
    current.seconds = stopwatch.seconds();
    if (i > 0) repetitions.push_back(current);  // the first one makes primitives and grows memory
  }
  std::ranges::sort(repetitions, {}, &Repetition::seconds);
  const Repetition& best = repetitions.front();
  const Work work = work_of(model.config(), options);
  const double steps = options.target_length;
  const nlohmann::ordered_json result = {
      {"best_seconds", best.seconds},
      {"median_seconds", repetitions[repetitions.size() / 2].seconds},
      {"tokens_per_second", steps * options.batch_size / best.seconds},
      {"step_milliseconds", best.seconds / steps * 1e3},
      {"encode_milliseconds", best.encode_seconds * 1e3},
      {"gflops", (work.encoder_operations + work.decoder_operations) / best.seconds * 1e-9},
      {"weight_gigabytes_per_second", work.step_weight_bytes * steps / best.decode_seconds * 1e-9}};
  fmt::print("{}\n", result.dump());
}

}  // namespace

Action add_bench(CLI::App& command) {
  const auto options = std::make_shared<Options>();
  add_model_option(command, options->model);
  const auto add_count = [&command](const char* name, int& value, int max, const char* description) {
    command.add_option(name, value, description)->check(integer_from(1, max))->type_name("N")->capture_default_str();
  };
  add_count("--source-length", options->source_length, kMaxTokens, "Tokens of each source");
  add_count("--target-length", options->target_length, kMaxTokens, "Tokens generated for each source, exactly");
  add_count("--batch-size", options->batch_size, kMaxBatchSize, "Sources, all in one batch");
  add_count("--num-beams", options->num_beams, kMaxBeams, "Beams; 1 is greedy");
  add_count("--repetitions", options->repetitions, kMaxTokens, "Timed calls, after one that is not timed");
  add_threads_option(command, options->threads);
  add_precision_option(command, options->precision);
  command.add_option("--seed", options->seed, "Of the random source tokens")->type_name("N")->capture_default_str();
  return [options] { bench(*options); };
}

}  // namespace encdec::cli
