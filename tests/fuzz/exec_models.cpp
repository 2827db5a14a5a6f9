// SPDX-License-Identifier: Apache-2.0
// exec_models SEED ROUNDS: a program that builds, captures, runs and destroys models with switches,
// labels and conditions at random, beside shared memory, queues and random numbers: with what
// earlier calls gave, what was given back, null, and numbers that stand for nothing. Each call must
// return, with a code that there is; then the device can be given back, and works again.
#include <acl/acl.h>
#include <acl/acl_tdt_queue.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "tests/fuzz/random.hpp"

namespace npu::fuzz {
namespace {

constexpr int kCodes[] = {0,      100000, 100024, 107000, 107002, 107003, 107005, 107017,
                          107019, 107024, 107025, 107026, 107027, 107028, 107029, 107030,
                          107031, 107032, 107033, 107034, 107036, 107037, 107038, 200006,
                          207000, 207001, 207005, 207007, 207008, 207009, 207013, 207014,
                          507000, 507035, 507046, 507899, 507903};
constexpr std::size_t kKept = 24;

class Program {
 public:
  explicit Program(std::uint64_t seed) : random_(seed) {
    check("aclrtMalloc", aclrtMalloc(&memory_, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    check("aclrtMemset", aclrtMemset(memory_, 4096, 0, 4096));
    things_ = {nullptr, memory_, reinterpret_cast<void*>(std::uintptr_t{0x4143'4C00'1000})};
    for (int i = 0; i < 6; ++i) stream();
  }

  void round() {
    const std::vector<std::function<void()>> all = {
        [&] { stream(); },     [&] { stream_ends(); }, [&] { model_begins(); },
        [&] { model_ends(); }, [&] { bound(); },       [&] { bound(); },
        [&] { label(); },      [&] { captured(); },    [&] { condition(); },
        [&] { work(); },       [&] { work(); },        [&] { run(); },
        [&] { run(); },        [&] { waited(); },      [&] { shared(); },
        [&] { queue(); },      [&] { drawn(); },       [&] { built(); },
        [&] { built(); },      [&] { branched(); },    [&] { branched(); }};
    all[random_.below(all.size())]();
  }

 private:
  // That there is such a code.
  aclError check(const char* call, aclError code) {
    for (const int known : kCodes) {
      if (code == known) return code;
    }
    std::fprintf(stderr, "exec_models: %s: %d: %s\n", call, code, aclGetRecentErrMsg());
    std::_Exit(1);
  }
  void keep(void* thing) {
    if (things_.size() < kKept) things_.push_back(thing);
    things_[3 + random_.below(things_.size() - 3)] = thing;
  }
  void* thing() { return random_.in(things_); }
  void* place() { return static_cast<char*>(memory_) + 8 * random_.below(64); }
  // Mostly what fits.
  void* a_stream() {
    return random_.percent(85) && !streams_.empty() ? random_.in(streams_) : thing();
  }
  void* a_model() {
    return random_.percent(85) && !models_.empty() ? random_.in(models_) : thing();
  }

  void stream() {
    aclrtStream made = nullptr;
    const auto flags = random_.percent(60) ? ACL_STREAM_PERSISTENT : 0;
    if (streams_.size() > 12) return stream_ends();
    if (check("create", aclrtCreateStreamWithConfig(&made, 0, flags)) == 0) {
      streams_.push_back(made);
      keep(made);
    }
  }
  void stream_ends() {
    if (streams_.size() < 4) return;
    const auto at = random_.below(streams_.size());
    check("destroy", aclrtDestroyStreamForce(streams_[at]));  // a run may never end
    if (random_.percent(90)) streams_.erase(streams_.begin() + static_cast<long>(at));
  }
  void model_begins() {
    aclmdlRI made = nullptr;
    if (models_.size() > 8) return model_ends();
    if (check("build", aclmdlRIBuildBegin(&made, random_.percent(5) ? 1U : 0U)) == 0) {
      models_.push_back(made);
      keep(made);
    }
  }
  void model_ends() {
    if (models_.empty()) return;
    const auto at = random_.below(models_.size());
    const aclError code = check("model", aclmdlRIDestroy(models_[at]));
    if (code == 0 && random_.percent(90)) models_.erase(models_.begin() + static_cast<long>(at));
  }
  void bound() {
    auto* const model = a_model();
    auto* const stream = a_stream();
    switch (random_.below(6)) {
      case 0:
      case 1:
        check("bind", aclmdlRIBindStream(model, stream, random_.of({0U, 0U, 0x7FFFFFFFU, 7U})));
        return;
      case 2:
        check("end", aclmdlRIEndTask(model, stream));
        check("built", aclmdlRIBuildEnd(model, nullptr));
        return;
      case 3:
        check("unbind", aclmdlRIUnbindStream(model, stream));
        return;
      case 4:
        check("active", aclrtActiveStream(a_stream(), stream));
        return;
      default:
        check("switch", aclrtSwitchStream(random_.percent(90) ? place() : thing(),
                                          static_cast<aclrtCondition>(random_.below(7)), place(),
                                          static_cast<aclrtCompareDataType>(random_.below(3)),
                                          a_stream(), nullptr, stream));
    }
  }
  // A model as it should be, but for some of it.
  void built() {
    aclmdlRI model = nullptr;
    if (models_.size() > 8) model_ends();
    if (check("build", aclmdlRIBuildBegin(&model, 0)) != 0) return;
    models_.push_back(model);
    std::vector<aclrtStream> own(1 + random_.below(3), nullptr);
    for (std::size_t i = 0; i < own.size(); ++i) {
      check("create", aclrtCreateStreamWithConfig(&own[i], 0, ACL_STREAM_PERSISTENT));
      check("bind", aclmdlRIBindStream(model, own[i], i == 0 ? 0 : 0x7FFFFFFFU));
    }
    aclrtLabel label = nullptr;
    aclrtLabelList list = nullptr;
    check("label", aclrtCreateLabel(&label));
    check("list", aclrtCreateLabelList(&label, 1, &list));
    for (auto tasks = random_.below(8); tasks > 0; --tasks) task_of(own, label, list);
    if (random_.percent(90)) check("end", aclmdlRIEndTask(model, random_.in(own)));
    check("built", aclmdlRIBuildEnd(model, nullptr));
    if (random_.percent(20)) check("destroy", aclrtDestroyStreamForce(random_.in(own)));
    finish(model);
    if (list != nullptr) check("gone", aclrtDestroyLabelList(list));
    check("gone", aclrtDestroyLabel(label));
    for (auto* const stream : own) {
      if (stream != nullptr) check("destroy", aclrtDestroyStreamForce(stream));
    }
  }
  void task_of(std::vector<aclrtStream>& own, aclrtLabel label, aclrtLabelList list) {
    auto* const stream = random_.in(own);
    switch (random_.below(6)) {
      case 0:
        check("active", aclrtActiveStream(random_.in(own), stream));
        return;
      case 1:
        check("switch",
              aclrtSwitchStream(place(), static_cast<aclrtCondition>(random_.below(6)), place(),
                                ACL_RT_SWITCH_INT64, random_.in(own), nullptr, stream));
        return;
      case 2:
        check("set", aclrtSetLabel(label, stream));
        return;
      case 3:
        check("jump", aclrtSwitchLabelByIndex(place(), 1, list, stream));
        return;
      default:
        check("add", aclrtReduceAsync(place(), place(), 8, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM,
                                      ACL_INT32, stream, nullptr));
    }
  }
  void finish(aclmdlRI model) {
    aclrtStream on = nullptr;
    check("create", aclrtCreateStream(&on));
    for (auto runs = random_.below(3); runs > 0; --runs) {
      check("run", aclmdlRIExecuteAsync(model, on));
    }
    check("wait", aclrtSynchronizeStreamWithTimeout(on, 1));
    if (random_.percent(30)) check("model", aclmdlRIDestroy(model));
    if (on != nullptr) check("destroy", aclrtDestroyStreamForce(on));
  }
  void branched() {
    aclrtStream stream = nullptr, inner = nullptr;
    aclmdlRI model = nullptr, branches[2] = {nullptr, nullptr};
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    aclmdlRICondHandle condition = nullptr;
    std::uint64_t* at = nullptr;
    if (models_.size() > 8) model_ends();
    if (check("create", aclrtCreateStream(&stream)) != 0 ||
        check("create", aclrtCreateStream(&inner)) != 0) {
      return;
    }
    check("capture", aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    check("info", aclmdlRICaptureGetInfo(stream, &status, &model));
    const auto flag = static_cast<aclmdlRICondHandleFlag>(random_.below(2));
    check("condition", aclmdlRICondHandleCreate(model, random_.below(2) != 0, flag, &condition));
    check("place", aclmdlRICondHandleGetCondPtr(condition, &at));
    const auto type = static_cast<aclmdlRICondTaskType>(random_.below(3));
    const std::uint32_t size = type == ACL_MODEL_RI_COND_TYPE_WHILE ? 1 : 2;
    check("task", aclmdlRIAddCondTask({condition, type, size, branches}, stream, 0));
    for (std::uint32_t i = 0; i < size; ++i) {
      if (random_.percent(15)) continue;
      check("branch",
            aclmdlRICaptureToModelRIBegin(inner, branches[i], ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
      void* const to = random_.percent(60) ? static_cast<void*>(at) : place();
      check("copy", aclrtMemcpyAsync(to, 8, place(), 8, ACL_MEMCPY_DEVICE_TO_DEVICE, inner));
      if (random_.percent(10)) continue;
      check("captured", aclmdlRICaptureEnd(inner, &branches[i]));
    }
    const bool ends = check("captured", aclmdlRICaptureEnd(stream, &model)) == 0;
    if (ends) models_.push_back(model);
    if (ends) finish(model);
    check("destroy", aclrtDestroyStreamForce(stream));
    check("destroy", aclrtDestroyStreamForce(inner));
  }
  void label() {
    aclrtLabel made = nullptr;
    aclrtLabelList list = nullptr;
    aclrtLabel both[2] = {thing(), thing()};
    switch (random_.below(5)) {
      case 0:
        check("label", aclrtCreateLabel(&made));
        keep(made);
        return;
      case 1:
        check("set", aclrtSetLabel(thing(), a_stream()));
        return;
      case 2:
        if (check("list", aclrtCreateLabelList(both, random_.below(3), &list)) == 0) keep(list);
        return;
      case 3:
        check("jump", aclrtSwitchLabelByIndex(place(), static_cast<std::uint32_t>(random_.below(3)),
                                              thing(), a_stream()));
        return;
      default:
        check("gone",
              random_.percent(50) ? aclrtDestroyLabel(thing()) : aclrtDestroyLabelList(thing()));
    }
  }
  void captured() {
    aclmdlRI made = nullptr;
    auto* const stream = a_stream();
    switch (random_.below(4)) {
      case 0:
        check("capture", aclmdlRICaptureBegin(stream, static_cast<aclmdlRICaptureMode>(
                                                          random_.percent(90) ? 2 : 0)));
        return;
      case 1:
        check("branch",
              aclmdlRICaptureToModelRIBegin(stream, thing(), ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
        return;
      default:
        if (check("captured", aclmdlRICaptureEnd(stream, &made)) != 0) return;
        models_.push_back(made);
        keep(made);
    }
  }
  void condition() {
    aclmdlRICondHandle made = nullptr;
    aclmdlRI branches[3] = {nullptr, nullptr, nullptr}, model = nullptr;
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    std::uint64_t* at = nullptr;
    auto* const stream = a_stream();
    if (aclmdlRICaptureGetInfo(stream, &status, &model) != 0 || model == nullptr) return;
    const auto flag = static_cast<aclmdlRICondHandleFlag>(random_.below(3));
    if (check("condition", aclmdlRICondHandleCreate(model, random_.below(3) == 0, flag, &made)) ==
        0) {
      keep(made);
    }
    check("place", aclmdlRICondHandleGetCondPtr(thing(), &at));
    const aclmdlRICondTaskParams task = {random_.percent(90) ? made : thing(),
                                         static_cast<aclmdlRICondTaskType>(random_.below(4)),
                                         static_cast<std::uint32_t>(random_.below(4)), branches};
    if (check("task", aclmdlRIAddCondTask(task, stream, 0)) != 0) return;
    for (auto* const branch : branches) {
      if (branch != nullptr) keep(branch);
    }
  }
  void work() {
    auto* const stream = a_stream();
    if (random_.percent(50)) {
      check("copy", aclrtMemcpyAsync(place(), 8, place(), 8, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    } else {
      check("add", aclrtReduceAsync(place(), place(), 8, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM,
                                    ACL_INT32, stream, nullptr));
    }
  }
  void run() { check("run", aclmdlRIExecuteAsync(a_model(), a_stream())); }
  void waited() { check("wait", aclrtSynchronizeStreamWithTimeout(a_stream(), 1)); }
  void shared() {
    char key[65] = "npusim-shared-1";
    void* opened = nullptr;
    const std::uint64_t size = random_.of<std::uint64_t>({8, 4096, 1 << 21, UINT64_MAX});
    check("export", aclrtIpcMemGetExportKey(random_.percent(80) ? memory_ : thing(), size, key,
                                            sizeof key, random_.below(2)));
    if (random_.percent(60))
      check("import", aclrtIpcMemImportByKey(&opened, key, random_.below(2)));
    if (opened != nullptr) keep(opened);
    if (random_.percent(80)) check("close", aclrtIpcMemClose(key));
  }
  void queue() {
    acltdtQueueAttr* const attr = acltdtCreateQueueAttr();
    std::uint32_t number = static_cast<std::uint32_t>(random_.below(6));
    const std::uint32_t depth = 2;
    char data[64] = "";
    char user[98] = "";  // up to one byte more than a queue takes
    std::size_t taken = 0;
    check("depth", acltdtSetQueueAttr(attr, ACL_TDT_QUEUE_DEPTH_UINT32, sizeof depth, &depth));
    if (random_.percent(30)) check("queue", acltdtCreateQueue(attr, &number));
    acltdtQueueRouteList* const list = acltdtCreateQueueRouteList();
    acltdtQueueRoute* const route =
        acltdtCreateQueueRoute(number, static_cast<std::uint32_t>(random_.below(6)));
    check("route", acltdtAddQueueRoute(list, route));
    if (random_.percent(30)) check("routes", acltdtBindQueueRoutes(list));
    check("put",
          acltdtEnqueueData(number, data, 1 + random_.below(64), user, random_.below(99), 0, 0));
    check("take", acltdtDequeueData(number, data, 1 + random_.below(64), &taken, nullptr, 0,
                                    random_.percent(80) ? 0 : 1));
    if (random_.percent(30)) check("unroute", acltdtUnbindQueueRoutes(list));
    if (random_.percent(20)) check("dequeued", acltdtDestroyQueue(number));
    check("list", acltdtDestroyQueueRouteList(list));
    check("route", acltdtDestroyQueueRoute(route));
    check("attr", acltdtDestroyQueueAttr(attr));
  }
  void drawn() {
    aclrtRandomNumTaskInfo task = {};
    for (std::size_t i = 0; i < sizeof task; ++i) {
      if (random_.percent(5)) reinterpret_cast<unsigned char*>(&task)[i] = 1;
    }
    task.randomResultAddr = random_.percent(90) ? memory_ : nullptr;
    task.randomCounterAddr = random_.percent(90) ? memory_ : nullptr;
    const std::uint64_t count = random_.of<std::uint64_t>({0, 1, 64, UINT64_MAX});
    std::memcpy(task.randomNum.valueOrAddr, &count, sizeof count);
    task.dataType = static_cast<aclDataType>(random_.below(14));
    check("random", aclrtRandomNumAsync(&task, a_stream(), nullptr));
  }

  Random random_;
  void* memory_ = nullptr;
  std::vector<void*> things_, streams_, models_;
};

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0) return 1;
  {
    Program program(std::strtoull(argv[1], nullptr, 10));
    const auto rounds = std::strtoull(argv[2], nullptr, 10);
    for (std::uint64_t i = 0; i < rounds; ++i) program.round();
  }
  void* memory = nullptr;
  if (aclrtResetDeviceForce(0) != 0 || aclrtSetDevice(0) != 0) return 1;
  if (aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST) != 0 || aclFinalize() != 0) return 1;
  std::puts("right");
  return 0;
}

}  // namespace
}  // namespace npu::fuzz

int main(int argc, char** argv) {
  return npu::fuzz::main(argc, argv);
}
