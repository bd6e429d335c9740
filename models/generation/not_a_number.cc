#include "encdec/models/generation/not_a_number.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace encdec {
namespace {

constexpr Dim kPiece = 4096;  // number of elements to read at a time

bool is_wrong(float value) {
  return !std::isfinite(value);
}

// Returns a message about the first used weight that is not finite, or an empty string.
std::string find_weight(const WeightScope& weights) {
  const WeightStore& store = weights.store();
  const std::vector<std::string> unused = weights.unused();
  for (const auto& [name, tensor] : store.tensors()) {
    if (!is_weight_type(tensor.type()) || std::ranges::binary_search(unused, name)) continue;
    std::array<float, kPiece> values;
    for (Dim first = 0; first < tensor.elements(); first += kPiece) {
      const Dim count = std::min(kPiece, tensor.elements() - first);
      store.read_as_float(tensor, first, count, values.data());
      const auto wrong = std::find_if(values.begin(), values.begin() + count, is_wrong);
      if (wrong == values.begin() + count) continue;
      return fmt::format("tensor '{}' has {} at element {}", name, *wrong, first + (wrong - values.begin()));
    }
  }
  return "";
}

// Runs the prompt again. Returns a message about the first node whose output is not finite, or "".
std::string find_node(const Prompt& prompt, SessionPool& sessions) {
  std::string found;
  SessionPool::Lease session(sessions);
  session->set_observer([&](const Graph::Node& node, const Tensor& output) {
    if (!found.empty() || output.type() != DataType::float32) return;
    const std::span values(output.data<float>(), static_cast<std::size_t>(output.elements()));
    const auto wrong = std::ranges::find_if(values, is_wrong);
    if (wrong != values.end()) found = fmt::format("'{}' is the first node that gives {}", node.name, *wrong);
  });
  // Encode and decode once. The observer checks the output of every node.
  int source = Session::kNoSource;
  if (!prompt.frames.empty()) {
    source = session->encode(std::span(&prompt.frames, 1)).sources.front();
  } else if (!prompt.source.empty()) {
    source = session->encode(std::span(&prompt.source, 1)).sources.front();
  }
  const Session::TargetTokens target{session->open_target(source), prompt.target};
  session->decode(std::span(&target, 1));
  return found;
}

}  // namespace

NotANumber::NotANumber(Prompt prompt)
    : BackendError(fmt::format("source {}: the model computed NaN", prompt.number)), prompt_(std::move(prompt)) {}

void explain(const NotANumber& failure, const ModelParts& parts) {
  // Look for a weight that is not finite. If all weights are finite, run the prompt again.
  std::string cause = find_weight(parts.network.weights);
  if (cause.empty()) cause = find_node(failure.prompt(), parts.sessions);
  if (cause.empty()) cause = "all weights are finite: values became too large in a later step";
  throw BackendError(fmt::format("{}: {}: {}", parts.origin, failure.what(), cause));
}

std::exception_ptr explained(const std::exception_ptr& failure, const ModelParts& parts) {
  try {
    std::rethrow_exception(failure);
  } catch (const NotANumber& wrong) {
    try {
      explain(wrong, parts);
    } catch (...) {
      return std::current_exception();
    }
  } catch (...) {
    return failure;
  }
}

}  // namespace encdec
