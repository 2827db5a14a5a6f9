// SPDX-License-Identifier: Apache-2.0
#include "model/core/program_run.hpp"

#include <cstdlib>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

#include "model/core/program_guard.hpp"

namespace npu::model {
namespace {

std::terminate_handler g_before = nullptr;

// A program that cannot be unwound any further. What the model does wrong is not its fault.
[[noreturn]] void on_terminate() {
  ProgramRun* const run = detail::running_program;
  if (run != nullptr && run->in_program()) run->leave();
  if (g_before != nullptr) g_before();
  std::abort();
}

}  // namespace

void ProgramRun::begin() {
  if (std::get_terminate() != &on_terminate) g_before = std::set_terminate(&on_terminate);
  begun_ = true;
  calls_ = 1;
  counter_ = nullptr;
  executed_ = 0;
  refused_ = 0;
  over_ = false;
  outcome_ = Outcome::kReturned;
  detail::running_program = this;
  ProgramGuard::program_begins();
  if (detail::program_debugger != nullptr) detail::program_debugger->begins(*this);
}

void ProgramRun::finish() {
  if (!begun_) return;
  begun_ = false;
  if (detail::program_debugger != nullptr) detail::program_debugger->ends(*this);
  if (detail::running_program == this) detail::running_program = nullptr;
  ProgramGuard::program_ends();
}

bool ProgramRun::on_stack(std::uintptr_t address) const {
  return address < base_ && base_ - address < kStackNear;
}

void ProgramRun::refuse(bool has_answer) {
  if (++refused_ > 2 * kTimeout) leave();
  if (unwinds()) return;
  if (has_answer || refused_ > kTimeout) throw Ended{};
}

void ProgramRun::leave() {
  outcome_ = over_ ? Outcome::kEnded : Outcome::kThrew;
  // Those it was handling are destroyed; one that unwinds is known to nobody.
  while (std::current_exception() != nullptr) __cxxabiv1::__cxa_end_catch();
#if defined(__SANITIZE_ADDRESS__)
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  __asan_unpoison_memory_region(reinterpret_cast<void*>(here), base_ - here);
#endif
  _longjmp(where_, 1);
}

}  // namespace npu::model
