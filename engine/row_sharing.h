#pragma once

#include <cstdint>
#include <type_traits>

#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/base/tensor.h"
#include "encdec/engine/thread_team.h"

namespace encdec {

// Calls body(row) or body(row, thread) for each row of `rows_of`. Uses all threads if the tensor is large.
template <class Body>
void for_each_row(const Tensor& rows_of, ThreadTeam& team, const Body& body) {
  // Minimum number of elements that threads share. Less work ends before another thread could start.
  constexpr std::int64_t kWorkWorthSharing = 16'384;
  const int rows = static_cast<int>(rows_of.rows());
  const int parts = rows_of.elements() < kWorkWorthSharing ? 1 : team.size();
  team.run(parts, [&](int part, int thread) {
    for (int row = part * rows / parts; row < (part + 1) * rows / parts; ++row) {
      poll_cancelled();
      if constexpr (std::is_invocable_v<Body, int, int>) {
        body(row, thread);
      } else {
        body(row);
      }
    }
  });
}

}  // namespace encdec
