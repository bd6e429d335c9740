#include "encdec/models/tokenizer/pipeline/post_processor.h"

namespace encdec {

PostProcessor::Template PostProcessor::around_one(const Affixes& affixes) {
  return {{.ids = affixes.before}, {.kind = Part::Kind::first_text}, {.ids = affixes.after}};
}

std::size_t PostProcessor::added(const Template& form) {
  std::size_t count = 0;
  for (const Part& part : form) count += part.ids.size();
  return count;
}

std::vector<std::int32_t> PostProcessor::apply(const Template& form, std::span<const std::int32_t> first,
                                               std::span<const std::int32_t> second) {
  std::vector<std::int32_t> result;
  for (const Part& part : form) {
    const std::span<const std::int32_t> ids = part.kind == Part::Kind::first_text    ? first
                                              : part.kind == Part::Kind::second_text ? second
                                                                                     : std::span(part.ids);
    result.insert(result.end(), ids.begin(), ids.end());
  }
  return result;
}

}  // namespace encdec
