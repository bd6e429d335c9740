#pragma once

#include <encdec/speech/audio/audio_reader.h>
#include <encdec/speech/live/live_session.h>
#include <encdec/speech/transcript/transcript_format.h>
#include <encdec/speech/transcription/recording.h>
#include <encdec/speech/transcription/transcribe_options.h>

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

#include "command/options.h"

namespace encdec::cli {

// Arguments of `encdec transcribe`. Options have the names of openai/whisper's command, with hyphens.
struct TranscribeArguments {
  ModelArguments model;
  std::vector<std::string> files;  // "-" for standard input
  std::string output;
  std::string output_dir;
  std::string stats;
  std::string draft;                      // path of a file of guesses; empty for none
  std::vector<TranscriptFormat> formats;  // empty if --output-format is not given
  TranscriptLineOptions lines;
  bool is_raw = false;  // standard input has no header
  RawAudio raw;
  double temperature = 0;
  std::optional<double> temperature_increment = 0.2;
  TranscribeOptions options;
  bool is_live = false;
  bool has_json_lines = false;  // --output-format jsonl
  LiveOptions live;
};

void add_transcribe_options(CLI::App& command, TranscribeArguments& arguments);
// Adds --raw, --sample-rate and --channels.
void add_raw_options(CLI::App& command, TranscribeArguments& arguments);

// Returns the formats of transcripts; if none is given, that of the ending of --output, else txt.
std::vector<TranscriptFormat> formats_of(const TranscribeArguments& arguments);

// Opens standard input, as WAV or another format, or as samples without a header. Throws FileError and ConfigError.
AudioReader open_standard_input(const TranscribeArguments& arguments);
// Returns the recording of a file, or that of standard input for "-".
Recording recording_of(const std::string& file, const TranscribeArguments& arguments);

// Transcribes one input while it is read. Returns true if all utterances have a text.
bool transcribe_live(const TranscribeArguments& arguments);

// Returns the options that the arguments ask for. Throws UsageError for arguments that exclude each other.
TranscribeOptions transcribe_options(const TranscribeArguments& arguments);

}  // namespace encdec::cli
