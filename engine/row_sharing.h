#pragma once

#include <cstdint>

#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/base/tensor.h"
#include "encdec/engine/thread_team.h"

namespace encdec {

// Calls body(row) for every row of a tensor, shared out among the team where there is enough to do.
template <class Body>
void for_each_row(const Tensor& rows_of, ThreadTeam& team, const Body& body) {
  // Elements below which the other threads would come too late.
  constexpr std::int64_t kWorkWorthSharing = 16'384;
  const int rows = static_cast<int>(rows_of.rows());
  const int parts = rows_of.elements() < kWorkWorthSharing ? 1 : team.size();
  team.run(parts, [&](int part, int) {
    for (int row = part * rows / parts; row < (part + 1) * rows / parts; ++row) {
      poll_cancelled();
      body(row);
    }
  });
}

}  // namespace encdec
