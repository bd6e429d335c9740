#pragma once

#include <functional>
#include <string_view>

namespace encdec::cli {

// Where text goes, piece by piece.
using TextSink = std::function<void(std::string_view)>;

}  // namespace encdec::cli
