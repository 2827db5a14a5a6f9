// SPDX-License-Identifier: Apache-2.0
#include "apps/compat/acl/dumps.hpp"

#include <acl/acl_dump.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>

namespace npu::compat {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;
constexpr std::size_t kMostSaved = 1024;  // tensors of a call

struct Dumps {
  std::mutex lock;
  std::string folder, faults;  // empty: there is none
  bool on = false;             // operators are dumped
  bool begun = false;          // aclmdlInitDump()
  long operators = 0, saved = 0;
  int32_t (*call)(const acldumpChunk*, int32_t) = nullptr;
};
Dumps& dumps() {
  static auto* const kDumps = new Dumps;
  return *kDumps;
}

std::string text_of(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<std::string> made(const std::string& folder) {
  std::error_code error;
  const auto path = std::filesystem::absolute(folder.empty() ? "." : folder, error);
  if (!error) std::filesystem::create_directories(path, error);
  return error ? std::nullopt : std::optional(path.lexically_normal().string());
}

// By pieces, as the program has wanted them.
aclError give(int32_t (*call)(const acldumpChunk*, int32_t), const std::string& file,
              const std::vector<std::byte>& bytes) {
  if (file.size() >= ACL_DUMP_MAX_FILE_PATH_LENGTH) return ACL_ERROR_INVALID_PARAM;
  std::size_t at = 0;
  do {
    const auto size = std::min(kPiece, bytes.size() - at);
    std::vector<std::byte> room(sizeof(acldumpChunk) + size);
    auto* const piece = reinterpret_cast<acldumpChunk*>(room.data());
    std::memcpy(piece->fileName, file.c_str(), file.size() + 1);
    piece->bufLen = static_cast<uint32_t>(size);
    piece->isLastChunk = at + size == bytes.size() ? 1 : 0;
    piece->offset = static_cast<int64_t>(at);
    if (size != 0) std::memcpy(piece->dataBuf, bytes.data() + at, size);
    if (call(piece, static_cast<int32_t>(room.size())) != 0) return ACL_ERROR_WRITE_FILE;
    at += size;
  } while (at < bytes.size());
  return ACL_SUCCESS;
}

aclError write(const std::string& file, const void* bytes, std::size_t size) {
  std::ofstream out(file, std::ios::binary);
  out.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size));
  out.close();
  return out ? ACL_SUCCESS : ACL_ERROR_WRITE_FILE;
}

aclError save(const std::string& file, const DumpedTensor& tensor) {
  std::vector<std::byte> bytes(tensor.bytes);
  const aclError status =
      aclrtMemcpy(bytes.data(), bytes.size(), tensor.data, tensor.bytes, ACL_MEMCPY_DEVICE_TO_HOST);
  if (status != ACL_SUCCESS) return status;
  std::unique_lock<std::mutex> held(dumps().lock);
  const auto call = dumps().call;
  held.unlock();
  return call != nullptr ? give(call, file, bytes) : write(file, bytes.data(), bytes.size());
}

aclError use(const nlohmann::json& all) {
  const auto dump = all.find("dump");
  if (dump == all.end() || !dump->is_object()) return ACL_SUCCESS;
  const auto folder = made(text_of(*dump, "dump_path"));
  if (!folder) return ACL_ERROR_INVALID_FILE;
  const std::lock_guard<std::mutex> held(dumps().lock);
  if (text_of(*dump, "dump_scene") == "aic_err_brief_dump") {
    dumps().faults = *folder;
    return ACL_SUCCESS;
  }
  dumps().folder = *folder;
  dumps().on = text_of(*dump, "dump_op_switch") == "on";
  return ACL_SUCCESS;
}

bool may_be_saved(const acldumpTensorInfo& tensor) {
  return tensor.type <= ACL_DUMP_TENSOR_WORKSPACE && tensor.tensorAddr != nullptr &&
         tensor.tensorSize != 0 && tensor.addrType == ACL_DUMP_ADDR_RAW &&
         tensor.placement == ACL_DUMP_PLACEMENT_DEVICE &&
         tensor.shapeNum <= ACL_DUMP_MAX_SHAPE_NUM &&
         tensor.originShapeNum <= ACL_DUMP_MAX_SHAPE_NUM;
}

bool is_file_name(const char* name) {
  if (name == nullptr || *name == 0 || *name == '/') return false;
  for (const auto& part : std::filesystem::path(name)) {
    if (part == "..") return false;
  }
  return true;
}

}  // namespace

aclError configure_dumps(const std::string& config) {
  if (config.empty()) return ACL_SUCCESS;
  const auto all = nlohmann::json::parse(config, nullptr, false);
  return all.is_object() ? use(all) : ACL_ERROR_INVALID_FILE;
}

long dump_number() {
  const std::lock_guard<std::mutex> held(dumps().lock);
  return dumps().on ? dumps().operators++ : -1;
}

aclError dump(const char* name, long number, const char* side,
              const std::vector<DumpedTensor>& tensors, aclrtStream stream) {
  aclError status = aclrtSynchronizeStream(stream);
  std::unique_lock<std::mutex> held(dumps().lock);
  const auto folder = dumps().folder;
  held.unlock();
  for (std::size_t i = 0; status == ACL_SUCCESS && i < tensors.size(); ++i) {
    status = save(
        folder + "/" + name + "." + std::to_string(number) + "." + side + "." + std::to_string(i),
        tensors[i]);
  }
  return status;
}

}  // namespace npu::compat

using npu::compat::dumps;

extern "C" {

aclError acldumpRegCallback(int32_t (*const call)(const acldumpChunk* piece, int32_t length),
                            int32_t flag) {
  static_cast<void>(flag);
  const std::lock_guard<std::mutex> held(dumps().lock);
  if (call == nullptr || dumps().call != nullptr) return ACL_ERROR_INVALID_PARAM;
  dumps().call = call;
  return ACL_SUCCESS;
}

void acldumpUnregCallback(void) {
  const std::lock_guard<std::mutex> held(dumps().lock);
  dumps().call = nullptr;
}

aclError aclopStartDumpArgs(uint32_t kind, const char* path) {
  if (kind != ACL_OP_DUMP_OP_AICORE_ARGS || path == nullptr) return ACL_ERROR_INVALID_PARAM;
  const auto folder = npu::compat::made(path);
  if (!folder) return ACL_ERROR_INVALID_PARAM;
  const std::lock_guard<std::mutex> held(dumps().lock);
  dumps().folder = *folder;
  dumps().on = true;
  return ACL_SUCCESS;
}

aclError aclopStopDumpArgs(uint32_t kind) {
  if (kind != ACL_OP_DUMP_OP_AICORE_ARGS) return ACL_ERROR_INVALID_PARAM;
  const std::lock_guard<std::mutex> held(dumps().lock);
  dumps().on = false;
  return ACL_SUCCESS;
}

const char* acldumpGetPath(acldumpType type) {
  static thread_local std::string path;
  const std::lock_guard<std::mutex> held(dumps().lock);
  path = type == EXCEPTION_DUMP                 ? dumps().faults
         : type == DATA_DUMP || type == OP_DUMP ? dumps().folder
                                                : std::string();
  return path.empty() ? nullptr : path.c_str();
}

aclError aclmdlInitDump(void) {
  const std::lock_guard<std::mutex> held(dumps().lock);
  dumps().begun = true;
  return ACL_SUCCESS;
}

aclError aclmdlSetDump(const char* config_path) {
  if (config_path == nullptr) return ACL_ERROR_INVALID_PARAM;
  {
    const std::lock_guard<std::mutex> held(dumps().lock);
    if (!dumps().begun) return ACL_ERROR_PROF_NOT_RUN;
  }
  std::ifstream file(config_path);
  if (!file) return ACL_ERROR_INVALID_FILE;
  return npu::compat::configure_dumps(std::string(std::istreambuf_iterator<char>(file), {}));
}

aclError aclmdlFinalizeDump(void) {
  const std::lock_guard<std::mutex> held(dumps().lock);
  if (!dumps().begun) return ACL_ERROR_PROF_NOT_RUN;
  dumps().begun = dumps().on = false;
  return ACL_SUCCESS;
}

aclError acldumpGetExceptionInfoPath(char* path, size_t length) {
  if (path == nullptr) return ACL_ERROR_INVALID_PARAM;
  const std::lock_guard<std::mutex> held(dumps().lock);
  if (dumps().faults.empty()) return ACL_ERROR_PROF_NOT_RUN;
  if (length <= dumps().faults.size()) return ACL_ERROR_INVALID_PARAM;
  std::memcpy(path, dumps().faults.c_str(), dumps().faults.size() + 1);
  return ACL_SUCCESS;
}

aclError acldumpSaveExceptionInfo(const char* name, const char* tag,
                                  const acldumpTensorInfo* tensors, size_t count) {
  if (!npu::compat::is_file_name(name) || (tensors == nullptr && count != 0) ||
      count > npu::compat::kMostSaved) {
    return ACL_ERROR_INVALID_PARAM;
  }
  if (!std::all_of(tensors, tensors + count, npu::compat::may_be_saved)) {
    return ACL_ERROR_INVALID_PARAM;
  }
  std::unique_lock<std::mutex> held(dumps().lock);
  if (dumps().faults.empty()) return ACL_ERROR_PROF_NOT_RUN;
  const auto file =
      dumps().faults + "/" + name + ".custom." + std::to_string(dumps().saved++) + ".";
  held.unlock();
  if (!npu::compat::made(std::filesystem::path(file).parent_path().string())) {
    return ACL_ERROR_WRITE_FILE;
  }
  constexpr const char* kSides[] = {"input", "output", "workspace"};
  std::size_t numbers[3] = {};
  for (size_t i = 0; i < count; ++i) {
    const auto side = static_cast<std::size_t>(tensors[i].type);
    const aclError status =
        npu::compat::save(file + kSides[side] + "." + std::to_string(numbers[side]++),
                          {tensors[i].tensorAddr, tensors[i].tensorSize});
    if (status != ACL_SUCCESS) return status;
  }
  return tag == nullptr ? ACL_SUCCESS : npu::compat::write(file + "tag", tag, std::strlen(tag));
}

}  // extern "C"
