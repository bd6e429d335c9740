#include "command/progress_bar.h"

#include <encdec/models/tokenizer/base/utf8.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace encdec::cli {
namespace {

constexpr auto kInterval = std::chrono::milliseconds(100);
constexpr int kBarWidth = 20;
// The remaining time is estimated once this fraction is finished.
constexpr double kFractionForEstimate = 0.005;

// Returns the time as "1:40" or "1:01:40".
std::string clock_time(double seconds) {
  const std::int64_t total = std::lround(seconds);
  const std::int64_t hours = total / 3600, minutes = total / 60 % 60;
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, total % 60);
  return fmt::format("{}:{:02}", minutes, total % 60);
}

// Returns the number of usable columns: all but the last column, after which some terminals start a new line.
int line_width() {
  winsize size = {};
  return (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80) - 1;
}

// Writes to standard error without a buffer. Ignores errors, because a closed terminal must not stop the work.
void write_to_terminal(const std::string& text) {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

std::string progress_line(const Progress& progress, double seconds, int width) {
  std::string line;
  if (progress.fraction) {
    const double fraction = std::clamp(*progress.fraction, 0.0, 1.0);
    const auto filled = static_cast<std::size_t>(fraction * kBarWidth);
    line = fmt::format("{:3.0f}% [{:<{}}]  ", fraction * 100, std::string(filled, '='), kBarWidth);
  }
  if (progress.audio_seconds) {
    line += fmt::format("{} of audio, {:.1f} times real time", clock_time(*progress.audio_seconds),
                        *progress.audio_seconds / seconds);
  } else {
    line += fmt::format("{} lines, {:.1f} lines/s, {:.0f} tokens/s", progress.lines,
                        static_cast<double>(progress.lines) / seconds, static_cast<double>(progress.tokens) / seconds);
  }
  if (progress.fraction.value_or(0) >= kFractionForEstimate) {
    line += fmt::format(", {} left", clock_time(seconds * (1 - *progress.fraction) / *progress.fraction));
  } else {
    line += fmt::format(", {}", clock_time(seconds));
  }
  return line.substr(0, static_cast<std::size_t>(std::max(width, 0)));
}

ProgressBar::ProgressBar() {
  const char* terminal = std::getenv("TERM");
  enabled_ = ::isatty(STDERR_FILENO) == 1 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

ProgressBar ProgressBar::none() {
  ProgressBar bar;
  bar.enabled_ = false;
  return bar;
}

void ProgressBar::show(const Progress& progress) {
  if (!due()) return;
  const auto now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - start_).count();
  draw(progress_line(progress, seconds, line_width()));
  next_ = now + kInterval;
}

void ProgressBar::show_end(std::string_view text) {
  if (!enabled_) return;
  // Find the longest end of the text that fits. Count two columns for each character that is not ASCII.
  int width = line_width();
  std::size_t begin = text.size();
  for (std::size_t i = text.size(); i-- > 0;) {
    if (is_continuation(text[i])) continue;
    width -= static_cast<unsigned char>(text[i]) < 0x80 ? 1 : 2;
    if (width < 0) break;
    begin = i;
  }
  draw(text.substr(begin));
}

void ProgressBar::draw(std::string_view line) {
  write_to_terminal(fmt::format("\r{}\x1b[K", line));
  drawn_ = true;
}

void ProgressBar::clear() {
  if (drawn_) write_to_terminal("\r\x1b[K");
  drawn_ = false;
}

}  // namespace encdec::cli
