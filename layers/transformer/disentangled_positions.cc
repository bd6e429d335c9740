#include "encdec/layers/transformer/disentangled_positions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <memory>

#include "encdec/engine/base/error.h"
#include "encdec/engine/kernels/bfloat16_attention.h"
#include "encdec/engine/key_value_cache.h"
#include "encdec/engine/matmul.h"
#include "encdec/engine/run_state.h"
#include "encdec/layers/transformer/add_norm.h"

namespace encdec {
namespace {

// Returns the relative embeddings [2 * span, D]. Applies the layer norm if the model has one.
Tensor embeddings_of(const WeightScope& weights, const DisentangledOptions& options, Dim model_dim, RunState& state) {
  Tensor embeddings = (weights / "distance_embedding").tensor("weight", {2 * Dim{options.span}, model_dim});
  if (options.norm_epsilon < 0) return embeddings;
  Tensor normalized = Tensor::allocate(embeddings.shape());
  AddNorm(weights / "distance_embedding_norm", {.width = model_dim, .epsilon = options.norm_epsilon})
      .forward(std::array{embeddings}, normalized, state);
  return normalized;
}

// Reorders `rows`, each of which holds all heads, to the layout that the kernels read: one head after the other. Sets
// form.head_elements.
Tensor stored_rows(const Tensor& rows, int heads, int head_dim, bool in_bfloat16, kernels::DistanceRows& form) {
  const auto width = static_cast<std::ptrdiff_t>(rows.width());
  if (in_bfloat16) {
    const kernels::Bfloat16Head head{.key_count = form.count, .head_dim = head_dim};
    form.head_elements = static_cast<std::ptrdiff_t>(head.keys());
    Tensor packed = Tensor::allocate({heads, form.head_elements}, DataType::bfloat16);
    for (int h = 0; h < heads; ++h) {
      kernels::pack_bfloat16_keys(head, rows.data<float>() + h * head_dim, width,
                                  reinterpret_cast<std::uint16_t*>(packed.raw()) + h * form.head_elements);
    }
    return packed;
  }
  // Transpose for the float32 kernels, which read one row per dimension.
  form.head_elements = head_dim * form.stride();
  Tensor columns = Tensor::allocate({width, form.stride()});
  for (int n = 0; n < form.count; ++n) {
    for (std::ptrdiff_t i = 0; i < width; ++i) columns.row(i)[n] = rows.row(n)[i];
  }
  return columns;
}

}  // namespace

void DisentangledOptions::check() const {
  if (max_distance == 0) return;
  if (span < 2) throw ShapeError(fmt::format("{} position buckets, expected at least 2", span));
  if (max_distance > span / 2 + 1) return;
  throw ShapeError(fmt::format("largest relative distance {} with {} position buckets, expected more than {}",
                               max_distance, span, span / 2 + 1));
}

int DisentangledOptions::bucket_of(int distance) const {
  const int middle = span / 2, length = std::abs(distance);
  int bucket = length;
  if (max_distance > 0 && length > middle) {
    // Compute in float32, as in training. Double precision would assign some distances to other buckets.
    const float share = std::log(static_cast<float>(length) / static_cast<float>(middle)) /
                        std::log(static_cast<float>(static_cast<double>(max_distance - 1) / middle));
    bucket = middle + static_cast<int>(std::ceil(share * static_cast<float>(middle - 1)));
  }
  return std::clamp(distance < 0 ? span - bucket : span + bucket, 0, 2 * span - 1);
}

DisentangledPositions::DisentangledPositions(const WeightScope& weights, const DisentangledOptions& options,
                                             Dim model_dim, int heads, Dim head_dim) {
  options.check();
  // The projections run once, outside of any graph.
  const std::shared_ptr<ThreadTeam> team = weights.pack().team.lock();
  RunState state(Graph("positions"), team != nullptr ? team : std::make_shared<ThreadTeam>());
  const Tensor embeddings = embeddings_of(weights, options, model_dim, state);
  const Dim inner = heads * head_dim;
  const bool in_bfloat16 =
      attends_in_bfloat16(weights.pack().precision) && head_dim <= kernels::Bfloat16Head::kLargestDim;
  const auto fill = [&](const char* name, int sign, Table& table) {
    // Project all embeddings.
    const WeightScope scope = weights / name;
    Tensor projected = Tensor::allocate({embeddings.rows(), inner});
    MatMul(std::array{scope.matrix("weight", {inner, model_dim})}, std::array{scope.tensor("bias", {inner})})
        .forward(embeddings, nullptr, projected, state);
    // Keys are indexed by j - i and queries by i - j (query i, key j), so that kernels read both in ascending order.
    if (sign < 0) {
      for (Dim n = 0; n < embeddings.rows() / 2; ++n) {
        std::swap_ranges(projected.row(n), projected.row(n) + inner, projected.row(embeddings.rows() - 1 - n));
      }
    }
    table.description.count = 2 * options.span;
    table.description.reach = std::max(options.span, options.max_distance);
    // Map each distance within reach to its row in the table.
    for (int distance = -table.description.reach; distance <= table.description.reach; ++distance) {
      const int bucket = options.bucket_of(sign * distance);
      table.row_of.push_back(sign < 0 ? 2 * options.span - 1 - bucket : bucket);
    }
    table.stored = stored_rows(projected, heads, static_cast<int>(head_dim), in_bfloat16, table.description);
  };
  if (options.scores_queries) fill("distance_key", -1, keys_);
  if (options.scores_keys) fill("distance_query", 1, queries_);
}

kernels::DistanceRows DisentangledPositions::Table::rows() const {
  kernels::DistanceRows rows = description;
  if (rows.count == 0) return rows;
  rows.row_of = row_of.data() + rows.reach;
  if (stored.type() == DataType::bfloat16) {
    rows.packed = reinterpret_cast<const std::uint16_t*>(stored.raw());
  } else {
    rows.columns = stored.data<float>();
  }
  return rows;
}

}  // namespace encdec
