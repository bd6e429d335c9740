#pragma once

namespace encdec::cli {

// Prepares a program for memory problems.
// - If the address space is limited (ulimit -v), threads share one heap instead of reserving 64 MiB each.
// - If a mapped file cannot be read, because it was truncated or its disk fails, the program prints its name and the
//   file on standard error, and exits with status 1. Unfinished output files do not get their final names.
// REQUIRES: called before anything else; `program` is a literal.
void prepare_memory(const char* program);

}  // namespace encdec::cli
