// SPDX-License-Identifier: Apache-2.0
// Times of kernels and marks in files, tensors of operators in files, lines of the log.
#include <acl/acl_dump.h>
#include <acl/acl_log.h>
#include <acl/acl_prof.h>
#include <aclnnop/aclnn_add.h>
#include <aclnnop/aclnn_mul.h>
#include <mstx/ms_tools_ext.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "check.h"

namespace {

constexpr int64_t kCount = 4096;
std::map<std::string, std::vector<float>> given;  // by file
std::string logged;

std::string text_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

std::vector<std::vector<std::string>> rows_of(const std::string& file) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(text_of(file));
  for (std::string line; std::getline(lines, line);) {
    rows.emplace_back();
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) rows.back().push_back(cell);
  }
  return rows;
}

int32_t take(const acldumpChunk* piece, int32_t length) {
  REQUIRE(static_cast<size_t>(length) == sizeof *piece + piece->bufLen);
  REQUIRE(piece->isLastChunk == 1 && piece->offset == 0);
  auto& values = given[piece->fileName];
  values.resize(piece->bufLen / sizeof(float));
  std::memcpy(values.data(), piece->dataBuf, piece->bufLen);
  return 0;
}

struct Tensor {
  void* memory;
  aclTensor* tensor;
};
Tensor tensor_of(float value) {
  const std::vector<float> host(kCount, value);
  const int64_t side = kCount, stride = 1;
  void* memory = device_memory(kCount * sizeof(float));
  OK(aclrtMemcpy(memory, kCount * sizeof(float), host.data(), kCount * sizeof(float),
                 ACL_MEMCPY_HOST_TO_DEVICE));
  return {memory,
          aclCreateTensor(&side, 1, ACL_FLOAT, &stride, 0, ACL_FORMAT_ND, &side, 1, memory)};
}

void add(const Tensor& a, const Tensor& b, const Tensor& out, aclrtStream stream) {
  float one = 1;
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  aclScalar* alpha = aclCreateScalar(&one, ACL_FLOAT);
  OK(aclnnAddGetWorkspaceSize(a.tensor, b.tensor, alpha, out.tensor, &size, &executor));
  OK(aclnnAdd(nullptr, size, executor, stream));
  OK(aclDestroyScalar(alpha));
}

void profile(const Tensor& a, const Tensor& b, const Tensor& out, aclrtStream stream) {
  uint32_t device = 0;
  uint32_t range = 0;
  EXPECT(ACL_ERROR_PROF_NOT_RUN, aclprofFinalize());
  EXPECT(ACL_ERROR_INVALID_PARAM, aclprofInit("", 0));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclprofInit("profiles", SIZE_MAX));
  OK(aclprofInit("profiles", 8));
  EXPECT(ACL_ERROR_PROF_ALREADY_RUN, aclprofInit("profiles", 8));
  auto* const config = aclprofCreateConfig(&device, 1, ACL_AICORE_NONE, nullptr,
                                           ACL_PROF_TASK_TIME | ACL_PROF_MSPROFTX);
  EXPECT(ACL_ERROR_PROF_NOT_RUN, aclprofStop(config));
  add(a, b, out, stream);  // not profiled
  OK(aclrtSynchronizeStream(stream));
  OK(aclprofStart(config));
  EXPECT(ACL_ERROR_PROF_ALREADY_RUN, aclprofStart(config));
  void* const stamp = aclprofCreateStamp();
  const std::string text = "a, \"quoted\" one";
  OK(aclprofSetStampTraceMessage(stamp, text.data(), static_cast<uint32_t>(text.size())));
  OK(aclprofMark(stamp));
  OK(aclprofRangeStart(stamp, &range));
  OK(aclprofPush(stamp));
  const auto domain = mstxDomainCreateA("mine");
  const auto whole = mstxDomainRangeStartA(domain, "two adds", stream);
  add(a, b, out, stream);
  add(out, b, out, stream);
  OK(aclrtSynchronizeStream(stream));
  sleep(1);
  mstxRangeEnd(whole);  // of another domain: nothing
  mstxDomainRangeEnd(domain, whole);
  OK(aclprofPop());
  EXPECT(ACL_ERROR_INTERNAL_ERROR, aclprofPop());
  OK(aclprofRangeStop(range));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclprofRangeStop(range));
  OK(aclprofStop(config));
  OK(aclprofStart(config));
  OK(aclprofStop(config));
  OK(aclprofDestroyConfig(config));
  OK(aclprofFinalize());
  aclprofDestroyStamp(stamp);

  const auto kernels = rows_of("profiles/PROF_000001/device_0/task_time.csv");
  REQUIRE(kernels.size() == 3 &&
          rows_of("profiles/PROF_000002/device_0/task_time.csv").size() == 1);
  double last = 0;
  for (size_t i = 1; i < kernels.size(); ++i) {
    const double begin = std::stod(kernels[i][2]), end = std::stod(kernels[i][3]);
    REQUIRE(kernels[i][0] == "add" && begin >= last && end > begin && end - begin < 1000);
    REQUIRE(std::fabs(std::stod(kernels[i][4]) - (end - begin)) < 0.01);
    last = end;
  }
  const auto marks = rows_of("profiles/PROF_000001/host/msprof_tx.csv");
  REQUIRE(marks.size() == 5 && marks[1][0] == "mark" && marks[2][1] == "mine");
  REQUIRE(std::stod(marks[2][4]) - std::stod(marks[2][3]) >= 1e6);
  REQUIRE(text_of("profiles/PROF_000001/host/msprof_tx.csv").find("\"a, \"\"quoted\"\" one\"") !=
          std::string::npos);
}

void dumps(const Tensor& a, const Tensor& b, const Tensor& out, aclrtStream stream) {
  REQUIRE(acldumpGetPath(DATA_DUMP) == nullptr);
  EXPECT(ACL_ERROR_INVALID_PARAM, aclopStartDumpArgs(2, "dumps"));
  OK(aclopStartDumpArgs(ACL_OP_DUMP_OP_AICORE_ARGS, "dumps"));
  add(a, b, out, stream);
  const std::string folder = acldumpGetPath(DATA_DUMP);
  const auto in = text_of(folder + "/Add.0.input.1"), result = text_of(folder + "/Add.0.output.0");
  float value = 0;
  REQUIRE(in.size() == kCount * sizeof value && result.size() == in.size());
  std::memcpy(&value, result.data(), sizeof value);
  REQUIRE(value > 4.9F && value < 5.1F);
  OK(acldumpRegCallback(take, 0));
  EXPECT(ACL_ERROR_INVALID_PARAM, acldumpRegCallback(take, 0));
  add(out, b, out, stream);
  acldumpUnregCallback();
  OK(aclopStopDumpArgs(ACL_OP_DUMP_OP_AICORE_ARGS));
  add(a, b, out, stream);
  REQUIRE(given.size() == 3 && given.begin()->second[7] > 4.9F);
  EXPECT(ACL_ERROR_PROF_NOT_RUN, aclmdlSetDump("acl.json"));
  OK(aclmdlInitDump());
  EXPECT(ACL_ERROR_INVALID_FILE, aclmdlSetDump("nowhere.json"));
  std::ofstream("acl.json")
      << R"({"dump": {"dump_path": "fault_dumps", "dump_scene": "aic_err_brief_dump"}})";
  char path[ACL_DUMP_MAX_FILE_PATH_LENGTH];
  EXPECT(ACL_ERROR_PROF_NOT_RUN, acldumpGetExceptionInfoPath(path, sizeof path));
  OK(aclmdlSetDump("acl.json"));
  EXPECT(ACL_ERROR_INVALID_PARAM, acldumpGetExceptionInfoPath(path, 2));
  OK(acldumpGetExceptionInfoPath(path, sizeof path));
  acldumpTensorInfo info = {};
  info.type = ACL_DUMP_TENSOR_OUTPUT;
  info.tensorAddr = static_cast<int64_t*>(out.memory);
  info.tensorSize = 64;
  EXPECT(ACL_ERROR_INVALID_PARAM, acldumpSaveExceptionInfo("own", "tag", &info, 1));
  info.addrType = ACL_DUMP_ADDR_RAW;
  EXPECT(ACL_ERROR_INVALID_PARAM, acldumpSaveExceptionInfo("../own", "tag", &info, 1));
  OK(acldumpSaveExceptionInfo("own", "tag", &info, 1));
  REQUIRE(text_of(std::string(path) + "/own.custom.0.output.0").size() == 64);
  REQUIRE(text_of(std::string(path) + "/own.custom.0.tag") == "tag");
  OK(aclmdlFinalizeDump());
}

int32_t log_line(void* data, uint32_t type, const char* line, size_t length) {
  REQUIRE(data == &logged && line[length - 1] == '\n');
  logged += std::to_string(type) + std::string(line, line + 2);
  return 0;
}

void logs() {
  acllogCallbackHandle handle = 0;
  REQUIRE(acllogRegisterCallback(nullptr, &logged, OUTPUT_TYPE_BOTH, &handle) == -1);
  REQUIRE(acllogRegisterCallback(log_line, &logged, OUTPUT_TYPE_BOTH, &handle) == 0);
  ::setenv("ASCEND_PROCESS_LOG_PATH", "logs", 1);
  acllogRecord(0xFF00, DLOG_INFO, "no %d", 1);
  acllogRecord(0xFF00, DLOG_ERROR, "error %d", 2);
  acllogRecord(0xFF00 | static_cast<int>(RUN_LOG_MASK), DLOG_INFO, "run\n");
  ::setenv("ASCEND_GLOBAL_LOG_LEVEL", "1", 1);
  REQUIRE(acllogCheckDebugLevel(0xFF00, DLOG_INFO) == 1);
  REQUIRE(acllogCheckDebugLevel(0xFF00, DLOG_DEBUG) == 0 && acllogCheckDebugLevel(-1, 3) == 0);
  acllogRecord(0xFF00, DLOG_INFO, "info");
  REQUIRE(acllogUnregisterCallback(handle) == 0 && acllogUnregisterCallback(handle) == -1);
  acllogRecord(0xFF00, DLOG_WARN, "not told");
  REQUIRE(logged == "0[E1[I0[I");
  const auto file = "logs/debug/plog/plog-" + std::to_string(::getpid()) + ".log";
  REQUIRE(text_of(file).find("error 2\n") != std::string::npos);
  REQUIRE(text_of(file).find("not told") != std::string::npos);
}

}  // namespace

int main() {
  open_device();
  aclrtStream stream = new_stream();
  const auto a = tensor_of(2), b = tensor_of(3), out = tensor_of(0);
  profile(a, b, out, stream);
  dumps(a, b, out, stream);
  logs();
  return end_right();
}
