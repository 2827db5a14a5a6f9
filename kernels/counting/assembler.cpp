// SPDX-License-Identifier: Apache-2.0
// `as` for counted code: GCC finds it with -B, gives it assembly, and it gives the system's
// assembler the same assembly that counts.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "kernels/counting/rewriter.hpp"

namespace {

// A file of its own beside the compiler's temporary one, gone when the assembler is done.
std::string rewritten(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::string to = path + "." + std::to_string(::getpid()) + ".counted";
  std::ofstream out(to, std::ios::binary);
  out << npu::counting::count_instructions(text) << std::flush;
  if (file.bad() || !file.is_open() || !out) {
    std::cerr << "as: " << path << ": " << std::strerror(errno) << '\n';
    return {};
  }
  return to;
}

bool is_assembly(const std::string& word) {
  return word.size() > 2 && word.compare(word.size() - 2, 2, ".s") == 0;
}

int run(std::vector<std::string> words) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::execvp(arguments[0], arguments.data());
    std::perror("as");
    ::_exit(127);
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) < 0) return std::perror("as"), 1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace

int main(int count, char** words) {
  std::vector<std::string> command{"as"};
  std::string temporary;
  for (int i = 1; i < count; ++i) {
    std::string word = words[i];
    const bool is_value = i > 1 && std::strcmp(words[i - 1], "-o") == 0;
    if (is_assembly(word) && !is_value) {
      temporary = rewritten(word);
      if (temporary.empty()) return 1;
      word = temporary;
    }
    command.push_back(word);
  }
  const int code = run(command);
  if (!temporary.empty()) ::unlink(temporary.c_str());
  return code;
}
