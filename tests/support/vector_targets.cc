#include "tests/support/vector_targets.h"

#include <gtest/gtest.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

namespace encdec {

void for_each_vector_target(const std::function<void()>& test) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    const testing::ScopedTrace trace(__FILE__, __LINE__, hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    test();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace encdec
