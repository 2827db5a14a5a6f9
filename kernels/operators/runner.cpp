// SPDX-License-Identifier: Apache-2.0
#include "kernels/operators/runner.hpp"

#include "kernels/operators/binding.hpp"
#include "kernels/operators/launcher/host_entry.hpp"
#include "npu/base/shortened.hpp"

namespace npu::operators {
namespace {

// In front of what an operator has thrown.
std::string source_of(const NormalisedCall& call) {
  const OperatorRow& row = *call.row;
  return shortened(row.described() ? row.folder + "/" + row.file : row.name, kShownPath) + ": ";
}

}  // namespace

OperatorRunner::OperatorRunner(platform::Platform& platform, jit::KernelCache& cache,
                               Launcher& launcher)
    : platform_(platform),
      cache_(cache),
      launcher_(launcher),
      lock_(platform.tasks().make_mutex()) {}

Result<jit::Loaded> OperatorRunner::find(const OperatorCall& call,
                                         const jit::Interrupted& interrupted) const {
  const auto normalised = normalise(call);
  if (!normalised) return forward_error(normalised);
  return cache_.get(bind(*normalised).request, interrupted);
}

// The cache has locks of its own, of the real machine; this one is the modelled host's.
void OperatorRunner::charge_look_up(jit::Origin origin) {
  lock_->lock();
  if (origin != jit::Origin::kMemory) platform_.tasks().system_calls(kLookUpCalls);
  lock_->unlock();
}

Result<Ran> OperatorRunner::run(const OperatorCall& call, jit::Loaded found) {
  auto& clock = platform_.clock();
  Ran ran;
  Instant last = clock.now();
  const auto end_of = [&](Layer layer, Instant end) {
    ran.times.add(layer, last, end);
    last = end;
  };
  const auto normalised = normalise(call);
  if (!normalised) return forward_error(normalised);
  end_of(Layer::kWrapper, clock.now());
  const Binding binding = bind(*normalised);
  end_of(Layer::kOperator, clock.now());
  charge_look_up(found.origin);
  end_of(Layer::kJit, clock.now());
  platform_.note_program(found.kernel->image());
  if (auto ok = launcher_.upload(*found.kernel); !ok) return forward_error(ok);
  end_of(Layer::kLauncher, clock.now());
  Status ok;
  const auto thrown = without_exceptions("the host's function", [&] {
    ok = launcher_.run(*found.kernel, normalised->call.cores, binding.params_address());
  });
  if (!thrown) return fail(thrown.error().code, source_of(*normalised) + thrown.error().context);
  if (!ok) return forward_error(ok);
  for (const auto& [begin, end] : launcher_.calls()) {
    end_of(Layer::kTemplate, begin);
    end_of(Layer::kLauncher, end);
  }
  end_of(Layer::kTemplate, clock.now());
  ran.key = found.kernel->key();
  ran.origin = found.origin;
  ran.compile_time = found.compile_time;
  ran.warnings = std::move(found.warnings);
  ran.workspace_bytes = launcher_.workspace_bytes();
  ran.launches = launcher_.launches();
  return ran;
}

}  // namespace npu::operators
