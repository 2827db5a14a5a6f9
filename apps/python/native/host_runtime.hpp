// SPDX-License-Identifier: Apache-2.0
// The C functions of npu/driver/runtime.h out of a library that is named at run time, for one
// context: what ChipWorker stands on.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apps/python/native/orchestration.hpp"
#include "apps/python/native/session.hpp"
#include "npu/driver/runtime.h"

namespace npu::python {

class HostRuntime {
 public:
  // ValueError: the library cannot be loaded, or is no such runtime.
  HostRuntime(std::shared_ptr<Session> session, const std::string& library);
  ~HostRuntime();
  HostRuntime(const HostRuntime&) = delete;
  HostRuntime& operator=(const HostRuntime&) = delete;

  void set_device(unsigned index);
  void reset_device();
  std::uint64_t allocate(std::size_t size);
  void free(std::uint64_t address);
  // `host` is an address in this process.
  void copy_to(std::uint64_t device, std::uint64_t host, std::size_t size);
  void copy_from(std::uint64_t host, std::uint64_t device, std::size_t size);
  void register_kernel(std::uint32_t id, const std::string& binary);
  void unregister_kernel(std::uint32_t id);
  // `firmware`: scheduler and executor, empty if they are those of the run before.
  void run(const Orchestration& orchestration, const std::vector<std::uint64_t>& words,
           const npu_run_config& config, const std::string& scheduler, const std::string& executor);
  pybind11::dict last_run();

  // The same for who is a host task of the machine already, one at a time for a card: without the
  // interpreter's lock, and nothing is thrown.
  Result<std::uint64_t> allocate_here(std::size_t size);
  Status free_here(std::uint64_t address);
  Status copy_to_here(std::uint64_t device, std::uint64_t host, std::size_t size);
  Status copy_from_here(std::uint64_t host, std::uint64_t device, std::size_t size);
  Status register_here(std::uint32_t id, const std::string& binary);
  Status run_here(const Orchestration& orchestration, const std::vector<std::uint64_t>& words,
                  const npu_run_config& config, const std::string& scheduler,
                  const std::string& executor);
  const std::shared_ptr<Session>& session() const { return session_; }

 private:
  template <class Function>
  void find(Function*& function, const char* name);
  Status outcome(int code) const;

  std::shared_ptr<Session> session_;
  std::string library_name_;
  void* library_ = nullptr;
  npu_device_context* context_ = nullptr;
  int device_ = -1;

  decltype(npu_last_error)* last_error_ = nullptr;
  decltype(npu_create_device_context)* create_ = nullptr;
  decltype(npu_destroy_device_context)* destroy_ = nullptr;
  decltype(npu_set_device)* set_device_ = nullptr;
  decltype(npu_finalize_device)* finalize_ = nullptr;
  decltype(npu_device_malloc)* malloc_ = nullptr;
  decltype(npu_device_free)* free_ = nullptr;
  decltype(npu_copy_to_device)* copy_to_ = nullptr;
  decltype(npu_copy_from_device)* copy_from_ = nullptr;
  decltype(npu_register_kernel)* register_ = nullptr;
  decltype(npu_unregister_kernel)* unregister_ = nullptr;
  decltype(npu_get_runtime_size)* runtime_size_ = nullptr;
  decltype(npu_runtime_init)* runtime_init_ = nullptr;
  decltype(npu_runtime_destroy)* runtime_destroy_ = nullptr;
  decltype(npu_runtime_error)* runtime_error_ = nullptr;
  decltype(npu_run_runtime)* run_ = nullptr;
  decltype(npu_last_run_result)* last_result_ = nullptr;
  decltype(npu_last_task_records)* last_records_ = nullptr;
  decltype(npu_last_pmu_records)* last_pmu_ = nullptr;
};

void bind_host_runtime(pybind11::module_& module);

}  // namespace npu::python
