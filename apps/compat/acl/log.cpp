// SPDX-License-Identifier: Apache-2.0
// Lines of the program's log.
#include <acl/acl_log.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace {

constexpr int kFailed = -1;
constexpr int32_t kOwnModules = 0xFF00, kLastOwnModule = 0xFFFF;

struct Listener {
  acllogRecordCallback call = nullptr;
  void* data = nullptr;
  uint32_t type = OUTPUT_TYPE_BOTH;
};
struct Log {
  std::mutex lock;
  std::map<acllogCallbackHandle, Listener> all;
  acllogCallbackHandle given = 0;
};
Log& the_log() {
  static auto* const kLog = new Log;
  return *kLog;
}

// A digit of the environment, at most `most`.
int32_t number_of(const char* name, int32_t most, int32_t otherwise) {
  const char* const text = std::getenv(name);
  if (text == nullptr || text[0] < '0' || text[0] > '0' + most || text[1] != 0) return otherwise;
  return text[0] - '0';
}

bool is_written(int32_t module, int32_t level, uint32_t type) {
  if (module < 0 || level < DLOG_DEBUG || level >= DLOG_NULL) return false;
  if (type == OUTPUT_TYPE_RUN) return level >= DLOG_INFO;
  return level >= number_of("ASCEND_GLOBAL_LOG_LEVEL", DLOG_NULL, DLOG_ERROR);
}

std::string name_of(int32_t module) {
  if (module >= kOwnModules && module <= kLastOwnModule) return "USER_" + std::to_string(module);
  return std::to_string(module);
}

std::string text_of(const char* format, va_list values) {
  va_list again;
  va_copy(again, values);
  const int size = std::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  if (size < 0) return {};
  std::vector<char> text(static_cast<std::size_t>(size) + 1);
  std::vsnprintf(text.data(), text.size(), format, values);
  return text.data();
}

void write(const std::string& line, uint32_t type) {
  if (number_of("ASCEND_SLOG_PRINT_TO_STDOUT", 1, 0) == 1) {
    std::fwrite(line.data(), 1, line.size(), stdout);
    return;
  }
  const char* const path = std::getenv("ASCEND_PROCESS_LOG_PATH");
  if (path == nullptr || *path == 0) return;
  const auto folder =
      std::filesystem::path(path) / (type == OUTPUT_TYPE_RUN ? "run" : "debug") / "plog";
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::ofstream file(folder / ("plog-" + std::to_string(::getpid()) + ".log"), std::ios::app);
  file << line;
}

}  // namespace

extern "C" {

int32_t acllogRegisterCallback(acllogRecordCallback call, void* data, uint32_t type,
                               acllogCallbackHandle* handle) {
  if (call == nullptr || handle == nullptr || type >= OUTPUT_TYPE_MAX) return kFailed;
  const std::lock_guard<std::mutex> held(the_log().lock);
  *handle = ++the_log().given;
  the_log().all[*handle] = {call, data, type};
  return 0;
}

int32_t acllogUnregisterCallback(acllogCallbackHandle handle) {
  const std::lock_guard<std::mutex> held(the_log().lock);
  return the_log().all.erase(handle) != 0 ? 0 : kFailed;
}

void acllogVaList(int32_t module, int32_t level, const char* format, va_list values) {
  constexpr auto kRun = static_cast<int32_t>(RUN_LOG_MASK);
  const uint32_t type = module >= 0 && (module & kRun) != 0 ? OUTPUT_TYPE_RUN : OUTPUT_TYPE_DEBUG;
  if (format == nullptr || !is_written(module, level, type)) return;
  constexpr const char* kLevels[] = {"DEBUG", "INFO", "WARNING", "ERROR"};
  auto line = std::string("[") + kLevels[level] + "] " + name_of(module & ~kRun) + "(" +
              std::to_string(::getpid()) + "): " + text_of(format, values);
  if (line.back() != '\n') line += '\n';
  std::unique_lock<std::mutex> held(the_log().lock);
  const auto all = the_log().all;
  held.unlock();
  for (const auto& [handle, each] : all) {
    if (each.type != OUTPUT_TYPE_BOTH && each.type != type) continue;
    static_cast<void>(each.call(each.data, type, line.data(), line.size()));
  }
  write(line, type);
}

void acllogRecord(int32_t module, int32_t level, const char* format, ...) {
  va_list values;
  va_start(values, format);
  acllogVaList(module, level, format, values);
  va_end(values);
}

int32_t acllogCheckDebugLevel(int32_t module, int32_t level) {
  return is_written(module, level, OUTPUT_TYPE_DEBUG) ? 1 : 0;
}

}  // extern "C"
