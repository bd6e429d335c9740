#include "encdec/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace encdec::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kProcess = 1;
constexpr int kCallTrack = 0;

struct Row {
  std::string name;
  std::string detail;
  std::int64_t runs = 0;
  double seconds = 0;
};

// Returns the rows as lines of a table, the longest time first. `titles` has the names of the two text columns. `whole`
// is the time, in seconds, of which shares are computed.
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

Json track_name(int track, const std::string& name) {
  return {{"name", "thread_name"}, {"ph", "M"}, {"pid", kProcess}, {"tid", track}, {"args", {{"name", name}}}};
}

}  // namespace

void Profile::add(const NodeRun& run) {
  const auto [found, is_new] = index_of_.try_emplace(&run.node, nodes_.size());
  if (is_new) nodes_.push_back({.graph = &run.graph, .node = &run.node});
  Node& node = nodes_[found->second];
  ++node.runs;
  node.seconds += std::chrono::duration<double>(run.end - run.begin).count();
  if (keeps_runs_) runs_.push_back({found->second, run.begin, run.end});
}

void Profile::clear() {
  nodes_.clear();
  index_of_.clear();
  runs_.clear();
  calls_.clear();
}

std::string Profile::table() const {
  double whole = 0, encode = 0, decode = 0;
  for (const MeasuredCall& call : calls_) {
    whole += call.seconds();
    encode += call.encode_seconds;
    decode += call.decode_seconds;
  }
  std::vector<Row> nodes;
  std::map<std::string, std::vector<Row>> kinds;
  double in_encoder = 0, in_nodes = 0;
  for (const auto& [graph, node, runs, seconds] : nodes_) {
    const std::string kind(node->layer->kind());
    kinds[kind].push_back(nodes.emplace_back(Row{node->name, kind, runs, seconds}));
    in_nodes += seconds;
    if (graph->name() == "encoder") in_encoder += seconds;
  }
  std::vector<Row> sums;
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

}  // namespace encdec::cli
