#pragma once

namespace encdec::cli {

// What memory may do to a program, before it does anything else. Where the address space is limited (ulimit -v),
// threads share one heap instead of taking 64 MiB each. Bytes of a mapped file that can no longer be read, because
// somebody has cut it off or its disk fails, end the program with status 1 and a line that names it and begins with
// `program`, a literal. Output files that are not whole do not get their names.
void prepare_memory(const char* program);

}  // namespace encdec::cli
