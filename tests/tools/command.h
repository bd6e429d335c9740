#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace encdec {

// The exit status of a program and its output.
struct Finished {
  int status = -1;     // exit status; 128 + the number of the signal that ended the program
  std::string output;  // standard output
  std::string errors;  // standard error
};

// A command to run, the program first. A program that hangs is ended by SIGALRM after four minutes, or forty minutes in
// an emulator.
struct Command {
  std::vector<std::string> arguments;
  std::string input = {};                  // standard input
  std::filesystem::path output_file = {};  // where standard output goes instead of Finished::output
  std::vector<int> closed = {};            // closed standard streams, by number: 0, 1 or 2
};

Finished run(const Command& command);

// A running program, to which a test writes and from which it reads.
class Process {
 public:
  explicit Process(std::vector<std::string> arguments);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void write(std::string_view text);
  // Waits until the program has read all that was written.
  void wait_for_reading();
  void close_input();
  // Returns the next line of the program's standard output without the line end. Returns the rest if the program ends.
  std::string read_line();
  // Returns the next `bytes` bytes of standard output; fewer only if the program ends.
  std::string read(std::size_t bytes);
  void close_output();
  void send(int signal);
  int id() const { return process_; }
  // Closes the program's standard input and waits for its end.
  Finished wait();

 private:
  pid_t process_ = -1;
  int input_ = -1;
  int output_ = -1;
  int errors_ = -1;
};

// Returns success if the program failed with `status`, wrote nothing to standard output, and wrote one line to standard
// error that begins with "encdec: " and contains all of `parts`.
testing::AssertionResult failed(const Finished& finished, int status, const std::vector<std::string>& parts);

// Paths of the programs of this build. encdec_command() runs encdec.
extern const std::string kEncdec;
extern const std::string kEncdecDemo;
Finished encdec_command(std::vector<std::string> arguments, std::string input = {});
// Runs encdec with a terminal as standard input, in which a user has typed `typed`.
Finished run_with_typed(const std::string& typed, std::vector<std::string> arguments);

}  // namespace encdec
