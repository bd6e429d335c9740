#pragma once

#include <encdec/engine/run_state.h>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace encdec::cli {

// Times of one call of generate.
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
  // sum: keeps the total of each node, for table(). keep: also keeps each run, for trace(); memory grows with each run.
  enum class Runs : std::uint8_t { sum, keep };

  explicit Profile(Runs runs) : keeps_runs_(runs == Runs::keep) {}

  void add(const NodeRun& run);
  void add(const MeasuredCall& call) { calls_.push_back(call); }
  void clear();

  // Returns three tables as text: time by node, by kind of layer, and by part of a call. Rows are sorted by time, the
  // longest first.
  std::string table() const;
  // Returns a JSON object in the format of about:tracing and Perfetto, with a track for the calls and one for each
  // graph. Each run of a node is an event. Times are microseconds since the first call.
  // REQUIRES: the profile was made with Runs::keep.
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

}  // namespace encdec::cli
