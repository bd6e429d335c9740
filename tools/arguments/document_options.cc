#include "document_options.h"

#include <utility>

#include "argument_table.h"
#include "words.h"

namespace encdec::cli {
namespace {

// CLI11's way to print a text and end; it adds the last line's end.
[[noreturn]] void print_and_end(std::string text) {
  text.pop_back();
  throw CLI::CallForVersion(std::move(text), 0);
}

std::string completion(const std::string& shell, const CLI::App& program) {
  if (shell == "bash") return bash_completion(program);
  return shell == "zsh" ? zsh_completion(program) : fish_completion(program);
}

}  // namespace

void add_document_options(CLI::App& program, const std::string& see_also) {
  program.add_flag_callback(
      "--man", [&program, see_also] { print_and_end(manual_page(program, see_also)); },
      "Print the manual page and exit: " + program.get_name() + " --man | man -l -");
  CLI::Option* completes = program.add_option_function<std::string>(
      "--completion", [&program](const std::string& shell) { print_and_end(completion(shell, program)); },
      "Print what this shell completes arguments by and exit");
  take_words(completes, {"bash", "zsh", "fish"});
}

}  // namespace encdec::cli
