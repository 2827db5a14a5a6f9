// SPDX-License-Identifier: Apache-2.0
#include "apps/python/native/host_runtime.hpp"

#include <dlfcn.h>
#include <pybind11/stl.h>

#include <cstddef>
#include <cstring>

#include "apps/python/native/checked_self.hpp"
#include "apps/python/native/run_values.hpp"
#include "npu/abi/task_graph.hpp"

namespace npu::python {
namespace py = pybind11;

namespace {

// In the caller's memory, as the C functions want it; destroyed also when a run has thrown.
class RuntimeMemory {
 public:
  RuntimeMemory(std::size_t size, decltype(npu_runtime_init)* init,
                decltype(npu_runtime_destroy)* destroy)
      : words_(size / sizeof(std::max_align_t) + 1), destroy_(destroy) {
    init(get());
  }
  ~RuntimeMemory() { destroy_(get()); }
  RuntimeMemory(const RuntimeMemory&) = delete;
  RuntimeMemory& operator=(const RuntimeMemory&) = delete;
  npu_runtime* get() { return reinterpret_cast<npu_runtime*>(words_.data()); }

 private:
  std::vector<std::max_align_t> words_;
  decltype(npu_runtime_destroy)* destroy_;
};

// A message begins with its code's name, which the exception says anyway.
std::string context_of(const std::string& message, ErrorCode code) {
  const std::string prefix = std::string(to_string(code)) + ": ";
  return message.compare(0, prefix.size(), prefix) == 0 ? message.substr(prefix.size()) : message;
}

}  // namespace

template <class Function>
void HostRuntime::find(Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(::dlsym(library_, name));
  if (function == nullptr) {
    throw py::value_error(library_name_ + " is no host runtime: it has no " + name);
  }
}

HostRuntime::HostRuntime(std::shared_ptr<Session> session, const std::string& library)
    : session_(std::move(session)), library_name_(library) {
  // Global, so that a callable's host part need not be linked to it. Never unloaded.
  library_ = ::dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library_ == nullptr) {
    throw py::value_error(std::string("the host runtime cannot be loaded: ") + ::dlerror());
  }
  find(last_error_, "npu_last_error");
  find(create_, "npu_create_device_context");
  find(destroy_, "npu_destroy_device_context");
  find(set_device_, "npu_set_device");
  find(finalize_, "npu_finalize_device");
  find(malloc_, "npu_device_malloc");
  find(free_, "npu_device_free");
  find(copy_to_, "npu_copy_to_device");
  find(copy_from_, "npu_copy_from_device");
  find(register_, "npu_register_kernel");
  find(unregister_, "npu_unregister_kernel");
  find(runtime_size_, "npu_get_runtime_size");
  find(runtime_init_, "npu_runtime_init");
  find(runtime_destroy_, "npu_runtime_destroy");
  find(runtime_error_, "npu_runtime_error");
  find(run_, "npu_run_runtime");
  find(last_result_, "npu_last_run_result");
  find(last_records_, "npu_last_task_records");
  find(last_pmu_, "npu_last_pmu_records");
  session_->call([this](platform::Platform& host) {
    context_ = create_(reinterpret_cast<npu_platform*>(&host));
  });
  if (context_ == nullptr) raise(ErrorCode::kOutOfMemory, "no memory for a context");
}

HostRuntime::~HostRuntime() {
  if (device_ >= 0) session_->leave_card(static_cast<unsigned>(device_));
  session_->end_later([destroy = destroy_, context = context_] { destroy(context); });
}

Status HostRuntime::outcome(int code) const {
  if (code == 0) return {};
  const auto known = static_cast<ErrorCode>(-1 - code);
  return fail(known, context_of(last_error_(context_), known));
}

void HostRuntime::set_device(unsigned index) {
  session_->take_card(index);
  const int code = session_->call(
      [&](platform::Platform&) { return set_device_(context_, static_cast<int>(index)); });
  if (code != 0) session_->leave_card(index);
  check(outcome(code));
  device_ = static_cast<int>(index);
}

void HostRuntime::reset_device() {
  const int code = session_->call([&](platform::Platform&) { return finalize_(context_); });
  session_->leave_card(static_cast<unsigned>(device_));
  device_ = -1;
  check(outcome(code));
}

Result<std::uint64_t> HostRuntime::allocate_here(std::size_t size) {
  const std::uint64_t address = malloc_(context_, size);
  if (address != 0) return address;
  const std::string message = last_error_(context_);
  for (int code = 0; code < 32; ++code) {
    const auto known = static_cast<ErrorCode>(code);
    const auto name = to_string(known);
    if (message.compare(0, name.size(), name) == 0) return fail(known, context_of(message, known));
  }
  return fail(ErrorCode::kOutOfMemory, message);
}

Status HostRuntime::free_here(std::uint64_t address) {
  return outcome(free_(context_, address));
}

Status HostRuntime::copy_to_here(std::uint64_t device, std::uint64_t host, std::size_t size) {
  return outcome(copy_to_(context_, device, reinterpret_cast<const void*>(host), size));
}

Status HostRuntime::copy_from_here(std::uint64_t host, std::uint64_t device, std::size_t size) {
  return outcome(copy_from_(context_, reinterpret_cast<void*>(host), device, size));
}

Status HostRuntime::register_here(std::uint32_t id, const std::string& binary) {
  return outcome(register_(context_, id, binary.data(), binary.size()));
}

Status HostRuntime::run_here(const Orchestration& orchestration,
                             const std::vector<std::uint64_t>& words, const npu_run_config& config,
                             const std::string& scheduler, const std::string& executor) {
  npu_run_config all = config;
  all.device_id = device_;
  if (!scheduler.empty()) {
    all.aicpu_binary = scheduler.data();
    all.aicpu_size = scheduler.size();
    all.aicore_binary = executor.data();
    all.aicore_size = executor.size();
  }
  RuntimeMemory runtime(runtime_size_(), runtime_init_, runtime_destroy_);
  const int code =
      run_(context_, runtime.get(), orchestration.callable(), words.data(), words.size(), &all);
  const std::string why = runtime_error_(runtime.get());
  if (code == NPU_ERROR_INVALID_ARGUMENT && !why.empty()) {
    return fail(ErrorCode::kInvalidArgument, std::string(last_error_(context_)) + ": " +
                                                 context_of(why, ErrorCode::kInvalidArgument));
  }
  return outcome(code);
}

std::uint64_t HostRuntime::allocate(std::size_t size) {
  return value_of(session_->call([&](platform::Platform&) { return allocate_here(size); }));
}

void HostRuntime::free(std::uint64_t address) {
  check(session_->call([&](platform::Platform&) { return free_here(address); }));
}

void HostRuntime::copy_to(std::uint64_t device, std::uint64_t host, std::size_t size) {
  check(session_->call([&](platform::Platform&) { return copy_to_here(device, host, size); }));
}

void HostRuntime::copy_from(std::uint64_t host, std::uint64_t device, std::size_t size) {
  check(session_->call([&](platform::Platform&) { return copy_from_here(host, device, size); }));
}

void HostRuntime::register_kernel(std::uint32_t id, const std::string& binary) {
  check(session_->call([&](platform::Platform& host) {
    host.note_program({reinterpret_cast<const std::byte*>(binary.data()), binary.size()});
    return register_here(id, binary);
  }));
}

void HostRuntime::unregister_kernel(std::uint32_t id) {
  check(session_->call([&](platform::Platform&) { return outcome(unregister_(context_, id)); }));
}

void HostRuntime::run(const Orchestration& orchestration, const std::vector<std::uint64_t>& words,
                      const npu_run_config& config, const std::string& scheduler,
                      const std::string& executor) {
  check(session_->call([&](platform::Platform&) {
    return run_here(orchestration, words, config, scheduler, executor);
  }));
}

py::dict HostRuntime::last_run() {
  npu_run_result result{};
  check(outcome(last_result_(context_, &result)));
  abi::RunResult as_card{};
  static_assert(sizeof as_card == sizeof result);
  std::memcpy(static_cast<void*>(&as_card), &result, sizeof result);
  std::vector<abi::TaskRecord> records(last_records_(context_, nullptr, 0));
  last_records_(context_, reinterpret_cast<npu_task_record*>(records.data()), records.size());
  std::vector<abi::PmuRecord> pmu(last_pmu_(context_, nullptr, 0));
  last_pmu_(context_, reinterpret_cast<npu_pmu_record*>(pmu.data()), pmu.size());
  py::dict all;
  all["result"] = to_dict(as_card);
  all["records"] = to_list(records);
  all["pmu"] = to_list(pmu);
  return all;
}

namespace {

npu_run_config config_of(unsigned block_dim, unsigned threads, bool profiling, bool dump,
                         unsigned pmu) {
  npu_run_config config{};
  config.block_dim = block_dim;
  config.aicpu_thread_num = threads;
  config.enable_profiling = profiling ? 1 : 0;
  config.enable_dump_tensor = dump ? 1 : 0;
  config.enable_pmu = pmu;
  return config;
}

}  // namespace

void bind_host_runtime(py::module_& module) {
  py::class_<npu_run_config, std::shared_ptr<npu_run_config>>(module, "RunConfig")
      .def(py::init(&config_of));
  py::class_<Orchestration, std::shared_ptr<Orchestration>>(module, "Orchestration")
      .def(py::init([](const py::bytes& binary, const std::string& function) {
        return std::make_shared<Orchestration>(std::string(binary), function);
      }));
  py::class_<HostRuntime, std::shared_ptr<HostRuntime>>(module, "HostRuntime")
      .def(py::init<std::shared_ptr<Session>, const std::string&>(), py::arg().none(false),
           py::arg())
      .def("set_device", on(&HostRuntime::set_device))
      .def("reset_device", on(&HostRuntime::reset_device))
      .def("allocate", on(&HostRuntime::allocate))
      .def("free", on(&HostRuntime::free))
      .def("copy_to", on(&HostRuntime::copy_to))
      .def("copy_from", on(&HostRuntime::copy_from))
      .def("register_kernel",
           [](const std::shared_ptr<HostRuntime>& self, std::uint32_t id, const py::bytes& binary) {
             object_of(self).register_kernel(id, std::string(binary));
           })
      .def("unregister_kernel", on(&HostRuntime::unregister_kernel))
      .def(
          "run",
          [](const std::shared_ptr<HostRuntime>& self,
             const std::shared_ptr<Orchestration>& orchestration,
             const std::vector<std::uint64_t>& words, const std::shared_ptr<npu_run_config>& config,
             const py::bytes& scheduler, const py::bytes& executor) {
            object_of(self).run(object_of(orchestration), words, object_of(config),
                                std::string(scheduler), std::string(executor));
          })
      .def("last_run", on(&HostRuntime::last_run));
}

}  // namespace npu::python
