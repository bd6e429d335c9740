#pragma once

#include <vector>

#include "encdec/models/speech/transcript/word_alignment.h"
#include "encdec/models/speech/transcription/transcription_task.h"

namespace encdec {

// When the words of a window's text were said: has a source read its text once more, and looks at what the alignment
// heads look at (openai/whisper timing.py). `text`: ids below the end of text; without them there are no words.
std::vector<WordTiming> read_word_times(Session& session, int source, const TranscriptionTask& task,
                                        std::int32_t language, const WindowPlace& place, const TokenIds& text);

// When each token that was decoded behind a prompt was said, by what the decoder looked at when it read it:
// transformers' definition (generation_whisper.py, _extract_token_timestamps).
std::vector<TokenTiming> read_token_times(Session& session, int source, const TranscriptionTask& task,
                                          const WindowPlace& place, const TokenIds& prompt,
                                          const DecodedWindow& decoded);

// What a text's tokens are words of.
std::vector<WordTiming> split_words(const TranscriptionTask& task, std::int32_t language, const TokenIds& text);

}  // namespace encdec
