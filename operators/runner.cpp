// SPDX-License-Identifier: Apache-2.0
#include "operators/runner.hpp"

#include "operators/binding.hpp"

namespace npu::operators {

OperatorRunner::OperatorRunner(platform::Platform& platform, jit::KernelCache& cache,
                               Launcher& launcher)
    : platform_(platform),
      cache_(cache),
      launcher_(launcher),
      lock_(platform.tasks().make_mutex()) {}

// The cache has locks of its own, of the real machine; this one is the modelled host's.
Result<jit::Loaded> OperatorRunner::look_up(const jit::KernelRequest& request) {
  lock_->lock();
  auto loaded = cache_.get(request);
  if (loaded && loaded->origin != jit::Origin::kMemory) {
    platform_.tasks().system_calls(kLookUpCalls);
  }
  lock_->unlock();
  return loaded;
}

Result<Ran> OperatorRunner::run(const OperatorCall& call) {
  auto& clock = platform_.clock();
  Ran ran;
  Picoseconds last = clock.now();
  const auto end_of = [&](Layer layer, Picoseconds end) {
    ran.times.add(layer, last, end);
    last = end;
  };
  const auto normalised = normalise(call);
  if (!normalised) return forward_error(normalised);
  end_of(Layer::kWrapper, clock.now());
  const Binding binding = bind(*normalised);
  end_of(Layer::kOperator, clock.now());
  auto loaded = look_up(binding.request);
  if (!loaded) return forward_error(loaded);
  end_of(Layer::kJit, clock.now());
  if (auto ok = launcher_.upload(*loaded->kernel); !ok) return forward_error(ok);
  end_of(Layer::kLauncher, clock.now());
  auto ok = launcher_.run(*loaded->kernel, normalised->call.cores, binding.params_address());
  if (!ok) return forward_error(ok);
  for (const auto& [begin, end] : launcher_.calls()) {
    end_of(Layer::kTemplate, begin);
    end_of(Layer::kLauncher, end);
  }
  end_of(Layer::kTemplate, clock.now());
  ran.key = loaded->kernel->key();
  ran.origin = loaded->origin;
  ran.compile_time = loaded->compile_time;
  ran.warnings = std::move(loaded->warnings);
  ran.workspace_bytes = launcher_.workspace_bytes();
  ran.launches = launcher_.launches();
  return ran;
}

}  // namespace npu::operators
