#include "slice.h"

#include <array>

#include "command/commands.h"

namespace encdec::cli {

// Each is in the file of its name.
Action add_transcribe(CLI::App& command);
Action add_align(CLI::App& command);

CommandSlice speech_command_slice() {
  static constexpr std::array kSubcommands = {
      Subcommand{"transcribe", "Transcribe recordings, with times, to text, subtitles or JSON", add_transcribe,
                 "encdec transcribe --model whisper-tiny --output-format srt speech.flac"},
      Subcommand{"align", "Find when each word of a known text is said in a recording", add_align},
  };
  return {.subcommands = kSubcommands};
}

}  // namespace encdec::cli
