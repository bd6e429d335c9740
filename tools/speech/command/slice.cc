#include "slice.h"

#include <array>

#include "command/commands.h"

namespace encdec::cli {

// These functions are defined in transcribe.cc and align.cc.
Action add_transcribe(CLI::App& command);
Action add_align(CLI::App& command);

CommandSlice speech_command_slice() {
  static constexpr std::array kSubcommands = {
      Subcommand{"transcribe", "Transcribe recordings to text, subtitles or JSON with timestamps", add_transcribe,
                 "encdec transcribe --model whisper-tiny --output-format srt speech.flac"},
      Subcommand{"align", "Find when each word of a known text is said in a recording", add_align},
  };
  return {.subcommands = kSubcommands};
}

}  // namespace encdec::cli
