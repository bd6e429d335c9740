#include <encdec/models/model.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "command/commands.h"
#include "command/lines.h"
#include "command/options.h"
#include "command/output_file.h"
#include "command/result_json.h"
#include "common/stopwatch.h"
#include "encdec/engine/base/machine.h"

namespace encdec::cli {
namespace {

// The times of one call of generate.
struct MeasuredCall {
  NodeRun::Time begin;
  NodeRun::Time end;
  double encode_seconds = 0;  // time in Session::encode()
  double decode_seconds = 0;  // time in Session::decode()

  double seconds() const { return std::chrono::duration<double>(end - begin).count(); }
};

// The time that calls of generate spend in each node of the graphs.
// REQUIRES: the graphs outlive the profile.
class Profile {
 public:
  // If `keeps_runs` is true, stores each run for trace(), so that memory grows with each run.
  explicit Profile(bool keeps_runs) : keeps_runs_(keeps_runs) {}

  void add(const NodeRun& run);
  void add(const MeasuredCall& call) { calls_.push_back(call); }

  // Returns three tables as text: time by node, by kind of layer, and by part of a call. The longest time comes first.
  std::string table() const;
  // Returns a trace for about:tracing and Perfetto, in JSON: a track for the calls and a track for each graph. Each run
  // of a node is an event. Times are microseconds since the first call. REQUIRES: the profile keeps runs.
  std::string trace() const;

 private:
  struct Node {
    const Graph* graph;
    const Graph::Node* node;
    std::int64_t runs = 0;
    double seconds = 0;
  };
  struct Run {
    std::size_t node;  // index in nodes_
    NodeRun::Time begin;
    NodeRun::Time end;
  };

  bool keeps_runs_;
  std::vector<Node> nodes_;  // in the order of their first run
  std::unordered_map<const Graph::Node*, std::size_t> index_of_;
  std::vector<Run> runs_;
  std::vector<MeasuredCall> calls_;
};

using Json = nlohmann::ordered_json;

constexpr int kProcess = 1;
constexpr int kCallTrack = 0;

struct Row {
  std::string name;
  std::string detail;
  std::int64_t runs = 0;
  double seconds = 0;
};

// Returns the rows as a table, the longest time first. `titles` has the titles of the text columns. Shares are
// fractions of `whole` seconds.
std::string table_of(const Row& titles, std::vector<Row> rows, double whole) {
  std::ranges::stable_sort(rows, std::greater(), &Row::seconds);
  std::size_t name_width = titles.name.size(), detail_width = titles.detail.size();
  for (const Row& row : rows) {
    name_width = std::max(name_width, row.name.size());
    detail_width = std::max(detail_width, row.detail.size());
  }
  std::string text = fmt::format("{:<{}}  {:<{}}  {:>8}  {:>11}  {:>7}\n", titles.name, name_width, titles.detail,
                                 detail_width, "runs", "total ms", "share %");
  for (const Row& row : rows) {
    text += fmt::format("{:<{}}  {:<{}}  {:>8}  {:>11.3f}  {:>7.2f}\n", row.name, name_width, row.detail, detail_width,
                        row.runs, row.seconds * 1e3, row.seconds / whole * 100);
  }
  return text;
}

// Returns the event that names a track.
Json track_name(int track, const std::string& name) {
  return {{"name", "thread_name"}, {"ph", "M"}, {"pid", kProcess}, {"tid", track}, {"args", {{"name", name}}}};
}

void Profile::add(const NodeRun& run) {
  const auto [found, is_new] = index_of_.try_emplace(&run.node, nodes_.size());
  if (is_new) nodes_.push_back({.graph = &run.graph, .node = &run.node});
  Node& node = nodes_[found->second];
  ++node.runs;
  node.seconds += std::chrono::duration<double>(run.end - run.begin).count();
  if (keeps_runs_) runs_.push_back({found->second, run.begin, run.end});
}

std::string Profile::table() const {
  double whole = 0, encode = 0, decode = 0;
  for (const MeasuredCall& call : calls_) {
    whole += call.seconds();
    encode += call.encode_seconds;
    decode += call.decode_seconds;
  }
  // Group the nodes by kind, and sum up the time in the encoder and in all nodes.
  std::vector<Row> nodes;
  std::map<std::string, std::vector<Row>> kinds;
  double in_encoder = 0, in_nodes = 0;
  for (const auto& [graph, node, runs, seconds] : nodes_) {
    const std::string kind(node->layer->kind());
    kinds[kind].push_back(nodes.emplace_back(Row{node->name, kind, runs, seconds}));
    in_nodes += seconds;
    if (graph->name() == "encoder") in_encoder += seconds;
  }
  std::vector<Row> sums;  // sums over the nodes of each kind
  for (const auto& [kind, rows] : kinds) {
    Row& sum = sums.emplace_back(Row{kind, std::to_string(rows.size())});
    for (const Row& row : rows) sum.runs += row.runs, sum.seconds += row.seconds;
  }
  const auto calls = static_cast<std::int64_t>(calls_.size());
  const double in_decoder = in_nodes - in_encoder;

  std::vector<Row> parts{{"nodes", "", calls, in_nodes},
                         {"encode, outside of nodes", "", calls, encode - in_encoder},
                         {"decode, outside of nodes", "", calls, decode - in_decoder},
                         {"search, results, all else", "", calls, whole - encode - decode}};
  return table_of({"node", "kind"}, std::move(nodes), whole) + "\n" +
         table_of({"kind", "nodes"}, std::move(sums), whole) + "\n" +
         table_of({"part of a call", ""}, std::move(parts), whole);
}

std::string Profile::trace() const {
  const auto microseconds = [start = calls_.empty() ? NodeRun::Time() : calls_.front().begin](NodeRun::Time time) {
    return std::chrono::duration<double, std::micro>(time - start).count();
  };
  Json events = Json::array({track_name(kCallTrack, "generate")});
  const auto add_event = [&](std::string_view name, std::string_view category, const auto& run, int track) {
    events.push_back({{"name", name},
                      {"cat", category},
                      {"ph", "X"},
                      {"ts", microseconds(run.begin)},
                      {"dur", std::chrono::duration<double, std::micro>(run.end - run.begin).count()},
                      {"pid", kProcess},
                      {"tid", track}});
  };
  for (const MeasuredCall& call : calls_) add_event("generate", "call", call, kCallTrack);
  // Add a track for each graph, then each run of a node as an event on the graph's track.
  std::map<const Graph*, int> tracks;
  for (const Node& node : nodes_) {
    const auto [track, is_new] = tracks.try_emplace(node.graph, kCallTrack + 1 + static_cast<int>(tracks.size()));
    if (is_new) events.push_back(track_name(track->second, node.graph->name()));
  }
  for (const Run& run : runs_) {
    const Node& node = nodes_[run.node];
    add_event(node.node->name, node.node->layer->kind(), run, tracks.at(node.graph));
  }
  return Json{{"traceEvents", std::move(events)}, {"displayTimeUnit", "ms"}}.dump() + "\n";
}

struct BenchArguments {
  ModelArguments model = {.load_options = {.threads = 1}};
  int source_length = 32;
  int target_length = 64;
  int batch_size = 1;
  int num_beams = 1;
  int repetitions = 5;
  std::int64_t seed = 1;
  bool profile = false;
  std::string trace;  // path of the trace file; empty if no trace is written
};

// The work of one generate call, computed from the layers' sizes. Leaves out biases, norms, softmax and embeddings.
struct Work {
  double operations = 0;    // multiplications and additions
  double step_weights = 0;  // number of weights that a decoder step must read
};

Work work_of(const TransformerConfig& config, const BenchArguments& options) {
  const auto model = static_cast<double>(config.model_dim());
  const double source = options.source_length, target = options.target_length, batch = options.batch_size;
  const auto inner = [&](const StackConfig& stack) {
    return stack.layers == 0 ? 0.0 : static_cast<double>(stack.attention_of(0).inner_dim());
  };
  const double matrices = config.last_stack().feed_forward == FeedForwardKind::gated ? 3 : 2;
  const auto block = [&](const StackConfig& stack) {  // number of weights of self-attention and feed-forward
    return model * (4 * inner(stack) + matrices * static_cast<double>(stack.hidden_dim));
  };
  // The number of weights in the key and value projections of cross-attention, which apply to source tokens. The query
  // and output projections, which apply to target tokens, have the same number of weights.
  const double cross = config.has_encoder() ? 2 * model * inner(config.decoder) : 0;
  const double encoder = (block(config.encoder) * config.encoder.layers + cross * config.decoder.layers) * source +
                         2 * inner(config.encoder) * config.encoder.layers * source * source;
  // A decoder-only model reads the source as the start of the target, once for all beams.
  const double prompt = config.has_encoder() ? 0 : source;
  const double beams = options.num_beams;
  const double length = prompt + beams * target;
  // The number of (query, key) pairs in the decoder, summed over all positions.
  const double keys = prompt * (prompt + 1) / 2 + beams * target * (prompt + (target + 1) / 2) +
                      (config.has_encoder() ? beams * target * source : 0);
  const double layers = (block(config.decoder) + cross) * config.decoder.layers;
  const double projection = model * static_cast<double>(config.decoder.vocabulary);
  const double decoder =
      layers * length + projection * beams * target + 2 * inner(config.decoder) * config.decoder.layers * keys;
  return {.operations = 2 * batch * ((config.has_encoder() ? encoder : 0) + decoder),
          .step_weights = layers + projection};
}

// Returns sources of uniformly distributed token ids.
std::vector<TokenIds> random_sources(const TransformerConfig& config, const BenchArguments& options) {
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

// Results of the timed calls.
struct Measurement {
  std::vector<MeasuredCall> calls;
  std::vector<double> step_seconds;  // time between the ends of two consecutive steps of a call
  std::vector<GenerateResult> results;
  DraftCounts drafts;  // counts of the last call
};

Measurement measure(const Model& model, const std::vector<TokenIds>& sources, const BenchArguments& options,
                    Profile* profile) {
  using Clock = NodeRun::Time::clock;
  Measurement measurement;
  MeasuredCall call;
  std::optional<NodeRun::Time> last_step;
  bool is_timed = false;  // false for the first call, which creates primitives and allocates memory
  GenerateOptions generate{.num_beams = options.num_beams,
                           .num_return_sequences = 1,
                           .max_new_tokens = options.target_length,
                           .min_new_tokens = options.target_length,
                           .do_sample = false,
                           .batch_size = options.batch_size};
  generate.on_progress = [&](const GenerateProgress& progress) {
    const NodeRun::Time now = Clock::now();
    if (last_step) measurement.step_seconds.push_back(std::chrono::duration<double>(now - *last_step).count());
    last_step = now;
    call.encode_seconds = progress.encode_seconds;
    call.decode_seconds = progress.decode_seconds;
    measurement.drafts = progress.drafts;
  };
  if (profile != nullptr) {
    generate.on_node_run = [&](const NodeRun& run) {
      if (is_timed) profile->add(run);
    };
  }
  for (int i = 0; i <= options.repetitions; ++i) {
    is_timed = i > 0;
    if (i == 1) measurement = {};
    last_step.reset();
    call.begin = Clock::now();
    measurement.results = model.generate_ids(sources, generate);
    call.end = Clock::now();
    measurement.calls.push_back(call);
    if (profile != nullptr && is_timed) profile->add(call);
  }
  return measurement;
}

// Returns the 64-bit FNV-1a hash of the lines that `generate --token-ids` would print.
std::string checksum_of_ids(const std::vector<GenerateResult>& results) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const GenerateResult& result : results) {
    for (const char c : format_token_ids(result.hypotheses.front().token_ids) + "\n") {
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    }
  }
  return fmt::format("{:016x}", hash);
}

// Returns a quantile in milliseconds: the smallest time that is >= a fraction `share` of all times; null for no times.
Json step_quantile(std::vector<double> seconds, double share) {
  if (seconds.empty()) return nullptr;
  const double rank = std::ceil(share * static_cast<double>(seconds.size()));
  const auto nth = seconds.begin() + static_cast<std::ptrdiff_t>(std::max(rank, 1.0)) - 1;
  std::ranges::nth_element(seconds, nth);
  return *nth * 1e3;
}

void bench(const BenchArguments& options) {
  std::optional<OutputFile> trace;  // opened first, so that a wrong path is reported before the work begins
  if (!options.trace.empty()) trace.emplace(options.trace, OutputFile::Unfinished::remove);
  const Stopwatch loading;
  const Model model = options.model.load_generator(LineForm::token_ids);
  const double load_seconds = loading.seconds();
  const std::vector<TokenIds> sources = random_sources(model.config(), options);

  std::optional<Profile> profile;
  if (options.profile) profile.emplace(trace.has_value());
  Measurement measurement = measure(model, sources, options, profile ? &*profile : nullptr);
  std::vector<MeasuredCall>& calls = measurement.calls;
  std::ranges::sort(calls, {}, &MeasuredCall::seconds);
  const MeasuredCall& best = calls.front();
  const Work work = work_of(model.config(), options);
  const double steps = options.target_length;
  // Compute the rates from the best call, and the quantiles from the steps of all calls.
  Json result = {
      {"best_seconds", best.seconds()},
      {"median_seconds", calls[calls.size() / 2].seconds()},
      {"tokens_per_second", steps * options.batch_size / best.seconds()},
      {"step_milliseconds", best.seconds() / steps * 1e3},
      {"step_median_milliseconds", step_quantile(measurement.step_seconds, 0.5)},
      {"step_p99_milliseconds", step_quantile(measurement.step_seconds, 0.99)},
      {"encode_milliseconds", best.encode_seconds * 1e3},
      {"gflops", work.operations / best.seconds() * 1e-9},
      {"weight_gigabytes_per_second",
       work.step_weights * static_cast<double>(weight_bytes(model.precision())) * steps / best.decode_seconds * 1e-9},
      {"load_seconds", load_seconds},
      {"peak_resident_bytes", peak_resident_bytes()},
      {"generated_token_ids_checksum", checksum_of_ids(measurement.results)}};
  add_drafts(measurement.drafts, result);
  if (trace) {
    trace->write(profile->trace());
    trace->commit();
  }
  if (profile) fmt::print(stderr, "{}", profile->table());
  OutputFile output("");
  output.write(result.dump() + "\n");
  output.commit();
}

}  // namespace

Action add_bench(CLI::App& command) {
  const auto options = std::make_shared<BenchArguments>();
  add_model_option(command, options->model.folder);
  add_number_option(command, "--source-length", options->source_length, 1, kMaxTokenCount, "Tokens of each source");
  add_number_option(command, "--target-length", options->target_length, 1, kMaxTokenCount,
                    "Tokens to generate for each source");
  add_number_option(command, "--batch-size", options->batch_size, 1, kMaxBatchSize,
                    "Number of sources, all in one batch");
  add_number_option(command, "--num-beams", options->num_beams, 1, kMaxSequences, "Beams; 1 is greedy");
  add_number_option(command, "--repetitions", options->repetitions, 1, kMaxTokenCount,
                    "Timed calls, after one untimed call");
  options->model.add_load_options(command);
  options->model.add_draft_options(command);
  add_value_option(command, "--seed", options->seed, "N", "Seed of the random source tokens")->capture_default_str();
  CLI::Option* profile = add_value_option(command, "--profile", options->trace, "[FILE]",
                                          "Print the time of each node of the graphs to standard error. With FILE, "
                                          "also write every run of a node to FILE, as a Chrome trace")
                             ->expected(0, 1);
  return [options, profile] {
    options->profile = profile->count() > 0;
    bench(*options);
  };
}

}  // namespace encdec::cli
