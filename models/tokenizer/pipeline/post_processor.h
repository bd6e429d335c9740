#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace encdec {

// Puts special tokens around the ids of one text, or of two.
struct PostProcessor {
  // Ids, or one of the texts.
  struct Part {
    enum class Kind { ids, first_text, second_text };

    Kind kind = Kind::ids;
    std::vector<std::int32_t> ids = {};
  };
  using Template = std::vector<Part>;

  // `before` and `after` one text; of two, the second follows after `between`.
  struct Affixes {
    std::vector<std::int32_t> before;
    std::vector<std::int32_t> after;
  };
  static Template around_one(const Affixes& affixes);

  Template single = around_one({});
  Template pair = {{.kind = Part::Kind::first_text}, {.kind = Part::Kind::second_text}};

  // Ids that a template adds to those of the texts.
  static std::size_t added(const Template& form);
  static std::vector<std::int32_t> apply(const Template& form, std::span<const std::int32_t> first,
                                         std::span<const std::int32_t> second);
};

}  // namespace encdec
