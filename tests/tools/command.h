#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace encdec {

// How a program ended and what it wrote.
struct Finished {
  int status = -1;     // exit status; 128 + the signal if one has ended it
  std::string output;  // standard output
  std::string errors;  // standard error
};

// What to run, the program first. One that hangs is ended by SIGALRM after four minutes, forty
// in an emulator.
struct Command {
  std::vector<std::string> arguments;
  std::string input;                  // standard input
  std::filesystem::path output_file;  // where standard output goes instead of Finished::output
  std::vector<int> closed;            // of 0, 1 and 2: standard streams that the program does not get
};

Finished run(const Command& command);

// A program that is talked to while it runs.
class Process {
 public:
  explicit Process(std::vector<std::string> arguments);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void write(std::string_view text);
  void close_input();
  // The next line of its standard output, without the line end; what there is of it if the program ends.
  std::string read_line();
  // The next bytes of it, fewer only if the program ends.
  std::string read(std::size_t bytes);
  void close_output();
  void send(int signal);
  int id() const { return process_; }
  // Closes its input and waits for its end.
  Finished wait();

 private:
  pid_t process_ = -1;
  int input_ = -1;
  int output_ = -1;
  int errors_ = -1;
};

// True for a program that failed with `status`, wrote nothing to standard output and exactly one line to standard
// error, which begins with "encdec: " and has all of `parts` in it.
testing::AssertionResult failed(const Finished& finished, int status, const std::vector<std::string>& parts);

// The path of a program of this build, and a run of encdec.
extern const std::string kEncdec;
extern const std::string kEncdecDemo;
Finished encdec_command(std::vector<std::string> arguments, std::string input = {});

}  // namespace encdec
