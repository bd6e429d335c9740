#pragma once

#include <encdec/engine/run_state.h>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace encdec::cli {

// One call of generate, as measured from outside of the graphs.
struct MeasuredCall {
  NodeRun::Time begin;
  NodeRun::Time end;
  double encode_seconds = 0;  // of it in Session::encode()
  double decode_seconds = 0;  // and in Session::decode()

  double seconds() const { return std::chrono::duration<double>(end - begin).count(); }
};

// Where the time of calls of generate goes, node by node. The graphs must outlive it.
class Profile {
 public:
  enum class Runs : std::uint8_t { sum, keep };

  // Only with Runs::keep is there a trace: memory then grows with every run of a node.
  explicit Profile(Runs runs) : keeps_runs_(runs == Runs::keep) {}

  void add(const NodeRun& run);
  // After the runs of its nodes.
  void add(const MeasuredCall& call) { calls_.push_back(call); }
  // Forgets everything.
  void clear();

  // Lines for people: every node, the most expensive first, sums by kind of layer, and what is outside of nodes.
  std::string table() const;
  // A JSON object in the format of about:tracing and Perfetto: a track for the calls and one for each graph, an event
  // for every run of a node, microseconds from the first call on.
  std::string trace() const;

 private:
  struct Node {
    const Graph* graph;
    const Graph::Node* node;
    std::int64_t runs = 0;
    double seconds = 0;
  };
  struct Run {
    std::size_t node;  // of nodes_
    NodeRun::Time begin;
    NodeRun::Time end;
  };

  bool keeps_runs_;
  std::vector<Node> nodes_;  // in the order of their first run
  std::unordered_map<const Graph::Node*, std::size_t> index_of_;
  std::vector<Run> runs_;
  std::vector<MeasuredCall> calls_;
};

}  // namespace encdec::cli
