// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/jit/workshop.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace npu::jit {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTemplate =
    "extern \"C\" __attribute__((visibility(\"default\"))) void run(unsigned blocks, void*,\n"
    "                                                             const void* params) {\n"
    "  *static_cast<int*>(const_cast<void*>(params)) = NPU_JIT_ANSWER + static_cast<int>(blocks);\n"
    "}\n";
constexpr uid_t kNobody = 65534;

}  // namespace

Workshop::Workshop() {
  chmod(folder_.path().c_str(), 0755);
  write("templates/answer.cpp", kTemplate);
}

std::string Workshop::read(const std::string& name) const {
  std::ifstream file(path(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string Workshop::compiler(const std::string& body) const {
  write("compiler",
        "#!/bin/sh\n"
        "if [ \"$1\" = --version ]; then echo a compiler of tests; exit 0; fi\n"
        "echo started >> " +
            path("starts") + "\nfor out; do :; done\n" + body + "\nexec c++ \"$@\"\n");
  write("starts", "");
  chmod(path("starts").c_str(), 0666);
  chmod(path("compiler").c_str(), 0755);
  return path("compiler");
}

std::string Workshop::quick_compiler() const {
  KernelCache cache(toolchain(compiler()), {});
  const auto made = cache.get(answering(42));
  if (!made) std::abort();
  const auto image = made->kernel->image();
  write("object", {reinterpret_cast<const char*>(image.data), image.size});
  return compiler("exec cp " + path("object") + " \"$out\"");
}

int Workshop::starts() const {
  const std::string log = read("starts");
  return static_cast<int>(std::count(log.begin(), log.end(), '\n'));
}

Toolchain Workshop::toolchain(const std::string& compiler) const {
  Toolchain toolchain;
  toolchain.compiler = compiler;
  toolchain.templates = path("templates");
  return toolchain;
}

std::vector<std::string> Workshop::stored(const std::string& end) const {
  std::vector<std::string> found;
  std::error_code ignored;
  for (fs::recursive_directory_iterator at(path("cache"), ignored), last; at != last;
       at.increment(ignored)) {
    const std::string name = at->path().string();
    if (name.size() > end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0) {
      found.push_back(name);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

KernelRequest answering(int answer) {
  return {"answer.cpp", {{"NPU_JIT_ANSWER", std::to_string(answer)}}, KernelType::kVector};
}

int answer_of(const Loaded& loaded) {
  int answer = -1;
  loaded.kernel->run()(0, nullptr, &answer);
  return answer;
}

bool in_child(const std::function<bool()>& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work() ? 0 : 1);
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

bool as_ordinary_user(const Workshop& workshop, const std::function<bool()>& work) {
  return in_child([&] {
    if (geteuid() != 0) return work();
    const auto give = [](const std::string& path) {
      return chown(path.c_str(), kNobody, kNobody) == 0;
    };
    if (!give(workshop.path("")) ||
        (fs::exists(workshop.path("cache")) && !give(workshop.path("cache"))))
      return false;
    for (const auto& folder : workshop.stored("")) {
      if (!give(folder)) return false;
    }
    return setgid(kNobody) == 0 && setuid(kNobody) == 0 && work();
  });
}

}  // namespace npu::jit
