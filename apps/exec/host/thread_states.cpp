// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/host/thread_states.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <string_view>

namespace npu::exec {
namespace {

constexpr std::size_t kStart = 4096;

FileDescriptor open_file(const std::string& path) {
  return FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

// The beginning of a file of /proc; empty: it has gone, or may not be read.
std::string read_start(const std::string& path) {
  char text[kStart];
  const auto file = open_file(path);
  if (!file) return {};
  const auto size = ::read(file.get(), text, sizeof text);
  return size <= 0 ? std::string() : std::string(text, static_cast<std::size_t>(size));
}

// A thread that is about to sleep has state S before it looks for its reason to: waitpid() reaps a
// child in that state. The kernel answers this question when the thread has left its core.
bool is_on_core(const std::string& folder) {
  constexpr char kRunning[] = "running";
  return read_start(folder + "/syscall").compare(0, sizeof kRunning - 1, kRunning) == 0;
}

// "number (name) S ...": the name may hold anything.
char state_in(std::string_view stat) {
  const auto end = stat.rfind(')');
  return end == std::string_view::npos || end + 2 >= stat.size() ? 'X' : stat[end + 2];
}

// A word of a "stat" by its number in proc(5), which is past that of the name.
std::uint64_t word_in(std::string_view stat, unsigned number) {
  constexpr unsigned kName = 2;
  auto at = stat.rfind(')');
  for (unsigned i = kName; i < number && at != std::string_view::npos; ++i) {
    at = stat.find(' ', at + 1);
  }
  if (at == std::string_view::npos) return 0;
  return std::strtoull(std::string(stat.substr(at)).c_str(), nullptr, 10);
}

// A signal that ends it waits for it, or it ends.
bool says_that_it_ends(std::string_view stat) {
  constexpr unsigned kFlags = 9, kPending = 31;
  constexpr std::uint64_t kExiting = 0x4, kSignalled = 0x400, kKilled = 1ULL << (SIGKILL - 1);
  return (word_in(stat, kFlags) & (kExiting | kSignalled)) != 0 ||
         (word_in(stat, kPending) & kKilled) != 0;
}

ThreadState state_of(const std::string& folder, pid_t thread) {
  ThreadState state;
  state.thread = thread;
  state.state = state_in(read_start(folder + "/stat"));
  if (state.state == 'S' && is_on_core(folder)) state.state = 'R';
  // "ran waited slices"
  const std::string counts = read_start(folder + "/schedstat");
  const auto last = counts.rfind(' ');
  if (last != std::string::npos) state.slices = std::strtoull(counts.c_str() + last, nullptr, 10);
  return state;
}

std::string folder_of(pid_t process) {
  return "/proc/" + std::to_string(process) + "/task";
}

template <class Look>
void for_each_thread(pid_t process, Look look) {
  const std::string folder = folder_of(process);
  DIR* const list = ::opendir(folder.c_str());
  if (list == nullptr) return;
  while (const dirent* const entry = ::readdir(list)) {
    const pid_t thread = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
    if (thread > 0) look(thread, folder + "/" + entry->d_name);
  }
  ::closedir(list);
}

}  // namespace

// A process that wakes in order to end has a time at which neither word tells it: the signal is
// taken, and its end not yet said. It runs then (R), so that one that runs is looked at again, for
// a while: once, until it has slept. One that runs for another reason would be looked at all the
// time.
bool FirstThread::is_ending(pid_t process) {
  constexpr unsigned kLooks = 1'000, kFew = 2;
  if (!state_) {
    state_ = open_file(folder_of(process) + "/" + std::to_string(process) + "/stat");
  }
  const unsigned looks = runs_ ? kFew : kLooks;
  for (unsigned look = 0; look < looks; ++look) {
    char text[kStart];
    const auto size = ::pread(state_.get(), text, sizeof text, 0);
    if (size < 0) return errno == ESRCH;
    const std::string_view stat(text, static_cast<std::size_t>(size));
    if (says_that_it_ends(stat)) return true;
    runs_ = state_in(stat) == 'R';
    if (!runs_) return false;
    ::sched_yield();
  }
  return false;
}

std::vector<ThreadState> thread_states(pid_t process, const std::function<bool(pid_t)>& is_known) {
  std::vector<ThreadState> states;
  for_each_thread(process, [&](pid_t thread, const std::string& folder) {
    const bool known = is_known && is_known(thread);
    states.push_back(known ? ThreadState{thread, 0, 0} : state_of(folder, thread));
  });
  std::sort(states.begin(), states.end(),
            [](const ThreadState& a, const ThreadState& b) { return a.thread < b.thread; });
  return states;
}

// Its first thread is left, as a zombie. The kernel tells the parent under the lock that waitid()
// takes as well: afterwards it has.
bool has_ended(pid_t process) {
  const auto states = thread_states(process);
  if (states.size() > 1 || (!states.empty() && states.front().state != 'Z')) return false;
  siginfo_t any;
  static_cast<void>(::waitid(P_ALL, 0, &any, WEXITED | WNOHANG | WNOWAIT));
  return true;
}

std::vector<pid_t> children_of(pid_t process) {
  std::vector<pid_t> children;
  for_each_thread(process, [&](pid_t, const std::string& folder) {
    std::istringstream numbers(read_start(folder + "/children"));
    for (pid_t child = 0; numbers >> child;) children.push_back(child);
  });
  std::sort(children.begin(), children.end());
  return children;
}

// A folder has a link from each folder in it, and two of its own.
char state_of_thread(pid_t process, pid_t thread) {
  return state_in(
      read_start("/proc/" + std::to_string(process) + "/task/" + std::to_string(thread) + "/stat"));
}

unsigned count_threads(pid_t process) {
  struct stat information {};
  if (::stat(folder_of(process).c_str(), &information) != 0) return 0;
  return information.st_nlink < 2 ? 0 : static_cast<unsigned>(information.st_nlink) - 2;
}

}  // namespace npu::exec
