// SPDX-License-Identifier: Apache-2.0
#include "workloads/simulator/counted_software.hpp"

#include <pthread.h>

// Of the driver, if it is a library that counts.
extern "C" __attribute__((weak, visibility("default"))) const std::uint64_t*
npu_instruction_counter();

namespace npu::workloads {
namespace {

ConstByteSpan span(const std::byte* begin, const std::byte* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

// The standard library counts references in another way while a process has never had two threads;
// what is counted must not depend on who else has.
void have_had_threads() {
  static const bool kDone = [] {
    pthread_t thread{};
    const int error = pthread_create(
        &thread, nullptr, [](void*) -> void* { return nullptr; }, nullptr);
    if (error == 0) pthread_join(thread, nullptr);
    return error == 0;
  }();
  static_cast<void>(kDone);
}

}  // namespace

void count_software(model::System& system) {
  have_had_threads();
  const auto& config = system.config();
  if (config.instructions == model::Instructions::kCounted && npu_instruction_counter != nullptr) {
    system.cpus().executed().follow(npu_instruction_counter());
  }
  if (config.firmware.instructions == model::Instructions::kFree) return;
  system.simulation().counted_programs.enable();
  add_counted_programs(system);
}

void add_counted_programs(model::System& system) {
  for (const auto& program : counted_programs()) {
    system.simulation().counted_programs.add(span(program.begin, program.end),
                                             span(program.counted_begin, program.counted_end));
  }
}

}  // namespace npu::workloads
